"""Who an attempt is of, in sentences: names are text from outside."""

from __future__ import annotations

import re
import unicodedata

from grader.model.attempt import Attempt, Learner
from grader.model.gradebook import Grade, Gradebook

__all__ = ["folded", "learners_of", "left_out", "plain", "ungraded", "who"]

_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]+")
"""Control characters, line ends and what changes the direction of text."""


def plain(text: str) -> str:
    """Return ``text`` for one line of a sentence or a cell: without control characters and line ends."""
    return " ".join(_HIDDEN.sub(" ", text).split())


def who(attempt: Attempt) -> str:
    """Name the learners of an attempt: by name, else by an id, else by its key."""
    named = [_one(learner) for learner in attempt.learners]
    return ", ".join(name for name in named if name) or plain(attempt.key) or "somebody"


def _one(learner: Learner) -> str:
    name = plain(learner.name)
    number = plain(learner.id("participant"))
    if number:  # tells namesakes apart, and is all there is where marking is blind
        return f"{name} (participant {number})" if name else f"participant {number}"
    return name or next((f"{plain(kind)} {plain(value)}" for kind, value in learner.ids if value), "")


def ungraded(grade: Grade) -> str:
    """Say why there are no points to send, or nothing if there are."""
    if grade.status == "graded" and grade.max_cents > 0:
        return ""
    reason = plain(grade.reason or grade.attempt.trouble) or "there is nothing to give points for"
    return f"not graded ({reason.rstrip('.')}), so nothing is sent."


def left_out(grade: Grade) -> str:
    """The same with the learner, for a list."""
    return f"{who(grade.attempt)}: {why}" if (why := ungraded(grade)) else ""


def learners_of(book: Gradebook) -> list[tuple[Grade, Learner]]:
    """Return each learner with their grade; an attempt of nobody stands with a learner without a name."""
    return [(grade, learner) for grade in book.grades for learner in grade.attempt.learners or (Learner(name=""),)]


def folded(name: str) -> str:
    """Return what stays of a name however a platform cleans it: letters and digits, without case."""
    return "".join(char for char in unicodedata.normalize("NFKC", name).casefold() if char.isalnum())
