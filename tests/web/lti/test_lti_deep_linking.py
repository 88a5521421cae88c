"""Choosing an assignment for an LMS's course, checked by Open edX's platform."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jwt
import pytest
from django.conf import settings
from django.test import override_settings

from grader.web.lti.claims import DEEP_LINK
from tests.web.lti.away import LAUNCH, Browser, Lms

CHOOSE = "https://grader.test/lti/choose"
DL = "https://purl.imsglobal.org/spec/lti-dl/claim"


def ticket_of(answer: Any) -> str:
    """Return the signed part of the form."""
    assert answer.status_code == 200
    return re.findall(r'name="ticket" value="([^"]+)"', answer.content.decode())[0]


def token_of(answer: Any) -> str:
    """Return what goes back to the LMS."""
    assert answer.status_code == 200, answer.content
    return re.findall(r'name="JWT" value="([^"]+)"', answer.content.decode())[0]


def claims_of(answer: Any) -> dict[str, Any]:
    """Return its claims, unchecked."""
    found: dict[str, Any] = jwt.decode(token_of(answer), options={"verify_signature": False})
    return found


def with_settings(**given: Any) -> Any:
    """Return what changes the settings of a deep linking request."""
    return lambda claims: claims[DEEP_LINK].update(given)


def test_a_choice_goes_back(browser: Browser, lms: Lms, arrived: list[Any]) -> None:
    """The LMS gets a link with our parameters and a column of the assignment's points; Open edX has checked it."""
    offered = browser.launch("3", "deep_link")
    page = offered.content.decode()
    assert 'value="attention"' in page
    assert "(100 points)" in page
    answer = browser.post(
        {"ticket": ticket_of(offered), "assignment": "attention", "attempts": "5", "deadline": "2026-12-24T18:00"},
        CHOOSE,
    )
    to = re.findall(r'action="([^"]+)"', answer.content.decode())[0]
    assert to == f"{lms.base}/choose?course=2"
    lms.ask("POST", to, f"JWT={token_of(answer)}")

    (choice,) = lms.state()["choices"]
    (item,) = choice["items"]
    assert item == {
        "type": "ltiResourceLink",
        "title": item["title"],
        "url": LAUNCH,
        "custom": {"assignment": "attention", "attempts": "5", "deadline": "2026-12-24T18:00:00+00:00"},
        "lineItem": {
            "label": item["title"],
            "scoreMaximum": 100,
            "resourceId": "attention",
            "tag": "attention",
            "submissionReview": {
                "reviewableStatus": ["InProgress", "Submitted", "Completed"],
                "label": "Report",
                "url": LAUNCH,
            },
        },
    }
    claims = choice["claims"]
    assert (claims["iss"], claims["aud"]) == ("kZgGtzWLmcuGTq0", lms.base)
    assert claims["https://purl.imsglobal.org/spec/lti/claim/deployment_id"] == "1"
    assert arrived == []


def test_data_comes_back_or_is_left_out(browser: Browser) -> None:
    """What the LMS gave along comes back to the letter; without any there is none, not even an empty one."""
    data = 'csrftoken:<7c7849a6>"&\n'
    for given, expected in (({}, None), ({"data": data}, data), ({"data": ""}, "")):
        offered = browser.post(browser.forged(with_settings(**given), "3", "deep_link"))
        claims = claims_of(browser.post({"ticket": ticket_of(offered), "assignment": "attention"}, CHOOSE))
        assert claims.get(f"{DL}/data") == expected
        assert (f"{DL}/data" in claims) == (expected is not None)


def test_without_a_column(browser: Browser) -> None:
    """An LMS that takes no line items gets none."""
    offered = browser.post(browser.forged(with_settings(accept_lineitem=False), "3", "deep_link"))
    (item,) = claims_of(browser.post({"ticket": ticket_of(offered), "assignment": "attention"}, CHOOSE))[
        f"{DL}/content_items"
    ]

    assert "lineItem" not in item
    assert item["custom"] == {"assignment": "attention"}


@pytest.mark.parametrize(
    "given, problem",
    [
        ({"assignment": "other"}, "Choose an assignment."),
        ({"assignment": ""}, "Choose an assignment."),
        ({"attempts": "0"}, "Attempts are"),
        ({"attempts": "1001"}, "Attempts are"),
        ({"attempts": "-1"}, "Attempts are"),
        ({"attempts": "٣"}, "Attempts are"),
        ({"deadline": "soon"}, "The deadline"),
        ({"deadline": "9999-99-99T00:00"}, "The deadline"),
    ],
)
def test_what_can_t_be_chosen(browser: Browser, given: dict[str, str], problem: str) -> None:
    """The form comes again, with what was entered and one sentence."""
    offered = browser.launch("3", "deep_link")
    again = browser.post({"ticket": ticket_of(offered), "assignment": "attention", **given}, CHOOSE)

    assert again.status_code == 400
    assert problem in again.content.decode()
    assert 'name="ticket"' in again.content.decode()


@pytest.mark.parametrize(
    "spoil", [lambda ticket: "", lambda ticket: ticket[:-1], lambda ticket: "e30:x:y"], ids=["none", "cut", "forged"]
)
def test_a_ticket_that_isn_t_ours(browser: Browser, reasons: Any, spoil: Any) -> None:
    """Only what we signed is taken, and for an hour."""
    ticket = ticket_of(browser.launch("3", "deep_link"))
    answer = browser.post({"ticket": spoil(ticket), "assignment": "attention"}, CHOOSE)

    assert (answer.status_code, reasons()) == (403, "deep-link-late")


def test_a_platform_that_is_gone(browser: Browser, platform: Any, reasons: Any) -> None:
    """A ticket doesn't outlive its platform."""
    ticket = ticket_of(browser.launch("3", "deep_link"))
    platform.active = False
    platform.save()

    assert browser.post({"ticket": ticket, "assignment": "attention"}, CHOOSE).status_code == 403
    assert reasons() == "token-deployment"


@pytest.mark.parametrize(
    "given, reason",
    [
        ({"deep_link_return_url": "javascript:alert(1)"}, "deep-link-settings"),
        ({"deep_link_return_url": None}, "deep-link-settings"),
        ({"accept_types": ["link"]}, "deep-link-not-ours"),
        ({"accept_types": "ltiResourceLink"}, "deep-link-settings"),
        ({"data": {"a": 1}}, "deep-link-settings"),
    ],
)
def test_settings_that_can_t_be_used(browser: Browser, reasons: Any, given: dict[str, Any], reason: str) -> None:
    """Without a place to go back to nothing is offered."""
    answer = browser.post(browser.forged(with_settings(**given), "3", "deep_link"))

    assert (answer.status_code, reasons()) == (403, reason)


def test_a_title_is_text(browser: Browser, lms: Lms, tmp_path: Path) -> None:
    """A course's title is escaped in the page; a course of several has all of them, and none is chosen beforehand."""
    import shutil

    root = Path(__file__).resolve().parents[3]
    for name in ("attention", "second"):
        shutil.copytree(root / "reference" / "attention", tmp_path / "reference" / name)
    for name, title in (("second", "<b>Second</b>"),):
        folder = tmp_path / "reference" / name
        toml = (folder / "assignment.toml").read_text(encoding="utf-8")
        (folder / "assignment.toml").write_text(toml.replace('id = "attention"', f'id = "{name}"', 1), encoding="utf-8")
        texts = (folder / "feedback.en.toml").read_text(encoding="utf-8")
        texts = re.sub(r'^"title" = .*$', f'"title" = "{title}"', texts, count=1, flags=re.M)
        (folder / "feedback.en.toml").write_text(texts, encoding="utf-8")
    told = SimpleNamespace(**{**vars(settings.GRADE), "course": str(tmp_path)})
    with override_settings(GRADE=told):
        page = browser.launch("3", "deep_link").content.decode()

    assert page.count('type="radio"') == 2
    assert " checked" not in page
    assert "&lt;b&gt;Second&lt;/b&gt;" in page


def test_the_form_may_go_back_only(browser: Browser, lms: Lms) -> None:
    """The page that goes back may post to the LMS; the one before it to us alone."""
    offered = browser.launch("3", "deep_link")
    answer = browser.post({"ticket": ticket_of(offered), "assignment": "attention"}, CHOOSE)

    assert "form-action 'self'" in offered["Content-Security-Policy"]
    assert f"form-action {lms.base} https:" in answer["Content-Security-Policy"]
