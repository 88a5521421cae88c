"""What an instructor may want to look at: what code did beside answering. Never a verdict, and it costs no point."""

from __future__ import annotations

from grader.model import Note, Transcript

__all__ = ["KINDS", "integrity_notes"]

KINDS = ("files", "process", "network", "signal", "frames", "hooks", "ctypes", "patched")
"""What the worker notices; each has a text ``engine.integrity.<kind>``. Anything else is somebody's invention."""

MAX_SHOWN = 3
MAX_DETAIL = 60


def integrity_notes(transcript: Transcript) -> tuple[Note, ...]:
    """Return a note for each kind of event, with how many different ones there were and the first of them."""
    seen: dict[str, dict[str, None]] = {kind: {} for kind in KINDS}
    for outcome in transcript.outcomes:
        for event in outcome.events:
            if event.kind in seen:
                seen[event.kind][event.detail[:MAX_DETAIL]] = None
    return tuple(
        Note(
            text=f"engine.integrity.{kind}",
            params=(("count", len(details)), ("what", ", ".join(list(details)[:MAX_SHOWN]))),
            audience="instructor",
            kind="integrity",
        )
        for kind, details in seen.items()
        if details
    )
