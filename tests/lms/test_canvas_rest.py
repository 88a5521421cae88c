"""Scores, comments and files sent to a Canvas on this machine."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from grader.errors import EnvironmentFault, UsageError
from grader.lms.out.canvas_rest import Sent, send
from grader.model.gradebook import Gradebook
from tests.lms.canvas_server import ASSIGNMENT, BASE, COURSE, TOKEN, Site, serve
from tests.lms.graded import book, grade, ungraded

pytest.importorskip("canvasapi")

USERS = ("1001", "1002", "1003", "1004", "1005")


def some(folder: Path, cents: int = 8750) -> Gradebook:
    """Grade five, and one whom Canvas doesn't know, one without an id and one without a grade."""
    ours = [grade(folder, f"Learner {user}", cents, ids=(("canvas", user),)) for user in USERS]
    others = [grade(folder, "Stranger", ids=(("canvas", "77"),)), grade(folder, "Dan"), ungraded("Una")]
    return book(*ours, *others)


def sent_to(site: Site, ours: Gradebook, **options: Any) -> tuple[dict[str, Sent], list[float]]:
    """Send, and return what became of each, and the pauses that were made."""
    pauses: list[float] = []
    with serve(site) as url:
        table = send(ours, url=url, token=TOKEN, course=COURSE, assignment=ASSIGNMENT, pause=pauses.append, **options)
    assert site.trouble == []
    assert TOKEN not in repr(table)
    return {row.learner: row for row in table}, pauses


def statuses(table: dict[str, Sent]) -> Counter[str]:
    """Count the statuses."""
    return Counter(row.status for row in table.values())


def test_scores_and_comments_arrive(tmp_path: Path) -> None:
    """One job for all, scaled to the assignment's points; every page is read; what isn't graded isn't sent."""
    site = Site(USERS)
    table, pauses = sent_to(site, some(tmp_path))

    assert {has["score"] for has in site.submissions.values()} == {43.75}
    assert all(
        has["submission_comments"][0]["comment"].startswith("87.5 of 100 points") for has in site.submissions.values()
    )
    assert statuses(table) == {"sent": 5, "failed": 1, "skipped": 2}
    assert table["Stranger"].why == "Canvas has no submission of this user id in the assignment."
    assert [path for path, _ in site.posted("POST")] == [f"{BASE}/submissions/update_grades"]
    assert site.posted("PUT") == []
    assert pauses == [0.5, 1.0]
    pages = [fields for method, path, fields in site.asked if path == f"{BASE}/submissions"]
    assert [dict(fields).get("page") for fields in pages] == [None, "2", "4"] * 2


def test_what_is_sent(tmp_path: Path) -> None:
    """The form fields, by name: text as text, a number with a dot."""
    site = Site(("1001",))
    sent_to(site, book(grade(tmp_path, "Jane", 3333, ids=(("canvas", "1001"),))))
    ((_, fields),) = site.posted("POST")

    assert fields == [
        ("grade_data[1001][posted_grade]", "16.67"),
        (
            "grade_data[1001][text_comment]",
            '33.33 of 100 points\n\nQuote: "a, b; c" and back\\slash and =1+1\n\nfirst\n  second\n\nshape  3 / 3',
        ),
    ]


def test_a_second_run_sends_nothing(tmp_path: Path) -> None:
    """Neither a score, a comment nor a file twice."""
    site = Site(USERS)
    ours = some(tmp_path)
    sent_to(site, ours, files=True)
    before = len(site.asked)
    table, _ = sent_to(site, ours, files=True)

    assert statuses(table) == {"unchanged": 5, "failed": 1, "skipped": 2}
    assert {method for method, _, _ in site.asked[before:]} == {"GET"}
    assert {len(has["submission_comments"]) for has in site.submissions.values()} == {2}


def test_a_late_policy_doesn_t_look_like_a_change(tmp_path: Path) -> None:
    """The score as entered is compared, not what Canvas makes of it."""
    site = Site(("1001",))
    site.submissions["1001"]["late_penalty"] = 5
    ours = book(grade(tmp_path, "Jane", ids=(("canvas", "1001"),)))
    sent_to(site, ours)
    table, _ = sent_to(site, ours)

    assert table["Jane"].status == "unchanged"


def test_a_changed_score_sends_the_score_and_its_comment(tmp_path: Path) -> None:
    """After a regrade, the others stay untouched."""
    site = Site(("1001", "1002"))
    ids = [(("canvas", user),) for user in ("1001", "1002")]
    same = grade(tmp_path, "B", ids=ids[1])
    sent_to(site, book(grade(tmp_path, "A", 5000, ids=ids[0]), same))
    table, _ = sent_to(site, book(grade(tmp_path, "A", 6000, ids=ids[0]), same))

    assert {name: row.status for name, row in table.items()} == {"A": "sent", "B": "unchanged"}
    assert site.submissions["1001"]["score"] == 30
    assert {key for key, _ in site.posted("POST")[-1][1]} == {
        "grade_data[1001][posted_grade]",
        "grade_data[1001][text_comment]",
    }


@pytest.mark.parametrize("files", [False, True])
def test_one_failing_learner_stops_nobody(tmp_path: Path, files: bool) -> None:
    """Who is missing after the job is sent alone; the reason is Canvas's, without the token that it repeats."""
    site = Site(USERS)
    site.broken, site.skipped = {"1002"}, {"1004"}
    table, _ = sent_to(site, some(tmp_path), files=files)

    assert table["Learner 1002"].status == "failed"
    assert "the grading period is closed" in table["Learner 1002"].why
    assert [table[f"Learner {user}"].status for user in ("1001", "1003", "1004", "1005")] == ["sent"] * 4
    assert [site.submissions[user]["score"] for user in USERS] == [43.75, None, 43.75, 43.75, 43.75]
    assert len(site.submissions["1004"]["submission_comments"]) == 1 + files


@pytest.mark.parametrize(
    "answer, wait",
    [
        ((429, {"Retry-After": "7"}, "slow down"), 7.0),
        ((429, {}, "slow down"), 1.0),
        ((403, {}, "403 Forbidden (Rate Limit Exceeded)"), 1.0),
        ((429, {"Retry-After": "99999"}, "slow down"), 120.0),
        ((429, {"Retry-After": "Mon, 30 Nov 2026 02:44:00 GMT"}, "slow down"), 1.0),
    ],
)
def test_it_waits_when_asked_too_often(tmp_path: Path, answer: tuple[int, dict[str, str], str], wait: float) -> None:
    """As long as Canvas says, within reason, else a little longer each time; then the same is sent again."""
    site = Site(USERS)
    site.throttle = [answer]
    table, pauses = sent_to(site, some(tmp_path))

    assert statuses(table)["sent"] == 5
    assert pauses[0] == wait


class Busy(Site):
    """A site that refuses two requests after the first few."""

    def __init__(self, users: tuple[str, ...], after: int) -> None:
        super().__init__(users)
        self.after = after

    def answer(self, method: str, path: str, fields: list[tuple[str, str]], body: bytes) -> tuple[int, Any, str]:
        """Answer, and refuse the next two once enough were answered."""
        if len(self.asked) == self.after:
            self.throttle = [(429, {"Retry-After": "3"}, "slow down")] * 2
        return super().answer(method, path, fields, body)


@pytest.mark.parametrize("after", range(1, 10))
def test_throttled_anywhere(tmp_path: Path, after: int) -> None:
    """Whichever request is refused for a while, each comment and file arrives once."""
    site = Busy(("1001",), after)
    table, pauses = sent_to(site, book(grade(tmp_path, "Jane", ids=(("canvas", "1001"),))), files=True)

    assert table["Jane"].status == "sent"
    assert pauses.count(3.0) == 2
    assert [len(one["attachments"]) for one in site.submissions["1001"]["submission_comments"]] == [0, 1]
    assert b"<p>Report of 1001</p>" in site.uploads[-1][1]


def test_it_gives_up_in_the_end(tmp_path: Path) -> None:
    """A site that never lets us in is named in one sentence."""
    site = Site(USERS)
    site.throttle = [(429, {}, "slow down")] * 50
    with pytest.raises(EnvironmentFault, match="Canvas doesn't give assignment 501 of course 7"):
        sent_to(site, some(tmp_path))

    assert len(site.asked) == 6


def test_other_refusals_aren_t_repeated(tmp_path: Path) -> None:
    """A 403 that isn't about the rate is final."""
    site = Site(USERS)
    site.throttle = [(403, {}, "user not authorized to perform that action")]
    with pytest.raises(EnvironmentFault, match="not authorized"):
        sent_to(site, some(tmp_path))

    assert len(site.asked) == 1


@pytest.mark.parametrize("last, expected", [("failed", "sent"), ("running", "failed")])
def test_a_job_that_doesn_t_end_well(tmp_path: Path, last: str, expected: str) -> None:
    """After a failed job each is sent alone; while one may still be running nothing is, or comments came twice."""
    site = Site(("1001",))
    site.job = ["queued", last]
    seconds = iter(range(0, 100_000, 100))
    table, _ = sent_to(
        site, book(grade(tmp_path, "Jane", ids=(("canvas", "1001"),))), clock=lambda: float(next(seconds))
    )

    assert table["Jane"].status == expected
    assert len(site.posted("PUT")) == (expected == "sent")


def test_report_files_are_attached(tmp_path: Path) -> None:
    """Named by their content, sent to the address that Canvas gives and without the token."""
    site = Site(("1001",))
    sent_to(site, book(grade(tmp_path, "Jane", ids=(("canvas", "1001"),), report=b"<p>Hi</p>")), files=True)
    ((name, body),) = site.uploads

    assert name.startswith("feedback-")
    assert name.endswith(".html")
    assert b"<p>Hi</p>" in body
    assert site.submissions["1001"]["submission_comments"][1]["attachments"][0]["display_name"] == name


def test_files_never_go_to_an_address_in_the_clear(tmp_path: Path) -> None:
    """Not even if Canvas says so."""
    site = Site(("1001",))
    site.upload_url = "http://files.example.invalid/upload"
    table, _ = sent_to(site, book(grade(tmp_path, "Jane", ids=(("canvas", "1001"),))), files=True)

    assert table["Jane"].status == "failed"
    assert "without encryption" in table["Jane"].why
    assert site.submissions["1001"]["score"] == 43.75


def test_without_points_possible_ours_are_sent(tmp_path: Path) -> None:
    """And without comments none is."""
    site = Site(("1001",))
    site.points_possible = None
    sent_to(site, book(grade(tmp_path, "Jane", ids=(("canvas", "1001"),))), comments=False)

    assert site.submissions["1001"] == {"score": 87.5, "late_penalty": 0, "submission_comments": []}


@pytest.mark.parametrize(
    "url",
    [
        "http://canvas.example.edu",
        "http://127.0.0.1.example.edu",
        "ftp://canvas.example.edu",
        "canvas.example.edu",
        "https://canvas.example.edu/courses/7",
        "https://a:b@canvas.example.edu",
        "https://",
        "",
    ],
)
def test_only_https_addresses_of_a_site(url: str) -> None:
    """A token is never sent in the clear, except to this machine."""
    with pytest.raises(UsageError, match="Canvas's address"):
        send(book(), url=url, token=TOKEN, course=7, assignment=501)


@pytest.mark.parametrize("token", ["", " ", "two words", "line\nend"])
def test_a_token_that_is_none(token: str) -> None:
    """It isn't repeated in the message."""
    with pytest.raises(UsageError, match="token is empty"):
        send(book(), url="https://canvas.example.edu", token=token, course=7, assignment=501)


def test_a_wrong_token(tmp_path: Path) -> None:
    """One sentence, and the token isn't in it."""
    with serve(Site(USERS)) as url, pytest.raises(EnvironmentFault, match="Check the address") as caught:
        send(some(tmp_path), url=url, token="7~wrong", course=COURSE, assignment=ASSIGNMENT)

    assert "7~wrong" not in str(caught.value)


def test_nobody_is_there() -> None:
    """A site that doesn't answer is named after some tries."""
    pauses: list[float] = []
    with pytest.raises(EnvironmentFault, match="Canvas doesn't give assignment"):
        send(book(), url="http://127.0.0.1:1", token=TOKEN, course=7, assignment=501, pause=pauses.append)

    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0]


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """What to install is said."""
    monkeypatch.setitem(sys.modules, "canvasapi.exceptions", None)
    monkeypatch.delitem(sys.modules, "grader.lms.out.canvas_http", raising=False)
    with pytest.raises(UsageError, match=r"pip install 'numgrade\[lms\]'"):
        send(book(), url="https://canvas.example.edu", token=TOKEN, course=7, assignment=501)
