"""The one place that wires the rooms together for one submission."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping

import numpy as np

from grader import __version__
from grader.core.assignment import Assignment
from grader.core.judge import Judgement, TaskJudgement, judge, needs_cells
from grader.core.memory import Memory
from grader.core.observed import STAND_IN
from grader.core.plan import plan
from grader.core.score import conclude
from grader.intake.source import decode
from grader.model import Call, Outcome, Result, Session, Submission, Transcript
from grader.model._data import replace
from grader.run.replay import resolve
from grader.run.runner import Runner, Scratch
from grader.run.stopwatch import Stopwatch

__all__ = ["begin", "grade", "judge_transcript", "judged_by", "run"]

MAX_ROUNDS = 12
"""A plan that still wants more after so many rounds is broken; what is there is judged."""


def grade(
    assignment: Assignment,
    submission: Submission,
    seed: int,
    scratch: Scratch,
    *,
    secret: str = "",
    watch: Stopwatch | None = None,
    meanwhile: Callable[[], object] | None = None,
    tell: Callable[[Call], None] | None = None,
    keep: Callable[[Judgement], object] | None = None,
) -> tuple[Transcript, Result]:
    """Run a submission and judge it. Uses the scratch folder up.

    Args:
        assignment: What to ask, and how it is judged.
        submission: The learner's files.
        seed: Of all inputs that the learner may see.
        scratch: Where the workers live.
        secret: Of the inputs of hidden criteria, beside the seed; it must not be printed.
        watch: Is told where the time goes.
        meanwhile: Called once, when the first calls are about to be sent: what it starts runs beside them.
        tell: Is told which call is being waited for; see ``Runner``.
        keep: Is given what was found, before points are added up.

    Raises:
        IsolationError, OutputError: If no worker can be started.
    """
    memory, watch = Memory(), watch or Stopwatch()
    begun = begin(assignment, submission, seed, secret)
    transcript, resolved = run(assignment, begun, scratch, memory, watch, meanwhile=meanwhile, tell=tell)
    with watch.stage("judge"):
        return transcript, _conclude(assignment, _with_cells(assignment, resolved), memory, keep=keep)


def judge_transcript(
    assignment: Assignment,
    transcript: Transcript,
    *,
    known: Mapping[str, TaskJudgement] | None = None,
    keep: Callable[[Judgement], object] | None = None,
) -> Result:
    """Judge a stored transcript, without any code of the learner's.

    Args:
        assignment: How it is judged.
        transcript: What was asked and answered.
        known: What was found of some tasks before, where nothing that it rests on has changed: not looked at again.
        keep: Is given what was found, before points are added up.
    """
    if not all(task.id in (known or {}) for task in assignment.tasks):
        functions = [call for call in transcript.calls if call.kind == "function"]
        transcript = replace(transcript, outcomes=resolve(functions, transcript.outcomes))
        transcript = _with_cells(assignment, transcript)
    return _conclude(assignment, transcript, Memory(), known, keep)


def begin(assignment: Assignment, submission: Submission, seed: int, secret: str = "") -> Transcript:
    """Return the transcript before anything was asked."""
    notes = submission.notes if submission.trouble is None else (submission.trouble, *submission.notes)
    return Transcript(
        schema="grade.transcript/1",
        assignment=assignment.id,
        version=assignment.version,
        digest=assignment.digest,
        name=submission.name,
        kind=submission.kind,
        sha256=submission.sha256,
        seed=seed,
        secret=secret,
        source=tuple(decode(cell) for cell in submission.cells),
        cell_numbers=tuple(cell.number for cell in submission.cells),
        intake=tuple((note.text, note.params) for note in notes),
        intake_trouble=submission.trouble is not None,
    )


def run(
    assignment: Assignment,
    begun: Transcript,
    scratch: Scratch,
    memory: Memory,
    watch: Stopwatch | None = None,
    meanwhile: Callable[[], object] | None = None,
    tell: Callable[[Call], None] | None = None,
) -> tuple[Transcript, Transcript]:
    """Ask until the plan is empty; return the transcript as it is kept, and with all draws filled in."""
    watch = watch or Stopwatch()
    kept = resolved = begun
    stand_ins = {
        f"{STAND_IN}{task.id}": {task.function: assignment.stand_ins[task.function]}
        for task in assignment.tasks
        if task.function in assignment.stand_ins
    }
    runner = Runner(scratch, assignment.limits, assignment.inert_modules, stand_ins, assignment.packages, tell)
    try:
        for _ in range(MAX_ROUNDS):
            with watch.stage("plan"):
                calls = plan(assignment, resolved, memory)
            if not calls:
                break
            if meanwhile is not None:
                meanwhile()
                meanwhile = None
            outcomes = _ask(runner, calls, watch)
            kept = _extended(kept, calls, replace(kept, outcomes=(*kept.outcomes, *outcomes)))
            with watch.stage("replay"):
                filled = resolve([call for call in calls if call.kind == "function"], outcomes)
            resolved = _extended(resolved, calls, replace(resolved, outcomes=(*resolved.outcomes, *filled)))
            kept = replace(kept, environment=runner.environment)
            resolved = replace(resolved, environment=runner.environment)
    finally:
        with watch.stage("end"):
            runner.close()
    return kept, resolved


def _ask(runner: Runner, calls: tuple[Call, ...], watch: Stopwatch) -> tuple[Outcome, ...]:
    """Run calls. What their own times don't cover is the starting of processes, and loading again in new ones."""
    wall, cpu = time.perf_counter(), time.process_time()
    outcomes = runner.run(calls)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    seconds = {"load": 0.0, "calls": 0.0}
    for call, outcome in zip(calls, outcomes, strict=True):
        seconds["calls" if call.kind == "function" else "load"] += outcome.wall_us / 1e6
    watch.add("load", seconds["load"], 0.0)
    watch.add("calls", seconds["calls"], cpu)
    watch.add("start", max(0.0, wall - sum(seconds.values())), 0.0)
    return outcomes


def _with_cells(assignment: Assignment, transcript: Transcript) -> Transcript:
    """Fill in what a notebook's cells drew, if an answer may have to be read out of them."""
    if not needs_cells(assignment, transcript):
        return transcript
    loads = [call for call in transcript.calls if call.kind == "cell"]
    return replace(transcript, outcomes=resolve(loads, transcript.outcomes))


def _extended(before: Transcript, calls: tuple[Call, ...], after: Transcript) -> Transcript:
    known = {session.id for session in before.sessions}
    new = dict.fromkeys(call.session for call in calls if call.session not in known)
    return replace(
        after, calls=(*before.calls, *calls), sessions=(*before.sessions, *(Session(id=name) for name in new))
    )


def _conclude(
    assignment: Assignment,
    transcript: Transcript,
    memory: Memory,
    known: Mapping[str, TaskJudgement] | None = None,
    keep: Callable[[Judgement], object] | None = None,
) -> Result:
    judgement = judge(assignment, transcript, memory, known)
    if keep is not None:
        keep(judgement)
    return conclude(assignment, transcript, judgement, judged_by())


def judged_by() -> tuple[tuple[str, str], ...]:
    """Return the versions of what judges."""
    return (("grader", __version__), ("numpy", np.__version__), ("python", platform.python_version()))
