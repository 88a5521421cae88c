"""Writing files so that nobody ever finds half of one: beside the place, then renamed."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from grader.errors import OutputError

__all__ = ["make_folder", "write_file", "write_folder"]


def write_file(path: Path, content: bytes | str, *, lasting: bool = True) -> None:
    """Write ``content`` to ``path``, whole or not at all; what stood there before stays until then.

    Args:
        path: The file.
        content: Text is written as UTF-8.
        lasting: Wait until it has reached the disk, which may take 50 ms. What can be made again need not.

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
            if lasting:
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


def write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Write files into ``folder``, which is made if need be: all of them beside their places first, then renamed.

    No symbolic link is followed, whoever put it there: not one in the folder's place, and not one in a file's.

    Raises:
        OutputError: If it can't be done; what stood there before may then have been replaced in part.
    """
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
        if not stat.S_ISDIR(folder.lstat().st_mode):
            raise OutputError(f"{folder} isn't a folder, so nothing is written there.", hint="Move it out of the way.")
        if os.open in os.supports_dir_fd:
            _write_below(folder, files)
        else:  # Windows
            for name, content in files.items():
                write_file(folder / name, content)
    except OSError as error:
        raise OutputError(
            f"{folder} can't be written ({error.strerror or error}).",
            hint="Free some space, or choose another folder with --out.",
        ) from error


def _write_below(folder: Path, files: Mapping[str, str]) -> None:
    """Write relative to the opened folder, so that nobody can change what its path means. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    beside = {name: f".{name}.{secrets.token_hex(6)}" for name in files}
    try:
        for name, content in files.items():
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with open(os.open(beside[name], flags, 0o666, dir_fd=handle), "wb") as file:
                file.write(content.encode("utf-8"))
        for name in files:
            os.replace(beside[name], name, src_dir_fd=handle, dst_dir_fd=handle)
    except BaseException:
        for name in beside.values():
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=handle)
        raise
    finally:
        os.close(handle)


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
