"""The class of one link: each learner with attempts, score, what needs the instructor, and the way of the score."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from grader.model._data import data
from grader.render import clean
from grader.web.lti.roster import RosterEntry
from grader.web.work.models import Attempt, Course, Link, Member, ScoreDelivery

__all__ = ["Row", "roster_of", "take_over"]


@data
class Row:
    """One learner.

    Attributes:
        latest: The attempt that was handed in last, if any.
        counts: The attempt whose score counts, if any.
        needs: What somebody should look at, in words.
        delivery: The score's way to the LMS.
    """

    member: Member
    attempts: int
    latest: Attempt | None
    counts: Attempt | None
    needs: tuple[str, ...]
    delivery: ScoreDelivery | None


def roster_of(link: Link) -> list[Row]:
    """Return every learner of the course, and whoever else handed in, in the order of their names."""
    handed: defaultdict[object, list[Attempt]] = defaultdict(list)
    for attempt in Attempt.objects.filter(link=link).order_by("number"):
        handed[attempt.member_id].append(attempt)
    deliveries = {row.member_id: row for row in ScoreDelivery.objects.filter(link=link)}
    rows = []
    for member in Member.objects.filter(course=link.course_id):
        mine = handed.get(member.id, [])
        if mine or (member.learner and member.active):
            rows.append(_row(link, member, mine, deliveries.get(member.id)))
    return sorted(rows, key=lambda row: (str(row.member).casefold(), str(row.member.id)))


def _row(link: Link, member: Member, mine: list[Attempt], delivery: ScoreDelivery | None) -> Row:
    graded = [attempt for attempt in mine if attempt.cents is not None]
    if link.counts == "best":
        counts = max(graded, key=lambda attempt: (attempt.cents or 0, attempt.number), default=None)
    else:
        counts = graded[-1] if graded else None
    latest = mine[-1] if mine else None
    needs: list[str] = []
    if latest is not None and latest.state == Attempt.NOT_GRADED:
        needs.append(f"not graded: {latest.reason}")
    elif latest is not None and latest.waits and latest.reason:
        needs.append(latest.reason)
    if counts is not None:
        needs += [text for _, text in counts.look]
        if counts.reason and not counts.waits:
            needs.append(counts.reason)
    if delivery is not None and delivery.state == ScoreDelivery.REFUSED:
        needs.append(f"the LMS refused the score: {delivery.reason}")
    return Row(
        member=member, attempts=len(mine), latest=latest, counts=counts, needs=tuple(needs), delivery=delivery
    )  # fmt: skip


def take_over(course: Course, entries: Iterable[RosterEntry]) -> tuple[int, int]:
    """Bring the members of a course up to date; return how many are new, and how many not active any more.

    Nobody is deleted: what they handed in stays.
    """
    known = {member.user: member for member in Member.objects.filter(course=course)}
    new = gone = 0
    present = set()
    for entry in entries:
        user = entry.user[:255]
        present.add(user)
        member = known.get(user)
        if member is None:
            member = known[user] = Member(course=course, user=user)
            new += 1
        was = member.active
        member.name = _line(entry.name) or member.name
        member.email = _line(entry.email) or member.email
        member.learner = "learner" in entry.roles
        member.instructor = "instructor" in entry.roles
        member.active = entry.status == "active"
        gone += was and not member.active
        member.save()
    for user, member in known.items():
        if user not in present and member.active:
            member.active = False
            member.save(update_fields=["active"])
            gone += 1
    return new, gone


def _line(text: str) -> str:
    return " ".join(clean.html(text).split())[:500]
