"""Canvas: submissions.zip.

Names are those of ``lib/content_zipper.rb``: ``<name>[_LATE]_<user id>_<attachment id>_<file>``, or after the user id
``text.html`` or ``link.html``; with anonymous marking ``[LATE_]anon_<anonymous id>_...``. The name is the sortable one
in lower case and has word characters only. Where groups hand in, it is the group's, with one member's user id.
"""

from __future__ import annotations

import itertools
import re
import unicodedata

from grader.lms.junk import is_gradable, is_root_junk
from grader.lms.reading import TYPED_IN, Handed, Reader, Reading
from grader.lms.tree import Entry, View, quoted
from grader.model._data import data
from grader.model.attempt import Learner

__all__ = ["CANVAS"]

_REST = r"(?:(?P<attachment>[0-9]+)_(?P<file>.+)|(?P<typed>text|link)\.html)"
# A look-ahead, so that each place is found where a name could be cut.
_PARTS = re.compile(rf"(?=(?P<late>_LATE)?_(?P<id>[0-9]+)_{_REST}\Z)", re.DOTALL)
_ANONYMOUS = re.compile(rf"(?P<late>LATE_)?anon_(?P<id>[A-Za-z0-9]+)_{_REST}", re.DOTALL)
_MAX_WAYS = 6
_LINK = "a link was handed in, not a file"


@data
class _Parsed:
    """One way to read an entry's name."""

    who: str
    id: str
    late: bool
    file: str
    typed: str


def _share(view: View) -> float:
    names = [entry.name for entry in view.entries if not is_root_junk(entry.name)]
    return sum(bool(_ways(name)) or _anonymous(name) is not None for name in names) / len(names) if names else 0.0


def _read(view: View, _assignment: str) -> Reading:
    entries = [entry for entry in view.entries if not is_root_junk(entry.name)]
    blind = [(entry, _anonymous(entry.name)) for entry in entries]
    # An assignment is anonymous as a whole. Ids are five letters or digits, so all digits are a user's id, and the
    # user is called Anon.
    if any(parsed is not None and not parsed.id.isdigit() for _, parsed in blind):
        found, kind = [(entry, parsed) for entry, parsed in blind if parsed is not None], "canvas_anonymous"
    else:
        found, kind = _agree([(entry, _ways(entry.name)) for entry in entries]), "canvas"
    known = {entry.number for entry, _ in found}
    others = [
        f"{quoted(entry.name)} is nobody's: Canvas doesn't name submissions like that."
        for entry in entries
        if entry.number not in known
    ]
    by_id: dict[str, list[tuple[Entry, _Parsed]]] = {}
    for entry, parsed in found:
        by_id.setdefault(parsed.id, []).append((entry, parsed))
    attempts = [_handed(key, kind, by_id[key]) for key in sorted(by_id, key=lambda key: (len(key), key))]
    return Reading(title="", attempts=tuple(attempts), others=tuple(others))


def _anonymous(name: str) -> _Parsed | None:
    found = _ANONYMOUS.fullmatch(name)
    return None if found is None or "/" in name else _parsed("", found)


def _ways(name: str) -> tuple[_Parsed, ...]:
    """Return every way to read a name; the first is the one that Canvas itself takes when files are sent back."""
    if "/" in name:
        return ()
    ways = []
    for found in itertools.islice(_PARTS.finditer(name), _MAX_WAYS):
        who = name[: found.start()]
        if not all(_is_word(letter) for letter in who):
            break  # nor is any longer one
        # "_LATE" is found with and without; names are in lower case, so it is never a part of one.
        if not who.endswith("_LATE"):
            ways.append(_parsed(who, found))
    return tuple(ways)


def _is_word(letter: str) -> bool:
    """Whether Ruby's ``[[:word:]]`` has the letter: letters, marks, decimal digits, connectors."""
    return unicodedata.category(letter) in ("Nd", "Pc") or unicodedata.category(letter)[0] in "LM" or letter.isalnum()


def _parsed(who: str, found: re.Match[str]) -> _Parsed:
    return _Parsed(who=who, id=found["id"], late=bool(found["late"]), file=found["file"] or "",
                   typed=found["typed"] or "")  # fmt: skip


def _agree(found: list[tuple[Entry, tuple[_Parsed, ...]]]) -> list[tuple[Entry, _Parsed]]:
    """Choose a way to read each name. A user has one name, so what can be read in one way only decides for others."""
    owners: dict[str, set[str]] = {}
    for _, ways in found:
        if len(ways) == 1:
            owners.setdefault(ways[0].id, set()).add(ways[0].who)
    return [
        (entry, next((way for way in ways if way.who in owners.get(way.id, {way.who})), ways[0]))
        for entry, ways in found
        if ways
    ]


def _handed(key: str, kind: str, found: list[tuple[Entry, _Parsed]]) -> Handed:
    names = list(dict.fromkeys(parsed.who for _, parsed in found))
    files = [(parsed.file or f"{parsed.typed}.html", entry) for entry, parsed in found]
    typed = {parsed.typed for _, parsed in found}
    reason = "" if "" in typed else TYPED_IN if "text" in typed else _LINK
    trouble = ""
    if len(names) > 1:
        trouble = f"files of several names carry the user id {key} ({', '.join(map(quoted, names))}): keep this one's"
    return Handed(
        key=key,
        learners=(Learner(name=names[0], ids=((kind, key),)),),
        files=tuple(files),
        label=_label(files),
        late=any(parsed.late for _, parsed in found),
        reason=reason,
        trouble=trouble,
    )


def _label(files: list[tuple[str, Entry]]) -> str:
    """Return the entry that feedback would be named like: the first that can be graded, else the first."""
    return next((entry.name for name, entry in files if is_gradable(name)), files[0][1].name)


CANVAS = Reader(kind="canvas", name="Canvas", share=_share, read=_read)
