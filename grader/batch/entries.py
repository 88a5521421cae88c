"""What a source handed over becomes the entries of a run: which file is graded, and where its results go."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from grader.errors import UsageError
from grader.intake.reader import read_capped
from grader.lms.chosen import candidates
from grader.model._data import replace
from grader.model.attempt import Attempt, HandedFile
from grader.store.journal import Entry, Journal, Kept

__all__ = ["entries_of", "folder_name", "title_of"]

MAX_SLUG = 40
MAX_CHOICES = 5
"""Files that are run to see which of them is the submission; more would take too long."""
MAX_COMPANIONS = 60
"""Files that are kept beside a submission; which of them it names is seen later, and far fewer may be."""

COMPANIONS = frozenset({".py", ".csv", ".tsv", ".txt", ".json", ".npy", ".npz", ".md"})


def entries_of(
    attempts: Iterable[Attempt],
    journal: Journal,
    *,
    flat: bool,
    expected: Sequence[str],
    picks: Mapping[str, str],
) -> tuple[Entry, ...]:
    """Return an entry for each attempt; what the journal knows already keeps its number and its folder.

    Args:
        attempts: As the source gave them.
        journal: Where the files are kept.
        flat: Each attempt is a file of a folder, and is known by its name.
        expected: Usual names of the submission's file, the best first.
        picks: The instructor's answers to "which file is the submission?", by the attempt's key. Those that the
            journal keeps hold too, as long as the attempt has that file.

    Raises:
        UsageError: If a pick names no attempt, or no file of it.
        OutputError: If a file can't be kept.
    """
    known = {entry.attempt.key: entry for entry in journal.entries()}
    following = max((entry.number for entry in known.values()), default=-1) + 1
    taken = {entry.folder for entry in known.values()}
    made: list[Entry] = []
    unused, earlier = set(picks), journal.picked()
    for attempt in attempts:
        before = known.get(attempt.key)
        if before is None:
            number, following = following, following + 1
            folder = _free_name(attempt, taken, flat=flat)
            taken.add(folder)
        else:
            number, folder = before.number, before.folder
        unused.discard(attempt.key)
        picked = _picked(attempt, picks.get(attempt.key), earlier.get(attempt.key))
        made.append(_entry(number, folder, attempt, journal, tuple(expected), picked))
    if unused:
        raise UsageError(
            f"--pick names '{min(unused)}', and there is no such attempt.",
            hint="Its key is what index.html shows in brackets, or the file's name.",
        )
    return tuple(made)


def title_of(attempt: Attempt) -> str:
    """Return what an instructor calls an attempt: the learners' names, and the key where they don't tell enough."""
    known = [learner.name for learner in attempt.learners if learner.name]
    names = ", ".join(known)
    if not names:
        return attempt.key
    if attempt.key.startswith(f"{names}."):
        return attempt.key  # a file of a plain folder, which is its learner's name
    return names if attempt.key in known else f"{names} ({attempt.key})"


def folder_name(name: str, attempt: int = 0) -> str:
    """Return a name that is safe on any disk: what plain letters a name has, and six hex digits of it."""
    stem = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", stem)[:MAX_SLUG].strip("-") or "submission"
    raw = os.fsencode(name) + (b"\0%d" % attempt if attempt else b"")
    return f"{slug}-{hashlib.sha256(raw).hexdigest()[:6]}"


def _free_name(attempt: Attempt, taken: set[str], *, flat: bool) -> str:
    # A file is known by its name; a person by theirs and by what the source calls them.
    name = attempt.key
    if flat:
        stem = Path(name).stem
    else:
        names = [learner.name for learner in attempt.learners if learner.name]
        stem = " ".join([*names[:2], attempt.key] if attempt.key not in names else names[:2])
    # 24 bits may agree by chance, and nobody's report may take another's place.
    count = 0
    while True:
        folder = f"{folder_name(stem).rpartition('-')[0]}-{folder_name(name, count).rpartition('-')[2]}"
        if folder not in taken:
            return folder
        count += 1


def _picked(attempt: Attempt, pick: str | None, earlier: str | None) -> HandedFile | None:
    """Return the file that an instructor named, now or earlier. Raises UsageError if there is none of that name."""
    for name in (pick, earlier):
        found = [file for file in attempt.files if name in (file.name, PurePosixPath(file.name).name)]
        if found:
            return found[0]
        if pick is not None:
            raise UsageError(
                f"--pick {attempt.key}={pick}: this attempt has no such file.",
                hint=f"It has: {', '.join(file.name for file in attempt.files[:10]) or 'none'}.",
            )
    return None


def _entry(
    number: int, folder: str, attempt: Attempt, journal: Journal, expected: tuple[str, ...], picked: HandedFile | None
) -> Entry:
    def ended(trouble: str) -> Entry:
        return Entry(number=number, attempt=attempt, folder=folder, trouble=trouble)

    if picked is None and attempt.trouble:
        return ended(attempt.trouble)
    possible = (picked,) if picked is not None else candidates(attempt, expected)
    if not possible:
        return ended("there is no .py or .ipynb file in it")
    if len(possible) > MAX_CHOICES:
        names = ", ".join(file.name for file in possible[:MAX_CHOICES])
        more = len(possible) - MAX_CHOICES
        return ended(f"which file is the submission: {names}, or one of {more} more? Say it with --pick")
    try:
        kept = [_kept(file, journal) for file in possible]
        beside = tuple(_kept(file, journal) for file in _companions(attempt, possible))
    except OSError as error:
        return ended(f"it can't be read ({error.strerror or error})")
    if len(kept) > 1:
        return _with(Entry(number=number, attempt=attempt, folder=folder, choices=tuple(kept), companions=beside))
    return _with(Entry(number=number, attempt=attempt, folder=folder, main=kept[0], companions=beside))


def _companions(attempt: Attempt, possible: Sequence[HandedFile]) -> list[HandedFile]:
    """Return the files that lie in the folder of the (likeliest) submission, as it was handed in."""
    here = PurePosixPath(possible[0].name).parent
    found = [
        file
        for file in attempt.files
        if file not in possible
        and PurePosixPath(file.name).parent == here
        and PurePosixPath(file.name).suffix.lower() in COMPANIONS
    ]
    return found[:MAX_COMPANIONS]


def _kept(file: HandedFile, journal: Journal) -> Kept:
    """Keep a file; of one that is too large only its hash. Raises OSError."""
    # O_NOFOLLOW: it may have become a link since it was looked at; O_NONBLOCK: or a pipe.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(file.path, flags), "rb") as opened:
        content, sha256 = read_capped(opened)
    if content is not None:
        journal.keep(content)
    name = PurePosixPath(file.name).name
    return Kept(name=name, sha256=sha256, whole=content is not None)


def _with(entry: Entry) -> Entry:
    """Add the hash of all that is graded. The main file's name counts by its suffix alone: it decides how it is run."""
    digest = hashlib.sha256()
    for role, files in (
        ("main", (entry.main,) if entry.main else ()),
        ("choice", entry.choices),
        ("", entry.companions),
    ):
        for file in files:
            name = PurePosixPath(file.name).suffix.lower() if role == "main" else file.name
            digest.update(f"{role}\0{os.fsencode(name).hex()}\0{file.sha256}\n".encode())
    return replace(entry, content=digest.hexdigest())
