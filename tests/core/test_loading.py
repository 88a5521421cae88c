"""What is said of how a file loaded."""

from __future__ import annotations

import pytest

from grader.core.loading import MAX_CELL_NOTES, loading_notes
from grader.model import Call, Failure, Outcome, OutcomeKind, Transcript
from tests.core.tiny import ENGINE_TEXTS, transcript_of

SOURCE = "import numpy as np\n   np.nothing()  \nlast"


def load(
    outcome: OutcomeKind,
    failure: Failure | None = None,
    *,
    names: tuple[str, ...] = (),
    cell: int = 0,
    cut: bool = False,
) -> Outcome:
    """Return how a cell or script loaded."""
    return Outcome(call=f"load/{cell}", kind=outcome, failure=failure, callables=names, stdout_cut=cut)


def script(*outcomes: Outcome) -> Transcript:
    """Return the transcript of a script."""
    return transcript_of(source=(SOURCE,), outcomes=outcomes)


def notebook(*outcomes: Outcome) -> Transcript:
    """Return the transcript of a notebook, a cell for each outcome."""
    numbers = tuple(int(outcome.call.removeprefix("load/")) for outcome in outcomes)
    return transcript_of(kind="notebook", source=(SOURCE,) * len(numbers), cell_numbers=numbers, outcomes=outcomes)


def told(transcript: Transcript) -> list[str]:
    """Return the notes in words."""
    return [ENGINE_TEXTS.render(note.text, note.params) for note in loading_notes(transcript)]


STOPS = {
    "syntax": ("raised", "SyntaxError", "invalid syntax"),
    "indentation": ("raised", "IndentationError", "unexpected indent"),
    "tabs": ("raised", "TabError", "inconsistent use of tabs"),
    "module": ("raised", "ModuleNotFoundError", "No module named 'torch'"),
    "exit": ("raised", "SystemExit", "1"),
    "exit-silent": ("raised", "SystemExit", ""),
    "input": ("raised", "EOFError", "input() is not answered"),
    "end-of-file": ("raised", "EOFError", "Ran out of input"),
    "value": ("raised", "ValueError", "no"),
    "assert": ("raised", "AssertionError", ""),
    "slow": ("timed_out", "too_long", "30"),
    "asleep": ("timed_out", "asleep", "30"),
    "deadline": ("timed_out", "deadline", "90"),
    "memory": ("out_of_memory", "MemoryError", ""),
    "crash": ("crashed", "signal", "SIGSEGV"),
    "not-run": ("not_run", "deadline", ""),
    "large": ("too_large", "transcript", ""),
}
TEXTS = {
    "syntax": "syntax", "indentation": "syntax", "tabs": "syntax", "module": "missing_module", "exit": "exit",
    "exit-silent": "exit", "input": "input", "end-of-file": "raised", "value": "raised", "assert": "raised_silent",
    "slow": "timed_out", "asleep": "timed_out", "deadline": "timed_out", "memory": "out_of_memory",
    "crash": "crashed", "not-run": "not_run", "large": "too_large",
}  # fmt: skip


@pytest.mark.parametrize("scope", ["nothing", "file", "cell"])
@pytest.mark.parametrize("name", STOPS)
def test_each_way_to_stop_has_its_words(name: str, scope: str) -> None:
    """Where the line is known, the note is about that line, for a file, the rest of one, and a cell."""
    kind, error, message = STOPS[name]
    failure = Failure(kind=error, message=message, cell=0, line=2)
    outcome = load(kind, failure, names=() if scope == "nothing" else ("f",))  # type: ignore[arg-type]  # all are kinds
    (note,) = loading_notes((notebook if scope == "cell" else script)(outcome))

    assert note.text == f"engine.load.{scope}.{TEXTS[name]}"
    assert (dict(note.params)["line"], dict(note.params)["code"]) == (2, "np.nothing()")
    assert "{" not in ENGINE_TEXTS.render(note.text, note.params)


@pytest.mark.parametrize("scope", ["nothing", "file", "cell"])
@pytest.mark.parametrize("known", [pytest.param(True, id="failure"), pytest.param(False, id="no failure")])
@pytest.mark.parametrize("name", STOPS)
def test_without_a_line_there_are_words_too(name: str, known: bool, scope: str) -> None:
    """Where no line is known, none is named: nobody looks for line 0."""
    kind, error, message = STOPS[name]
    failure = Failure(kind=error, message=message) if known else None
    outcome = load(kind, failure, names=() if scope == "nothing" else ("f",))  # type: ignore[arg-type]  # all are kinds
    (text,) = told((notebook if scope == "cell" else script)(outcome))

    assert text
    assert not {"{", "``", "line"} & set(text.replace(",", " ").split())
    assert "line 0" not in text
    assert ": ." not in text


def test_the_module_is_named() -> None:
    """A missing module is told by its name."""
    failure = Failure(kind="ModuleNotFoundError", message="No module named 'torch.nn'", cell=0, line=1)
    (note,) = loading_notes(script(load("raised", failure)))

    assert dict(note.params)["module"] == "torch.nn"


@pytest.mark.parametrize(
    "cell, line, code",
    [
        pytest.param(0, 1, "import numpy as np", id="first"),
        pytest.param(0, 2, "np.nothing()", id="indented"),
        pytest.param(0, 3, "last", id="last"),
        pytest.param(0, 4, "", id="beyond the end"),
        pytest.param(0, 0, "", id="before the start"),
        pytest.param(0, -1, "", id="negative"),
        pytest.param(9, 1, "", id="no such cell"),
        pytest.param(None, 1, "", id="not in the file"),
    ],
)
def test_the_line_comes_from_the_file_handed_in(cell: int | None, line: int, code: str) -> None:
    """The line that is shown is the learner's own, or none."""
    failure = Failure(kind="ValueError", message="no", cell=cell, line=line)
    (note,) = loading_notes(script(load("raised", failure)))

    assert dict(note.params)["code"] == code


def test_long_lines_are_cut() -> None:
    """At most 80 characters of a line are shown."""
    failure = Failure(kind="ValueError", message="no", cell=0, line=1)
    transcript = transcript_of(source=("x" * 500,), outcomes=(load("raised", failure),))

    assert dict(loading_notes(transcript)[0].params)["code"] == "x" * 80


def test_a_file_that_loads_has_nothing_to_tell() -> None:
    """No news is good news."""
    assert loading_notes(script(load("returned", names=("f",)))) == ()


def test_only_loading_is_told() -> None:
    """A call that fails later is a matter of its task."""
    call = Call(id="t/a", session="main", kind="function", name="f")
    outcomes = (load("returned", names=("f",)), Outcome(call=call.id, kind="crashed"))

    assert loading_notes(transcript_of(calls=(call,), outcomes=outcomes)) == ()


@pytest.mark.parametrize("bad", [1, MAX_CELL_NOTES, MAX_CELL_NOTES + 1, 40])
def test_many_cells_are_counted(bad: int) -> None:
    """Three failing cells are told one by one, more are counted."""
    failure = Failure(kind="NameError", message="name 'x' is not defined", line=1)
    notes = loading_notes(notebook(*(load("raised", failure, cell=n) for n in range(1, bad + 1))))

    assert [dict(note.params)["cell"] for note in notes[:MAX_CELL_NOTES]] == list(
        range(1, min(bad, MAX_CELL_NOTES) + 1)
    )
    rest = notes[MAX_CELL_NOTES:]
    assert [(note.text, dict(note.params)) for note in rest] == (
        [("engine.load.more_cells", {"count": bad - MAX_CELL_NOTES})] if bad > MAX_CELL_NOTES else []
    )


@pytest.mark.parametrize(
    "remarks, shown",
    [
        pytest.param(("%matplotlib inline",), "`%matplotlib inline`", id="one"),
        pytest.param(("a", "b", "c"), "`a`, `b`, `c`", id="three"),
        pytest.param(("a", "b", "c", "d"), "`a`, `b`, `c` ...", id="four"),
    ],
)
def test_skipped_lines_are_told_once(remarks: tuple[str, ...], shown: str) -> None:
    """Magics of all cells make one note with the first three."""
    halves = (remarks[:1], remarks[1:])
    outcomes = tuple(Outcome(call=f"load/{n}", kind="returned", remarks=half) for n, half in enumerate(halves))
    (note,) = loading_notes(notebook(*outcomes))

    assert (note.text, note.params) == ("engine.load.magics", (("count", len(remarks)), ("skipped", shown)))


def test_cut_output_is_told() -> None:
    """That much was printed is said, once."""
    notes = loading_notes(notebook(load("returned", cell=1, cut=True), load("returned", cell=2, cut=True)))

    assert [note.text for note in notes] == ["engine.load.output_cut"]


def test_a_hidden_calls_output_is_not_told() -> None:
    """Whether a hidden call printed much is nobody's to know: it would tell of its input."""
    call = Call(id="t/a", session="hidden", kind="function", name="f", hidden=True)
    outcomes = (load("returned", names=("f",)), Outcome(call=call.id, kind="returned", stdout_cut=True))

    assert loading_notes(transcript_of(calls=(call,), outcomes=outcomes)) == ()


def test_notes_of_intake_come_first() -> None:
    """What was noticed of the file itself goes before what happened when it ran."""
    failure = Failure(kind="ValueError", message="no", line=1)
    transcript = transcript_of(
        intake=(("intake.encoding.guessed", (("codec", "cp1252"),)),), outcomes=(load("raised", failure),)
    )
    notes = loading_notes(transcript)

    assert [note.text for note in notes] == ["intake.encoding.guessed", "engine.load.nothing.raised"]
    assert notes[0].params == (("codec", "cp1252"),)
