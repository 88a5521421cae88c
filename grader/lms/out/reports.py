"""A grade's feedback: the files beside it, and what of them goes into a comment field."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from html import escape
from html.parser import HTMLParser
from pathlib import Path

from grader.lms.out.people import plain
from grader.lms.out.points import points
from grader.model.gradebook import Grade

__all__ = ["comment_html", "comment_text", "read_report"]

MAX_BYTES = 64 * 1024 * 1024
_PRE = re.compile(r"<pre\b.*?</pre>", re.S)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def read_report(grade: Grade, name: str) -> bytes | None:
    """Return the content of a file in a grade's folder, or None where there is no ordinary file of this name.

    Neither the folder nor the file may be a symbolic link: who can put one there would choose what is sent.
    """
    if grade.reports is None:
        return None
    try:
        return _read(grade.reports, name)
    except OSError:
        return None


def _read(folder: Path, name: str) -> bytes | None:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    if os.open in os.supports_dir_fd:
        above = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            handle = os.open(name, flags, dir_fd=above)
        finally:
            os.close(above)
    elif folder.is_symlink() or (folder / name).is_symlink():  # Windows
        return None
    else:
        handle = os.open(folder / name, flags)
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(handle)
        return file.read() if stat.S_ISREG(about.st_mode) and about.st_size <= MAX_BYTES else None


def comment_html(grade: Grade) -> str:
    """Return a grade's feedback as HTML for a cell: never empty, on one line, without a backslash.

    An empty cell deletes what is stored, line ends are dropped or joined on the way, and PHP's reader of CSV takes a
    backslash before a quote for an escape.
    """
    raw = read_report(grade, "fragment.html")
    text = raw.decode("utf-8", "replace").strip() if raw is not None else ""
    text = _CONTROL.sub("\ufffd", text or _summary(grade, "<p>{}</p>", "<br>", escape))
    text = _PRE.sub(lambda found: found[0].strip().replace("\r\n", "\n").replace("\n", "<br>"), text)
    return re.sub(r"\s*[\r\n]\s*", " ", text).replace("\\", "&#92;")


def comment_text(grade: Grade) -> str:
    """Return a grade's feedback as plain text, for fields that show tags literally."""
    raw = read_report(grade, "fragment.html")
    if raw is None or not raw.strip():
        return _summary(grade, "{}", "\n", str)
    reader = _Text()
    reader.feed(raw.decode("utf-8", "replace"))
    reader.close()
    return reader.text() or _summary(grade, "{}", "\n", str)


def _summary(grade: Grade, frame: str, line_end: str, safe: Callable[[str], str]) -> str:
    lines = [f"{points(grade.cents)} of {points(grade.max_cents)} points"]
    lines += [f"{plain(task.title)}: {points(task.cents)} of {points(task.max_cents)}" for task in grade.tasks]
    return frame.format(line_end.join(safe(line) for line in lines))


class _Text(HTMLParser):
    """Takes the text out of our own fragment: a line for each block and table row."""

    _BLOCKS = frozenset({"p", "h1", "h2", "h3", "h4", "li", "tr", "table", "caption", "pre", "div", "br", "ul", "ol"})
    _GAPS = frozenset({"p", "h1", "h2", "h3", "h4", "table", "pre"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._lines: list[str] = [""]
        self._pre = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self._BLOCKS:
            self._break(gap=tag in self._GAPS)
        if tag in ("td", "th") and self._lines[-1]:
            self._lines[-1] += "  "
        self._pre += tag == "pre"
        if tag == "li":
            self._lines[-1] = "- "

    def handle_endtag(self, tag: str) -> None:
        if tag in self._BLOCKS:
            self._break(gap=tag in self._GAPS)
        self._pre -= tag == "pre"

    def _break(self, *, gap: bool) -> None:
        if self._lines[-1] == "- ":
            return  # the paragraph of a list's item begins on its line
        if self._lines[-1].strip():
            self._lines.append("")
        if gap and len(self._lines) > 1 and self._lines[-2].strip():
            self._lines.append("")

    def handle_data(self, data: str) -> None:
        if self._pre:
            first, *more = data.splitlines() or [""]
            self._lines[-1] += first
            self._lines += more
        else:
            words = re.sub(r"\s+", " ", data)
            self._lines[-1] += words if self._lines[-1].strip() else words.lstrip()

    def text(self) -> str:
        """Return the lines, with no more than one empty line between them."""
        lines = [_CONTROL.sub("\ufffd", line.rstrip()) for line in self._lines]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
