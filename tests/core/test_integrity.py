"""Integrity notes: for the instructor alone, and never a verdict."""

from __future__ import annotations

import pytest

from grader.core.integrity import KINDS, integrity_notes
from grader.core.judge import judge
from grader.core.score import conclude
from grader.model import Event, Outcome
from tests.core.tiny import ENGINE_TEXTS, RIGHT, course, rehearse, transcript_of


def outcome(*events: tuple[str, str]) -> Outcome:
    """Return an outcome in which these were noticed."""
    made = tuple(Event(kind=kind, detail=detail) for kind, detail in events)
    return Outcome(call="double/usual", kind="returned", events=made)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_sentence(kind: str) -> None:
    """What was noticed is told in words, to the instructor."""
    (note,) = integrity_notes(transcript_of(outcomes=(outcome((kind, "a"), (kind, "b"), (kind, "a")),)))

    assert (note.audience, note.kind) == ("instructor", "integrity")
    assert dict(note.params) == {"count": 2, "what": "a, b"}
    assert "a, b" in ENGINE_TEXTS.render(note.text, note.params)


def test_what_only_a_forger_says_is_left_out() -> None:
    """A reply may claim any kind and any text: unknown kinds are nothing, and little is shown of much."""
    forged = [("engine.load", "x"), ("", ""), *(("files", str(i) * 90) for i in range(9))]
    (note,) = integrity_notes(transcript_of(outcomes=(outcome(*forged),)))

    assert note.text == "engine.integrity.files"
    assert dict(note.params)["count"] == 9
    assert len(str(dict(note.params)["what"])) < 200


def test_no_point_hangs_on_them() -> None:
    """The same answers are worth the same, whatever was noticed."""
    transcript, _ = rehearse(course(), RIGHT)
    noticed = transcript_of(
        calls=transcript.calls,
        outcomes=tuple(
            Outcome(
                call=o.call, kind=o.kind, value=o.value, callables=o.callables, events=outcome(("frames", "f")).events
            )
            for o in transcript.outcomes
        ),
    )
    plain, watched = (conclude(course(), t, judge(course(), t)) for t in (transcript, noticed))

    assert watched.cents == plain.cents == plain.max_cents
    assert [note.kind for note in watched.notes] == ["integrity"]
