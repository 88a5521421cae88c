"""``result.json`` and its schema."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from typing import Any

import jsonschema
import pytest

from grader.model import Status
from grader.render.document import to_json
from tests.render.course import TASKS, assignment
from tests.render.samples import CALLS, LARGEST, OUT, SAMPLES, failing, finding, one_mistake, result_of, task_result

NAMES = sorted(SAMPLES)


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """Return the schema that the package ships."""
    loaded: dict[str, Any] = json.loads((files("grader.render") / "result.schema.json").read_text(encoding="utf-8"))
    return loaded


def refuse(constant: str) -> None:
    """Refuse what JSON doesn't have."""
    pytest.fail(f"{constant} is not JSON")


@pytest.mark.parametrize("name", NAMES)
def test_golden(name: str, golden: Callable[[str, str], None]) -> None:
    """The document is what it was, to the byte."""
    golden(f"render/{name}.json", to_json(SAMPLES[name](), assignment()))


@pytest.mark.parametrize("name", NAMES)
def test_schema_holds(name: str, schema: dict[str, Any]) -> None:
    """Every document fits the schema, which itself is a valid one."""
    jsonschema.Draft202012Validator.check_schema(schema)
    document = json.loads(to_json(SAMPLES[name](), assignment()), parse_constant=refuse)

    jsonschema.Draft202012Validator(schema).validate(document)


def test_schema_is_strict(schema: dict[str, Any]) -> None:
    """A field more or less is an error everywhere."""
    document = json.loads(to_json(one_mistake(), assignment()))
    validator = jsonschema.Draft202012Validator(schema)

    def objects(value: object, path: tuple[object, ...] = ()) -> list[dict[str, Any]]:
        if isinstance(value, list):
            return [found for item in value for found in objects(item, path)]
        if isinstance(value, dict):
            return [value, *(found for key, item in value.items() for found in objects(item, (*path, key)))]
        return []

    free = (document["environment"], document["judged"])
    for place in objects(document):
        if any(place is other for other in free):
            continue
        place["surplus"] = 1
        assert not validator.is_valid(document)
        del place["surplus"]
        key = next(iter(place))
        kept = place.pop(key)
        assert not validator.is_valid(document)
        place[key] = kept
    validator.validate(document)


def test_form() -> None:
    """Sorted keys, one space a level, letters as they are, strict UTF-8, a newline at the end."""
    text = to_json(failing(), assignment())
    document = json.loads(text)

    assert text == json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    assert "√" in text
    text.encode()


def test_scores_are_numbers() -> None:
    """Whole points are integers, parts of points have their decimals."""
    document = json.loads(to_json(failing(), assignment()))

    assert document["score"] == 19.5
    assert type(document["max_score"]) is int
    assert [task["score"] for task in document["tasks"]] == [0, 8, 0, 4.5, 7]


def test_what_json_cannot_write_is_a_string() -> None:
    """NaN and infinities are strings, wherever they stand."""
    odd = replace(OUT, yours_at_worst=math.nan, expected_at_worst=-math.inf)
    table = replace(CALLS, rows=(("a", math.inf, 1.0),))
    chart = replace(LARGEST, lines=(replace(LARGEST.lines[0], y=(math.nan, 1.0, 2.0, 3.0)),))
    found = finding("softmax/rows", Status.FAILED, evidence=(odd, table, chart))
    tasks = (task_result(TASKS[0], {"rows": found}, status=Status.FAILED),)
    document = json.loads(to_json(result_of(tasks), assignment()), parse_constant=refuse)
    comparison, rows, lines = document["tasks"][0]["criteria"][0]["evidence"]

    assert (comparison["yours_at_worst"], comparison["expected_at_worst"]) == ("nan", "-inf")
    assert comparison["yours"][0][2] == "nan"
    assert rows["rows"] == [["a", "inf", 1.0]]
    assert lines["lines"][0]["y"][0] == "nan"


def test_misconceptions_are_named_once() -> None:
    """A task lists what explains its numbers, with its entry in the course's list."""
    document = json.loads(to_json(one_mistake(), assignment()))

    assert document["tasks"][1]["misconceptions"] == [
        {"id": "no-scale", "catalogue": "A01", "title": "the scores are not divided by √d_k"}
    ]


@pytest.mark.parametrize("hints", [0, 1, 3])
def test_hints(hints: int) -> None:
    """As many levels of hints are written as asked for."""
    document = json.loads(to_json(one_mistake(), assignment(), hints=hints))

    assert len(document["tasks"][1]["criteria"][2]["hints"]) == hints
