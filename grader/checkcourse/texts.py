"""The texts are complete: every key that is used is there, and every placeholder gets a value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from grader.checkcourse.keys import Keys, read_keys
from grader.checkcourse.rehearsals import Said
from grader.checkcourse.report import Problem, Proof
from grader.core.assignment import Assignment
from grader.core.catalogue import placeholders
from grader.course.find import engine_reports
from grader.course.texts import read_texts

__all__ = ["prove_texts"]

OF_MISCONCEPTION = ("title", "text", "next", "hint1", "hint2", "hint3")
FOLLOWING = ("next", "hint1", "hint2", "hint3")
"""What may stand below the key of a message, and is given the same parameters."""

ENGINE_PARAMS = frozenset({"name", "got", "expected", "at", "count", "total", "function", "kind", "message", "line"})
"""Parameters of the engine's comparisons and calls, which checks hand on with a text of their own."""


def prove_texts(assignment: Assignment, folder: Path, said: Said) -> Proof:
    """Compare the catalogue with what the sources name and with what was said in all rehearsals."""
    path = folder / f"feedback.{assignment.language}.toml"
    own = read_texts(path)
    engine = read_texts(engine_reports() / f"texts.{assignment.language}.toml")
    sources = sorted(file for file in folder.glob("*.py") if file.name != "__init__.py")
    heads = {task.id for task in assignment.tasks} | {"misconception", "note", "engine"}
    keys = read_keys(sources, heads)
    problems = (
        *(Problem(file=path, key=key, says="this text is empty.") for key, text in own.items() if not text.strip()),
        *_missing(assignment, path, keys, said),
        *_unfilled(path, own, keys, said),
    )
    unused = _unused(assignment, own, engine, keys, said)
    listed = (f"nothing uses {len(unused)} of them:", *(f"{path}, {key}" for key in unused)) if unused else ()
    return Proof(name="texts", says=f"{len(own)} texts, complete and filled in", problems=problems, listed=listed)


def _missing(assignment: Assignment, path: Path, keys: Keys, said: Said) -> Iterator[Problem]:
    texts = assignment.texts
    for entry in assignment.misconceptions:
        stem = f"misconception.{entry.id}"
        absent = [part for part in OF_MISCONCEPTION if f"{stem}.{part}" not in texts]
        if len(absent) == 1:
            yield Problem(file=path, key=f"{stem}.{absent[0]}", says="this text is missing.")
        elif absent:
            yield Problem(file=path, key=stem, says=f"these texts of it are missing: {', '.join(absent)}.")
    told = {f"misconception.{entry.id}.{part}" for entry in assignment.misconceptions for part in OF_MISCONCEPTION}
    for found in keys.keys:
        wanted = [f"{found.text}.{part}" for part in found.parts] if found.parts else [found.text]
        for key in wanted:
            if key not in texts and key not in told:
                told.add(key)
                yield Problem(file=path, key=key, says=f"this text is missing; {found.file.name}:{found.line} uses it.")
    for pattern, made in keys.patterns:
        if not any(pattern.fullmatch(key) for key in (*texts, *told)):
            says = f"there is no text of this form; {made.file.name}:{made.line} makes it."
            yield Problem(file=path, key=made.text, says=says)
    for key in said.given:
        if key not in texts and key not in told:
            yield Problem(file=path, key=key, says="this text is missing; a check said it in a rehearsal.")


def _unfilled(path: Path, own: dict[str, str], keys: Keys, said: Said) -> Iterator[Problem]:
    """A placeholder needs a value each time its text is shown; where it never was, one that some check gives."""
    known = keys.params | ENGINE_PARAMS | frozenset().union(*said.given.values())
    for key, text in own.items():
        given = next((said.given[name] for name in _said_with(key) if name in said.given), None)
        for name in sorted(placeholders(text) - (known if given is None else given)):
            says = f"{{{name}}} is unknown: no check gives it." if given is None else f"{{{name}}} isn't given with it."
            yield Problem(file=path, key=key, says=says)


def _said_with(key: str) -> Iterator[str]:
    """Yield the keys of the messages that this text may be shown with: its own, else the one that it follows."""
    yield key
    stem, _, last = key.rpartition(".")
    if last in FOLLOWING:
        yield stem
        yield f"{stem}.text"


def _unused(
    assignment: Assignment, own: dict[str, str], engine: dict[str, str], keys: Keys, said: Said
) -> tuple[str, ...]:
    used = {"title", *(key.text for key in keys.keys if not key.parts), *said.given}
    used |= {f"{key.text}.{part}" for key in keys.keys for part in key.parts}
    for task in assignment.tasks:
        used.add(f"{task.id}.title")
        used |= {f"{task.id}.{criterion.id}.title" for criterion in task.criteria}
    for entry in assignment.misconceptions:
        used |= {f"misconception.{entry.id}.{part}" for part in (*OF_MISCONCEPTION, "catalogue")}
    used |= {key for key in own if key.startswith("misconception.") and key.split(".")[1] in keys.words}
    # ``misconception.{name}.text`` in a source fits texts of mistakes that aren't there any more.
    patterns = [pattern for pattern, _ in keys.patterns if not pattern.pattern.startswith("misconception")]
    return tuple(
        key
        for key in own
        if not any(
            name in used or name in engine or any(pattern.fullmatch(name) for pattern in patterns)
            for name in _said_with(key)
        )
    )
