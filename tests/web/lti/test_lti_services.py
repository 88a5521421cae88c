"""Tokens of a platform's services, and a platform that fails, dawdles or talks too much."""

from __future__ import annotations

import time
from typing import Any

import pytest

from grader.web.lti import http
from grader.web.lti.models import AccessToken, Platform
from grader.web.lti.services import SCORE, ServiceError, call, next_page
from tests.web.lti.away import Lms


def ask(platform: Platform, lms: Lms) -> int:
    """Ask a service for something, and return the status."""
    return call(platform, "GET", f"{lms.base}/course/2/members", [SCORE]).status


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let patience be short, so that tests needn't have more of it."""
    monkeypatch.setattr(
        http.ask, "__kwdefaults__", {**(http.ask.__kwdefaults__ or {}), "timeout": 0.7, "limit": 50_000}
    )


def test_one_token_serves_many(platform: Platform, lms: Lms) -> None:
    """A token is asked for once, signed by our key, and kept sealed."""
    assert [ask(platform, lms) for _ in range(3)] == [200, 200, 200]
    assert lms.state()["tokens"] == 1
    (kept,) = AccessToken.objects.all()
    (used,) = {one["headers"]["authorization"].split()[1] for one in lms.asked("/members")}
    assert used not in kept.sealed


def test_a_token_that_was_forgotten(platform: Platform, lms: Lms) -> None:
    """After a 401 a new token is asked for, once."""
    ask(platform, lms)
    lms.be(tool=_pem(), behaviour={"members": {"status": 401, "times": 1}})

    assert ask(platform, lms) == 200
    assert lms.state()["tokens"] == 1
    lms.be(tool=_pem(), behaviour={"members": {"status": 401, "times": 9}})
    with pytest.raises(ServiceError) as caught:
        ask(platform, lms)
    assert (caught.value.retry, caught.value.status) == (False, 401)
    assert len(lms.asked("/members")) == 2


def test_a_token_that_ends(platform: Platform, lms: Lms) -> None:
    """A token that ends within a minute isn't used any more; nor one that was sealed with another key."""
    from datetime import timedelta

    from django.utils import timezone

    ask(platform, lms)
    AccessToken.objects.update(expires_at=timezone.now() + timedelta(seconds=50))
    ask(platform, lms)
    assert lms.state()["tokens"] == 2
    AccessToken.objects.update(sealed="nonsense")
    assert ask(platform, lms) == 200
    assert lms.state()["tokens"] == 3


def _pem() -> str:
    from tests.web.lti.ours import tool_pem

    return tool_pem()


def test_what_we_sign_for_a_token(platform: Platform, lms: Lms) -> None:
    """Issuer and subject are the client id, the audience is the token address or the one that was registered."""
    from urllib.parse import parse_qs

    import jwt

    ask(platform, lms)
    AccessToken.objects.all().delete()
    platform.audience = "https://lms.test/as"
    platform.save()
    ask(platform, lms)
    forms = [parse_qs(one["body"]) for one in lms.asked("/token")]
    claims = [jwt.decode(form["client_assertion"][0], options={"verify_signature": False}) for form in forms]

    assert [one["aud"] for one in claims] == [platform.token_url, "https://lms.test/as"]
    assert {one["iss"] for one in claims} == {one["sub"] for one in claims} == {platform.client_id}
    assert len({one["jti"] for one in claims}) == 2
    assert all(one["iat"] < time.time() < one["exp"] <= time.time() + 300 for one in claims)
    assert forms[0]["grant_type"] == ["client_credentials"]


@pytest.mark.parametrize(
    "wish, retry, code",
    [
        ({"status": 500}, True, "token-500"),
        ({"status": 503, "headers": {"Retry-After": "77"}}, True, "token-503"),
        ({"status": 429}, True, "token-429"),
        ({"status": 400, "body": {"error": "invalid_client"}}, False, "token-400"),
        ({"status": 403, "body": "Forbidden (Rate Limit Exceeded)"}, True, "token-403"),
        ({"status": 302, "headers": {"Location": "http://127.0.0.1:1/"}}, False, "token-302"),
        ({"status": 200, "body": []}, True, "token-no-token"),
        ({"status": 200, "body": {"access_token": 5}}, True, "token-no-token"),
        ({"status": 200, "body": {"access_token": "a\r\nX-Evil: 1"}}, True, "token-no-token"),
        ({"sleep": 2}, True, "timeout"),
        ({"drip": 30}, True, "timeout"),
        ({"bytes": 60_000}, True, "too-large"),
    ],
)
def test_a_token_endpoint_that_fails(
    quick: None, platform: Platform, lms: Lms, wish: dict[str, Any], retry: bool, code: str
) -> None:
    """Nothing hangs, nothing is kept, and the error says whether trying again may help."""
    lms.be(behaviour={"token": wish})
    with pytest.raises(ServiceError) as caught:
        ask(platform, lms)

    assert (caught.value.code, caught.value.retry) == (code, retry)
    assert caught.value.reason.endswith(".")
    assert caught.value.after > 0 or not retry
    assert not AccessToken.objects.exists()
    if "Retry-After" in wish.get("headers", {}):
        assert caught.value.after == 77


def test_a_platform_that_is_away(platform: Platform, lms: Lms) -> None:
    """Nobody listens there."""
    platform.token_url = "http://127.0.0.1:1/token"
    with pytest.raises(ServiceError) as caught:
        ask(platform, lms)

    assert (caught.value.code, caught.value.retry) == ("broken", True)


def test_no_token_for_another_network(platform: Platform, lms: Lms) -> None:
    """A platform that isn't one of our own network can't send us there, nor to an unencrypted address."""
    platform.private_network = False
    for url, code in ((f"{lms.base}/token", "scheme"), ("https://127.0.0.1/token", "address")):
        platform.token_url = url
        with pytest.raises(ServiceError) as caught:
            ask(platform, lms)
        assert (caught.value.code, caught.value.retry) == (code, False)


@pytest.mark.parametrize(
    "header, url",
    [
        ('<https://a/B?c=D>; rel="next"', "https://a/B?c=D"),
        ("<https://a/B>; rel=next", "https://a/B"),
        ('<https://a/1>; rel="first", <https://a/2>; rel="next", <https://a/9>; rel="last"', "https://a/2"),
        ('<https://a/1>; title="x"; REL="NEXT"', "https://a/1"),
        ("<https://a/1>; rel=“next”".encode().decode("latin-1"), "https://a/1"),
        ('<https://a/1,2;3>; rel="next"', "https://a/1,2;3"),
        ('<https://a/1>; rel="prev"', ""),
        ('<https://a/1>; rel="nextish"', ""),
        ("rel=next", ""),
        ("", ""),
    ],
)
def test_the_next_page(header: str, url: str) -> None:
    """Link headers as platforms write them."""
    assert next_page(header) == url
