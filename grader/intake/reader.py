"""Reads one file that was handed in."""

from __future__ import annotations

import hashlib
import json
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, Literal

from grader.errors import UsageError
from grader.intake.beside import companions as companions_of
from grader.intake.beside import companions_among
from grader.intake.notebook import MAX_DEPTH, read_notebook, shape
from grader.intake.source import clean, decode, sniff
from grader.model import Cell, Companion, Note, Submission

__all__ = ["MAX_BYTES", "read_capped", "read_submission", "submission_from_bytes", "submission_of"]

MAX_BYTES = 5_000_000
"""A larger file is hashed, not read."""

_KINDS: dict[str, Literal["script", "notebook"]] = {".py": "script", ".ipynb": "notebook"}
_CHUNK = 1 << 20
_WEB_PAGE = re.compile(r"(?:<\?xml[^>]{0,200}>\s*)?<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)


def read_submission(path: Path, *, beside: bool = True) -> Submission:
    """Read the file at ``path``, whatever its bytes are; with ``beside``, the files next to it that it names too.

    Leave ``beside`` off where other learners' files may lie in the same folder.

    Raises:
        UsageError: If there is no such file, it is a folder, it has another suffix, or it may not be read.
    """
    content, sha256 = _read(path)
    name = _name(path.name)
    if content is None:
        return _troubled(name, sha256, Note(text="intake.too_large", params=(("limit", MAX_BYTES // 1_000_000),)))
    submission = submission_from_bytes(name, content)
    if not beside or not submission.cells:
        return submission
    found, notes = companions_of(path, _source(submission))
    return _with(submission, found, notes)


def submission_of(name: str, sha256: str, content: bytes | None, files: Mapping[str, bytes | None]) -> Submission:
    """Make a Submission of what was handed in together, as it comes out of an archive.

    Args:
        name: Of the main file.
        sha256: Of its bytes.
        content: They; None if they are more than ``MAX_BYTES``.
        files: The other files by name without folders; those that the main file names become companions.

    Raises:
        UsageError: If the name's suffix is neither ``.py`` nor ``.ipynb``.
    """
    if content is None:
        limit = MAX_BYTES // 1_000_000
        return _troubled(_name(name), sha256, Note(text="intake.too_large", params=(("limit", limit),)))
    submission = submission_from_bytes(name, content)
    if not files or not submission.cells:
        return submission
    return _with(submission, *companions_among(submission.name, _source(submission), files))


def _source(submission: Submission) -> bytes:
    return "\n".join(decode(cell) for cell in submission.cells).encode("utf-8", "replace")


def submission_from_bytes(name: str, content: bytes, *, companions: tuple[Companion, ...] = ()) -> Submission:
    """Make a Submission of a file's name and bytes, as they come out of an archive or a request.

    Raises:
        UsageError: If the name's suffix is neither ``.py`` nor ``.ipynb``.
    """
    kind = _kind(name)
    name = _name(name)
    sha256 = hashlib.sha256(content).hexdigest()
    if len(content) > MAX_BYTES:
        return _troubled(name, sha256, Note(text="intake.too_large", params=(("limit", MAX_BYTES // 1_000_000),)))
    if not content:
        return _troubled(name, sha256, Note(text="intake.empty"))
    sniffed = sniff(content, cookie=kind == "script")
    if sniffed.trouble is not None:
        return _troubled(name, sha256, sniffed.trouble)
    script = Cell(number=0, source=content, encoding=sniffed.encoding)
    text = decode(script)
    trouble = _disguise(text)
    if trouble is not None:
        return _troubled(name, sha256, trouble)
    notes: tuple[Note, ...] = () if sniffed.note is None else (sniffed.note,)
    if kind == "script":
        if _is_notebook(text):
            return _troubled(name, sha256, Note(text="intake.script.notebook"))
        return Submission(name=name, kind=kind, cells=(script,), sha256=sha256, companions=companions, notes=notes)
    read = read_notebook(text)
    if read.trouble is not None:
        return _troubled(name, sha256, read.trouble)
    # Of a notebook the codec is no matter of the learner's: only a guess is worth a word.
    notes = tuple(note for note in notes if note.text != "intake.encoding.utf16") + read.notes
    return Submission(name=name, kind=kind, cells=read.cells, sha256=sha256, companions=companions, notes=notes)


def _read(path: Path) -> tuple[bytes | None, str]:
    """Return the bytes (None: more than ``MAX_BYTES``) and their SHA-256. Raises UsageError."""
    shown = clean(str(path), 200)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise UsageError(
                f"'{shown}' is a folder, not a file.",
                hint="Give the path of one file, .py or .ipynb.",
            )
        _kind(path.name)
        if not stat.S_ISREG(mode):
            raise UsageError(f"'{shown}' is not an ordinary file.", hint="Name a .py or .ipynb file.")
        with path.open("rb") as file:
            return read_capped(file)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        # ValueError: a path with a NUL in it.
        raise UsageError(
            f"There is no file '{shown}'.",
            hint="Check the spelling, and that you are in the folder where the file lies.",
        ) from error
    except PermissionError as error:
        raise UsageError(
            f"'{shown}' can't be read: you have no permission to.",
            hint="Change the file's permissions, or copy it to a folder of your own.",
        ) from error
    except OSError as error:
        raise UsageError(
            f"'{shown}' can't be read ({error.strerror or type(error).__name__}).",
            hint="Copy the file to another folder and name that one.",
        ) from error


def read_capped(file: BinaryIO) -> tuple[bytes | None, str]:
    """Return a file's bytes (None: more than ``MAX_BYTES``) and their SHA-256. Raises OSError."""
    content = file.read(MAX_BYTES + 1)
    digest = hashlib.sha256(content)
    if len(content) <= MAX_BYTES:
        return content, digest.hexdigest()
    del content
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return None, digest.hexdigest()


def _kind(name: str) -> Literal["script", "notebook"]:
    suffix = Path(name).suffix.lower()
    if suffix not in _KINDS:
        what = f"with the suffix {clean(suffix, 20)}" if suffix else "without a suffix"
        raise UsageError(
            f"'{clean(name, 200)}' is a file {what}; .py and .ipynb files can be graded.",
            hint="Save your work as a Python script (.py) or a notebook (.ipynb).",
        )
    return _KINDS[suffix]


def _name(name: str) -> str:
    """Return the name without folders and without what is no text (Python keeps odd bytes as lone surrogates)."""
    return re.sub(r"[\x00\ud800-\udfff]", "\ufffd", re.split(r"[/\\]", name)[-1])


def _disguise(text: str) -> Note | None:
    """Name what a file holds that is no source at all, whatever its suffix says."""
    start = text[:1000].lstrip()
    if not start and not text.strip():
        return Note(text="intake.blank")
    if _WEB_PAGE.match(start):
        return Note(text="intake.web_page")
    if start.startswith("{\\rtf"):
        return Note(text="intake.rich_text")
    return None


def _is_notebook(text: str) -> bool:
    """Whether a script is a whole notebook under a wrong suffix."""
    if not text.lstrip().startswith("{") or '"nbformat"' not in text:
        return False
    depth, closed = shape(text)
    if not closed or depth > MAX_DEPTH:
        return False
    try:
        document = json.loads(text, parse_int=len, strict=False)
    except ValueError:
        return False
    return isinstance(document, dict) and "nbformat" in document


def _troubled(name: str, sha256: str, trouble: Note) -> Submission:
    return Submission(name=name, kind=_kind(name), cells=(), sha256=sha256, trouble=trouble)


def _with(submission: Submission, found: tuple[Companion, ...], notes: tuple[Note, ...]) -> Submission:
    return Submission(
        name=submission.name,
        kind=submission.kind,
        cells=submission.cells,
        sha256=submission.sha256,
        companions=found,
        notes=submission.notes + notes,
    )
