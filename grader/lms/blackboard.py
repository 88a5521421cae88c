"""Blackboard Learn: the zip of an assignment's column, or of one assessment.

Names as several programs read them: ``<assignment>_<username>_attempt_<YYYY-MM-DD-HH-MM-SS>_<file>``, and for each
attempt a receipt ``<assignment>_<username>_attempt_<time>.txt`` that begins with ``Name: <full name> (<username>)`` and
ends with the files' original and stored names.
"""

from __future__ import annotations

import os
import re

from grader.lms.junk import is_root_junk
from grader.lms.reading import TYPED_IN, Handed, Reader, Reading
from grader.lms.tree import Entry, Unreadable, View, quoted
from grader.model._data import data
from grader.model.attempt import Learner

__all__ = ["BLACKBOARD"]

_NAME = re.compile(
    r"(?P<stem>.+?)_attempt_(?P<time>[0-9]{4}(?:-[0-9]{2}){5})(?:_(?P<file>.+)|(?P<receipt>\.txt))?", re.DOTALL
)
_WHO = re.compile(r"Name:\s*(?P<name>.*\S)\s*\((?P<user>[^()\s]+)\)\s*")
_FIELD = "Submission Field:"
_NOTHING_TYPED = "There is no student submission text data for this assignment."
_MAX_RECEIPT = 100_000


@data
class _Receipt:
    name: str
    user: str
    submitted: str
    typed: bool
    originals: tuple[tuple[str, str], ...]


def _share(view: View) -> float:
    names = [entry.name for entry in view.entries if not is_root_junk(entry.name)]
    return sum("/" not in name and _NAME.fullmatch(name) is not None for name in names) / len(names) if names else 0.0


def _read(view: View, _assignment: str) -> Reading:
    found, others = [], []
    for entry in view.entries:
        match = _NAME.fullmatch(entry.name) if "/" not in entry.name else None
        if match is not None:
            found.append((match, entry))
        elif not is_root_junk(entry.name):
            others.append(f"{quoted(entry.name)} is nobody's: Blackboard doesn't name submissions like that.")
    receipts = {
        (match["stem"], match["time"]): receipt
        for match, entry in found
        if match["receipt"] and (receipt := _receipt(view, entry, match["stem"])) is not None
    }
    title, users = _users({match["stem"] for match, _ in found}, receipts)
    attempts: dict[str, dict[str, list[tuple[re.Match[str], Entry]]]] = {}
    for match, entry in found:
        attempts.setdefault(users[match["stem"]], {}).setdefault(match["time"], []).append((match, entry))
    handed = [_handed(user, attempts[user], receipts) for user in sorted(attempts)]
    return Reading(title=title, attempts=tuple(handed), others=tuple(others))


def _receipt(view: View, entry: Entry, stem: str) -> _Receipt | None:
    """Read a receipt, or return None if it isn't this entry's. What the learner typed stands in it too."""
    try:
        lines = view.tree.read(entry, _MAX_RECEIPT).decode("utf-8-sig", "replace").splitlines()
    except Unreadable:
        return None
    # Blackboard's own lines come before what was typed, and its list of files after.
    who = next((match for line in lines[:3] if (match := _WHO.fullmatch(line.strip()))), None)
    if who is None or not stem.endswith(f"_{who['user']}"):
        return None
    stripped = [line.strip() for line in lines]
    field = next((number for number, line in enumerate(stripped) if line == _FIELD), len(stripped))
    date = next((line[15:].strip() for line in stripped[:field] if line.startswith("Date Submitted:")), "")
    text = next((line for line in stripped[field + 1 :] if line), "")
    originals, original = [], ""
    last = max((number for number, line in enumerate(stripped) if line == "Files:"), default=len(stripped))
    for line in stripped[last + 1 :]:
        label, _, value = line.partition(":")
        if label == "Original filename":
            original = value.strip()
        elif label == "Filename" and original:
            originals.append((value.strip(), original))
    typed = text not in ("", _NOTHING_TYPED, "Comments:", "Files:")
    return _Receipt(name=who["name"], user=who["user"], submitted=date[:100], typed=typed, originals=tuple(originals))


def _users(stems: set[str], receipts: dict[tuple[str, str], _Receipt]) -> tuple[str, dict[str, str]]:
    """Cut assignment and user name apart, each of which may hold ``_``: return the one and, by stem, the other."""
    users = {stem: receipt.user for (stem, _), receipt in receipts.items()}
    titles = {stem[: -len(user) - 1] for stem, user in users.items()}
    if len(titles) == 1:
        title = titles.pop()
    elif len(stems) > 1:
        title = os.path.commonprefix(sorted(stems)).rpartition("_")[0]  # noqa: RUF071  # letters are meant
    else:
        title = "".join(stems).rpartition("_")[0]
    for stem in stems - users.keys():
        start = f"{title}_"
        users[stem] = stem.removeprefix(start) if title and stem.startswith(start) else stem.rpartition("_")[2]
    return title, users


def _handed(
    user: str,
    attempts: dict[str, list[tuple[re.Match[str], Entry]]],
    receipts: dict[tuple[str, str], _Receipt],
) -> Handed:
    times = sorted(attempts)
    found = attempts[times[-1]]
    receipt = receipts.get((found[0][0]["stem"], times[-1]))
    originals = dict(receipt.originals) if receipt else {}
    files = [(originals.get(entry.name, match["file"]), entry) for match, entry in found if match["file"]]
    remarks = [f"The attempt of {time} doesn't count: there is a later one." for time in times[:-1]]
    typed = receipt is not None and receipt.typed
    return Handed(
        key=user,
        learners=(Learner(name=receipt.name if receipt else "", ids=(("username", user),)),),
        files=tuple(files),
        label=f"{found[0][0]['stem']}_attempt_{times[-1]}",
        submitted=(receipt.submitted if receipt else "") or times[-1],
        number=len(times) if len(times) > 1 else 0,
        reason="" if files else TYPED_IN if typed else "",
        remarks=tuple(remarks),
    )


BLACKBOARD = Reader(kind="blackboard", name="Blackboard", share=_share, read=_read)
