"""``gradebook.csv``: all grades of a run, for people and their spreadsheet programs."""

from __future__ import annotations

import csv
import io

from grader.lms.out.people import learners_of, plain
from grader.lms.out.points import points
from grader.model.attempt import Learner
from grader.model.gradebook import Grade, Gradebook

__all__ = ["COLUMNS", "gradebook_csv"]

IDS = ("participant", "username", "email", "sis", "canvas")
COLUMNS = ("learner", *IDS, "file", "status", "score", "max_score", "late", "submitted", "reason", "look", "folder")
"""They keep their names and order; a column ``task.<id>`` for each task follows."""

_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def gradebook_csv(book: Gradebook) -> bytes:
    """Return the table: UTF-8 with a byte-order mark, a row for each learner, in the order of the run.

    What isn't graded has no score, rather than 0. Text that a spreadsheet program would take for a formula begins with
    an apostrophe.
    """
    tasks = list(dict.fromkeys(task.id for grade in book.grades for task in grade.tasks))
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\r\n").writerow
    write([*COLUMNS, *(_safe(f"task.{task}") for task in tasks)])
    for grade, learner in learners_of(book):
        write(_row(grade, learner, tasks))
    return b"\xef\xbb\xbf" + out.getvalue().encode("utf-8")


def _row(grade: Grade, learner: Learner, tasks: list[str]) -> list[str]:
    attempt = grade.attempt
    graded = grade.status == "graded"
    texts = [learner.name, *(learner.id(kind) for kind in IDS), "; ".join(file.name for file in attempt.files)]
    reached = {task.id: points(task.cents) for task in grade.tasks} if graded else {}
    return [
        *map(_safe, texts),
        grade.status,
        points(grade.cents) if graded else "",
        points(grade.max_cents) if graded else "",
        {True: "yes", False: "no", None: ""}[attempt.late],
        *map(_safe, (attempt.submitted, grade.reason, " ".join(grade.look), grade.folder)),
        *(reached.get(task, "") for task in tasks),
    ]


def _safe(text: str) -> str:
    text = plain(text)
    return f"'{text}" if text.startswith(_FORMULA) else text
