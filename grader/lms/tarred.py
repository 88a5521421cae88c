"""Reads tar archives in one pass, into files of ours."""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from grader.errors import ArchiveError
from grader.lms.shelf import Shelf
from grader.lms.tree import (
    MAX_ENTRIES,
    MAX_FILE,
    NO_LINKS,
    NOT_ORDINARY,
    Entry,
    Unreadable,
    quoted,
    refusal,
    too_large,
)

__all__ = ["TarTree"]

MAX_BYTES = 4 << 30
"""All that may come out of one, with what is skipped."""

_BLOCK = 512
_MAX_PIECE = 1 << 24

_BROKEN = (tarfile.TarError, EOFError, OSError, zlib.error, ValueError)


class _Guarded:
    """A file that gives no more than 16 MiB at once: a header may ask for as much as it likes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _MAX_PIECE:
            raise OSError("a header of this archive is too large")
        return self._file.read(size)


class TarTree:
    """A tar archive, plain or gzipped: what it holds was written below ``shelf`` when this was made.

    A tar archive has no directory, so its entries can't be had one by one. Links are never made: a hard link of one
    is a name for another entry, and is left out too.

    Raises:
        ArchiveError: If it is no tar archive, cut short, or holds too much.
    """

    def __init__(self, path: Path, shelf: Shelf, *, title: str = "") -> None:
        self.title = title
        self._places: list[Path | None] = []
        self._entries: list[Entry] = []
        self._folders: list[str] = []
        self._others: list[str] = []
        self._left = MAX_BYTES
        self._folder = shelf.folder("archive")
        try:
            with _opened(path) as file, tarfile.open(fileobj=_Guarded(file), mode="r:") as archive:  # type: ignore[call-overload]  # it reads, seeks and tells: all that is asked of it
                for count, member in enumerate(archive):
                    if count >= MAX_ENTRIES:
                        raise ArchiveError(
                            f"{quoted(path.name)} has more than {MAX_ENTRIES:,} entries.",
                            hint="Unpack it, and name the folder with what was handed in.",
                        )
                    self._left -= member.size
                    if self._left < 0:
                        raise ArchiveError(
                            f"{quoted(path.name)} unpacks to more than {MAX_BYTES >> 30} GiB.",
                            hint="Unpack it, and name the folder with what was handed in.",
                        )
                    self._take(archive, member, shelf)
                # tarfile takes a header that it can't read for the end. The true end is a block of zeros.
                file.seek(archive.offset)
                if file.read(_BLOCK) != bytes(_BLOCK):
                    raise EOFError
        except _BROKEN as error:
            raise ArchiveError(
                f"{quoted(path.name)} is not a whole tar archive: it was cut short or damaged on its way.",
                hint="Make or download it again, or unpack it and name the folder.",
            ) from error
        self.entries, self.folders = tuple(self._entries), tuple(self._folders)
        self.closed: Mapping[str, str] = {}
        self.others = tuple(self._others)

    def _take(self, archive: tarfile.TarFile, member: tarfile.TarInfo, shelf: Shelf) -> None:
        name = member.name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        name = name.removeprefix("./")
        if member.isdir():
            if not refusal(name):
                self._folders.append(name.removesuffix("/"))
            return
        if refusal(name):
            self._others.append(f"{quoted(name)} was left out: {refusal(name)}.")
            return
        place, trouble = None, ""
        if member.issym() or member.islnk():
            trouble = NO_LINKS
        elif not member.isreg():
            trouble = NOT_ORDINARY
        elif member.size > MAX_FILE:
            # The size is what tarfile reads by: here it can't be wrong.
            trouble = too_large(MAX_FILE)
        else:
            file = archive.extractfile(member)
            content = file.read() if file is not None else b""
            place = shelf.put(self._folder, name, content)
        self._entries.append(Entry(name=name, number=len(self._places), trouble=trouble))
        self._places.append(place)

    def read(self, entry: Entry, limit: int) -> bytes:
        """Return the entry's bytes. Raises Unreadable."""
        place = self._places[entry.number]
        if place is None:
            raise Unreadable(entry.trouble)
        content = place.read_bytes()
        if len(content) > limit:
            raise Unreadable(too_large(limit))
        return content

    def place(self, entry: Entry) -> Path | None:
        """Return where the entry was written. Raises Unreadable if it wasn't."""
        if entry.trouble:
            raise Unreadable(entry.trouble)
        return self._places[entry.number]


def _opened(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if zipped else path.open("rb")  # type: ignore[return-value]  # mode "rb" gives bytes
