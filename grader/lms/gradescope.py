"""Gradescope: "Export Submissions" of an assignment.

The folder ``assignment_<id>_export`` has ``submission_metadata.yml`` and a folder ``submission_<id>`` for each group or
person: the active submission. The sheet is Ruby's YAML, whose keys are symbols: ``:submitters``, ``:created_at``.
"""

from __future__ import annotations

import re

from grader.errors import ArchiveError
from grader.lms.junk import is_root_junk
from grader.lms.reading import Handed, Reader, Reading
from grader.lms.rubyyaml import read_sheet
from grader.lms.tree import Entry, Unreadable, View, quoted
from grader.model.attempt import Learner

__all__ = ["GRADESCOPE"]

_SHEET = "submission_metadata.yml"
_FOLDER = re.compile(r"(submission_([0-9]+))/(.+)", re.DOTALL)
_MAX_SHEET = 64_000_000
_MAX_SUBMITTERS = 100


def _share(view: View) -> float:
    return float(any(entry.name == _SHEET for entry in view.entries))


def _read(view: View, _assignment: str) -> Reading:
    people = _people(view)
    found: dict[str, list[tuple[str, Entry]]] = {}
    others = []
    for entry in view.entries:
        match = _FOLDER.fullmatch(entry.name)
        if match is not None:
            found.setdefault(match[1], []).append((match[3], entry))
        elif not is_root_junk(entry.name) and entry.name != _SHEET:
            others.append(f"{quoted(entry.name)} is nobody's: it lies in no folder of a submission.")
    keys = sorted(found.keys() | people.keys(), key=lambda key: (len(key), key))
    attempts = [_handed(key, found.get(key, []), people.get(key)) for key in keys]
    return Reading(title="", attempts=tuple(attempts), others=tuple(others))


def _people(view: View) -> dict[str, dict[str, object]]:
    sheet = next((entry for entry in view.entries if entry.name == _SHEET), None)
    if sheet is None:
        raise ArchiveError(
            f"There is no {_SHEET} in {quoted(view.tree.title)}, so nobody knows whose the submissions are.",
            hint="Name the whole export, not a folder of it.",
        )
    try:
        content = view.tree.read(sheet, _MAX_SHEET)
    except Unreadable as error:
        raise ArchiveError(f"{_SHEET} can't be read: {error}.", hint="Export the submissions again.") from error
    return {key: value for key, value in read_sheet(content, _SHEET).items() if key.startswith("submission_")}


def _handed(key: str, files: list[tuple[str, Entry]], about: dict[str, object] | None) -> Handed:
    learners: tuple[Learner, ...] = ()
    remarks: tuple[str, ...] = ()
    if about is None:
        about = {}
        remarks = (f"{_SHEET} doesn't say whose {quoted(key)} is.",)
    submitters = about.get("submitters")
    if isinstance(submitters, list):
        learners = tuple(_learner(person) for person in submitters[:_MAX_SUBMITTERS] if isinstance(person, dict))
    created = about.get("created_at")
    return Handed(
        key=key.removeprefix("submission_"),
        learners=learners or (Learner(name=""),),
        files=tuple(files),
        label=key,
        submitted=created if isinstance(created, str) else "",
        remarks=remarks,
    )


def _learner(person: dict[str, object]) -> Learner:
    known = {kind: value for kind in ("name", "email", "sid") if isinstance(value := person.get(kind), str) and value}
    return Learner(name=known.pop("name", ""), ids=tuple(known.items()))


GRADESCOPE = Reader(kind="gradescope", name="Gradescope", share=_share, read=_read)
