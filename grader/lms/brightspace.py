"""D2L Brightspace: "Download" in an assignment's list of submissions.

Each submission is a folder ``<user id>-<submission id> - <name> - <date>``, the date in the site's language:
``152711-351765 - John Doe - May 18, 2025 1224 PM``. Some sites have no folders: the same, `` - `` and the file's name.
"""

from __future__ import annotations

import re

from grader.lms.junk import is_root_junk
from grader.lms.reading import Handed, Reader, Reading
from grader.lms.tree import Entry, View, quoted
from grader.model._data import data
from grader.model.attempt import Learner

__all__ = ["BRIGHTSPACE"]

_PERSON = re.compile(r"([0-9]+)-[0-9]+")
_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])")
_ENGLISH = re.compile(r"([A-Z][a-z]{2})[a-z]{0,6} ([0-9]{1,2}), ([0-9]{4}) ([0-9]{1,2}):?([0-9]{2}) ([AP])M")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TITLE = re.compile(r"(.+) Download .*[0-9]{4}.*")
_INDEX = "index.html"


@data
class _Named:
    """What an entry's name says. ``folder`` is all that stands before the file's own name."""

    folder: str
    user: str
    who: str
    date: str
    file: str


def _match(name: str) -> _Named | None:
    """Take a name apart; people's names and files may hold `` - `` too."""
    folder, slash, inside = name.partition("/")
    parts = folder.split(" - ")
    person = _PERSON.fullmatch(parts[0])
    if person is None or len(parts) < 3:
        return None
    # With folders the date comes last; without, it is the first part that looks like one, and the file follows.
    last = len(parts) - 1 if slash else next((n for n in range(2, len(parts) - 1) if _YEAR.search(parts[n])), 0)
    if not last or not _YEAR.search(parts[last]):
        return None
    file = inside if slash else " - ".join(parts[last + 1 :])
    return _Named(folder=" - ".join(parts[: last + 1]), user=person[1], who=" - ".join(parts[1:last]),
                  date=parts[last], file=file) if file else None  # fmt: skip


def _share(view: View) -> float:
    names = [entry.name for entry in view.entries if not is_root_junk(entry.name) and entry.name != _INDEX]
    return sum(_match(name) is not None for name in names) / len(names) if names else 0.0


def _read(view: View, _assignment: str) -> Reading:
    found: dict[str, dict[str, list[tuple[_Named, Entry]]]] = {}
    others = []
    for entry in view.entries:
        match = _match(entry.name)
        if match is not None:
            found.setdefault(match.user, {}).setdefault(match.folder, []).append((match, entry))
        elif not is_root_junk(entry.name) and entry.name != _INDEX:
            others.append(f"{quoted(entry.name)} is nobody's: Brightspace doesn't name submissions like that.")
    title = _TITLE.fullmatch(view.tree.title)
    handed = [_handed(user, found[user]) for user in sorted(found, key=lambda user: (len(user), user))]
    return Reading(title=title[1] if title else "", attempts=tuple(handed), others=tuple(others))


def _handed(user: str, folders: dict[str, list[tuple[_Named, Entry]]]) -> Handed:
    order = list(folders)
    dates = {name: _moment(folders[name][0][0].date) for name in order}
    remarks = []
    if len(order) > 1:
        if all(dates.values()):
            order.sort(key=lambda name: dates[name] or ())
        else:
            remarks.append(
                "There are several submissions whose dates can't be read, so the last one of the archive counts: "
                "look whether it is the latest."
            )
        remarks += [f"{quoted(name)} doesn't count: there is a later one." for name in order[:-1]]
    found = folders[order[-1]]
    match = found[0][0]
    return Handed(
        key=user,
        learners=(Learner(name=match.who, ids=(("brightspace", user),)),),
        files=tuple((match.file, entry) for match, entry in found),
        label=match.folder,
        submitted=match.date,
        number=len(order) if len(order) > 1 else 0,
        remarks=tuple(remarks),
    )


def _moment(text: str) -> tuple[int, ...] | None:
    """Return what an English date says, as numbers that sort by time, else None."""
    found = _ENGLISH.fullmatch(text)
    if found is None or found[1] not in _MONTHS:
        return None
    hour = int(found[4]) % 12 + (12 if found[6] == "P" else 0)
    return int(found[3]), _MONTHS.index(found[1]), int(found[2]), hour, int(found[5])


BRIGHTSPACE = Reader(kind="brightspace", name="Brightspace", share=_share, read=_read)
