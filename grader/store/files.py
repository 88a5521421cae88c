"""Writing files so that nobody ever finds half of one: beside the place, then renamed."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from grader.errors import OutputError

__all__ = ["make_folder", "write_file"]


def write_file(path: Path, content: bytes | str) -> None:
    """Write ``content`` to ``path``, whole or not at all; what stood there before stays until then.

    Raises:
        OutputError: If it can't be written: no right to, no space.
    """
    raw = content if isinstance(content, bytes) else content.encode("utf-8")
    name = ""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes it private; a report is an ordinary file.
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except OSError as error:
        raise OutputError(
            f"{path} can't be written ({error.strerror or error}).",
            hint="Free some space, or choose another folder with --out.",
        ) from error
    finally:
        if name:
            with contextlib.suppress(OSError):
                Path(name).unlink()


def make_folder(path: Path) -> None:
    """Make a folder and those above it. Raises OutputError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"The folder {path} can't be made ({error.strerror or error}).", hint="Choose another one with --out."
        ) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
