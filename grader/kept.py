"""What was worked out from a file, kept in ``__pycache__`` beside it as Python keeps compiled modules.

Only a saving: where nothing can be written, or nothing is there, it is worked out again. Who keeps something also keeps
by what it was made, and looks whether that is still the same. It is trusted as Python trusts its own ``__pycache__``:
whoever may write there may write the file itself, too.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

__all__ = ["keep", "kept", "place_of"]


def place_of(source: Path, kind: str) -> Path:
    """Return where something made of ``source`` is kept; ``kind`` tells what it is, as the end of a file's name."""
    return source.parent / "__pycache__" / f"{source.name}.{kind}"


def kept(place: Path) -> bytes | None:
    """Return what is kept there, if anything is."""
    try:
        return place.read_bytes()
    except OSError:
        return None


def keep(place: Path, content: bytes) -> None:
    """Keep ``content``, whole or not at all; nothing happens where Python wouldn't write bytecode either."""
    if sys.dont_write_bytecode:
        return
    beside = place.with_name(f"{place.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        place.parent.mkdir(exist_ok=True)
        try:
            beside.write_bytes(content)
            beside.replace(place)
        finally:
            beside.unlink(missing_ok=True)
