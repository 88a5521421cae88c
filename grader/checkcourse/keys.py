"""Keys of texts in a course's sources: which strings are keys, which patterns make some, which parameters are named."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from grader.model._data import data

__all__ = ["PARTS", "Key", "Keys", "read_keys"]

PARTS = {"Chart": ("title", "x", "y", "says"), "Orders": ("title", "first", "second", "says")}
"""Evidence that has an id, and the texts that belong to it: ``<id>.title`` and so on."""

_KEY = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z0-9][a-z0-9_]*)+")
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_PART = r"[A-Za-z0-9_.]+"


@data
class Key:
    """A key and where it stands; ``parts`` are those of the texts that belong to it, if it is an id in ``PARTS``."""

    text: str
    file: Path
    line: int
    parts: tuple[str, ...] = ()


@data
class Keys:
    """What the sources of a course say of texts.

    Attributes:
        keys: Strings that are keys.
        patterns: Made keys such as ``f"note.{how}"``, with where they stand.
        params: Names that some parameter is given.
        words: All strings: an id that stands among them is used.
    """

    keys: tuple[Key, ...]
    patterns: tuple[tuple[re.Pattern[str], Key], ...]
    params: frozenset[str]
    words: frozenset[str]


def read_keys(files: Iterable[Path], first: Iterable[str]) -> Keys:
    """Read the strings of some Python files whose first part, up to the dot, is one of ``first``."""
    heads = frozenset(first)
    keys: list[Key] = []
    patterns: list[tuple[re.Pattern[str], Key]] = []
    params: set[str] = set()
    words: set[str] = set()
    for path in files:
        tree = ast.parse(path.read_bytes())
        charts, names, skipped = _special(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                pattern = _pattern(node, heads)
                if pattern is not None:
                    patterns.append((pattern, Key(text=ast.unparse(node), file=path, line=node.lineno)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
                text = node.value
                words.add(text)
                if _KEY.fullmatch(text) and text.partition(".")[0] in heads and text not in names:
                    keys.append(Key(text=text, file=path, line=node.lineno, parts=charts.get(id(node), ())))
        params.update(_parameters(tree))
    return Keys(keys=tuple(keys), patterns=tuple(patterns), params=frozenset(params), words=frozenset(words))


def _special(tree: ast.Module) -> tuple[dict[int, tuple[str, ...]], set[str], set[int]]:
    """Return ids of evidence with their parts, strings that some dictionary is read by, and nodes to leave out."""
    charts: dict[int, tuple[str, ...]] = {}
    names: set[str] = set()
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped.update(id(part) for part in ast.walk(node) if isinstance(part, ast.Constant))
        elif isinstance(node, ast.Dict):
            names.update(key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str))
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("startswith", "endswith", "removeprefix", "removesuffix"):
                skipped.update(id(part) for part in ast.walk(node) if isinstance(part, ast.Constant))
            if called in PARTS:
                charts.update({id(keyword.value): PARTS[called] for keyword in node.keywords if keyword.arg == "id"})
    return charts, names, skipped


def _pattern(node: ast.JoinedStr, heads: frozenset[str]) -> re.Pattern[str] | None:
    """Return what keys an f-string makes, if it begins with one of the first parts, or with a name and a dot."""
    fixed = [str(part.value) if isinstance(part, ast.Constant) else "" for part in node.values]
    if len(fixed) < 2 or not re.fullmatch(r"[a-z0-9_.]*\.[a-z0-9_.]*", "".join(fixed)):
        return None
    head, dot, _ = fixed[0].partition(".")
    if (head not in heads or not dot) if head else not fixed[1].startswith("."):
        return None
    return re.compile("".join(re.escape(part) if part else _PART for part in fixed))


def _parameters(tree: ast.Module) -> Iterator[str]:
    """Yield the first of every pair that begins with a name in quotation marks."""
    for node in ast.walk(tree):
        match node:
            case ast.Tuple(elts=[ast.Constant(value=str(name)), _]) if _NAME.fullmatch(name):
                yield name
            case _:
                pass
