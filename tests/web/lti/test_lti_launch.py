"""Launches that Open edX's platform signs, and what a browser may do with them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.web.lti.away import CLIENT, LAUNCH, LOGIN, Browser, query_of


def test_a_learner_arrives(browser: Browser, arrived: list[Any], platform: Any, lms: Any) -> None:
    """What the platform says is what is handed on, field for field."""
    answer = browser.launch("4")

    assert (answer.status_code, answer.content) == (200, b"arrived")
    (launch,) = arrived
    assert launch.platform_id == platform.pk
    assert (launch.deployment_id, launch.context_id, launch.context_title) == ("1", "2", "Deep Learning 101")
    assert (launch.resource_link_id, launch.resource_title) == ("1", "Autograded HW (LTI)")
    assert (launch.user, launch.name, launch.email) == ("4", "Alice Example", "alice@example.invalid")
    assert launch.roles == {"learner"}
    assert launch.message == "resource"
    assert launch.custom == (("assignment", "attention"), ("attempts", "3"))
    assert launch.lineitem == f"{lms.base}/course/2/lineitems/4/lineitem?type_id=1"
    assert launch.lineitems == f"{lms.base}/course/2/lineitems?type_id=1"
    assert launch.memberships == f"{lms.base}/course/2/members"
    assert {scope.rsplit("/", 1)[1] for scope in launch.scopes} == {"lineitem", "result.readonly", "score"}
    assert launch.return_url == f"{lms.base}/return"


def test_an_instructor_arrives(browser: Browser, arrived: list[Any]) -> None:
    """The same link, another role."""
    browser.launch("3")

    assert [launch.roles for launch in arrived] == [{"instructor"}]


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_login_is_answered_by_a_redirect(browser: Browser, platform: Any, method: str) -> None:
    """GET and POST alike: 302 to the platform's address, with what OpenID Connect asks for and the hints unchanged."""
    hint = 'a/b?c=d&e={"f": 1} +%20'
    given = {"iss": platform.issuer, "login_hint": hint, "target_link_uri": LAUNCH, "lti_message_hint": hint}
    answer = browser.get(f"{LOGIN}?{urlencode(given)}") if method == "get" else browser.post(given, LOGIN)

    assert answer.status_code == 302
    asked = query_of(answer["Location"])
    assert answer["Location"].startswith(f"{platform.auth_url}?")
    assert len(asked.pop("state")) >= 40
    assert len(asked.pop("nonce")) >= 40
    assert asked == {
        "scope": "openid",
        "response_type": "id_token",
        "response_mode": "form_post",
        "prompt": "none",
        "client_id": CLIENT,
        "redirect_uri": LAUNCH,
        "login_hint": hint,
        "lti_message_hint": hint,
    }


def test_a_hint_that_isn_t_there_isn_t_made_up(browser: Browser, platform: Any) -> None:
    """Without lti_message_hint none is sent, and an empty one stays empty."""
    given = {"iss": platform.issuer, "login_hint": "4", "target_link_uri": LAUNCH}

    assert "lti_message_hint" not in query_of(browser.post(given, LOGIN)["Location"])
    assert query_of(browser.post({**given, "lti_message_hint": ""}, LOGIN)["Location"])["lti_message_hint"] == ""


def test_a_query_in_the_platform_s_address_is_kept(browser: Browser, platform: Any) -> None:
    """An authentication address may have a query of its own."""
    platform.auth_url += "?tenant=7"
    platform.save()
    asked = query_of(browser.begin()["Location"])

    assert asked["tenant"] == "7"
    assert asked["scope"] == "openid"


def test_every_login_has_its_own_state(browser: Browser) -> None:
    """State and nonce never come twice, and each login has its own cookie."""
    logins = [browser.begin() for _ in range(5)]
    asked = [query_of(login["Location"]) for login in logins]

    assert len({one["state"] for one in asked}) == 5
    assert len({one["nonce"] for one in asked}) == 5
    assert len({name for login in logins for name in login.cookies}) == 5


def test_the_cookie_works_in_a_frame(browser: Browser) -> None:
    """It is for us alone, encrypted, out of scripts' reach, and partitioned. It isn't the state, which others see."""
    login = browser.begin()
    ((name, cookie),) = login.cookies.items()
    state = query_of(login["Location"])["state"]

    assert "; Partitioned" in cookie.OutputString()
    assert "; Secure" in cookie.OutputString()
    assert (cookie["samesite"], cookie["httponly"], cookie["path"]) == ("None", True, "/")
    assert state not in cookie.value + name
    assert 0 < cookie["max-age"] <= 600


def test_two_windows_at_once(browser: Browser, arrived: list[Any]) -> None:
    """Two launches of one browser don't disturb each other, whichever ends first."""
    first, second = browser.form("4"), browser.form("4")

    assert browser.post(second).content == b"arrived"
    assert browser.post(first).content == b"arrived"
    assert len(arrived) == 2


def test_a_replay_counts_once(browser: Browser, arrived: list[Any], reasons: Any) -> None:
    """The same form posted again by the same browser is refused."""
    form = browser.form()
    browser.post(form)
    again = browser.post(form)

    assert again.status_code == 403
    assert reasons() == "launch-used"
    assert len(arrived) == 1


def test_a_replay_from_another_browser(browser: Browser, lms: Any, arrived: list[Any], reasons: Any) -> None:
    """What was overheard is of no use elsewhere, before and after it was used, and doesn't spoil the launch."""
    form = browser.form()
    thief = Browser(lms)
    early = thief.post(form)

    assert early.status_code == 403
    assert reasons() == "launch-no-cookie"
    assert browser.post(form).content == b"arrived"
    assert thief.post(form).status_code == 403
    assert reasons() == "launch-used"
    assert len(arrived) == 1


def test_the_state_doesn_t_make_the_cookie(browser: Browser, lms: Any, arrived: list[Any], reasons: Any) -> None:
    """Who knows the state (it stands in addresses) can't make the cookie from it."""
    login = browser.begin()
    form = lms.answer(login["Location"])
    thief = Browser(lms)
    for name in login.cookies:
        thief.client.cookies[name] = form["state"]

    assert thief.post(form).status_code == 403
    assert reasons() == "launch-other-browser"
    assert arrived == []


def test_login_csrf(browser: Browser, lms: Any, arrived: list[Any], reasons: Any) -> None:
    """A victim's browser that posts an attacker's form isn't logged in as the attacker, whatever it began itself."""
    attacker = Browser(lms)
    form = attacker.form("5")
    browser.begin("4")

    assert browser.post(form).status_code == 403
    assert reasons() == "launch-other-browser"
    assert arrived == []


def test_a_token_under_another_login_s_state(browser: Browser, arrived: list[Any], reasons: Any) -> None:
    """A token belongs to one login: under the state of another one of the same browser its nonce is wrong."""
    first, second = browser.form("4"), browser.form("4")

    assert browser.post({**first, "id_token": second["id_token"]}).status_code == 403
    assert reasons() == "token-nonce"
    assert arrived == []


def test_ten_at_once(browser: Browser, arrived: list[Any], lms: Any) -> None:
    """Of ten posts of one form at the same moment, one gets through."""
    from django.db import connection

    form = browser.form()
    cookies = browser.client.cookies

    def post(_: int) -> int:
        other = Browser(lms)
        other.client.cookies.update(cookies)
        try:
            return int(other.post(form).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        codes = sorted(pool.map(post, range(10)))

    assert codes == [200] + [403] * 9
    assert len(arrived) == 1


def test_a_frame_that_keeps_cookies(browser: Browser, lms: Any, arrived: list[Any]) -> None:
    """In a frame we look first whether the cookie was kept, and go on to the platform with the same login."""
    login = browser.get(lms.start(), **{"sec-fetch-dest": "iframe"})
    assert login.status_code == 302
    assert login["Location"].startswith("https://grader.test/lti/onward?")
    onward = browser.get(login["Location"])

    assert onward.status_code == 302
    assert browser.post(lms.answer(onward["Location"])).content == b"arrived"
    assert len(arrived) == 1


def test_a_frame_that_keeps_none(lms: Any, platform: Any, arrived: list[Any]) -> None:
    """A window of its own goes on: a new login of that window, and a hint that is good once isn't spent before."""
    lms.be(hints_once=True)
    frame, window = Browser(lms), Browser(lms)
    login = frame.get(lms.start(), **{"sec-fetch-dest": "iframe"})
    frame.client.cookies.clear()
    page = frame.get(login["Location"])
    assert page.status_code == 200
    (link,) = [part.split('"')[0] for part in page.content.decode().split('href="')[1:]]
    assert 'target="_blank"' in page.content.decode()
    onward = window.get(link.replace("&amp;", "&"))

    assert onward.status_code == 302
    assert query_of(onward["Location"])["state"] != query_of(login["Location"])["state"]
    assert window.post(lms.answer(onward["Location"])).content == b"arrived"
    assert len(arrived) == 1
    # The link is good once.
    assert frame.get(link).status_code == 400


def test_a_frame_that_doesn_t_say_so(lms: Any, platform: Any, arrived: list[Any], reasons: Any) -> None:
    """A browser without Sec-Fetch-Dest that loses its cookie is offered a window too, when the launch comes."""
    frame, window = Browser(lms), Browser(lms)
    form = frame.form()
    frame.client.cookies.clear()
    page = frame.post(form)
    assert reasons() == "launch-no-cookie"
    (link,) = [part.split('"')[0] for part in page.content.decode().split('href="')[1:]]

    assert window.post(lms.answer(window.get(link)["Location"])).content == b"arrived"
    # What the frame had is of no use any more, and was never taken.
    assert frame.post(form).status_code == 403
    assert len(arrived) == 1


def test_pages_are_strict(browser: Browser) -> None:
    """A refusal loads nothing, is kept nowhere, and may be shown in an LMS's frame."""
    page = browser.get(LAUNCH)
    policy = page["Content-Security-Policy"]

    assert "default-src 'none'" in policy
    assert "frame-ancestors http: https:" in policy
    assert page["Cache-Control"] == "no-store"
    assert "X-Frame-Options" not in page


def test_the_cookie_goes_when_it_is_over(browser: Browser) -> None:
    """After a launch, refused or not, its cookie is removed."""
    form = browser.form()
    ((name, _),) = browser.client.cookies.items()
    answer = browser.post({**form, "id_token": "x"})

    assert answer.cookies[name]["max-age"] == 0


def test_old_logins_are_forgotten(browser: Browser) -> None:
    """Logins that are long over go when new ones come."""
    from datetime import timedelta

    from django.utils import timezone

    from grader.web.lti.login import KEEP
    from grader.web.lti.models import LoginState

    browser.begin()
    LoginState.objects.update(expires_at=timezone.now() - KEEP - timedelta(seconds=1))
    browser.begin()

    assert LoginState.objects.count() == 1


@pytest.mark.parametrize(
    "secure, samesite, marked",
    [(True, "None", True), (True, "Lax", False), (False, "None", False), (True, None, False)],
)
def test_other_cookies_of_ours(lti: None, secure: bool, samesite: str | None, marked: bool) -> None:
    """The middleware partitions what is meant for frames, the session's cookie among it, and nothing else."""
    from django.http import HttpRequest, HttpResponse

    from grader.web.lti.cookies import FramedCookies

    def answer(request: HttpRequest) -> HttpResponse:
        made = HttpResponse()
        made.set_cookie("session", "a b", max_age=60, secure=secure, samesite=samesite, httponly=True)  # type: ignore[arg-type]  # words
        return made

    plain = answer(HttpRequest()).cookies["session"].OutputString()
    cookie = FramedCookies(answer)(HttpRequest()).cookies["session"]

    assert cookie.OutputString() == plain + ("; Partitioned" if marked else "")
    assert cookie.value == "a b"
