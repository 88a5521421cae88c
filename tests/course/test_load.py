"""A course is found, read and imported as a package of its own."""

from __future__ import annotations

import re
import shutil
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from grader import api
from grader.course import Course, find_course, load_assignment
from grader.course.find import engine_reports
from grader.course.load import digest_of
from grader.course.templates import version_of
from grader.errors import CourseError
from grader.model import Criterion, Limits, Task
from tests.course.small import STAND_IN, replace_in, write_course


def test_an_assignment_holds_what_its_files_say(tmp_path: Path) -> None:
    """Tasks, criteria, limits and packages are those of ``assignment.toml``; what it doesn't say has its default."""
    folder = write_course(tmp_path)
    made = load_assignment(Course(root=tmp_path))

    assert (made.id, made.version, made.language, made.digest) == ("doubling", "1.0", "en", digest_of(folder))
    assert (made.packages, made.inert_modules, made.points) == (("numpy",), ("matplotlib",), 15)
    assert made.limits == Limits(call_seconds=2.5, memory_mib=512)
    assert made.task("triple") == Task(
        id="triple",
        function="triple",
        signature="triple(x)",
        criteria=(Criterion(id="value", points=5, core=True),),
        uses=("double",),
    )
    assert made.task("double").criteria[1:] == (
        Criterion(id="zero", points=2, requires="value"),
        Criterion(id="secret", points=2, hidden=True),
    )
    assert made.stand_ins == {"double": STAND_IN}
    assert [entry.id for entry in made.misconceptions] == ["halved"]
    with pytest.raises(KeyError):
        made.task("quadruple")


def test_texts_of_a_course_go_before_the_engines(tmp_path: Path) -> None:
    """Tables become dotted keys, and a course may say the engine's own texts in its words."""
    folder = write_course(tmp_path)
    replace_in(folder / "feedback.en.toml", "[double.value]", "[status]\npassed = 'Well done'\n[double.value]")
    texts = load_assignment(Course(root=tmp_path)).texts

    assert texts["double.zero.title"] == "zero stays zero"
    assert texts["status.passed"] == "Well done"
    assert texts["status.failed"] == load_assignment(find_course(), "attention").texts["status.failed"]


# ---------------------------------------------------------------------- digest


@pytest.mark.parametrize(
    "file, text",
    [
        pytest.param("checks.py", "# more\n", id="checks"),
        pytest.param("assignment.toml", "# more\n", id="assignment"),
        pytest.param("feedback.en.toml", "# more\n", id="texts"),
        pytest.param("stand_ins/double.py", "# more\n", id="stand-in"),
        pytest.param("new.py", "", id="a new empty file"),
        pytest.param("deep/er/new.toml", "", id="a new file deep inside"),
    ],
)
def test_the_digest_changes_with_content(file: str, text: str, tmp_path: Path) -> None:
    """Whatever judging may depend on is in the digest."""
    folder = write_course(tmp_path)
    before = digest_of(folder)
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    with (folder / file).open("a", encoding="utf-8") as stream:
        stream.write(text)

    assert digest_of(folder) != before


def test_the_digest_knows_where_a_file_ends(tmp_path: Path) -> None:
    """Content that moves from one file to the next, or a file of another name, is another course."""
    digests = set()
    for number, (first, second) in enumerate([("xy", "z"), ("x", "yz"), ("xyz", "")]):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "a.py").write_text(first, encoding="utf-8")
        (folder / "b.py").write_text(second, encoding="utf-8")
        digests.add(digest_of(folder))
    last = tmp_path / "2"
    (last / "b.py").rename(last / "c.py")

    assert len(digests | {digest_of(last)}) == 4


@pytest.mark.parametrize("file", ["notes.md", "__pycache__/checks.cpython-311.pyc", "__pycache__/x.py", "data.csv"])
def test_the_digest_leaves_out_what_judging_does_not_read(file: str, tmp_path: Path) -> None:
    """Bytecode, notes and the place where the course lies change nothing."""
    folder = write_course(tmp_path / "a")
    before = digest_of(folder)
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text("x", encoding="utf-8")

    assert digest_of(folder) == before
    assert digest_of(write_course(tmp_path / "b")) == before


# ---------------------------------------------------------------------- packages


def factor(assignment: Any) -> int:
    """Return the constant that a course's checks took from its own helper."""
    return int(assignment.checks["double"].factor)


def test_two_courses_with_the_same_names_do_not_mix(tmp_path: Path) -> None:
    """Modules of one name belong each to its own course, in whatever order courses are loaded."""
    for name, number in (("a", 2), ("b", 3)):
        write_course(tmp_path / name, factor=number)
    a, b = Course(root=tmp_path / "a"), Course(root=tmp_path / "b")

    assert [factor(load_assignment(course)) for course in (a, b, a)] == [2, 3, 2]


def test_a_course_that_changed_is_loaded_anew(tmp_path: Path) -> None:
    """The same folder with other content is another course."""
    folder = write_course(tmp_path)
    first = load_assignment(Course(root=tmp_path))
    replace_in(folder / "helper.py", "FACTOR = 2", "FACTOR = 5")
    second = load_assignment(Course(root=tmp_path))

    assert (factor(first), factor(second)) == (2, 5)
    assert first.digest != second.digest


def test_a_course_leaves_no_public_names(tmp_path: Path) -> None:
    """A course is imported below a private name; ``checks`` and ``helper`` stay free, and the path as it was."""
    write_course(tmp_path)
    before, path = set(sys.modules), list(sys.path)
    load_assignment(Course(root=tmp_path))
    new = set(sys.modules) - before

    assert new
    assert all(name.startswith("_course_") for name in new)
    assert sys.path == path


def test_a_course_may_go_away_once_it_is_loaded(tmp_path: Path) -> None:
    """The same content in another place loads when the first place is gone."""
    write_course(tmp_path / "a")
    load_assignment(Course(root=tmp_path / "a"))
    write_course(tmp_path / "b")
    shutil.rmtree(tmp_path / "a")

    assert factor(load_assignment(Course(root=tmp_path / "b"))) == 2


# ---------------------------------------------------------------------- finding


def test_the_course_of_this_repository_is_found() -> None:
    """Without a path the course that comes with the grader is found, and its default assignment is attention."""
    course = find_course()

    assert "attention" in course.assignments
    assert course.reference("attention").is_dir()
    assert course.handout("attention").is_dir()
    assert load_assignment(course).points == 100


@pytest.mark.parametrize("made", ["nothing", "reference", "reference/x"])
def test_another_folder_is_no_course(made: str, tmp_path: Path) -> None:
    """A folder without an assignment is refused by its path, with what to do."""
    (tmp_path / made).mkdir(parents=True)

    with pytest.raises(CourseError, match="this isn't a course") as caught:
        find_course(tmp_path)
    assert caught.value.file == str(tmp_path)
    assert "--course" in caught.value.hint


def test_assignments_are_in_order_of_their_names(tmp_path: Path) -> None:
    """Only folders with an ``assignment.toml`` count."""
    for name in ("b", "a", "c"):
        (tmp_path / "reference" / name).mkdir(parents=True)
    for name in ("b", "a"):
        (tmp_path / "reference" / name / "assignment.toml").write_text("", encoding="utf-8")

    assert find_course(tmp_path).assignments == ("a", "b")


def test_an_unknown_assignment_is_refused(tmp_path: Path) -> None:
    """An assignment that isn't there is refused, and those that are there are named."""
    write_course(tmp_path)

    with pytest.raises(CourseError, match="no assignment 'tripling'") as caught:
        load_assignment(find_course(tmp_path), "tripling")
    assert "doubling" in caught.value.hint


def test_several_assignments_need_a_choice(tmp_path: Path) -> None:
    """Of several assignments one has to be chosen, or just one is the default."""
    folder = write_course(tmp_path)
    shutil.copytree(folder, folder.parent / "halving")
    replace_in(folder.parent / "halving" / "assignment.toml", '"doubling"', '"halving"')
    course = find_course(tmp_path)

    with pytest.raises(CourseError, match=r"several assignments \(doubling, halving\)"):
        load_assignment(course)
    assert load_assignment(course, "halving").id == "halving"

    replace_in(folder.parent / "halving" / "assignment.toml", 'id = "halving"', 'id = "halving"\ndefault = true')
    assert load_assignment(course).id == "halving"

    replace_in(folder / "assignment.toml", 'id = "doubling"', 'id = "doubling"\ndefault = true')
    with pytest.raises(CourseError, match="several assignments") as caught:
        load_assignment(course)
    assert "default = true" in caught.value.hint


def test_a_language_without_texts_is_refused(tmp_path: Path) -> None:
    """A language that nobody wrote texts in is refused by the file that is missing."""
    write_course(tmp_path)

    with pytest.raises(CourseError, match=r"texts\.xx\.toml: this file is missing"):
        load_assignment(find_course(tmp_path), language="xx")


def test_templates_of_a_course_go_first(tmp_path: Path) -> None:
    """A course's own ``reports`` folder is looked in before ours; without one there is only ours."""
    write_course(tmp_path)
    (ours,) = Course(root=tmp_path).template_dirs
    (tmp_path / "reports").mkdir()

    assert (ours / "texts.en.toml").is_file()
    assert Course(root=tmp_path).template_dirs == (tmp_path / "reports", ours)
    assert len(find_course().template_dirs) == 1


OWN_PAGES = {
    "report.html.j2": ("{# Numgrade's pages, version %d. #}\n<p>old</p>\n", True),
    "style.css": ("{# Numgrade's pages, version %d. #}\nbody {}\n", True),
    "class.js": ("// Numgrade's pages, version %d.\n", True),
    "course.css": ("/* Numgrade's pages, version %d. */\nbody {}\n", False),  # we have none of this name
    "fragment.html.j2": ("<p>ours alone</p>\n{# numgrade's pages, version %d #}\n", False),
}


@pytest.mark.parametrize("name", OWN_PAGES)
def test_an_older_copy_of_our_pages_is_told_at_once(name: str, tmp_path: Path) -> None:
    """A file that was copied from another version is refused by its place and both versions; ours alone are fine."""
    text, refused = OWN_PAGES[name]
    write_course(tmp_path)
    place = tmp_path / "reports" / name
    place.parent.mkdir()
    version = version_of(engine_reports() / "report.html.j2")
    assert version is not None
    place.write_text(text % version, encoding="utf-8")
    assert load_assignment(find_course(tmp_path)).id
    place.write_text(text % (version + 6), encoding="utf-8")
    said = f"{name}: it was copied from version {version + 6} of our pages; this grader has {version}. Delete it"
    with pytest.raises(CourseError, match=re.escape(said)) if refused else nullcontext():
        load_assignment(find_course(tmp_path))


def test_all_that_a_course_may_import_is_there() -> None:
    """Every name that ``grader.api`` promises exists, once and in order."""
    assert all(hasattr(api, name) for name in api.__all__)
    assert sorted(set(api.__all__)) == sorted(api.__all__)
