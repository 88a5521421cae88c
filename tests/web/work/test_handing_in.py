"""What is taken, what isn't, and why."""

from __future__ import annotations

import datetime as dt
import threading
from typing import Any

import pytest

from tests.web.work import rows

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def ada() -> Any:
    """A learner of a course with one link."""
    return rows.member(rows.course(), "ada")


def hand(who: Any, name: str = "mine.py", content: bytes = rows.RIGHT) -> Any:
    """Hand in."""
    from grader.web.work.handing_in import hand_in

    return hand_in(who.course.links.get(), who, name, content)[0]


def said(who: Any, name: str = "mine.py", content: bytes = rows.RIGHT) -> tuple[str, int]:
    """Return what is said when nothing is taken, and the status."""
    from grader.web.work.handing_in import NotTaken
    from grader.web.work.models import Attempt

    before = Attempt.objects.count()
    with pytest.raises(NotTaken) as caught:
        hand(who, name, content)
    assert Attempt.objects.count() == before
    return caught.value.sentence, caught.value.status


def end_all() -> None:
    """Let all attempts be graded long ago."""
    from django.utils import timezone

    from grader.web.work.models import Attempt

    Attempt.objects.update(state="graded", handed_in_at=timezone.now() - dt.timedelta(hours=1))


@pytest.mark.parametrize(
    "name, content, words",
    [
        ("mine.txt", b"x", "one .py file"),
        ("mine", b"x", "one .py file"),
        ("", b"x", "one .py file"),
        ("mine.py.zip", b"x", "one .py file"),
        ("mine.py", b"", "empty"),
        ("mine.py", b"#" * 5_000_001, "larger than 5 MB"),
    ],
)
def test_what_is_no_submission_is_not_taken(ada: Any, name: str, content: bytes, words: str) -> None:
    """One sentence says why."""
    assert words in said(ada, name, content)[0]


@pytest.mark.parametrize(
    "name, shown",
    [
        ("C:\\Users\\ada\\mine.py", "mine.py"),
        ("../../etc/mine.py", "mine.py"),
        ("MINE.PY", "MINE.PY"),
        ("mi\x00n\u202ee.py", "mi\ufffdn\ufffde.py"),
        ("x" * 300 + ".ipynb", "x" * 80 + ".ipynb"),
    ],
)
def test_names_are_tame(ada: Any, name: str, shown: str) -> None:
    """Only the last part of a name counts, and it can't turn a line around."""
    assert hand(ada, name).name == shown


def test_attempts_are_counted(ada: Any) -> None:
    """The link says how many; what couldn't be graded costs none; an instructor has no limit."""
    from grader.web.work.models import Attempt, Link

    Link.objects.update(attempts=2)
    hand(ada, content=b"1")
    failed = hand(ada, content=b"2")
    end_all()
    assert said(ada) == ("You have handed in as often as this assignment allows.", 403)
    Attempt.objects.filter(id=failed.id).update(state="not_graded")
    assert hand(ada, content=b"3").number == 3

    ada.instructor = True
    end_all()
    assert hand(ada, content=b"4").number == 4


def test_the_deadline_holds(ada: Any) -> None:
    """Afterwards nothing is taken, but from an instructor who tries it out."""
    from django.utils import timezone

    from grader.web.work.models import Link

    Link.objects.update(deadline=timezone.now() + dt.timedelta(minutes=1))
    hand(ada, content=b"1")
    Link.objects.update(deadline=timezone.now() - dt.timedelta(seconds=1))
    assert said(ada) == ("The deadline has passed, so nothing is taken any more.", 403)
    ada.instructor = True
    assert hand(ada, content=b"2").number == 2


def test_the_same_file_again_is_the_same_attempt(ada: Any) -> None:
    """A form sent twice costs nothing; after another file it is a new attempt."""
    first = hand(ada)
    assert hand(ada).id == first.id
    hand(ada, content=b"other")

    assert hand(ada).number == 3


def test_a_flood_is_slowed_down(ada: Any) -> None:
    """Three may wait, six may come in a minute; others aren't touched by it."""
    from grader.web.work.models import Attempt

    for number in range(3):
        hand(ada, content=b"%d" % number)
    assert said(ada)[1] == 429
    Attempt.objects.update(state="graded")
    for number in range(3, 6):
        hand(ada, content=b"%d" % number)
    Attempt.objects.update(state="graded")
    assert "within a minute" in said(ada)[0]
    assert hand(rows.member(ada.course, "ben")).number == 1


def test_numbers_are_given_once(ada: Any) -> None:
    """A limit of one holds when two files come at the same moment."""
    from django.db import connection

    from grader.web.work.handing_in import NotTaken
    from grader.web.work.models import Attempt, Link

    Link.objects.update(attempts=1)
    taken: list[Any] = []

    def work(content: bytes) -> None:
        try:
            taken.append(hand(ada, content=content))
        except NotTaken:
            pass
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(b"%d" % number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(taken) == Attempt.objects.count() == 1


def test_the_page_says_what_is_wrong(client: Any, ada: Any) -> None:
    """With the form beside it, and the status for programs."""
    from django.core.files.uploadedfile import SimpleUploadedFile

    rows.enter(client, ada)
    page = f"/c/{ada.course.id}/a/{ada.course.links.get().id}/"
    answer = rows.post(client, page, f"{page}hand-in", {"file": SimpleUploadedFile("mine.txt", b"x")})
    assert answer.status_code == 400
    assert b'role="alert"' in answer.content
    large = rows.post(client, page, f"{page}hand-in", {"file": SimpleUploadedFile("mine.py", b"#" * 6_000_000)})
    assert large.status_code == 413
    assert rows.post(client, page, f"{page}hand-in").status_code == 400
    assert rows.post(client, page, f"{page}hand-in", {"file": SimpleUploadedFile("a.py", b"x=1")}).status_code == 302


def test_the_report_leads_back_to_the_form(client: Any, ada: Any) -> None:
    """Beside the points, for as long as something is taken, with what is left; never beside another's attempt."""
    link = ada.course.links.get()
    made = rows.graded(ada.course, ada)
    page = f"/c/{ada.course.id}/attempt/{made.id}/"
    rows.enter(client, ada)
    seen = [client.get(page).content.decode()]
    for change in (
        {"attempts": 3},
        {"attempts": 1},
        {"attempts": 0, "deadline": dt.datetime(2020, 1, 1, tzinfo=dt.UTC)},
    ):
        type(link).objects.filter(id=link.id).update(**change)
        seen.append(client.get(page).content.decode())

    assert ["Hand in again</a>" in text for text in seen] == [True, True, False, False]
    assert "Hand in again</a> (2 attempts left)" in seen[1]

    type(link).objects.filter(id=link.id).update(deadline=None)
    rows.enter(client, rows.member(ada.course, "ina", instructor=True))
    assert "Hand in again" not in client.get(page).content.decode()
