"""What is said of a submission as a whole: how its loading went."""

from __future__ import annotations

import re

from grader.core.find import LOAD
from grader.model import Failure, Note, Outcome, Param, Transcript

__all__ = ["loading_notes", "nothing_ran", "own_line"]

MAX_CELL_NOTES = 3
"""More failing cells than these are counted, not told one by one."""

_SOMEWHERE = ("raised", "raised_silent", "missing_module", "timed_out", "out_of_memory", "crashed")
"""What has other words when the line isn't known."""

_MODULE = re.compile(r"No module named '([^']{1,80})'")


def loading_notes(transcript: Transcript) -> tuple[Note, ...]:
    """Return what the learner should know of how the file loaded, the gravest first."""
    notes = [Note(text=text, params=params) for text, params in transcript.intake]
    loads = [outcome for outcome in transcript.outcomes if outcome.call.startswith(LOAD)]
    stopped = [outcome for outcome in loads if outcome.kind != "returned"]
    defined = any(outcome.callables for outcome in loads)
    stops = [_stop_note(outcome, transcript, defined=defined) for outcome in stopped]
    if transcript.kind == "notebook" and len(stops) > MAX_CELL_NOTES:
        more = Note(text="engine.load.more_cells", params=(("count", len(stops) - MAX_CELL_NOTES),))
        stops = [*stops[:MAX_CELL_NOTES], more]
    notes += stops
    skipped = [remark for outcome in loads for remark in outcome.remarks]
    if skipped:
        shown = ", ".join(f"`{remark}`" for remark in skipped[:3]) + (" ..." if len(skipped) > 3 else "")
        notes.append(Note(text="engine.load.magics", params=(("count", len(skipped)), ("skipped", shown))))
    # How much a hidden call printed would tell of its input.
    hidden = {call.id for call in transcript.calls if call.hidden}
    if any(outcome.stdout_cut and outcome.call not in hidden for outcome in transcript.outcomes):
        notes.append(Note(text="engine.load.output_cut"))
    return tuple(notes)


def nothing_ran(transcript: Transcript) -> bool:
    """Whether the file stopped before it had defined anything, or couldn't be read at all."""
    loads = [outcome for outcome in transcript.outcomes if outcome.call.startswith(LOAD)]
    stopped = any(outcome.kind != "returned" for outcome in loads)
    return transcript.intake_trouble or (stopped and not any(outcome.callables for outcome in loads))


def _stop_note(outcome: Outcome, transcript: Transcript, *, defined: bool) -> Note:
    cell = int(outcome.call.removeprefix(LOAD))
    failure = outcome.failure or Failure()
    params: list[tuple[str, Param]] = [
        ("cell", cell),
        ("kind", failure.kind or "Exception"),
        ("message", failure.message),
        ("line", failure.line or 0),
        ("code", own_line(transcript, failure.cell, failure.line)),
    ]
    module = _MODULE.search(failure.message)
    text: str = outcome.kind
    if text == "raised":
        if failure.kind in ("SyntaxError", "IndentationError", "TabError"):
            text = "syntax"
        elif module:
            text = "missing_module"
            params.append(("module", module[1]))
        elif failure.kind == "SystemExit":
            text = "exit"
        elif failure.kind == "EOFError" and failure.message.startswith("input()"):
            text = "input"
        elif not failure.message:
            text = "raised_silent"
    if failure.line is None:
        # Texts that are about a line say too little without one.
        text = {"syntax": "raised", "exit": "raised_silent", "input": "raised"}.get(text, text)
        text += "_somewhere" if text in _SOMEWHERE else ""
    scope = "cell" if transcript.kind == "notebook" else ("file" if defined else "nothing")
    return Note(text=f"engine.load.{scope}.{text}", params=tuple(params))


def own_line(transcript: Transcript, cell: int | None, line: int | None) -> str:
    """Return the learner's own line, from the bytes handed in and nowhere else."""
    if cell is None or line is None or cell not in transcript.cell_numbers:
        return ""
    lines = transcript.source[transcript.cell_numbers.index(cell)].split("\n")
    return lines[line - 1].strip()[:80] if 1 <= line <= len(lines) else ""
