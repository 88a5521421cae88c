"""Catalogues of texts: TOML tables become dotted keys; the key ``""`` is the table's own text."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any

from grader.errors import CourseError
from grader.kept import keep, kept, place_of

__all__ = ["read_texts", "read_toml"]


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file. Raises CourseError, with the line where one is known."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise CourseError(str(path), "", "this file is missing.") from None
    except OSError as error:
        raise CourseError(str(path), "", f"it can't be read ({error.strerror or error}).") from error
    # A table is kept as JSON, since reading the texts of a course as TOML takes 20 ms. Broken ones aren't kept.
    place, digest = place_of(path, "json"), hashlib.sha256(raw).hexdigest()
    table = _kept_table(place, digest)
    if table is None:
        table = _parsed(path, raw)
        with contextlib.suppress(TypeError):  # JSON has no dates
            keep(place, json.dumps({"sha256": digest, "table": table}).encode())
    return table


def _kept_table(place: Path, digest: str) -> dict[str, Any] | None:
    try:
        found = json.loads(kept(place) or b"{}")
        table = found["table"] if found["sha256"] == digest else None
    except (ValueError, LookupError, TypeError):
        return None
    return table if isinstance(table, dict) else None


def _parsed(path: Path, raw: bytes) -> dict[str, Any]:
    import tomllib  # late, since what is kept needs none

    try:
        return tomllib.loads(raw.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CourseError(str(path), "", f"it isn't valid TOML: {error}.") from error


def read_texts(path: Path) -> dict[str, str]:
    """Read a catalogue.

    Raises:
        CourseError: If it can't be read, or holds something else than texts.
    """
    texts: dict[str, str] = {}
    _flatten(read_toml(path), "", texts, path)
    return texts


def _flatten(table: dict[str, Any], prefix: str, texts: dict[str, str], path: Path) -> None:
    for key, value in table.items():
        full = f"{prefix}.{key}" if prefix and key else prefix or key
        if isinstance(value, dict):
            _flatten(value, full, texts, path)
        elif isinstance(value, str):
            texts[full] = value
        else:
            raise CourseError(str(path), full, "a text in quotation marks is needed.")
