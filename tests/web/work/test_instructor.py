"""What an instructor does, and that the log tells of it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from tests.web.work import rows

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def ina(client: Any) -> Any:
    """An instructor who is let in, in a course with two learners and three attempts."""
    course = rows.course()
    ina = rows.member(course, "ina", learner=False, instructor=True)
    ada, ben = rows.member(course, "ada"), rows.member(course, "ben")
    rows.graded(course, ada, 3000)
    rows.graded(course, ada, 2000)
    rows.graded(course, ben, 9000)
    rows.enter(client, ina)
    return ina


def page(who: Any) -> str:
    """Return the class's address."""
    return f"/c/{who.course.id}/a/{who.course.links.get().id}/class"


def log() -> list[tuple[str, str, str]]:
    """Return what the log tells."""
    from grader.web.work.models import AuditEntry

    return list(AuditEntry.objects.order_by("id").values_list("what", "was", "now"))


@pytest.mark.parametrize("counts, states", [("last", ["graded", "queued", "queued"]), ("best", ["queued"] * 3)])
def test_all_that_count_are_judged_again(client: Any, ina: Any, counts: str, states: list[str]) -> None:
    """Where the last counts, the last; where the best does, all may be it. Hand-ins go first."""
    from grader.web.work.models import Attempt, Link

    Link.objects.update(counts=counts)
    assert rows.post(client, page(ina), f"{page(ina)}/regrade", {"work": "judge"}).status_code == 302
    found = Attempt.objects.order_by("handed_in_at")
    assert [attempt.state for attempt in found] == states
    assert {attempt.work for attempt in found if attempt.waits} == {"judge"}
    assert {what for what, _, _ in log()} == {"regrade: judge"}

    new = rows.attempt(ina.course, rows.member(ina.course, "new"))
    from grader.web.work.queue import take

    first = take("w")
    assert first is not None
    assert first.id == new.id


def test_what_waits_is_left_alone(client: Any, ina: Any) -> None:
    """A second press of the button changes nothing."""
    from grader.web.work.models import Attempt

    rows.post(client, page(ina), f"{page(ina)}/regrade", {"work": "run"})
    before = list(Attempt.objects.order_by("id").values_list("due", "work"))
    rows.post(client, page(ina), f"{page(ina)}/regrade", {"work": "run"})

    assert list(Attempt.objects.order_by("id").values_list("due", "work")) == before


@pytest.mark.parametrize(
    "fields",
    [
        {"criterion": "softmax/values", "points": "11", "reason": "more than there is"},
        {"criterion": "softmax/values", "points": "-1", "reason": "less than none"},
        {"criterion": "softmax/values", "points": "1.234", "reason": "too fine"},
        {"criterion": "softmax/values", "points": "nan", "reason": "no number"},
        {"criterion": "softmax/values", "points": "1e400", "reason": "too large"},
        {"criterion": "softmax/values", "points": "5", "reason": " "},
        {"criterion": "softmax/values", "points": "5", "reason": "x" * 501},
        {"criterion": "softmax/values", "points": "5", "reason": "turned \u202e around"},
        {"criterion": "nothing/here", "points": "5", "reason": "no such criterion"},
        {"criterion": "", "points": "", "reason": ""},
    ],
    ids=lambda fields: f"{fields['points']}-{fields['reason'][:10]}",
)
def test_an_override_has_to_make_sense(client: Any, ina: Any, fields: dict[str, str]) -> None:
    """One sentence, and nothing changes."""
    from grader.web.work.models import Override

    attempt = ina.course.attempts.order_by("handed_in_at").first()
    at = f"/c/{ina.course.id}/attempt/{attempt.id}/"
    rows.post(client, at, f"{at}override", fields)

    assert (Override.objects.count(), log()) == (0, [])
    assert b"told error" in client.get(at).content


def test_an_override_can_be_changed_and_taken_back(client: Any, ina: Any) -> None:
    """Each time the attempt is judged again, and the log has before and after."""
    from grader.web.work.models import Attempt, Override

    attempt = ina.course.attempts.order_by("handed_in_at").first()
    at = f"/c/{ina.course.id}/attempt/{attempt.id}/"
    for fields in (
        {"points": "5", "reason": "half of it"},
        {"points": "7,25", "reason": "more of it"},
        {"remove": "1"},
    ):
        rows.post(client, at, f"{at}override", {"criterion": "softmax/values", **fields})
        attempt.refresh_from_db()
        assert (attempt.state, attempt.work) == ("queued", "judge")
        Attempt.objects.filter(id=attempt.id).update(state="graded")

    assert not Override.objects.exists()
    assert [entry[1:] for entry in log()] == [
        ("", "5: half of it"),
        ("5: half of it", "7.25: more of it"),
        ("7.25: more of it", ""),
    ]


def test_scores_are_sent_again_one_or_all(client: Any, ina: Any) -> None:
    """One that arrived may go again too; the button for all leaves those alone."""
    from grader.web.work import outbox
    from grader.web.work.models import ScoreDelivery

    for name in ("ada", "ben"):
        outbox.settle_score(ina.course.links.get(), ina.course.members.get(user=name))
    ScoreDelivery.objects.filter(member__user="ada").update(state="sent", sent_version=1)
    ScoreDelivery.objects.filter(member__user="ben").update(state="refused", reason="no such user", tries=40)
    shown = client.get(page(ina)).content.decode()
    assert "the LMS refused the score: no such user" in shown
    rows.post(client, page(ina), f"{page(ina)}/send")
    assert dict(ScoreDelivery.objects.values_list("member__user", "state")) == {"ada": "sent", "ben": "waiting"}

    one = ScoreDelivery.objects.get(member__user="ada")
    rows.post(client, page(ina), f"{page(ina)}/send", {"delivery": str(one.id)})
    assert dict(ScoreDelivery.objects.values_list("member__user", "state")) == {"ada": "waiting", "ben": "waiting"}
    assert [entry[:2] for entry in log()] == [("send again", "refused"), ("send again", "sent")]


def test_the_class_shows_who_needs_somebody(client: Any, ina: Any) -> None:
    """What isn't graded, and what is marked for review; the others are hidden by one link."""
    from grader.web.work.models import Attempt

    Attempt.objects.filter(member__user="ben").update(look=[["review", "statistics decided"]])
    Attempt.objects.filter(member__user="ada", number=2).update(state="not_graded", cents=None, reason="it broke")
    rows.member(ina.course, "cleo")
    shown = client.get(page(ina)).content.decode()
    for text in ("3 learners", "2 need you", "statistics decided", "not graded: it broke", "Cleo"):
        assert text in shown
    assert "Cleo" not in client.get(f"{page(ina)}?show=needs").content.decode()


def test_the_roster_is_taken_over(ina: Any) -> None:
    """New people appear, who left is kept but not active, names change."""
    from grader.web.lti.roster import RosterEntry
    from grader.web.work.models import Member
    from grader.web.work.roster import take_over

    def entry(user: str, **more: Any) -> RosterEntry:
        given = {
            "name": user.upper(),
            "email": "",
            "roles": frozenset({"learner"}),
            "status": "active",
            "sourcedid": "",
        }
        return RosterEntry(user=user, **{**given, **more})

    new, gone = take_over(
        ina.course,
        [entry("ina", roles=frozenset({"instructor"})), entry("ada"), entry("dora"), entry("ben", status="inactive")],
    )

    assert (new, gone) == (1, 1)
    assert dict(Member.objects.values_list("user", "active")) == {"ina": True, "ada": True, "dora": True, "ben": False}
    assert Member.objects.get(user="ada").name == "ADA"


def test_old_things_go(ina: Any) -> None:
    """What is older than the term is deleted with all that hangs on it; what waits stays."""
    from django.utils import timezone

    from grader.web.work import audit
    from grader.web.work.models import Attempt, AuditEntry, Member, Report
    from grader.web.work.purge import purge

    old = timezone.now() - dt.timedelta(days=500)
    audit.note(ina.course, ina, "test", "x")
    AuditEntry.objects.update(at=old)
    Attempt.objects.filter(member__user="ada").update(handed_in_at=old)
    waiting = rows.attempt(ina.course, ina.course.members.get(user="ada"))
    Attempt.objects.filter(id=waiting.id).update(handed_in_at=old)
    Member.objects.update(made_at=old)
    assert purge(400, dry=True)["attempts"] == 2
    assert Attempt.objects.count() == 4
    gone = purge(400)

    assert (gone["attempts"], gone["log"]) == (2, 1)
    assert set(Attempt.objects.values_list("member__user", flat=True)) == {"ada", "ben"}
    assert Report.objects.count() == 1
    assert set(Member.objects.values_list("user", flat=True)) == {"ada", "ben"}
