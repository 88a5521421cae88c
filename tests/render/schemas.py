"""The shapes that other grading platforms ask for, as strict schemas: their fields, and no others."""

from __future__ import annotations

import json
from typing import Any

import pytest

__all__ = ["GRADED", "GRADESCOPE", "PRAIRIELEARN", "strict"]

FORMATS = ["text", "html", "simple_format", "md", "ansi"]
VISIBILITY = ["hidden", "after_due_date", "after_published", "visible"]
GRADESCOPE: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "score": {"type": "number"},
        "execution_time": {"type": "number", "minimum": 0},
        "output": {"type": "string"},
        "output_format": {"enum": FORMATS},
        "test_output_format": {"enum": FORMATS},
        "test_name_format": {"enum": FORMATS},
        "visibility": {"enum": VISIBILITY},
        "stdout_visibility": {"enum": VISIBILITY},
        "extra_data": {"type": "object"},
        "tests": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "score": {"type": "number"},
                    "max_score": {"type": "number"},
                    "status": {"enum": ["passed", "failed"]},
                    "name": {"type": "string"},
                    "name_format": {"enum": FORMATS},
                    "number": {"type": "string"},
                    "output": {"type": "string"},
                    "output_format": {"enum": FORMATS},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "visibility": {"enum": VISIBILITY},
                    "extra_data": {"type": "object"},
                },
            },
        },
        "leaderboard": {"type": "array"},
    },
}
"""Gradescope's specification; a result of ours that is graded has a score too."""

GRADED = {**GRADESCOPE, "required": ["score"]}

PICTURE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["url"],
    "properties": {"url": {"type": "string"}, "label": {"type": "string"}},
}
PRAIRIELEARN: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "gradable": {"type": "boolean"},
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "message": {"type": "string"},
        "output": {"type": "string"},
        "images": {"type": "array", "items": PICTURE},
        "format_errors": {"type": "array", "items": {"type": "string"}},
        "tests": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["name", "points", "max_points"],
                "properties": {
                    "name": {"type": "string"},
                    "description": {"type": "string"},
                    "points": {"type": "number"},
                    "max_points": {"type": "number"},
                    "message": {"type": "string"},
                    "output": {"type": "string"},
                    "images": {"type": "array", "items": PICTURE},
                },
            },
        },
    },
    "if": {"properties": {"gradable": {"const": False}}, "required": ["gradable"]},
    "then": {"required": ["format_errors"], "not": {"required": ["score"]}},
    "else": {"required": ["score"]},
}


def refuse(constant: str) -> None:
    """Refuse what JSON doesn't have."""
    pytest.fail(f"{constant} is not JSON")


def strict(text: str) -> Any:
    """Read JSON as a parser does that takes nothing else; its UTF-8 is valid too."""
    return json.loads(text.encode(), parse_constant=refuse)
