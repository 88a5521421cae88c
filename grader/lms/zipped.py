"""Reads zip archives, believing nothing that they say of themselves."""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from typing import BinaryIO

from grader.errors import ArchiveError
from grader.lms.tree import MAX_ENTRIES, NO_LINKS, NOT_ORDINARY, Entry, Unreadable, quoted, refusal, too_large

__all__ = ["ZipTree"]

MAX_RATIO = 100
FREE_BYTES = 1 << 30
MAX_BYTES = 20 << 30
"""All that may come out of an archive: 100 times its size, at least 1 GiB, at most 20 GiB."""

_DIRECTORY_BYTES = 200  # of a directory's record, generously
_CHUNK = 1 << 16
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_UTF8 = 0x800
_LOCAL_HEADER = 30
_END, _END64 = b"PK\5\6", b"PK\6\6"


class ZipTree:
    """A zip archive.

    Args:
        file: The archive, open for reading; it stays open as long as the tree is used.
        shown: What messages call it.
        title: Its name without suffix.
        max_entries: How many entries it may have.

    Raises:
        ArchiveError: If it is no zip archive, cut short, or has too many entries.
    """

    def __init__(self, file: BinaryIO, shown: str, *, title: str = "", max_entries: int = MAX_ENTRIES) -> None:
        self.title = title
        self._zip = _open(file, shown, max_entries)
        self._left = min(MAX_BYTES, max(FREE_BYTES, MAX_RATIO * file.seek(0, 2)))
        overlapping = _overlapping(self._zip.infolist())
        self._infos: list[zipfile.ZipInfo] = []
        entries, folders, others = [], [], []
        for info in self._zip.infolist():
            name = _name(info)
            why = refusal(name)
            if why:
                others.append(f"{quoted(name)} was left out: {why}.")
            elif info.is_dir():
                folders.append(name.removesuffix("/"))
            else:
                trouble = _trouble(info) or ("its data is another entry's too" if id(info) in overlapping else "")
                entries.append(Entry(name=name, number=len(self._infos), trouble=trouble))
                self._infos.append(info)
        self.entries, self.folders, self.others = tuple(entries), tuple(folders), tuple(others)
        self.closed: Mapping[str, str] = {}

    def read(self, entry: Entry, limit: int) -> bytes:
        """Return the entry's bytes, counted while they are read: what its header says of its size may be wrong."""
        if entry.trouble:
            raise Unreadable(entry.trouble)
        pieces, size = [], 0
        try:
            with self._zip.open(self._infos[entry.number]) as file:
                while piece := file.read(_CHUNK):
                    size += len(piece)
                    if size > self._left:
                        raise Unreadable("all that was unpacked before it is too much for an archive of this size")
                    if size > limit:
                        raise Unreadable(too_large(limit))
                    pieces.append(piece)
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise Unreadable("its content is damaged") from error
        except (OSError, ValueError, RuntimeError, NotImplementedError, struct.error) as error:
            raise Unreadable("it can't be unpacked") from error
        finally:
            self._left -= min(size, self._left)
        return b"".join(pieces)

    def place(self, entry: Entry) -> None:
        """Return None: entries lie in the archive only."""


def _open(file: BinaryIO, shown: str, max_entries: int) -> zipfile.ZipFile:
    many = ArchiveError(
        f"{quoted(shown)} has more than {max_entries:,} entries.",
        hint="Unpack it, and name the folder with what was handed in.",
    )
    try:
        # The whole directory is read at once, so its size is looked at before.
        if _directory_size(file) > max_entries * _DIRECTORY_BYTES:
            raise many
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError, OverflowError) as error:
        raise ArchiveError(
            f"{quoted(shown)} is not a whole zip archive: it was cut short or damaged on its way.",
            hint="Download it again; if it is no better, unpack it with another program and name the folder.",
        ) from error
    if len(archive.infolist()) > max_entries:
        raise many
    return archive


def _directory_size(file: BinaryIO) -> int:
    """Return the largest size that any end record near the end of the file claims for its directory."""
    size = file.seek(0, 2)
    file.seek(max(0, size - 65_557 - 76))
    tail = file.read()
    claimed = 0
    for mark, at, length in ((_END, 12, 4), (_END64, 40, 8)):
        start = tail.find(mark)
        while start >= 0:
            value = int.from_bytes(tail[start + at : start + at + length], "little")
            # All bits set says that the other record has the size.
            claimed = max(claimed, 0 if value == 256**length - 1 else value)
            start = tail.find(mark, start + 1)
    return min(claimed, size)


def _name(info: zipfile.ZipInfo) -> str:
    """Return an entry's name. Many programs write UTF-8 without the flag that says so; else it is cp437."""
    name = info.orig_filename
    if not info.flag_bits & _UTF8 and not name.isascii():
        try:
            return name.encode("cp437").decode("utf-8")
        except UnicodeError:
            return name
    return name


def _trouble(info: zipfile.ZipInfo) -> str:
    if info.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    mode = info.external_attr >> 16
    if stat.S_ISLNK(mode):
        return NO_LINKS
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return NOT_ORDINARY
    return "" if info.compress_type in _METHODS else "it is compressed by a method that can't be read here"


def _overlapping(infos: Iterable[zipfile.ZipInfo]) -> set[int]:
    """Find entries that share data: a small archive can become a huge one by that, and never does so honestly."""
    found: set[int] = set()
    end, last = -1, None
    for info in sorted(infos, key=lambda info: info.header_offset):
        if last is not None and info.header_offset < end:
            found |= {id(info), id(last)}
        own_end = info.header_offset + _LOCAL_HEADER + info.compress_size
        if own_end > end:
            end, last = own_end, info
    return found
