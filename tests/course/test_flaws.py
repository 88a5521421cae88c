"""Every mistake in a course is named by its file and its key."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.course import Course, load_assignment
from grader.errors import CourseError
from tests.course.small import replace_in, write_course

TOML, TEXTS, CHECKS, BOOK = "assignment.toml", "feedback.en.toml", "checks.py", "misconceptions.py"

# id: (file, old text, new text, key, a piece of the message)
FLAWS = {
    "toml-broken": (TOML, 'id = "doubling"', 'id = "doubling', "", "isn't valid TOML"),
    "toml-key-twice": (TOML, 'version = "1.0"', 'version = "1.0"\nversion = "1.1"', "", "isn't valid TOML"),
    "id-of-another-folder": (TOML, 'id = "doubling"', 'id = "halving"', "id", "the folder is 'doubling'"),
    "id-missing": (TOML, 'id = "doubling"\n', "", "id", "is missing"),
    "id-a-number": (TOML, 'id = "doubling"', "id = 1", "id", "must be a text"),
    "id-in-capitals": (TOML, 'id = "doubling"', 'id = "Doubling"', "id", "isn't allowed"),
    "id-a-path": (TOML, 'id = "doubling"', 'id = "../doubling"', "id", "isn't allowed"),
    "version-missing": (TOML, 'version = "1.0"\n', "", "version", "is missing"),
    "version-a-number": (TOML, 'version = "1.0"', "version = 1.0", "version", "must be a text"),
    "language-a-list": (TOML, 'version = "1.0"', 'version = "1.0"\nlanguage = ["en"]', "language", "must be a text"),
    "unknown-key": (TOML, 'version = "1.0"', 'version = "1.0"\nverison = "1"', "verison", "is unknown here"),
    "packages-a-text": (TOML, '["numpy"]', '"numpy"', "packages", "list of texts"),
    "packages-of-numbers": (TOML, '["numpy"]', "[1]", "packages", "list of texts"),
    "inert-a-table": (TOML, '["matplotlib"]', "{}", "inert_modules", "list of texts"),
    "limit-unknown": (TOML, "call_seconds", "cal_seconds", "limits.cal_seconds", "is unknown here"),
    "limit-zero": (TOML, "2.5", "0", "limits.call_seconds", "above 0"),
    "limit-negative": (TOML, "2.5", "-2.5", "limits.call_seconds", "above 0"),
    "limit-nan": (TOML, "2.5", "nan", "limits.call_seconds", "above 0"),
    "limit-a-text": (TOML, "2.5", '"2.5"', "limits.call_seconds", "above 0"),
    "limit-true": (TOML, "2.5", "true", "limits.call_seconds", "above 0"),
    "limit-half-a-mebibyte": (TOML, "512", "512.5", "limits.memory_mib", "whole number"),
    "limits-a-number": (TOML, "[limits]\ncall_seconds = 2.5\nmemory_mib = 512", "limits = 3", "limits", "a table"),
    "no-task": (TOML, None, 'id = "doubling"\nversion = "1.0"\n', "task", "at least one"),
    "task-one-table": (TOML, None, 'id = "doubling"\nversion = "1.0"\n[task]\nid = "a"\n', "task", "must be a list"),
    "tasks-of-numbers": (TOML, None, 'id = "doubling"\nversion = "1.0"\ntask = [1]\n', "task[0]", "a table is needed"),
    "task-key-unknown": (TOML, 'uses = ["double"]', 'use = ["double"]', "task[1].use", "is unknown here"),
    "task-id-missing": (TOML, '[[task]]\nid = "double"', "[[task]]", "task[0].id", "is missing"),
    "task-id-empty": (TOML, '[[task]]\nid = "double"', '[[task]]\nid = ""', "task[0].id", "isn't allowed"),
    "task-id-with-a-slash": (TOML, '[[task]]\nid = "double"', '[[task]]\nid = "a/b"', "task[0].id", "isn't allowed"),
    "task-id-reserved": (TOML, '[[task]]\nid = "double"', '[[task]]\nid = "load"', "task[0].id", "isn't allowed"),
    "task-id-twice": (TOML, 'id = "triple"', 'id = "double"', "task", "'double' stands there twice"),
    "function-twice": (TOML, 'function = "triple"', 'function = "double"', "task.function", "stands there twice"),
    "function-no-name": (TOML, 'function = "double"', 'function = "dou ble"', "task[0].function", "isn't allowed"),
    "function-empty": (TOML, 'function = "double"', 'function = ""', "task[0].function", "isn't allowed"),
    "function-missing": (TOML, 'function = "double"\n', "", "task[0].function", "is missing"),
    "signature-missing": (TOML, 'signature = "triple(x)"\n', "", "task[1].signature", "is missing"),
    "uses-a-text": (TOML, '["double"]', '"double"', "task[1].uses", "list of texts"),
    "uses-no-task": (TOML, '["double"]', '["treble"]', "task[1].uses", "'treble' is no task before this one"),
    "uses-itself": (TOML, '["double"]', '["triple"]', "task[1].uses", "'triple' is no task before this one"),
    "criteria-missing": (TOML, "criteria = [{", "criterion = [{", "task[1].criterion", "is unknown here"),
    "criteria-empty": (TOML, '[{ id = "value", points = 5, core = true }]', "[]", "task[1].criteria", "at least one"),
    "criterion-a-text": (
        TOML, '[{ id = "value", points = 5, core = true }]', '["value"]', "task[1].criteria[0]", "a table is needed",
    ),
    "criterion-key-unknown": (TOML, "core = true", "kore = true", "task[0].criteria[0].kore", "is unknown here"),
    "criterion-id-missing": (TOML, 'id = "zero", ', "", "task[0].criteria[1].id", "is missing"),
    "criterion-id-empty": (TOML, '"secret"', '""', "task[0].criteria[2].id", "isn't allowed"),
    "criterion-id-twice": (TOML, '"secret"', '"value"', "task[0].criteria", "'value' stands there twice"),
    "points-missing": (TOML, "points = 6, ", "", "task[0].criteria[0].points", "whole number"),
    "points-half": (TOML, "points = 6", "points = 6.5", "task[0].criteria[0].points", "whole number"),
    "points-negative": (TOML, "points = 6", "points = -6", "task[0].criteria[0].points", "not below 0"),
    "points-true": (TOML, "points = 6", "points = true", "task[0].criteria[0].points", "whole number"),
    "core-a-number": (TOML, "core = true", "core = 1", "task[0].criteria[0].core", "true or false"),
    "hidden-a-text": (TOML, "hidden = true", 'hidden = "yes"', "task[0].criteria[2].hidden", "true or false"),
    "requires-nobody": (TOML, 'requires = "value"', 'requires = "values"', "task[0].criteria", "isn't before it"),
    "requires-itself": (TOML, 'requires = "value"', 'requires = "zero"', "task[0].criteria", "isn't before it"),
    "requires-a-later-one": (TOML, 'requires = "value"', 'requires = "secret"', "task[0].criteria", "isn't before it"),
    "texts-broken": (TEXTS, '"title" = "Doubling"', '"title" = Doubling', "", "isn't valid TOML"),
    "texts-no-title": (TEXTS, '"title" = "Doubling"\n', "", "title", "this text is missing"),
    "texts-no-task-title": (TEXTS, '"triple.title" = "Three times"\n', "", "triple.title", "this text is missing"),
    "texts-no-criterion-title": (TEXTS, "[double.zero]", "[double.zeros]", "double.zero.title", "this text is missing"),
    "texts-a-number": (TEXTS, '"zero stays zero"', "0", "double.zero.title", "a text in quotation marks"),
    "texts-a-list": (TEXTS, '"Twice"', '["Twice"]', "double.title", "a text in quotation marks"),
    "checks-broken": (CHECKS, "TASKS = {", "TASKS = {{", "", "it can't be imported: SyntaxError"),
    "checks-fail": (CHECKS, "TASKS = {", "1 / 0\nTASKS = {", "", "it can't be imported: ZeroDivisionError"),
    "checks-import-nothing": (CHECKS, "import helper", "import helpers", "", "it can't be imported: ImportError"),
    "checks-without-tasks": (CHECKS, "TASKS = {", "TASK = {", "TASKS", "a mapping"),
    "checks-a-list": (CHECKS, '{"double": Checks(), "triple": Checks()}', "[Checks()]", "TASKS", "a mapping"),
    "checks-task-missing": (CHECKS, ', "triple": Checks()', "", "TASKS", "no checks for the task 'triple'"),
    "checks-without-judge": (CHECKS, "def judge", "def judges", "TASKS['double']", "the methods plan and judge"),
    "checks-without-plan": (CHECKS, "def plan", "plan = 1\n    def plans", "TASKS['double']", "methods plan and judge"),
    "package-fails": ("__init__.py", None, "1 / 0\n", "", "it can't be imported: ZeroDivisionError"),
    "book-missing": (BOOK, None, "BOOKS = 1\n", "BOOK", "a Book of misconceptions"),
    "book-of-another-kind": (BOOK, None, "BOOK = {}\n", "BOOK", "a Book of misconceptions"),
    "book-target-unknown": (BOOK, "double/value", "double/values", "halved", "no criterion 'double/values'"),
    "book-target-a-task": (BOOK, "double/value", "double", "halved", "no criterion 'double'"),
    "book-belief-missing": (BOOK, '"""Half of it is enough."""', "", "", "'halved': its belief is missing"),
}  # fmt: skip


def complaint(root: Path) -> CourseError:
    """Return what loading the course complains about."""
    with pytest.raises(CourseError) as caught:
        load_assignment(Course(root=root), "doubling")
    return caught.value


@pytest.mark.parametrize("name", FLAWS)
def test_a_flaw_is_named_by_file_and_key(name: str, tmp_path: Path) -> None:
    """A course author is told the file, the key and what is wrong there."""
    file, old, new, key, piece = FLAWS[name]
    folder = write_course(tmp_path)
    if old is None:
        (folder / file).write_text(new, encoding="utf-8")
    else:
        replace_in(folder / file, old, new)
    error = complaint(tmp_path)

    assert (error.file, error.key) == (str(folder / file), key)
    assert piece in error.message
    assert error.message.startswith(f"{folder / file}, {key}: " if key else f"{folder / file}: ")
    assert error.exit_code == 3


@pytest.mark.parametrize("file", [TEXTS, CHECKS, "stand_ins/double.py"])
def test_a_missing_file_is_named(file: str, tmp_path: Path) -> None:
    """A file that has to be there is named with its whole path."""
    folder = write_course(tmp_path)
    (folder / file).unlink()
    error = complaint(tmp_path)

    assert error.file == str(folder / file)
    assert "this file is missing" in error.message


@pytest.mark.parametrize("file", [TOML, TEXTS])
def test_a_file_that_is_no_text_is_named(file: str, tmp_path: Path) -> None:
    """Bytes that aren't UTF-8 are a mistake in the file, not a crash."""
    folder = write_course(tmp_path)
    (folder / file).write_bytes(b'id = "\xff"\n')
    error = complaint(tmp_path)

    assert error.file == str(folder / file)
    assert "isn't valid TOML" in error.message


@pytest.mark.parametrize("file", [TOML, TEXTS])
def test_a_folder_in_place_of_a_file_is_named(file: str, tmp_path: Path) -> None:
    """What can't be read is named with the system's reason."""
    folder = write_course(tmp_path)
    (folder / file).unlink()
    (folder / file).mkdir()

    assert complaint(tmp_path).file == str(folder / file)


def test_a_flaw_can_be_mended(tmp_path: Path) -> None:
    """After a failed import the mended course loads: nothing of the broken one stays behind."""
    folder = write_course(tmp_path)
    good = (folder / "helper.py").read_text(encoding="utf-8")
    (folder / "helper.py").write_text("1 / 0", encoding="utf-8")
    complaint(tmp_path)
    (folder / "helper.py").write_text(good, encoding="utf-8")

    assert load_assignment(Course(root=tmp_path)).id == "doubling"


def test_a_course_without_misconceptions_loads(tmp_path: Path) -> None:
    """Misconceptions are a course's choice."""
    folder = write_course(tmp_path)
    (folder / BOOK).unlink()

    assert load_assignment(Course(root=tmp_path)).misconceptions == ()


def test_the_course_without_flaws_loads(tmp_path: Path) -> None:
    """The course that the flaws are planted in has none itself; no folder but its own is needed."""
    write_course(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")

    assert load_assignment(Course(root=tmp_path / "b")).points == 15
