"""A sheet as it was downloaded: each cell keeps its very characters, so that what isn't ours goes back unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from grader.errors import ArchiveError
from grader.lms.out.people import plain
from grader.model._data import data

__all__ = ["Cell", "Row", "Sheet", "cell", "read_sheet", "write_sheet"]

MAX_BYTES = 50_000_000
SEPARATORS = ",;\t:"
"""Those that Moodle offers; Canvas takes the first two."""

_AS_SAVED = "Give the file as it was downloaded, not one that another program has saved."


@data
class Cell:
    """A cell: as it stands in the file, and what it says."""

    raw: str
    text: str


Row = tuple[Cell, ...]


@data
class Sheet:
    """A file of separated values.

    Attributes:
        name: For messages.
        bom: Whether it begins with a byte-order mark.
        separator: Between cells.
        newline: Between rows.
        rows: The header and all that follows, without empty lines. All have the same number of cells.
    """

    name: str
    bom: bool
    separator: str
    newline: str
    rows: tuple[Row, ...]


def read_sheet(content: bytes, name: str, separators: str = SEPARATORS) -> Sheet:
    """Take a downloaded file apart.

    Raises:
        ArchiveError: If it isn't UTF-8, a quote isn't closed, or a row has another number of cells than the header.
    """
    name = plain(name)
    if len(content) > MAX_BYTES:
        raise ArchiveError(f"{name} is larger than any sheet of grades.", hint=_AS_SAVED)
    if content.lstrip()[:1] == b"<":
        raise ArchiveError(f"{name} is a web page: the LMS refused the download.", hint="Log in and download it again.")
    if content.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise ArchiveError(f"{name} is a file of a spreadsheet program, or an archive.", hint=_AS_SAVED)
    bom = content.startswith(b"\xef\xbb\xbf")
    try:
        text = content[3 * bom :].decode("utf-8")
    except UnicodeDecodeError as error:
        raise ArchiveError(f"{name} isn't text in UTF-8.", hint=_AS_SAVED) from error
    if not text.strip():
        raise ArchiveError(f"{name} is empty.", hint=_AS_SAVED)
    bare = re.sub(r'"[^"]*"', '""', text).strip()  # quoted parts may hold separators and line ends
    newline = next((found for found in ("\r\n", "\n", "\r") if found in bare), "\n")
    separator = max(separators, key=bare.partition(newline)[0].count)
    rows = [row for row in _rows(text, separator, name) if len(row) > 1 or row[0].raw.strip()]
    for index, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise ArchiveError(
                f"{name}, row {index} has {len(row)} cells, but the header has {len(rows[0])}.", hint=_AS_SAVED
            )
    return Sheet(name=name, bom=bom, separator=separator, newline=newline, rows=tuple(rows))


def _rows(text: str, separator: str, name: str) -> list[Row]:
    # A cell: perhaps a quoted part, in which a quote is doubled; then whatever stands up to the next separator.
    pattern = re.compile(rf'(?:"([^"]*(?:""[^"]*)*)")?([^{re.escape(separator)}\r\n]*)')
    rows: list[Row] = []
    row: list[Cell] = []
    at = 0
    while at < len(text) or row:
        found = pattern.match(text, at)
        assert found is not None  # it matches the empty string too
        quoted, rest = found.groups()
        if quoted is None and rest.startswith('"'):
            raise ArchiveError(f"{name}, row {len(rows) + 1}: a quotation mark isn't closed.", hint=_AS_SAVED)
        row.append(Cell(raw=found[0], text=(quoted or "").replace('""', '"') + rest))
        at = found.end()
        if text[at : at + 1] == separator:
            at += 1
            if at < len(text):
                continue
            row.append(Cell(raw="", text=""))
        rows.append(tuple(row))
        row = []
        at += 2 if text.startswith("\r\n", at) else 1
    return rows


def cell(text: str, separator: str = ",") -> Cell:
    """Make a cell, quoted where any reader might need it."""
    quote = any(char in text for char in (separator, '"', "\n", "\r", "\t", " ", "\\", ",", ";"))
    return Cell(raw='"' + text.replace('"', '""') + '"' if quote else text, text=text)


def write_sheet(sheet: Sheet, rows: Iterable[Sequence[Cell]]) -> bytes:
    """Return the bytes of a file in the manner of ``sheet`` with these rows."""
    lines = [sheet.separator.join(one.raw for one in row) + sheet.newline for row in rows]
    return b"\xef\xbb\xbf" * sheet.bom + "".join(lines).encode("utf-8")
