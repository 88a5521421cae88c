"""What Canvas does with an uploaded gradebook CSV, written from its rules."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field


class InvalidHeaderRow(Exception):
    """Canvas shows "Invalid header row" and imports nothing."""


@dataclass
class Canvas:
    """A course: students by id, with SIS id and login; scores by (student, assignment)."""

    students: dict[str, dict[str, str]]
    assignments: dict[str, str]
    scores: dict[tuple[str, str], str] = field(default_factory=dict)
    new_assignments: list[str] = field(default_factory=list)
    new_students: list[str] = field(default_factory=list)

    def upload(self, content: bytes) -> None:
        """Import a CSV."""
        text = content.decode("utf-8-sig")
        lines = text.split("\n")[:3]
        separator = ";" if _fields(lines, ";") > _fields(lines, ",") else ","
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
        header = rows[0]
        split = header[:2] == ["LastName", "FirstName"]
        names = 2 if split else 1
        if not (len(header) > 3 and (split or "Student" in header[0]) and "ID" in header[names]):
            raise InvalidHeaderRow
        info = names + 2
        sis = login = None
        if re.search(r"SIS\s+Login\s+ID", header[info - 1]):
            login, info = info - 1, info + 1
        elif re.search(r"SIS\s+User\s+ID", header[info - 1]) and re.search(r"SIS\s+Login\s+ID", header[info]):
            sis, login = info - 1, info
            info += 2 + ("Integration ID" in header[info + 1])
            info += "Root Account" in header[info - 1]
        if "Section" not in header[info - 1]:
            raise InvalidHeaderRow
        columns = {}
        for index, text in enumerate(header[info:], info):
            found = re.fullmatch(r"(.*) \((\d+)\)", text)
            if found and found[2] in self.assignments:
                columns[index] = found[2]
            else:
                self.new_assignments.append(text)
        read_only: set[int] = set()
        for row in rows[1:]:
            if "Points Possible" in row[0]:
                read_only = {index for index in columns if "read only" in row[index]}
            elif all(re.fullmatch(r"\s*(Muted|Manual Posting.*)?\s*", one, re.I) for one in row):
                continue
            else:
                student = self._find(row, names, sis, login)
                for index, assignment in columns.items():
                    if student and index not in read_only:
                        self._take(student, assignment, number(row[index]).strip())

    def _find(self, row: list[str], at: int, sis: int | None, login: int | None) -> str:
        if row[at] in self.students:
            return row[at]
        for column, key in ((sis, "sis"), (login, "login")):
            for student, ids in self.students.items():
                if column is not None and row[column] and ids.get(key) == row[column]:
                    return student
        self.new_students.append(row[0])
        return ""

    def _take(self, student: str, assignment: str, text: str) -> None:
        before = self.scores.get((student, assignment), "")
        if before and text and "EX" not in (before, text) and abs(float(before) - float(text)) < 0.01:
            return
        self.scores[student, assignment] = text


def number(text: str) -> str:
    """Turn what looks like a number into one: its last dot or comma is the decimal point."""
    if not re.fullmatch(r"-?[0-9.,]+%?", text):
        return text
    *parts, last = re.split(r"[,.]", text)
    return f"{''.join(parts)}.{last}" if parts else last


def _fields(lines: list[str], separator: str) -> int:
    try:
        counts = {len(next(csv.reader([line], delimiter=separator, strict=True), [])) for line in lines if line}
    except csv.Error:
        return 0
    return counts.pop() if len(counts) == 1 else 0
