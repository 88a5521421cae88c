"""Moodle: "Download all submissions", with and without folders, also with blind marking.

Names are those of ``mod/assign/classes/downloader.php``: ``<full name>_<number>_assignsubmission_<plugin>`` and then
``/`` (before Moodle 4.1 ``_/``) or, without folders, ``_``. The number is the participant's in this assignment, or the
group's id where groups hand in. Full names have no ``_``, and people may share one: only the number counts.
"""

from __future__ import annotations

import re

from grader.lms.junk import is_root_junk
from grader.lms.reading import TYPED_IN, Handed, Reader, Reading
from grader.lms.tree import Entry, View, quoted
from grader.model.attempt import Learner

__all__ = ["MOODLE"]

_NAME = re.compile(
    r"(?P<folder>(?P<who>[^/]*?)(?:_(?P<number>[0-9]+))?_assignsubmission_(?P<plugin>[a-z]+))"
    r"(?P<cut>_?/|_)(?P<rest>.+)",
    re.DOTALL,
)
_TITLE = re.compile(r"(.+)-[0-9]+(?: ?\([0-9]+\))?")
_NAMESAKES = 2
_DEFAULT_GROUP = "default group"
_NO_NUMBER = (
    "Moodle's default group has no number, so feedback for it can't be sent back in a zip: enter it by hand, or make "
    "groups that hand in."
)


def _match(name: str) -> re.Match[str] | None:
    """Match an entry's name, also below one more folder, as people make when they unpack and pack again."""
    found = _NAME.fullmatch(name)
    return found or _NAME.fullmatch(name.partition("/")[2])


def _share(view: View) -> float:
    names = [entry.name for entry in view.entries if not is_root_junk(entry.name)]
    return sum(_match(name) is not None for name in names) / len(names) if names else 0.0


def _read(view: View, _assignment: str) -> Reading:
    found: dict[str, list[tuple[re.Match[str], Entry]]] = {}
    others = []
    for entry in view.entries:
        match = _match(entry.name)
        if match is not None:
            found.setdefault(match["number"] or _DEFAULT_GROUP, []).append((match, entry))
        elif not is_root_junk(entry.name):
            others.append(f"{quoted(entry.name)} is nobody's: Moodle doesn't name submissions like that.")
    title = _TITLE.fullmatch(view.tree.title)
    shown = {match["who"] for matches in found.values() for match, _ in matches}
    # Where marking is blind, all have one name: "Participant", in the site's language.
    blind = shown == {"Participant"} or (len(shown) == 1 and len(found) > _NAMESAKES)
    attempts = [_handed(key, found[key], blind=blind) for key in sorted(found, key=lambda key: (len(key), key))]
    return Reading(title=title[1] if title else "", attempts=tuple(attempts), others=tuple(others))


def _handed(key: str, found: list[tuple[re.Match[str], Entry]], *, blind: bool) -> Handed:
    names = list(dict.fromkeys(match["who"] for match, _ in found))
    files = [(match["rest"] if match["plugin"] == "file" else f"{match['plugin']}/{match['rest']}", entry)
             for match, entry in found]  # fmt: skip
    remarks = []
    if key == _DEFAULT_GROUP:
        remarks.append(_NO_NUMBER)
    if len(names) > 1:
        remarks.append(f"Number {key} stands beside several names: {', '.join(map(quoted, names))}.")
    typed = all(match["plugin"] != "file" for match, _ in found)
    ids = () if key == _DEFAULT_GROUP else (("participant", key),)
    return Handed(
        key=key,
        learners=(Learner(name="" if blind else names[0], ids=ids),),
        files=tuple(files),
        label=_label([match for match, _ in found]),
        reason=TYPED_IN if typed else "",
        remarks=tuple(remarks),
    )


def _label(matches: list[re.Match[str]]) -> str:
    """Return the name of the folder that Moodle wants feedback in: the one that the files came in."""
    for match in matches:
        if match["plugin"] == "file":
            # Moodle before 4.1 ends its folders with one more underscore, and wants it back.
            return match["folder"] + ("_" if match["cut"] == "_/" else "")
    return f"{matches[0]['folder'].rpartition('_')[0]}_file"


MOODLE = Reader(kind="moodle", name="Moodle", share=_share, read=_read)
