"""Grades what lies in ``ROOT/submission`` and writes ``ROOT/results/results.json``, as Gradescope lays them out."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from grader.core.assignment import Assignment
from grader.course import Course, find_course, load_assignment
from grader.errors import GraderError
from grader.gradescope.build import SETTINGS
from grader.gradescope.submission import find_submission
from grader.model import Result
from grader.render.platforms.gradescope import gradescope, gradescope_failure, gradescope_refusal
from grader.store.files import make_folder, write_file

__all__ = ["main"]

MAX_METADATA = 16 << 20
OUR_FAULT = "The autograder failed. This is not your fault, and you lose no points by it. Please tell your instructor."


def main(words: Sequence[str]) -> int:
    """Grade; return 0 if a result was written by us, whatever it says.

    What is printed is for the instructor alone.

    Raises:
        OutputError: If it can't be written.
    """
    root = Path(words[0])
    began = time.perf_counter()
    try:
        text = _answer(root, began)
    except GraderError as error:
        text = _failed(str(error), began)
    except MemoryError:
        text = _failed("The container ran out of memory; choose a larger one in the autograder's settings.", began)
    except Exception as error:  # noqa: BLE001 - whatever fails in us is told as our fault, and as nothing else
        text = _failed(f"{type(error).__name__} in {_place(error)}", began)
    make_folder(root / "results")
    write_file(root / "results" / "results.json", text)
    return 0


def _answer(root: Path, began: float) -> str:
    """Return the text of ``results.json``. Raises GraderError where we fail."""
    source = root / "source"
    settings = json.loads((source / SETTINGS).read_text(encoding="utf-8"))
    course = find_course(source / settings["course"] if settings["course"] else None)
    metadata = _metadata(root / "submission_metadata.json")
    handout = sorted(path.name for path in course.handout(settings["assignment"]).glob("*.*"))
    names = [name for name in handout if name.endswith((".py", ".ipynb"))]
    choice = find_submission(root / "submission", names)
    if choice.path is None:
        print(f"Nothing was graded. {choice.problem}")
        return gradescope_refusal(choice.problem, seconds=time.perf_counter() - began)
    result, assignment, isolation = _graded(course, settings, choice.path)
    _tell(result, assignment, isolation, metadata)
    return _document(result, assignment, course, settings["hints"], isolation, began)


def _graded(course: Course, settings: dict[str, Any], path: Path) -> tuple[Result, Assignment, str]:
    from grader.intake import read_submission
    from grader.pipeline import grade
    from grader.run.isolation import open_backend
    from grader.run.scratch import Scratch

    submission = read_submission(path)
    with ExitStack() as stack:
        # Before the course is loaded: nothing of it is in the memory of a process that is copied from this one.
        backend = stack.enter_context(
            open_backend(settings["isolation"], purpose="others' files", secrets=course.secrets)
        )
        assignment = load_assignment(course, settings["assignment"])
        scratch = Scratch(backend, submission)
        stack.callback(scratch.close)
        seed = secrets.randbelow(1_000_000)
        _, result = grade(assignment, submission, seed, scratch, secret=secrets.token_hex(16))
        return result, assignment, backend.name


def _document(result: Result, assignment: Assignment, course: Course, hints: int, isolation: str, began: float) -> str:
    from grader.render.html import fragment
    from grader.render.platforms.told import tell

    told = tell(result, assignment, hints=hints)
    page = fragment(told.view, course.template_dirs)
    return gradescope(told, page=page, seconds=time.perf_counter() - began, isolation=isolation)


def _tell(result: Result, assignment: Assignment, isolation: str, metadata: dict[str, Any]) -> None:
    """Print what an instructor wants to know of a run, notes on what the code did beside answering included."""
    from grader.core.catalogue import Catalogue
    from grader.render import clean
    from grader.render.figures import points

    score = f"{points(result.cents)} of {points(result.max_cents)}" if result.status == "graded" else "not graded"
    print(f"{clean.terminal(result.name)}: {score}; isolation {isolation}; again: grade FILE --seed {result.seed}")
    words = Catalogue(assignment.texts)
    notes = [*result.notes]
    for task in result.tasks:
        notes += [*task.notes, *(note for criterion in task.criteria for note in criterion.finding.notes)]
    told = [words.get(note.text, note.params) or note.text for note in notes if note.kind in ("review", "integrity")]
    for text in dict.fromkeys(told):
        print(f"to look at: {clean.terminal(text)[:400]}")
    wanted = _number(metadata.get("assignment"))
    if wanted is not None and wanted != assignment.points:
        print(f"note: the assignment on Gradescope has {wanted:g} points, and ours has {assignment.points}.")


def _number(about: object) -> float | None:
    """Return the points of the assignment on Gradescope, which stand there as a text."""
    try:
        return float(about["total_points"]) if isinstance(about, dict) else None
    except (KeyError, TypeError, ValueError):
        return None


def _metadata(path: Path) -> dict[str, Any]:
    """Read what Gradescope says of the submission; nothing depends on its being there."""
    try:
        if path.stat().st_size > MAX_METADATA:
            return {}
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _failed(reason: str, began: float) -> str:
    print(f"Not graded: {reason}")
    return gradescope_failure(OUR_FAULT, seconds=time.perf_counter() - began)


def _place(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace is not None else "?"
