"""Classes to measure with: as many submissions as are wanted, none of which has the bytes of another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks import hand_ins

__all__ = ["everything", "sources", "write"]

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data" / "submissions"

AWKWARD = frozenset(
    [
        "bom_and_crlf.py",
        "error_on_first_line.py",
        "error_on_last_line.py",
        "infinite_loop_in_entropy.py",
        "latin_1.py",
        "loop_that_swallows_everything.py",
        "one_function_missing.py",
        "os_exit_in_variance.py",
        "replaces_default_rng.py",
    ]
)
"""Of the tests' submissions, those that don't run through. They are rare in a class, and two of them take seconds."""


def sources(folders: Sequence[Path] = ()) -> list[bytes]:
    """Return the scripts that lie in folders; without folders the tests' right and wrong ones, and five more."""
    if folders:
        found = [path for folder in folders for path in folder.iterdir() if path.suffix == ".py"]
        return [path.read_bytes() for path in sorted(found)]
    paths = sorted(path for path in DATA.glob("*.py.txt") if path.stem not in AWKWARD)
    right = (ROOT / "examples" / "right.py").read_text(encoding="utf-8")
    wrong = [right.replace(old, new) for old, new in hand_ins.MISTAKES]
    return [*(path.read_bytes() for path in paths), *(text.encode() for text in (right, *wrong))]


def write(folder: Path, texts: Sequence[bytes], count: int) -> None:
    """Write ``count`` submissions, made of ``texts`` in turn by a comment at the end."""
    folder.mkdir(parents=True)
    for number in range(count):
        raw = texts[number % len(texts)] + b"\n# learner %d\n" % number
        (folder / f"learner{number:05d}.py").write_bytes(raw)


def everything(out: Path) -> dict[str, bytes]:
    """Return the bytes of all that a run gives to people: reports, results, gradebook; not what it keeps for itself."""
    found = [path for path in out.rglob("*") if path.is_file() and ".grade" not in path.relative_to(out).parts]
    return {str(path.relative_to(out)): path.read_bytes() for path in found}
