"""Notebooks: formats 3 to 4.5 and beyond, and files that only look like one."""

from __future__ import annotations

import json
import logging
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.intake import submission_from_bytes
from grader.intake.notebook import MAX_CELLS, MAX_SOURCE, read_notebook
from grader.model import Submission

Json = dict[str, Any]


def code(source: object, **more: object) -> Json:
    """Return a code cell of format 4."""
    return {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source, **more}


def text(source: str, **more: object) -> Json:
    """Return a text cell of format 4."""
    return {"cell_type": "markdown", "metadata": {}, "source": source, **more}


def notebook(*cells: object, minor: object = 4, **more: object) -> Json:
    """Return a notebook of format 4."""
    return {"nbformat": 4, "nbformat_minor": minor, "metadata": {}, "cells": list(cells), **more}


def read(document: object) -> Submission:
    """Read a document as if it were handed in."""
    content = document if isinstance(document, bytes) else json.dumps(document).encode()
    return submission_from_bytes("a.ipynb", content)


def cells(submission: Submission) -> list[tuple[int, str]]:
    """Return numbers and sources."""
    return [(cell.number, cell.source.decode()) for cell in submission.cells]


def kernel(**spec: object) -> Json:
    """Return metadata that name a kernel."""
    return {"kernelspec": spec}


FORMAT_3 = {
    "nbformat": 3,
    "nbformat_minor": 0,
    "metadata": {"name": ""},
    "worksheets": [
        {
            "metadata": {},
            "cells": [
                {"cell_type": "heading", "level": 1, "metadata": {}, "source": "Title"},
                {
                    "cell_type": "code",
                    "collapsed": False,
                    "input": ["x = 1\n", "y = 2"],
                    "language": "python",
                    "metadata": {},
                    "outputs": [{"output_type": "pyout", "prompt_number": 1, "text": "1", "metadata": {}}],
                },
                {
                    "cell_type": "code",
                    "collapsed": False,
                    "input": "z = 3",
                    "language": "python",
                    "metadata": {},
                    "outputs": [],
                },
            ],
        }
    ],
}


@pytest.mark.parametrize(
    "document",
    [
        FORMAT_3,
        notebook(text("Title"), code(["x = 1\n", "y = 2"]), code("z = 3", id="a"), minor=0),
        notebook(text("Title", id="a"), code("x = 1\ny = 2", id="b"), code("z = 3", id="c"), minor=5),
        notebook(text("Title", id="a"), code("x = 1\ny = 2", id="b", x=1), code("z = 3", id="c"), minor=7),
        notebook(text("Title"), code("x = 1\ny = 2", id="<b>1"), code("z = 3", id="<b>1"), minor=5),
    ],
    ids=["3", "4.0", "4.5", "4.7", "4.5 with ids missing, doubled and odd"],
)
def test_every_format_gives_the_same_cells(document: Json) -> None:
    """Cells are numbered by their position among all cells, whatever the format and the ids."""
    first = read(document)
    assert cells(first) == [(2, "x = 1\ny = 2"), (3, "z = 3")]
    assert (first.kind, first.notes, first.trouble) == ("notebook", (), None)
    assert read(document) == first


@pytest.mark.parametrize(
    "document",
    [
        {"nbformat": 5, "nbformat_minor": 0, "metadata": {}, "cells": [code("x = 1")]},
        {"cells": [code("x = 1")]},
        {"nbformat": "4", "cells": [{"cell_type": "code", "source": "x = 1"}]},
        {"nbformat": 3, "cells": [code("x = 1")]},
        {"nbformat": 2, "worksheets": [{"cells": [{"cell_type": "code", "input": "x = 1"}]}, 7]},
        {"nbformat": 1, "cells": [{"cell_type": "code", "code": "x = 1"}]},
        notebook({"cell_type": "code", "source": "x = 1"}),
        notebook(code("x = 1"), 7, None, []),
        notebook(code("x = 1"), code({"a": 1}), code([1, 2])),
        notebook(code("x = 1"), metadata=[]),
        notebook(code("x = 1"), minor=None),
    ],
)
def test_what_is_not_valid_is_read_if_it_can_be(document: Json) -> None:
    """A notebook that breaks its own format but has readable cells is read, with a note."""
    found = read(document)
    assert cells(found) == [(1, "x = 1")]
    assert [note.text for note in found.notes] == ["intake.notebook.odd"]


@pytest.mark.parametrize(
    "document, key",
    [
        (json.dumps(notebook(code("x = 1"))).encode()[:-1], "cut_off"),
        (json.dumps(notebook(code("x = 1"))).encode()[:-40], "cut_off"),
        (b"{", "cut_off"),
        (b'{"cells": "abc\\', "cut_off"),
        (b'{"cells": [}]', "damaged"),
        (b'{"cells": [],}', "damaged"),
        (b'{\n<<<<<<< HEAD\n"cells": []}', "damaged"),
        (b'{"cells": []} and more', "damaged"),
        (b"import numpy as np\n", "not_json"),
        (b"[]", "not_json"),
        (b"3", "not_json"),
        (b"{}", "no_cells"),
        (b'{"cells": {}}', "no_cells"),
        (b'{"worksheets": 3}', "no_cells"),
        (notebook(), "no_code"),
        (notebook(text("import numpy")), "no_code"),
        (notebook(code(""), code([" \n", "\t"])), "no_content"),
        (notebook(code(7)), "no_content"),
        (notebook(code("x <- 1"), metadata=kernel(name="ir", display_name="R", language="R")), "language"),
        (notebook(code("x = 1"), metadata=kernel(name="julia-1.9", display_name="Julia 1.9")), "language"),
        (notebook(code("1"), metadata={"language_info": {"name": "\ud800<script>"}}), "language"),
        (notebook(*[code("x = 1")] * (MAX_CELLS + 1)), "too_many_cells"),
        (b'{"nbformat_minor": ' + b"9" * 5000 + b', "cells": []}', "number"),
        (b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested"),
        (notebook(code("#" * (MAX_SOURCE + 1))), "cell_too_long"),
    ],
)
def test_what_cannot_be_read_has_one_sentence(document: object, key: str) -> None:
    """A notebook of which nothing can run says why."""
    found = read(document)
    assert found.cells == ()
    assert found.trouble is not None
    assert found.trouble.text == f"intake.notebook.{key}"


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        kernel(name="python3", language="python"),
        kernel(name="my-env", language="Python"),
        kernel(name="ir", language="python"),
        kernel(name=7, language=[]),
        {"kernelspec": 3, "language_info": {"name": "python", "version": "3.11"}},
        {"kernelspec": {"name": "iron-python", "display_name": "x"}},
    ],
)
def test_python_is_believed(metadata: Json) -> None:
    """A notebook that says Python anywhere, or no language at all, is read."""
    assert cells(read(notebook(code("x = 1"), metadata=metadata))) == [(1, "x = 1")]


def test_json_traps_do_no_harm() -> None:
    """NaN, endless floats, doubled keys (the last one counts) and lone surrogates give cells, not an exception."""
    content = (
        b'{"nbformat": 4, "nbformat_minor": 4, "metadata": {"x": NaN, "y": 1e999, "z": -Infinity}, "cells": 3, '
        b'"cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null, '
        b'"source": "x = \'\\ud800\'"}]}'
    )
    found = read(content)
    assert cells(found) == [(1, "x = '\ufffd'")]
    assert found.notes == ()


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-16-le"])
def test_saved_by_another_editor(codec: str) -> None:
    """A notebook that went through an editor that saves otherwise is read, and nothing is said of it."""
    found = read(json.dumps(notebook(code("x = 'é'")), ensure_ascii=False).encode(codec))
    assert cells(found) == [(1, "x = 'é'")]
    assert found.notes == ()


def test_outputs_are_never_looked_at() -> None:
    """Whatever stands among the outputs or attachments neither runs, nor counts, nor makes a note."""
    found = read(notebook(code("x = 1", outputs=[{"nonsense": 1}, 7]), text("a", attachments=3)))
    assert cells(found) == [(1, "x = 1")]
    assert found.notes == ()


def test_cells_that_are_too_long_are_left_out() -> None:
    """A cell over the cap isn't run and is named; many of them are counted."""
    long = code("#" * (MAX_SOURCE + 1))
    found = read(notebook(code("x = 1"), long))
    assert cells(found) == [(1, "x = 1")]
    assert [(note.text, note.params[0]) for note in found.notes] == [("intake.notebook.cell_too_long", ("cell", 2))]
    found = read(notebook(code("x = 1"), *[long] * 5))
    assert [note.text for note in found.notes] == ["intake.notebook.cell_too_long"] * 3 + [
        "intake.notebook.more_too_long"
    ]
    assert found.notes[-1].params[0] == ("count", 2)


def test_nothing_is_warned_or_logged(capfd: pytest.CaptureFixture[str]) -> None:
    """What nbformat would tell the terminal stays unsaid, and its logger is as before."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(notebook(code("x = 1"), {"cell_type": "code"}, minor=5))
        read(FORMAT_3)
    assert capfd.readouterr() == ("", "")
    assert not logging.getLogger("traitlets").disabled


@pytest.mark.parametrize(
    "start", ['{"' + '\\"' * 300_000, '{"a":' * 200_000, "{" + '""' * 300_000, "{" + "9" * 1_000_000]
)
def test_long_nonsense_is_quick(start: str) -> None:
    """Megabytes of brackets, quotes, escapes or digits end in one sentence, in linear time."""
    assert read_notebook(start).trouble is not None
    assert read_notebook(start + "}").trouble is not None


LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
ANY = st.recursive(
    LEAF,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
CELL = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(["metadata", "outputs", "id", "execution_count", "language", "input", "level"], ANY)
    | {"cell_type": st.sampled_from(["code", "markdown", "raw", "heading", 3]), "source": st.text(max_size=8) | ANY},
)
CELLS = st.lists(CELL | ANY, max_size=4) | ANY


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "nbformat": st.sampled_from([1, 2, 3, 4, 5]) | ANY,
            "nbformat_minor": st.integers(0, 9) | ANY,
            "metadata": ANY,
            "cells": CELLS,
            "worksheets": st.lists(st.fixed_dictionaries({"cells": CELLS}), max_size=2) | ANY,
        },
    )
)
def test_any_document_gives_cells_or_a_sentence(document: Json) -> None:
    """Whatever a notebook's parts are, reading never raises and gives the same twice."""
    source = json.dumps(document)
    found = read_notebook(source)
    assert bool(found.cells) != (found.trouble is not None)
    assert read_notebook(source) == found
