"""Every flaw that is planted in a sound course is found, with its file and key."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.checkcourse import Proof, check_assignment
from grader.cli.main import main
from grader.course import find_course

pytestmark = pytest.mark.slow  # plain pytest stays below two minutes; .ci/run runs all

SOUND = Path(__file__).parent / "course"
SPEC, CHECKS, TEXTS = "assignment.toml", "checks.py", "feedback.en.toml"
SOLUTION, MISTAKES, HANDOUT = "solution.py", "misconceptions.py", "submission.py"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a copy of the sound course."""
    return Path(shutil.copytree(SOUND, tmp_path / "course", ignore=shutil.ignore_patterns("__pycache__")))


def place(folder: Path, name: str) -> Path:
    """Return the path of one of the course's files."""
    return folder / ("exercises" if name == HANDOUT else "reference") / "spread" / name


def change(folder: Path, name: str, old: str, new: str) -> None:
    """Replace ``old``, which must stand there once; an empty one means: add at the end."""
    path = place(folder, name)
    text = path.read_text(encoding="utf-8")
    assert not old or text.count(old) == 1, (name, old)
    path.write_text(text.replace(old, new) if old else text + new, encoding="utf-8")


def proofs(folder: Path, seeds: int = 1) -> dict[str, Proof]:
    """Return all proofs by their names."""
    return {proof.name: proof for proof in check_assignment(find_course(folder), "spread", seeds)}


def problems(folder: Path) -> dict[str, list[str]]:
    """Return the problems of each proof that fails, as they are printed."""
    return {name: [str(item) for item in proof.problems] for name, proof in proofs(folder).items() if not proof.holds}


def test_a_sound_course_proves_itself(folder: Path) -> None:
    """Nothing is wrong with the course that the flaws are planted in, and all of it was looked at."""
    found = proofs(folder, seeds=2)

    assert list(found) == ["points", "solution", "handout", "misconceptions", "mutants", "texts"]
    assert [name for name, proof in found.items() if proof.problems or proof.listed] == []
    assert found["points"].says == "10: centre 6, spread 4"


NEW_ENTRY = """

@BOOK.add("new", "{target}", catalogue="4")
def _(x: Any) -> Any:
    '''Believed.'''
    return {value}
"""
TEXTS_OF_NEW = "".join(
    f'"misconception.new.{part}" = "New."\n' for part in ("title", "text", "next", "hint1", "hint2", "hint3")
)


def entry(target: str, value: str) -> str:
    """Return the source of one more misconception."""
    return NEW_ENTRY.format(target=target, value=value)


FLAWS = [
    # id, proof, file and key, what is said, changes
    ("wrong_solution", "solution", f"{SOLUTION}, centre", "gets 0 of 6 points",
     [(SOLUTION, "return x - x.mean()", "return x - x.max()"),
      (CHECKS, "solution.centre)", "lambda x: x - x.mean())")]),
    ("review", "solution", f"{SOLUTION}, centre.kept.changed", "asked to look",
     [(CHECKS, "status=Status.PASSED)\n        if", "status=Status.PASSED, notes=(REVIEW,))\n        if"),
      (CHECKS, "CASES =", 'REVIEW = Note(text="centre.kept.changed", kind="review")\nCASES ='),
      (CHECKS, "Observed, Status", "Note, Observed, Status")]),
    ("solved_handout", "handout", f"{HANDOUT}, centre", "is passed with 6 points", [(HANDOUT, "return ...", "")]),
    ("points_not_whole", "course", f"{SPEC}, task[0].criteria[0].points", "whole number",
     [(SPEC, "points = 5", "points = 5.5")]),
    ("unknown_key", "course", f"{SPEC}, task[1].colour", "unknown", [(SPEC, 'uses = ["centre"]', 'colour = "red"')]),
    ("no_points", "points", f"{SPEC}, spread", "no points", [(SPEC, "points = 4", "points = 0")]),
    ("unknown_requires", "course", f"{SPEC}, task[0].criteria", "'nothing'",
     [(SPEC, 'requires = "values"', 'requires = "nothing"')]),
    ("missing_title", "course", f"{TEXTS}, centre.kept.title", "missing",
     [(TEXTS, '"centre.kept.title" = "input kept"\n', "")]),
    ("missing_text", "texts", f"{TEXTS}, centre.kept.changed", "checks.py:",
     [(TEXTS, '"centre.kept.changed" = "Your input changed."\n', "")]),
    ("missing_made_text", "texts", f"{TEXTS}, spread.values.wrong", "said it in a rehearsal",
     [(TEXTS, '"spread.values.wrong" = "You gave {got}."\n', "")]),
    ("missing_hint", "texts", f"{TEXTS}, misconception.median.hint2", "missing",
     [(TEXTS, '"misconception.median.hint2" = "About median."\n', "")]),
    ("no_text_of_a_mistake", "texts", f"{TEXTS}, misconception.new", "missing: title, text, next, hint1, hint2",
     [(MISTAKES, "", entry("centre/values", "x * 2"))]),
    ("empty_text", "texts", f"{TEXTS}, misconception.median.next", "empty",
     [(TEXTS, '"misconception.median.next" = "About median."', '"misconception.median.next" = ""')]),
    ("unknown_placeholder", "texts", f"{TEXTS}, spread.values.wrong", "{gott} isn't given",
     [(TEXTS, "You gave {got}.", "You gave {gott}.")]),
    ("placeholder_of_next", "texts", f"{TEXTS}, centre.values.wrong.next", "{at} isn't given",
     [(TEXTS, "Look again at {got}.", "Look again at {at}.")]),
    ("placeholder_nowhere", "texts", f"{TEXTS}, centre.kept.changed", "{which}",
     [(TEXTS, "Your input changed.", "Your {which} changed.")]),
    ("not_caught", "misconceptions", f"{MISTAKES}, new", "isn't caught",
     [(MISTAKES, "", entry("centre/values", "x - x.sum() / x.size")), (TEXTS, "", TEXTS_OF_NEW)]),
    ("two_that_explain_the_same", "misconceptions", f"{MISTAKES}, new", "isn't named",
     [(MISTAKES, "", entry("spread/values", "float(x.var())")), (TEXTS, "", TEXTS_OF_NEW)]),
    ("named_wrongly", "misconceptions", f"{MISTAKES}, median", "is taken for 'sample'",
     [(CHECKS, "BOOK.explain(self.task, observed) if wrong else", '"sample" if wrong else')]),
    ("paid_for_twice", "misconceptions", f"{MISTAKES}, median", "loses points in 'spread' too",
     [(SPEC, 'uses = ["centre"]\n', "")]),
    ("stand_in_wrong", "misconceptions", f"{MISTAKES}, median", "loses points in 'spread' too",
     [("stand_ins/centre.py", "return x - x.mean()", "return x - x.max()")]),
    ("other_arguments", "misconceptions", f"{MISTAKES}, new", "can't be rehearsed",
     [(MISTAKES, "", entry("centre/values", "x").replace("def _(x: Any)", "def _(x: Any, n: int)")),
      (TEXTS, "", TEXTS_OF_NEW)]),
    ("fault_on_a_mistake", "misconceptions", f"{MISTAKES}, median", "a check fails on it",
     [(CHECKS, "got = str(", "got = seen.nothing and str(")]),
    ("unknown_target", "course", f"{MISTAKES}, new", "no criterion 'centre/colour'",
     [(MISTAKES, "", entry("centre/colour", "x"))]),
    ("criterion_forgotten", "solution", f"{CHECKS}, seed 1", "exactly one finding for each criterion",
     [(CHECKS, 'if self.task == "centre":', 'if self.task == "nothing":')]),
    ("plan_raises", "solution", f"{CHECKS}, seed 1", "plan: ZeroDivisionError",
     [(CHECKS, "for name, size in CASES.items():", "for name, size in (CASES if 1 / 0 else CASES).items():")]),
    ("checks_with_a_syntax_error", "course", CHECKS, "SyntaxError", [(CHECKS, "class Checks:", "class Checks")]),
    ("checks_without_a_task", "course", f"{CHECKS}, TASKS", "'spread'",
     [(CHECKS, ', "spread": Checks("spread", solution.spread)', "")]),
    ("function_missing", "course", f"{SOLUTION}, spread", "no function",
     [(SOLUTION, "def spread(", "def spreads("), (CHECKS, "solution.spread)", "abs)")]),
]  # fmt: skip


@pytest.mark.parametrize("proof, where, says, changes", [flaw[1:] for flaw in FLAWS], ids=[flaw[0] for flaw in FLAWS])
def test_a_planted_flaw_is_found(
    folder: Path, proof: str, where: str, says: str, changes: list[tuple[str, str, str]]
) -> None:
    """The proof that the flaw belongs to fails, and says which file and key it is."""
    for name, old, new in changes:
        if (name, old, new) == (HANDOUT, "return ...", ""):
            place(folder, HANDOUT).write_bytes(place(folder, SOLUTION).read_bytes())
        else:
            change(folder, name, old, new)

    found = problems(folder)

    assert proof in found
    assert [problem for problem in found[proof] if f"{where}: " in problem and says in problem], found[proof]


def test_a_course_without_handout_is_found(folder: Path) -> None:
    """There is nothing that learners could start from."""
    shutil.rmtree(folder / "exercises")

    assert [problem.partition(": ")[2] for problem in problems(folder)["handout"]] == [
        "there is no handout in it: a .py file or a notebook is needed."
    ]


def test_a_course_without_solution_is_found(folder: Path) -> None:
    """The solution's file is named."""
    place(folder, SOLUTION).unlink()
    change(folder, CHECKS, "from . import solution\n", "")
    change(folder, CHECKS, "solution.centre", "abs")
    change(folder, CHECKS, "solution.spread", "abs")

    assert "solution.py: this file is missing." in problems(folder)["course"][0]


def test_a_course_turns_its_misconceptions_into_functions(folder: Path) -> None:
    """With ``rehearsal.py``, a wrong reference may take whatever its check gives it."""
    change(
        folder,
        MISTAKES,
        '    """The median is the middle."""\n    return x - np.median(x)',
        '    """Believed."""\n    return x',
    )
    place(folder, "rehearsal.py").write_text("def as_function(entry):\n    return lambda x: 1 / 0\n", encoding="utf-8")

    assert [problem.rpartition(", ")[2] for problem in problems(folder)["misconceptions"]] == [
        "median: is caught with seed 1 and isn't named. What is said: values: Your first answer is nothing; 2 differ.",
        "sample: is caught with seed 1 and isn't named. What is said: values: You gave nothing.",
        "no_root: is caught with seed 1 and isn't named. What is said: values: You gave nothing.",
    ]


@pytest.mark.parametrize(
    "source, says",
    [
        ("", "as_function: there is no function of this name."),
        ("import nothing_of_this_name\n", "it can't be imported: ModuleNotFoundError"),
        ("def as_function(entry):\n    raise KeyError(entry.id)\n", "gives no function: KeyError: 'median'"),
    ],
    ids=["without", "broken", "raises"],
)
def test_a_broken_rehearsal_is_found(folder: Path, source: str, says: str) -> None:
    """What is wrong with ``rehearsal.py`` is said, and nothing is raised."""
    place(folder, "rehearsal.py").write_text(source, encoding="utf-8")

    assert says in problems(folder)["misconceptions"][0]


def test_a_weakened_check_lets_mistakes_survive(folder: Path) -> None:
    """A check that looks at the shape alone catches fewer small mistakes; the others are listed with their lines."""
    change(folder, CHECKS, " and np.allclose(value, right)", "")
    found = proofs(folder)["mutants"]

    assert found.holds
    assert [line for line in found.listed if "solution.py:13: return x + x.mean()" in line]
    assert len(found.listed) > 5


def test_a_mistake_that_never_ends_is_caught(folder: Path) -> None:
    """A loop that a small mistake makes endless is stopped after a number of steps."""
    change(
        folder, SOLUTION, "    return x - x.mean()",
        "    step = 3\n    while step > 0:\n        step = step - 1\n    return x - x.mean()",
    )  # fmt: skip
    found = proofs(folder)["mutants"]

    assert found.holds
    assert not [line for line in found.listed if "step + 1" in line]


def test_texts_that_nothing_uses_are_listed(folder: Path) -> None:
    """They are worth knowing, and no failure."""
    change(folder, TEXTS, "", '"centre.values.old" = "Old."\n"misconception.gone.title" = "Gone."\n')
    found = proofs(folder)["texts"]

    assert found.holds
    assert [line.rpartition(", ")[2] for line in found.listed[1:]] == ["centre.values.old", "misconception.gone.title"]


def test_the_command_says_it_all(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sound course exits with 0, a line a proof; a flaw with 3, its file and key; paths are the course's own."""
    assert main(["check-course", str(folder), "--seeds", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "All proofs hold."
    change(folder, TEXTS, "You gave {got}.", "You gave {gott}.")

    assert main(["check-course", str(folder), "--assignment", "spread", "--seeds", "1"]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert "    - reference/spread/feedback.en.toml, spread.values.wrong: {gott} isn't given with it." in lines
    assert lines[-1] == "1 proof failed."


@pytest.mark.parametrize(
    "words, says",
    [
        (["nowhere"], "nowhere: there is no such folder."),
        ([str(SOUND), "--assignment", "other"], "There is no assignment 'other'. There is: spread."),
        ([str(SOUND), "--seeds", "0"], "'0' is no number of seeds"),
        ([str(SOUND), "--seeds", "many"], "'many' is no number of seeds"),
    ],
    ids=["folder", "assignment", "zero", "word"],
)
def test_wrong_usage_is_told(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Wrong usage exits with 2 and one sentence."""
    assert main(["check-course", *words]) == 2
    assert says in capsys.readouterr().err


def test_no_course_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that holds no course exits with 3."""
    assert main(["check-course", str(tmp_path)]) == 3
    assert "this isn't a course" in capsys.readouterr().err
