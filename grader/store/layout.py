"""Where a run keeps what isn't for learners: below its output folder, in a folder that is the instructor's alone."""

from __future__ import annotations

from pathlib import Path

__all__ = ["FOLDER", "PLACES", "transcript_path", "verdict_path"]

FOLDER = ".grade"
PLACES = ("files", "transcripts", "verdicts")
"""The folders in it."""


def transcript_path(out: Path, name: str) -> Path:
    """Return where the transcript of the submission lies whose results are in ``out / name``."""
    return out / FOLDER / "transcripts" / f"{name}.transcript"


def verdict_path(out: Path, name: str) -> Path:
    """Return where the verdicts on that submission lie."""
    return out / FOLDER / "verdicts" / f"{name}.json"
