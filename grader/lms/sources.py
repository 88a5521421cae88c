"""Recognises what an instructor downloaded, and reads it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from grader.errors import ArchiveError, UsageError
from grader.lms.blackboard import BLACKBOARD
from grader.lms.brightspace import BRIGHTSPACE
from grader.lms.canvas import CANVAS
from grader.lms.disk import FolderTree
from grader.lms.folder import FOLDER, FOLDERS, has_several
from grader.lms.gather import gather
from grader.lms.gradescope import GRADESCOPE
from grader.lms.junk import is_archive, is_gradable, is_junk, is_root_junk
from grader.lms.moodle import MOODLE
from grader.lms.nbgrader import NBGRADER
from grader.lms.reading import TYPED_IN, Reader
from grader.lms.shelf import Shelf
from grader.lms.tarred import TarTree
from grader.lms.tree import Tree, View, quoted, without_wrapper
from grader.lms.zipped import ZipTree
from grader.model._data import data
from grader.model.attempt import Attempt

__all__ = ["KINDS", "Source", "read_source"]

READERS: tuple[Reader, ...] = (GRADESCOPE, MOODLE, BLACKBOARD, BRIGHTSPACE, CANVAS, NBGRADER, FOLDERS, FOLDER)
"""In this order: the first whose names half of the entries have is it."""

KINDS: tuple[str, ...] = tuple(reader.kind for reader in READERS)

MAX_OTHERS = 200
_ENOUGH = 0.5
_TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz")
_PACKED = (".rar", ".7z", ".xz", ".bz2", ".zst")


@data
class Source:
    """What was read.

    Attributes:
        kind: One of ``KINDS``.
        title: The assignment's name as the source says, or ``""``.
        attempts: One for each learner or group: the latest.
        others: What belongs to nobody or was left out, and why, each a sentence.
    """

    kind: str
    title: str
    attempts: tuple[Attempt, ...]
    others: tuple[str, ...]


def read_source(path: Path, into: Path, *, kind: str = "auto", assignment: str = "") -> Source:
    """Read a folder or an archive of submissions.

    Args:
        path: A folder, or a .zip, .tar, .tar.gz or .tgz archive.
        into: A folder of ours; files of archives are written below it, those of a folder stay where they are. Reading
            the same source into the same folder again gives the same paths.
        kind: One of ``KINDS``, or ``"auto"``.
        assignment: The assignment's id in a source that has several (nbgrader's).

    Raises:
        UsageError: If there is no such path, or it is neither a folder nor an archive, or there is nothing to grade
            in a folder.
        ArchiveError: If an archive can't be read, isn't of that kind, or holds nothing that can be graded.
        OutputError: If a file can't be written below ``into``.
    """
    if kind not in ("auto", *KINDS):
        raise UsageError(f"There is no kind of source '{kind}'.", hint=f"Use one of: auto, {', '.join(KINDS)}.")
    shelf = Shelf(into)
    with contextlib.ExitStack() as stack:
        tree = _open(path, shelf, stack)
        reader, view = _recognise(path, tree, kind)
        reading = reader.read(view, assignment)
        attempts = tuple(gather(handed, tree, shelf) for handed in reading.attempts)
    names = [name for handed in reading.attempts for name, _ in handed.files if not is_junk(name)]
    if not any(not attempt.trouble for attempt in attempts) and not any(map(_could_be, names)):
        raise _nothing(path, attempts)
    others = (*tree.others, *reading.others)
    if len(others) > MAX_OTHERS:
        others = (*others[:MAX_OTHERS], f"And {len(others) - MAX_OTHERS} more entries are nobody's.")
    return Source(kind=reader.kind, title=reading.title, attempts=attempts, others=others)


def _open(path: Path, shelf: Shelf, stack: contextlib.ExitStack) -> Tree:
    if path.is_dir():
        return FolderTree(path)
    if not path.is_file():
        raise UsageError(f"There is no folder or archive '{path}'.", hint="Check the spelling.")
    try:
        file = stack.enter_context(path.open("rb"))
        start = file.read(200).lstrip()
    except OSError as error:
        raise UsageError(
            f"'{path}' can't be read ({error.strerror or error}).", hint="Check its permissions."
        ) from error
    name = path.name.lower()
    if start.startswith(b"<"):
        raise ArchiveError(
            f"{quoted(path.name)} is a web page, not an archive: the LMS refused the download.",
            hint="Log in to the LMS and download it again.",
        )
    if name.endswith(_TAR_SUFFIXES):
        end = max(len(end) for end in _TAR_SUFFIXES if name.endswith(end))
        return TarTree(path, shelf, title=path.name[:-end])
    if not start.startswith(b"PK") and not name.endswith(".zip"):
        raise _no_archive(path)
    return ZipTree(file, path.name, title=path.stem)


def _no_archive(path: Path) -> UsageError:
    if is_gradable(path.name):
        return UsageError(f"'{path}' is one file, not a class's.", hint=f"Use: grade {path}")
    if path.name.lower().endswith(_PACKED):
        return UsageError(f"'{path}' is packed in a way that isn't read here.", hint="Unpack it and name the folder.")
    return UsageError(f"'{path}' is neither a folder nor a zip archive.", hint="Name what the LMS gave you.")


def _recognise(path: Path, tree: Tree, kind: str) -> tuple[Reader, View]:
    """Return the reader and the view of the tree that it reads best."""
    view = View(tree=tree, entries=tree.entries, folders=tree.folders)
    inside = without_wrapper(view)
    views = [view] if inside is None else [view, inside]
    for reader in READERS:
        if reader in (FOLDERS, FOLDER) or kind not in ("auto", reader.kind):
            continue
        best = max(views, key=reader.share)
        share = reader.share(best)
        if share >= _ENOUGH or (kind == reader.kind and share > 0):
            return reader, best
        if kind == reader.kind:
            raise ArchiveError(
                f"Nothing in {quoted(path.name)} is named as {reader.name} names it.",
                hint="Leave --from out to have it recognised, or name what was downloaded, unchanged.",
            )
    # A folder around everything is one learner's, unless it looks like a class inside. Archives often have one.
    if inside is not None and (has_several(inside) or (not path.is_dir() and _several_files(inside))):
        view = inside
    if kind != "auto":
        return next(reader for reader in READERS if reader.kind == kind), view
    return (FOLDERS if FOLDERS.share(view) else FOLDER), view


def _several_files(view: View) -> bool:
    return sum(is_gradable(entry.name) and not is_root_junk(entry.name) for entry in view.entries) > 1


def _could_be(name: str) -> bool:
    """Whether a file could have been graded, had it been readable: if so, its trouble is told, not this one."""
    return is_gradable(name) or is_archive(name)


def _nothing(path: Path, attempts: tuple[Attempt, ...]) -> UsageError | ArchiveError:
    typed = sum(attempt.trouble == TYPED_IN for attempt in attempts)
    hint = "Name the folder that holds them." if path.is_dir() else "Look whether it is the right download."
    if typed:
        hint = f"{typed} answers are texts typed into the LMS: let learners hand in a file."
    if path.is_dir():
        return UsageError(f"There is no .py or .ipynb file in '{path}'.", hint=hint)
    return ArchiveError(f"There is no .py or .ipynb file in {quoted(path.name)}.", hint=hint)
