"""``result.json``: what other programs read. Its schema is ``result.schema.json``, beside this file."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from grader.model import (
    Array,
    Band,
    Chart,
    Comparison,
    CriterionResult,
    Evidence,
    Note,
    Orders,
    Params,
    Result,
    Table,
    TaskResult,
)
from grader.render import clean
from grader.render.figures import block_of
from grader.render.task_view import hints_of, knock_on_of, message_of
from grader.render.words import Words, bare, marked

if TYPE_CHECKING:  # it would load NumPy
    from grader.core.assignment import Assignment

__all__ = ["to_json"]

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def to_json(result: Result, assignment: Assignment, *, hints: int | None = None) -> str:
    """Return ``result`` as a JSON document: sorted keys, strict UTF-8, no NaN, a newline at the end.

    Args:
        result: What was found, already redacted for its reader.
        assignment: Whose catalogue the texts come from.
        hints: How many levels of hints are written; None: as many as the assignment shows.
    """
    words = Words(assignment.texts)
    hints = assignment.hints_shown if hints is None else hints
    document: dict[str, Json] = {
        "schema": result.schema,
        "assignment": {"id": result.assignment, "version": result.version, "digest": result.digest},
        "submission": {"name": result.name, "sha256": result.sha256},
        "seed": result.seed,
        "status": result.status,
        "score": _points(result.cents),
        "max_score": _points(result.max_cents),
        "notes": _notes(result.notes, words),
        "tasks": [_task(task, assignment, words, hints) for task in result.tasks],
        "adjustments": [
            {
                "kind": change.kind,
                "target": change.target,
                "before": _points(change.before),
                "after": _points(change.after),
                "reason": change.reason,
                "by": change.by,
            }
            for change in result.adjustments
        ],
        "environment": dict(result.environment),
        "judged": dict(result.judged),
    }
    text = json.dumps(_strict(document), ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True)
    return text + "\n"


def _points(cents: int) -> int | float:
    return cents // 100 if cents % 100 == 0 else cents / 100


def _strict(value: Json) -> Json:
    """Clean every string and write what JSON has no number for as a string."""
    match value:
        case str():
            return clean.json_text(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case list():
            return [_strict(item) for item in value]
        case dict():
            return {clean.json_text(key): _strict(item) for key, item in value.items()}
        case _:
            return value


def _notes(notes: Sequence[Note], words: Words) -> list[Json]:
    return [
        {
            "text": note.text,
            "message": marked(words.rich(note.text, note.params)),
            "kind": note.kind,
            "audience": note.audience,
        }
        for note in notes
    ]


def _task(task: TaskResult, assignment: Assignment, words: Words, hints: int) -> Json:
    catalogue = {entry.id: entry.catalogue for entry in assignment.misconceptions}
    misconceptions = sorted({name for criterion in task.criteria for name in criterion.finding.misconceptions})
    notes = (*task.notes, *(note for criterion in task.criteria for note in criterion.finding.notes))
    return {
        "id": task.id,
        "function": task.function,
        "status": str(task.status),
        "score": _points(task.cents),
        "max_score": _points(task.max_cents),
        "message": marked(words.rich(task.text, task.params)),
        "notes": _notes(notes, words),
        "criteria": [_criterion(criterion, task, assignment, words, hints) for criterion in task.criteria],
        "misconceptions": [
            {
                "id": name,
                "catalogue": catalogue.get(name) or bare(words.rich(f"misconception.{name}.catalogue")),
                "title": bare(words.rich(f"misconception.{name}.title")),
            }
            for name in misconceptions
        ],
    }


def _criterion(criterion: CriterionResult, task: TaskResult, assignment: Assignment, words: Words, hints: int) -> Json:
    finding = criterion.finding
    return {
        "id": criterion.id,
        "title": bare(words.rich(f"{task.id}.{criterion.id}.title")) or criterion.id,
        "status": str(criterion.status),
        "score": _points(criterion.cents),
        "max_score": _points(criterion.max_cents),
        "message": marked(message_of(finding, words)),
        "hints": [marked(hint.text) for hint in hints_of(finding, words, hints)],
        "hidden": criterion.hidden,
        "knock_on": marked(knock_on_of(finding, assignment, words)) if finding.knock_on else "",
        "review": any(note.kind == "review" for note in finding.notes),
        "evidence": [_evidence(item, words) for item in finding.evidence],
    }


def _evidence(item: Evidence, words: Words) -> Json:
    match item:
        case Comparison():
            return {
                "kind": "comparison",
                "name": item.name,
                "yours": _rows(item.yours),
                "expected": _rows(item.expected),
                "corner": list(item.corner),
                "first": list(item.first),
                "worst": list(item.worst),
                "yours_at_worst": item.yours_at_worst,
                "expected_at_worst": item.expected_at_worst,
                "differing": item.differing,
                "total": item.total,
                "weights": item.weights,
                "bars": item.bars,
            }
        case Table():
            return {
                "kind": "table",
                "caption": bare(words.rich(item.caption, item.params)),
                "header": [_label(key, words) for key in item.header],
                "rows": [list(row) for row in item.rows],
            }
        case Chart():
            return _chart(item, words)
        case Orders():
            texts: dict[str, Json] = {
                name: bare(words.rich(f"{item.id}.{name}", item.params)) for name in ("title", "says")
            }
            labels: list[Json] = [_label(f"{item.id}.{name}", words, item.params) for name in ("first", "second")]
            orders: dict[str, Json] = {"labels": labels, "first": list(item.first), "second": list(item.second)}
            return texts | orders | {"kind": "orders", "id": item.id}


def _rows(array: Array) -> list[Json]:
    return [list(row) for row in block_of(array)]


def _label(key: str, words: Words, params: Params = ()) -> str:
    return bare(words.rich(key, params)) or key


def _chart(item: Chart, words: Words) -> Json:
    texts: dict[str, Json] = {
        name: bare(words.rich(f"{item.id}.{name}", item.params)) for name in ("title", "x", "y", "says")
    }
    return texts | {
        "kind": "chart",
        "id": item.id,
        "log_x": item.log_x,
        "log_y": item.log_y,
        "lines": [
            {"label": _label(line.label, words, item.params), "role": line.role, "x": list(line.x), "y": list(line.y)}
            for line in item.lines
        ],
        "band": None if item.band is None else _band(item.band, item, words),
        "bands": [_band(band, item, words) for band in item.bands],
    }


def _band(band: Band, item: Chart, words: Words) -> Json:
    return {
        "label": _label(band.label, words, item.params),
        "x": list(band.x),
        "low": list(band.low),
        "high": list(band.high),
    }
