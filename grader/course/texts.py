"""Catalogues of texts: TOML tables become dotted keys; the key ``""`` is the table's own text."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from grader.errors import CourseError

__all__ = ["read_texts", "read_toml"]


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file. Raises CourseError, with the line where one is known."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CourseError(str(path), "", "this file is missing.") from None
    except OSError as error:
        raise CourseError(str(path), "", f"it can't be read ({error.strerror or error}).") from error
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
