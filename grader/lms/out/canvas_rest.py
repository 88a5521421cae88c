"""Canvas with a token: scores, comments and report files, sent by its REST interface.

One asynchronous job carries scores and comments of many learners; since it doesn't say who failed, the submissions are
read again afterwards, and whoever is missing is sent alone, so that the reason is known. What Canvas has already isn't
sent again.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from grader.errors import EnvironmentFault, UsageError
from grader.lms.out.people import learners_of, left_out, plain, who
from grader.lms.out.points import decimal, scaled
from grader.lms.out.reports import comment_text, read_report
from grader.model._data import data
from grader.model.gradebook import Grade, Gradebook

if TYPE_CHECKING:
    from grader.lms.out.canvas_http import Patient

__all__ = ["Sent", "send"]

BATCH = 100
"""Learners in a job."""

PLACES = 2
PATIENCE = 900.0
"""Seconds until a job isn't waited for any longer."""


@data
class Sent:
    """What became of a learner's grade: ``sent``, ``unchanged`` (Canvas had it), ``failed`` or ``skipped``, and why."""

    learner: str
    user: str
    status: Literal["sent", "unchanged", "failed", "skipped"]
    why: str = ""


@data
class _Wish:
    """What Canvas should have of a learner; ``None`` or ``""`` where it has it."""

    user: str
    grade: Grade
    learner: str
    score: str | None
    comment: str
    file: bool


def send(
    book: Gradebook,
    *,
    url: str,
    token: str,
    course: int,
    assignment: int,
    comments: bool = True,
    files: bool = False,
    pause: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Sent, ...]:
    """Send the grades of a run to an assignment, scaled to its points, and say what became of each.

    Args:
        url: The site's address; only https, except on this machine.
        token: An access token of somebody who may grade. It is sent to this site only and appears in no message.
        comments: Whether our feedback is sent as a comment.
        files: Whether each report is attached to a comment, as ``feedback-<hash>.html``.
        pause, clock: For waiting.

    Raises:
        UsageError: If the address or the token can't be used, or canvasapi isn't installed.
        EnvironmentFault: If Canvas can't be reached, or doesn't let us see the assignment.
    """
    try:
        from grader.lms.out.canvas_http import Patient, checked_url
    except ImportError as error:
        raise UsageError(
            "Sending to Canvas needs the package canvasapi.", hint="Install it: pip install 'numgrade[lms]'."
        ) from error
    if not re.fullmatch(r"[\x21-\x7e]+", token.strip()):
        raise UsageError("The Canvas token is empty or holds characters that no token has.")
    place = _Assignment(Patient(checked_url(url), token.strip(), pause), course, assignment, token.strip(), clock)
    table: list[Sent] = []
    wishes: list[_Wish] = []
    now = place.read()
    seen: set[str] = set()
    for grade, learner in learners_of(book):
        user = learner.id("canvas")
        name = plain(learner.name) or who(grade.attempt)
        if why := left_out(grade):
            table.append(Sent(learner=name, user=user, status="skipped", why=why.removeprefix(f"{name}: ")))
        elif not re.fullmatch(r"[0-9]{1,18}", user):
            table.append(Sent(learner=name, user=user, status="skipped", why="Canvas's user id isn't known."))
        elif user in seen:
            table.append(Sent(learner=name, user=user, status="skipped", why="another attempt has this user id."))
        elif user not in now:
            why = "Canvas has no submission of this user id in the assignment."
            table.append(Sent(learner=name, user=user, status="failed", why=why))
        else:
            score = decimal(scaled(grade.cents, grade.max_cents, place.full or Fraction(grade.max_cents, 100)), PLACES)
            text = comment_text(grade) if comments else ""
            wishes.append(
                _open(_Wish(user=user, grade=grade, learner=name, score=score, comment=text, file=files), now[user])
            )
        seen.add(user)
    return (*table, *place.fulfil(wishes))


class _Assignment:
    """An assignment on a site, and how it is read and written. No error of canvasapi leaves it."""

    def __init__(
        self, requester: Patient, course: int, assignment: int, token: str, clock: Callable[[], float]
    ) -> None:
        from canvasapi.course import Course

        self._token, self._clock, self._pause = token, clock, requester.pause
        self._course = Course(requester, {"id": course})
        try:
            self._it = self._course.get_assignment(assignment)
        except _troubles() as error:
            raise EnvironmentFault(
                f"Canvas doesn't give assignment {assignment} of course {course}: {self._reason(error)}",
                hint="Check the address, the two numbers and the token.",
            ) from None
        possible = getattr(self._it, "points_possible", None)
        self.full = Fraction(str(possible)) if isinstance(possible, int | float) and possible > 0 else None

    def read(self) -> dict[str, Any]:
        """Return the submissions by user id, all pages of them."""
        try:
            found = list(self._it.get_submissions(include=["submission_comments"]))
        except _troubles() as error:
            raise EnvironmentFault(f"Canvas doesn't give the submissions: {self._reason(error)}") from None
        return {str(one.user_id): one for one in found}

    def fulfil(self, wishes: list[_Wish]) -> Iterator[Sent]:
        """Send what is missing, all at once where that works, and tell of each learner."""
        wanting = [wish for wish in wishes if wish.score is not None or wish.comment]
        troubles: dict[str, str] = {}
        unsure: set[str] = set()
        for start in range(0, len(wanting), BATCH):
            if not self._send_many(wanting[start : start + BATCH]):
                unsure |= {wish.user for wish in wanting[start : start + BATCH]}
        if wanting:
            try:
                now = self.read()
            except EnvironmentFault as error:
                # Sending again without knowing what arrived could post comments twice.
                troubles = {wish.user: f"it isn't known whether it arrived: {error.message}" for wish in wanting}
            else:
                for wish in wanting:
                    left = _open(wish, now[wish.user]) if wish.user in now else wish
                    if left.score is None and not left.comment:
                        continue
                    troubles[wish.user] = (
                        "Canvas hasn't finished the job yet: send again later."
                        if wish.user in unsure
                        else self._send_one(left, now.get(wish.user))
                    )
        for wish in wishes:
            why = troubles.get(wish.user, "")
            if wish.file and not why:
                why = self._attach(wish)
            changed = wish.score is not None or bool(wish.comment) or wish.file
            status: Literal["sent", "unchanged", "failed"] = "failed" if why else "sent" if changed else "unchanged"
            yield Sent(learner=wish.learner, user=wish.user, status=status, why=why)

    def _send_many(self, wishes: list[_Wish]) -> bool:
        """Send a job and wait for it; return whether it is certain that nothing of it happens later.

        What it didn't do shows when the submissions are read again.
        """
        from canvasapi.exceptions import CanvasException

        grades: dict[str, dict[str, str]] = {}
        for wish in wishes:
            one = grades.setdefault(wish.user, {})
            if wish.score is not None:
                one["posted_grade"] = wish.score
            if wish.comment:
                one["text_comment"] = wish.comment
        try:
            progress = self._it.submissions_bulk_update(grade_data=grades)
        except CanvasException:
            return True  # refused
        except _troubles():
            return False
        end = self._clock() + PATIENCE
        wait = 0.5
        try:
            while progress.workflow_state not in ("completed", "failed"):
                if self._clock() >= end:
                    return False
                self._pause(wait)
                wait = min(2 * wait, 10.0)
                progress = progress.query()
        except _troubles():
            return False
        return True

    def _send_one(self, wish: _Wish, submission: Any) -> str:
        """Send one learner's alone; return why it failed, or nothing."""
        if submission is None:
            return "Canvas no longer has their submission."
        arguments: dict[str, Mapping[str, str]] = {}
        if wish.score is not None:
            arguments["submission"] = {"posted_grade": wish.score}
        if wish.comment:
            arguments["comment"] = {"text_comment": wish.comment}
        try:
            submission.edit(**arguments)
        except _troubles() as error:
            return self._reason(error)
        return ""

    def _attach(self, wish: _Wish) -> str:
        content = read_report(wish.grade, "report.html")
        if content is None:
            return "the report can't be read, so no file was attached."
        try:
            submission = self._it.get_submission(wish.user)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / _file_name(content)
                path.write_bytes(content)
                done, _ = submission.upload_comment(path)
        except _troubles() as error:
            return f"the file: {self._reason(error)}"
        return "" if done else "the file: Canvas didn't take it."

    def _reason(self, error: Exception) -> str:
        """Return what went wrong in one line, without the token, should an answer repeat it."""
        text = plain(re.sub(r"<[^>]*>", " ", str(error))).replace(self._token, "(token)")[:200]
        return f"{text or type(error).__name__}".rstrip(".") + "."


def _open(wish: _Wish, submission: Any) -> _Wish:
    """Return what of a wish Canvas doesn't have yet.

    The score as entered counts, before Canvas takes off points for lateness; what differs by less than 0.01 is the
    same to it.
    """
    entered = getattr(submission, "entered_score", None)
    has = getattr(submission, "score", None) if entered is None else entered
    same = wish.score is not None and isinstance(has, int | float) and abs(has - float(wish.score)) < 0.005
    comments = [one for one in getattr(submission, "submission_comments", None) or [] if isinstance(one, dict)]
    said = {_letters(str(one.get("comment", ""))) for one in comments}
    names = {
        str(part.get(key, ""))
        for one in comments
        for part in one.get("attachments") or []
        if isinstance(part, dict)
        for key in ("display_name", "filename")
    }
    report = read_report(wish.grade, "report.html") if wish.file else None
    return _Wish(
        user=wish.user,
        grade=wish.grade,
        learner=wish.learner,
        score=None if same else wish.score,
        comment="" if _letters(wish.comment) in said else wish.comment,
        file=wish.file and (report is None or _file_name(report) not in names),
    )


def _file_name(content: bytes) -> str:
    """Name a report by its content, so that the same one isn't attached twice and a new one is."""
    return f"feedback-{hashlib.sha256(content).hexdigest()[:8]}.html"


def _letters(text: str) -> str:
    return "".join(char for char in unescape(re.sub(r"</?[a-z][^>]*>", "", text)) if char.isalnum())


def _troubles() -> tuple[type[Exception], ...]:
    """Return what canvasapi, requests and an answer of another form may raise."""
    from canvasapi.exceptions import CanvasException
    from requests.exceptions import RequestException

    return (CanvasException, RequestException, OSError, ValueError, KeyError, AttributeError, TypeError)
