"""Which of an attempt's files is the submission, as far as names tell."""

from __future__ import annotations

import re

from grader.lms.junk import is_gradable, is_junk
from grader.lms.tree import nfc
from grader.model.attempt import Attempt, HandedFile

__all__ = ["candidates"]

_COPY = re.compile(r"(?:-[0-9]+| ?\([0-9]+\))(?=\.[^.]+\Z)")
"""What Canvas puts behind the name of a file that is handed in again, and what browsers put behind downloads."""


def candidates(attempt: Attempt, expected: tuple[str, ...]) -> tuple[HandedFile, ...]:
    """Return the files that may be the submission, the likeliest first.

    One file: it is the submission. Several: names don't decide, so somebody has to look which functions each defines.
    None: there is no .py or .ipynb file.

    Args:
        attempt: What was handed in.
        expected: Names that a submission should have, such as those of the starter files, the likeliest first.
            Capitals, the Unicode form and a number that Canvas or a browser added make no difference.
    """
    files = [file for file in attempt.files if is_gradable(file.name) and not is_junk(file.name)]
    if len(files) < 2:
        return tuple(files)
    places = {_plain(name): place for place, name in reversed(list(enumerate(expected)))}
    named = [(places[_base(file)], file) for file in files if _base(file) in places]
    if not named:
        stripped = [(_COPY.sub("", _base(file)), file) for file in files]
        named = [(places[base], file) for base, file in stripped if base in places]
    if not named:
        return tuple(sorted(files, key=lambda file: (_depth(file), _plain(file.name), file.name)))
    # A copy in a folder further down is an older one, or a backup.
    top = min(_depth(file) for _, file in named)
    named = [(place, file) for place, file in named if _depth(file) == top]
    return tuple(file for _, file in sorted(named, key=lambda item: (item[0], _plain(item[1].name), item[1].name)))


def _plain(name: str) -> str:
    return nfc(name).casefold()


def _base(file: HandedFile) -> str:
    return _plain(file.name.rpartition("/")[2])


def _depth(file: HandedFile) -> int:
    return file.name.count("/")
