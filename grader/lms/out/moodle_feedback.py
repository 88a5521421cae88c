"""Moodle's "Upload multiple feedback files in a zip": reports as feedback files, in parts that a site takes.

Moodle (``mod/assign/feedback/file/importziplib.php``) splits each path at ``/`` and takes the first part that has,
between underscores, a known participant second and a plugin third and fourth; the rest is the file's name. Anything
else is passed over without a word, and so is a file that equals one of the submission's by name and content.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator

from grader.errors import UsageError
from grader.lms.out.people import left_out, plain, who
from grader.lms.out.reports import read_report
from grader.model.attempt import Attempt
from grader.model.gradebook import Gradebook

__all__ = ["feedback_path", "feedback_zips"]

REPORT = "report.html"
NAMES = ("feedback.html", "feedback-report.html", "feedback-report-2.html")
"""The first that no file of the submission has."""

_LABEL = re.compile(r"(?P<name>[^_/\\]*)_(?P<id>[0-9]{1,18})_(?P<plugin>assign(?:submission|feedback)_[a-z]+)(?:_.*)?")
_END, _ENTRY = 22, 30 + 46
"""Bytes of a zip's end, and of an entry's two headers without its name, which stands in both."""


def feedback_path(attempt: Attempt) -> str:
    """Return the path of an attempt's feedback in the zip, or ``""`` where Moodle couldn't tell whose it is.

    Only the number counts there; the name before it is for people, and is replaced if it could mislead a reader of
    zips.
    """
    found = _LABEL.fullmatch(plain(attempt.label))
    number = found["id"] if found else next((learner.id("participant") for learner in attempt.learners), "")
    if not re.fullmatch(r"[0-9]{1,18}", number):
        return ""
    name = re.sub(r'[/\\:*?"<>|_]', " ", found["name"]).strip() if found else ""
    if not name or name.startswith((".", "~")):
        name = "Participant"
    taken = {file.name.rpartition("/")[2].casefold() for file in attempt.files}
    file = next(name for name in NAMES if name not in taken) if not taken.issuperset(NAMES) else ""
    return f"{name}_{number}_assignsubmission_file/{file}" if file else ""


def feedback_zips(book: Gradebook, limit: int, unplaced: list[str]) -> Iterator[tuple[str, bytes]]:
    """Make the zips, one after the other: ``feedback-1.zip``, ``feedback-2.zip``, ...

    The same reports give the same bytes.

    Args:
        limit: The most bytes that a zip may have, as the site's "Maximum upload size" says.
        unplaced: Gets a sentence for each attempt whose report isn't in any of them.

    Raises:
        UsageError: If no zip could be as small.
    """
    if limit < 1000:
        raise UsageError(f"A feedback zip can't be smaller than {limit} bytes.", hint="Choose a larger --upload-limit.")
    part: list[tuple[str, bytes]] = []
    size, count = _END, 0
    used: set[str] = set()
    for grade in book.grades:
        whose = who(grade.attempt)
        if why := left_out(grade):
            unplaced.append(why)
            continue
        content = read_report(grade, REPORT)
        path = feedback_path(grade.attempt)
        if content is None:
            unplaced.append(f"{whose}: the report can't be read, so there is no feedback file.")
        elif not path:
            unplaced.append(f"{whose}: the source gives no participant's number, so Moodle couldn't place a file.")
        elif path.casefold() in used:
            unplaced.append(f"{whose}: another attempt has the same place in the feedback zip.")
        elif _END + (needed := _size(path, content)) > limit:
            unplaced.append(
                f"{whose}: the report alone makes a zip of {_END + needed} bytes, above the limit of {limit}."
            )
        else:
            used.add(path.casefold())
            if size + needed > limit:
                count += 1
                yield f"feedback-{count}.zip", _zip(part)
                part, size = [], _END
            part.append((path, content))
            size += needed
    if part:
        yield f"feedback-{count + 1}.zip", _zip(part)


def _size(path: str, content: bytes) -> int:
    """Return the bytes that a file takes in a zip of ours, to the byte."""
    squeeze = zlib.compressobj(zlib.Z_DEFAULT_COMPRESSION, zlib.DEFLATED, -15)
    return _ENTRY + 2 * len(path.encode()) + len(squeeze.compress(content)) + len(squeeze.flush())


def _zip(files: list[tuple[str, bytes]]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files:
            about = zipfile.ZipInfo(path, date_time=(1980, 1, 1, 0, 0, 0))
            about.create_system = 3
            about.external_attr = 0o100644 << 16
            about.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(about, content)
    return out.getvalue()
