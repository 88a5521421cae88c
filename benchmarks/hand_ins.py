"""Hand-ins to measure with: all different, most of them right, some with one mistake of the usual kind."""

from __future__ import annotations

from pathlib import Path

__all__ = ["has_mistake", "write"]

ROOT = Path(__file__).resolve().parents[1]
MISTAKES = [
    (" / np.sqrt(d_k)  # (B, T, T)", "  # (B, T, T)"),
    ("x = x - x.max(axis=axis, keepdims=True)", "x = x - 0"),
    ("raw_var = scores.var()", "raw_var = scores.std()"),
    ("order_scaled = np.argsort(w_scaled)", "order_scaled = np.argsort(w_scaled)[::-1]"),
]
OF = 10
"""Of so many hand-ins, one has each of the mistakes; the others are right, and come first."""


def has_mistake(number: int) -> bool:
    """Whether the hand-in of that number is wrong."""
    return number % OF >= OF - len(MISTAKES)


def write(folder: Path, count: int, first: int = 0) -> list[Path]:
    """Write ``count`` files, none of which has the bytes of another or of those with other numbers."""
    right = (ROOT / "examples" / "right.py").read_text(encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(first, first + count):
        text = right
        if has_mistake(number):
            old, new = MISTAKES[number % OF - OF]
            assert old in text
            text = text.replace(old, new)
        path = folder / f"learner{number:05d}.py"
        path.write_text(f"# learner {number}\n{text}", encoding="utf-8")
        paths.append(path)
    return paths
