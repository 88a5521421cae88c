"""Scores on their way to the LMS: one row a learner, tried until the gradebook has the last one."""

from __future__ import annotations

import contextlib
import datetime as dt
import logging
import threading
from decimal import Decimal
from uuid import UUID

from django.conf import settings
from django.db import Error, connection, transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from grader.model._data import data
from grader.web.lti.scores import Delivered, Refused, Score, ensure_lineitem, send_score
from grader.web.work import audit
from grader.web.work.clock import now, now_sql
from grader.web.work.models import Attempt, Link, Member, ScoreDelivery
from grader.web.work.models.people import DEMO_PLATFORM

__all__ = [
    "MAX_TRIES",
    "Sending",
    "counting",
    "gradebook_found",
    "keep_sending",
    "open_scores",
    "send_again",
    "send_next",
    "settle_score",
]

log = logging.getLogger("grader.web.outbox")

MAX_TRIES = 40
"""A day and a half of trying; afterwards it waits for somebody to press the button."""

LOOK_SECONDS = 0.5
"""Between two looks at an outbox from which nothing was to be sent."""

APART = 1.1
"""Seconds between two scores of one learner: an LMS keeps whole seconds and refuses what isn't later."""

SEND_SECONDS = 120.0
"""How long somebody may be busy with one score; the network's own deadlines are far shorter."""

FIRST_WAIT, LONGEST_WAIT = 5.0, 3600.0


@data
class Sending:
    """A row that we have: its id, the token that says so, and the version that goes out."""

    id: UUID
    token: int
    version: int


def counting(link: Link, member: Member) -> Attempt | None:
    """Return the attempt whose score counts: the last that is graded, or the best where the link says so."""
    graded = Attempt.objects.filter(link=link, member=member, cents__isnull=False)
    return graded.order_by(*(("-cents", "-number") if link.counts == "best" else ("-number",))).first()


def settle_score(link: Link, member: Member) -> None:
    """Let the outbox hold the score that counts now; call it in the transaction that changed one."""
    attempt = counting(link, member)
    if attempt is None or attempt.cents is None or attempt.max_cents is None or not member.learner:
        return
    row = ScoreDelivery.objects.select_for_update().filter(link=link, member=member).first()
    if row is None:
        row = ScoreDelivery(course=link.course, link=link, member=member, attempt=attempt, version=0)
    elif (row.attempt_id, row.cents, row.max_cents) == (attempt.id, attempt.cents, attempt.max_cents):
        return
    row.attempt, row.cents, row.max_cents = attempt, attempt.cents, attempt.max_cents
    _wanted(row)
    row.save()


def send_again(row: ScoreDelivery) -> None:
    """Send a score once more, whatever became of it."""
    _wanted(row)
    row.save()


def _wanted(row: ScoreDelivery) -> None:
    row.version += 1
    row.tries, row.reason = 0, ""
    if row.state != ScoreDelivery.SENDING:  # whoever sends it now sees that there is a newer one
        row.state = ScoreDelivery.WAITING if _has_gradebook(row.link) else ScoreDelivery.NOWHERE
        row.next_at = row.stamp + APART if row.stamp else 0


def _has_gradebook(link: Link) -> bool:
    return bool(link.lineitem or link.lineitems) or link.course.platform_id == DEMO_PLATFORM


def gradebook_found(link: Link) -> None:
    """Let scores that had nowhere to go be sent: the LMS has named its gradebook since."""
    ScoreDelivery.objects.filter(link=link, state=ScoreDelivery.NOWHERE).update(state=ScoreDelivery.WAITING, next_at=0)


def send_next() -> bool:
    """Send one score that is due; False if there is none."""
    sending = _take()
    if sending is None:
        return False
    row = ScoreDelivery.objects.select_related("link", "course", "member", "attempt").get(id=sending.id)
    try:
        answer = _sent(row)
    except Exception as error:  # noqa: BLE001 - one learner's failure never stops the others' scores
        known = isinstance(getattr(error, "reason", None), str)
        answer = Refused(
            reason=str(getattr(error, "reason", "")) if known else f"the server failed ({type(error).__name__})",
            retry=bool(getattr(error, "retry", True)),
            after=float(getattr(error, "after", 0.0) or 0.0),
        )
    _settle(sending, row, answer)
    return True


def keep_sending(stopped: threading.Event) -> None:
    """Send scores until told to stop. In a thread of its own: an LMS that is slow keeps nobody from being graded."""
    while not stopped.is_set():
        try:
            if send_next():
                continue
        except Error as error:
            log.warning("the outbox can't be read (%s)", type(error).__name__)
            with contextlib.suppress(Error):
                connection.close()
        stopped.wait(LOOK_SECONDS)
    connection.close()


def _take() -> Sending | None:
    """Take a row whose time has come, or whose sender gave no sign of life. Its timestamp rises before it goes out."""
    moment = now_sql()
    postgres = connection.vendor == "postgresql"
    skip, later = ("FOR UPDATE SKIP LOCKED", "greatest") if postgres else ("", "max")
    statement = f"""
        UPDATE work_scoredelivery
           SET state = 'sending', token = token + 1, tries = tries + 1, lease_until = {moment} + %s,
               stamp = {later}({moment}, stamp + 1.001)
         WHERE id = (SELECT id FROM work_scoredelivery
                      WHERE (state = 'waiting' AND next_at <= {moment})
                         OR (state = 'sending' AND lease_until < {moment})
                      ORDER BY next_at, id LIMIT 1 {skip})
        RETURNING id, token, version
    """  # noqa: S608 - constants of ours; values go as parameters
    with connection.cursor() as cursor:
        cursor.execute(statement, [SEND_SECONDS])
        row = cursor.fetchone()
    if row is None:
        return None
    found, token, version = row
    return Sending(id=found if isinstance(found, UUID) else UUID(found), token=token, version=version)


def _sent(row: ScoreDelivery) -> Delivered | Refused:
    link, attempt = row.link, row.attempt
    stamp = dt.datetime.fromtimestamp(row.stamp, dt.UTC)
    if row.course.platform_id == DEMO_PLATFORM:
        return Delivered(timestamp=stamp)
    if not link.lineitem:
        if not link.lineitems:
            return Refused(reason="The LMS has named no gradebook for this assignment.", retry=False, after=0.0)
        link.lineitem = ensure_lineitem(
            row.course.platform_id,
            link.lineitems,
            link.resource_link_id,
            link.assignment,
            str(link),
            _points(row.max_cents),
        )
        Link.objects.filter(id=link.id, lineitem="").update(lineitem=link.lineitem)
    score = Score(
        given=_points(row.cents),
        maximum=_points(row.max_cents),
        comment=_comment(row),
        timestamp=stamp,
        submitted_at=attempt.handed_in_at,
    )
    return send_score(row.course.platform_id, link.lineitem, row.member.user, score)


def _settle(sending: Sending, row: ScoreDelivery, answer: Delivered | Refused) -> None:
    """Write down what became of it; nothing, if somebody else has the row by now."""
    moment = now()
    with transaction.atomic():
        fresh = ScoreDelivery.objects.select_for_update().filter(id=sending.id, token=sending.token).first()
        if fresh is None or fresh.state != ScoreDelivery.SENDING:
            return
        newer = fresh.version > sending.version
        fresh.lease_until = 0
        if isinstance(answer, Delivered):
            before = "" if fresh.sent_cents is None else _points(fresh.sent_cents)
            fresh.sent_version, fresh.sent_cents, fresh.sent_at = sending.version, row.cents, timezone.now()
            fresh.stamp = max(fresh.stamp, answer.timestamp.timestamp())
            fresh.state, fresh.tries, fresh.reason = ScoreDelivery.SENT, 0, ""
            audit.note(fresh.course, audit.GRADER, "score sent", fresh.member_id, was=before, now=_points(row.cents))
        elif answer.retry and fresh.tries < MAX_TRIES:
            wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(fresh.tries - 1, 12))
            fresh.state, fresh.reason = ScoreDelivery.WAITING, answer.reason[:500]
            fresh.next_at = moment + max(wait, answer.after, APART)
        else:
            fresh.state, fresh.reason = ScoreDelivery.REFUSED, answer.reason[:500]
            audit.note(fresh.course, audit.GRADER, "score refused", fresh.member_id, now=answer.reason)
        if newer:
            fresh.state, fresh.tries = ScoreDelivery.WAITING, 0
            fresh.next_at = max(moment, fresh.stamp) + APART
        fresh.save()
    if isinstance(answer, Refused):
        log.warning("score %s wasn't taken; %s", sending.id, "it is tried again" if answer.retry else "it waits")


def open_scores() -> int:
    """Return how many scores the LMS doesn't have yet."""
    return ScoreDelivery.objects.filter(Q(state=ScoreDelivery.WAITING) | Q(state=ScoreDelivery.SENDING)).count()


def _comment(row: ScoreDelivery) -> str:
    attempt = row.attempt
    address = settings.GRADE.base_url + reverse("work:attempt", args=(row.course_id, attempt.id))
    when = attempt.handed_in_at.astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")
    return (
        f"{_points(row.cents)} of {_points(row.max_cents)} points. Attempt {attempt.number}, handed in {when}.\n"
        f"Report, if this assignment is open in the browser: {address}"
    )


def _points(cents: int) -> str:
    """Return hundredths as decimal text, never rounded."""
    return format((Decimal(cents) / 100).normalize(), "f")
