"""What Moodle 4.5 does with an uploaded worksheet and feedback zip, written from its rules."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field

ENGLISH = {
    "id": "Identifier",
    "grade": "Grade",
    "modified": "Last modified (grade)",
    "comments": "Feedback comments",
}


@dataclass
class Record:
    """What Moodle stores of a participant in an assignment; ``grade`` is None if there is no record, -1 if none yet."""

    grade: float | None = None
    changed: float = 0.0
    comment: str = ""
    locked: bool = False
    files: dict[str, bytes] = field(default_factory=dict)
    submitted: dict[str, bytes] = field(default_factory=dict)


class ImportRefused(Exception):
    """Moodle shows an error and imports nothing."""


@dataclass
class Moodle:
    """An assignment: participants by their number in it, and the words of whoever uploads."""

    people: dict[int, Record]
    maximum: float = 100.0
    words: dict[str, str] = field(default_factory=lambda: dict(ENGLISH))
    decimal: str = "."
    now: float = 2e9

    def upload_worksheet(self, content: bytes, separator: str = ",", ignore_modified: bool = False) -> None:
        """Import a worksheet."""
        text = content.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").rstrip()
        if '\\"' in text:
            raise ImportRefused("a backslash before a quotation mark shifts the columns")
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
        header = rows[0]
        if any(len(row) != len(header) for row in rows):
            raise ImportRefused("a row has another number of columns")
        try:
            at = {key: header.index(self.words[key]) for key in ("id", "grade", "modified")}
        except ValueError as error:
            raise ImportRefused("Moodle could not read the uploaded worksheet") from error
        comments = header.index(self.words["comments"]) if self.words["comments"] in header else 0
        for row in rows[1:]:
            found = re.search(r"(\d+)$", row[at["id"]])
            record = self.people.get(int(found[1])) if found else None
            if record is not None:
                self._take(
                    record,
                    row[at["grade"]],
                    timestamp(row[at["modified"]]),
                    row[comments] if comments else None,
                    ignore_modified,
                )

    def _take(self, record: Record, text: str, modified: float, comment: str | None, ignore: bool) -> None:
        exists = record.grade is not None
        stale = exists and record.changed > modified + 60
        value = self.parse(text)
        wanted = value is not None and value != record.grade and 0 <= value <= self.maximum
        if wanted and not record.locked and (ignore or not stale):
            record.grade, record.changed = round(value or 0.0, 5), self.now
        if comment is not None and (ignore or not stale) and comment != record.comment:
            record.comment, record.changed = comment, self.now
            record.grade = -1.0 if record.grade is None else record.grade

    def parse(self, text: str) -> float | None:
        """Read a number as PHP does: as far as it goes."""
        text = text.replace(" ", "").replace(self.decimal, ".")
        if not text:
            return None
        found = re.match(r"-?\d*\.?\d*", text)
        assert found is not None
        return float(found[0] or 0)

    def upload_zip(self, content: bytes) -> tuple[int, list[str]]:
        """Import a feedback zip; return how many files were taken, and the paths that were passed over."""
        taken, ignored = 0, []
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert archive.testzip() is None
            for path in archive.namelist():
                place = self.place(path)
                if place is None or self.people[place[0]].submitted.get(place[1]) == archive.read(path):
                    ignored.append(path)
                    continue
                record = self.people[place[0]]
                record.files[place[1]] = archive.read(path)
                record.grade = -1.0 if record.grade is None else record.grade
                taken += 1
        return taken, ignored

    def place(self, path: str) -> tuple[int, str] | None:
        """Return participant and file name of a path in a zip."""
        parts = path.split("/")
        if parts[-1].startswith((".", "~")):
            return None
        while parts:
            info = parts.pop(0).split("_", 4)
            if len(info) < 4 or not info[1].isdigit() or int(info[1]) not in self.people:
                continue
            plugins = {"assignsubmission": ("file", "onlinetext"), "assignfeedback": ("file", "comments", "offline")}
            if info[3] not in plugins.get(info[2], ()):
                continue
            return int(info[1]), "/".join([*info[4:], *parts])
        return None


def timestamp(text: str) -> float:
    """Read a date as ``strtotime`` does, which knows English only; what it can't read is 1970."""
    try:
        moment = dt.datetime.strptime(f"{text} +0000", "%A, %d %B %Y, %I:%M %p %z")
    except ValueError:
        return 0.0
    return moment.timestamp()


def assignment(numbers: range, change: Callable[[int], Record] = lambda number: Record()) -> Moodle:
    """Make an assignment with these participants."""
    return Moodle({number: change(number) for number in numbers})
