"""Where unpacked files go: below one folder, under names that we make."""

from __future__ import annotations

import contextlib
import hashlib
import re
import secrets
import unicodedata
from pathlib import Path

from grader.errors import OutputError

__all__ = ["Shelf", "slug"]

MAX_SLUG = 40


class Shelf:
    """Hands out places below ``into``. The same calls in the same order give the same places again.

    Args:
        into: A folder of ours; it is made when the first file is put there.
    """

    def __init__(self, into: Path) -> None:
        self._into = into
        self._taken: set[str] = set()
        self._counts: dict[Path, int] = {}

    def folder(self, key: str) -> Path:
        """Return a folder for what belongs to ``key``; two calls never get the same one."""
        attempt = 0
        while (name := _folder_name(key, attempt)) in self._taken:
            attempt += 1
        self._taken.add(name)
        return self._into / name

    def put(self, folder: Path, name: str, content: bytes) -> Path:
        """Write a file, whole or not at all, and return where: its number and what plain letters ``name`` has.

        Raises:
            OutputError: If it can't be written.
        """
        number = self._counts.get(folder, 0) + 1
        self._counts[folder] = number
        base = name.rpartition("/")[2]
        stem, dot, suffix = base.rpartition(".")
        suffix = re.sub(r"[^a-z0-9]", "", suffix.lower())[:8] if stem else ""
        path = folder / (f"{number}-{slug(stem or base)}" + (f"{dot}{suffix}" if suffix else ""))
        beside = folder / f".{secrets.token_hex(6)}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with beside.open("xb") as file:
                file.write(content)
            beside.replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                beside.unlink()
            raise OutputError(
                f"{path} can't be written ({error.strerror or error}).",
                hint="Free some space, or choose another folder with --out.",
            ) from error
        return path


def slug(text: str) -> str:
    """Return what plain letters and digits a text has, joined by hyphens: safe on any disk."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:MAX_SLUG].strip("-") or "file"


def _folder_name(key: str, attempt: int) -> str:
    raw = key.encode("utf-8", "backslashreplace") + (b"\0%d" % attempt if attempt else b"")
    return f"{slug(key)}-{hashlib.sha256(raw).hexdigest()[:6]}"
