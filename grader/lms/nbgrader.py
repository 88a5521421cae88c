"""nbgrader: a course folder or its ``submitted`` tree, and the exchange's ``inbound`` folder.

``submitted/<student>/<assignment>/...`` with a ``timestamp.txt``; in ``inbound`` each submission is a folder
``<student>+<assignment>+<timestamp>`` and perhaps ``+<random>``, so that a student may have several.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable

from grader.errors import ArchiveError
from grader.lms.junk import is_root_junk
from grader.lms.reading import Handed, Reader, Reading
from grader.lms.tree import Entry, Unreadable, View, quoted
from grader.model.attempt import Learner

__all__ = ["NBGRADER"]

_ROOT = "submitted/"
_TIME = "timestamp.txt"
_PERHAPS = 0.1
_INBOUND = re.compile(r"(?P<who>[^/+]+)\+(?P<task>[^/+]+)\+(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2} [^/+]+)(?:\+[^/]*)?")


def _share(view: View) -> float:
    """Whether the tree is nbgrader's: it has a folder ``submitted``, or is one, or time stamps stand where they do."""
    names = [entry.name for entry in view.entries if not is_root_junk(entry.name)]
    if view.tree.title == _ROOT[:-1] and any(name.count("/") > 1 for name in names):
        return 1.0
    if any(name.startswith(_ROOT) and name.count("/") > 2 for name in names):
        return 1.0
    if any(name.count("/") == 2 and name.endswith(f"/{_TIME}") for name in names):
        return 1.0
    tops = [name.partition("/")[0] for name in names if "/" in name]
    inbound = sum(_INBOUND.fullmatch(top) is not None for top in tops) / len(names) if tops else 0.0
    # Without time stamps it could be anybody's tree, so it is nbgrader's if somebody says so.
    return inbound or _PERHAPS * any(name.count("/") > 1 for name in names)


def _read(view: View, assignment: str) -> Reading:
    entries = [entry for entry in view.entries if not is_root_junk(entry.name)]
    if any(entry.name.startswith(_ROOT) for entry in entries):
        # A course has its own folders beside: source, release, autograded, feedback.
        entries = [
            Entry(name=entry.name.removeprefix(_ROOT), number=entry.number, trouble=entry.trouble)
            for entry in entries
            if entry.name.startswith(_ROOT)
        ]
    # Of each assignment, of each student, the submissions by their time.
    found: dict[str, dict[str, dict[str, list[tuple[str, Entry]]]]] = {}
    labels: dict[tuple[str, str], str] = {}
    others = []
    for entry in entries:
        top, _, rest = entry.name.partition("/")
        inbound = _INBOUND.fullmatch(top)
        if inbound is not None:
            student, task, time, file = inbound["who"], inbound["task"], inbound["time"], rest
            labels[student, time] = top
        else:
            (task, _, file), student, time = rest.partition("/"), top, ""
        if file:
            found.setdefault(task, {}).setdefault(student, {}).setdefault(time, []).append((file, entry))
        else:
            others.append(f"{quoted(entry.name)} is nobody's: it lies in no student's folder of an assignment.")
    chosen = _choose(found.keys(), assignment, view.tree.title)
    attempts = [_handed(view, student, found[chosen][student], labels) for student in sorted(found[chosen])]
    return Reading(title=chosen, attempts=tuple(attempts), others=tuple(others))


def _choose(tasks: Iterable[str], assignment: str, title: str) -> str:
    known = sorted(tasks)
    if assignment in known:
        return assignment
    if len(known) == 1:
        return known[0]
    if not known:
        raise ArchiveError(f"Nothing has been submitted in {quoted(title)}.", hint="Name the course's folder.")
    raise ArchiveError(
        f"{quoted(title)} has submissions of several assignments: {', '.join(known[:20])}.",
        hint="Name the folder of one of them, or keep only that one.",
    )


def _handed(
    view: View, student: str, times: dict[str, list[tuple[str, Entry]]], labels: dict[tuple[str, str], str]
) -> Handed:
    order = sorted(times)
    files = times[order[-1]]
    stamp = next((entry for name, entry in files if name == _TIME), None)
    submitted = order[-1]
    if stamp is not None:
        with contextlib.suppress(Unreadable):
            submitted = view.tree.read(stamp, 1000).decode("utf-8", "replace").strip()[:100] or submitted
    return Handed(
        key=student,
        learners=(Learner(name=student, ids=(("username", student),)),),
        files=tuple((name, entry) for name, entry in files if name != _TIME),
        label=labels.get((student, order[-1]), student),
        submitted=submitted,
        number=len(order) if len(order) > 1 else 0,
        remarks=tuple(f"The submission of {time} doesn't count: there is a later one." for time in order[:-1]),
    )


NBGRADER = Reader(kind="nbgrader", name="nbgrader", share=_share, read=_read)
