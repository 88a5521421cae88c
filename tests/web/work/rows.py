"""Makes rows for tests: a course with a link and people, as a launch would."""

from __future__ import annotations

import hashlib
import time
from typing import Any

from tests.web.work.servers import ROOT

RIGHT = (ROOT / "examples" / "right.py").read_bytes()


def launch(**changes: Any) -> Any:
    """Return a launch of a learner, with some of it changed."""
    from grader.web.lti.launch import Launch

    return Launch(**{
        "platform_id": 1, "deployment_id": "d", "context_id": "c", "context_title": "A course",
        "resource_link_id": "l", "resource_title": "HW 1", "user": "u", "name": "Ada", "email": "ada@example.org",
        "roles": frozenset({"learner"}), "message": "resource", "custom": (), "lineitem": "https://lms.example/li/1",
        "lineitems": "https://lms.example/li", "scopes": frozenset(), "memberships": "", "for_user": "",
        "return_url": "https://lms.example/back", "locale": "en", **changes,
    })  # fmt: skip


def course(name: str = "c", platform: int = 1) -> Any:
    """Make a course with one link."""
    from grader.web.work.models import Course, Link

    made = Course.objects.create(platform_id=platform, deployment_id="d", context_id=name, title=name)
    Link.objects.create(
        course=made, resource_link_id="l", title="HW 1", assignment="attention", lineitem="https://lms.example/li/1"
    )
    return made


def member(of: Any, user: str, **more: Any) -> Any:
    """Make a learner of a course."""
    from grader.web.work.models import Member

    return Member.objects.create(course=of, user=user, name=user.title(), **{"learner": True, **more})


def attempt(of: Any, who: Any, *, due: float | None = None, content: bytes = RIGHT, **more: Any) -> Any:
    """Put a file into the queue, past all rules for handing in."""
    from django.utils import timezone

    from grader.web.work.models import Attempt, HandedFile
    from grader.web.work.queue import due_for

    link = of.links.get()
    made = Attempt.objects.create(
        course=of, link=link, member=who, number=Attempt.objects.filter(link=link, member=who).count() + 1,
        name="mine.py", sha256=hashlib.sha256(content).hexdigest(), size=len(content), handed_in_at=timezone.now(),
        due=due_for(who.id, time.time()) if due is None else due, **more,
    )  # fmt: skip
    HandedFile.objects.create(attempt=made, content=content)
    return made


def graded(of: Any, who: Any, cents: int = 5000, **more: Any) -> Any:
    """Make an attempt that is graded, with a small report."""
    import json
    import zlib

    from django.utils import timezone

    from grader.batch.messages import Row, encode
    from grader.web.work.models import Attempt, Report

    made = attempt(of, who, state=Attempt.GRADED, cents=cents, max_cents=10000, ended_at=timezone.now(), **more)
    result = {
        "schema": "grade.result/1", "assignment": {"id": "attention", "version": "1"}, "status": "graded",
        "score": cents / 100, "tasks": [],
    }  # fmt: skip
    ended = Row(
        number=1, name="mine.py", folder="attempt", status="graded", cents=cents, max_cents=10000,
        criteria=(("softmax/values", "failed", 0, 1000),), tasks=(("softmax", "failed", 0, 2000),),
    )  # fmt: skip
    row = json.loads(encode(ended))[1]
    files = {"learner": b"<!doctype html><title>r</title>for the learner", "instructor": b"<title>r</title>for all"}
    packed = {name: zlib.compress(content) for name, content in files.items()}
    Report.objects.create(
        attempt=made, token=1, made_at=timezone.now(), row=row, result=zlib.compress(json.dumps(result).encode()),
        fragment=b"", transcript=b"", **packed,
    )  # fmt: skip
    return made


def enter(client: Any, who: Any) -> None:
    """Let a browser in as somebody, as a launch would."""
    from grader.web.work.visitors import MEMBERS

    session = client.session
    session[MEMBERS] = {**session.get(MEMBERS, {}), str(who.course_id): str(who.id)}
    session.save()
    from django.conf import settings

    client.cookies[settings.SESSION_COOKIE_NAME] = session.session_key


def post(client: Any, page: str, address: str, fields: dict[str, Any] | None = None) -> Any:
    """Send a form as the page's own would: with the token that it shows."""
    import re

    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', client.get(page).content.decode())
    assert found, f"no form in {page}"
    return client.post(address, {"csrfmiddlewaretoken": found[1], **(fields or {})})
