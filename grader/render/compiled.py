"""Compiled templates are kept: compiling those of one page takes 45 ms, as long as all calls of a submission."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from jinja2.bccache import Bucket, BytecodeCache

from grader import __version__
from grader.kept import keep, kept, place_of

__all__ = ["Compiled"]


class Compiled(BytecodeCache):
    """Compiled templates beside their sources; Jinja itself looks whether a source is still the same."""

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return the place of a compiled template: one for each Python, and for each grader with its own settings."""
        return str(place_of(Path(filename or name), f"{__version__}.{sys.implementation.cache_tag}"))

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take what is kept; without it, or if it is broken, Jinja compiles."""
        content = kept(Path(bucket.key))
        if content is not None:
            with contextlib.suppress(Exception):  # unpickling what is broken may raise anything
                bucket.bytecode_from_string(content)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template that was compiled."""
        keep(Path(bucket.key), bucket.bytecode_to_string())
