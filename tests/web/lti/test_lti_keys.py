"""Keys of platforms, and our own."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.utils import timezone

from grader.web.lti import keys
from grader.web.lti.models import Platform, ToolKey
from grader.web.lti.platform_keys import AGE, PAUSE
from tests.web.lti.away import Browser, Lms
from tests.web.lti.conftest import pem_of
from tests.web.work.servers import until


def rest(platform: Platform) -> None:
    """Let the pause between two questions for keys be over."""
    Platform.objects.filter(pk=platform.pk).update(jwks_asked_at=timezone.now() - PAUSE - timedelta(seconds=1))


def test_keys_are_asked_for_once(browser: Browser, lms: Lms, arrived: list[Any]) -> None:
    """Many launches, one question."""
    for _ in range(4):
        browser.launch()

    assert len(arrived) == 4
    assert len(lms.asked("/jwks")) == 1


def test_a_storm_of_unknown_keys(browser: Browser, lms: Lms, platform: Platform, reasons: Any) -> None:
    """Whoever names unknown keys, twenty times, makes us ask once at most; honest launches go on meanwhile."""
    browser.launch()
    rest(platform)
    for number in range(20):
        browser.post(browser.forged(kid=f"unknown-{number}"))
        assert reasons() == "token-unknown-key"

    assert browser.launch().content == b"arrived"
    assert len(lms.asked("/jwks")) == 2


def test_a_platform_changes_its_key(browser: Browser, lms: Lms, platform: Platform, arrived: list[Any]) -> None:
    """An unknown key is asked for, and then known."""
    browser.launch()
    Platform.objects.update(jwks={"keys": [{**platform_jwk(lms), "kid": "an-old-key"}]})
    rest(platform)
    browser.launch()

    assert len(arrived) == 2
    assert len(lms.asked("/jwks")) == 2


def platform_jwk(lms: Lms) -> dict[str, Any]:
    """Return a key as a key set has it."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    made: dict[str, Any] = jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return made


def test_a_class_comes_at_once(browser: Browser, lms: Lms, platform: Platform, arrived: list[Any]) -> None:
    """Twelve first launches at the same moment: one asks for the keys, slowly, and the others wait for it."""
    from django.db import connection

    from tests.web.lti.ours import tool_pem

    lms.be(tool=tool_pem(), behaviour={"jwks": {"sleep": 0.5}})
    browsers = [Browser(lms) for _ in range(12)]
    forms = [one.form() for one in browsers]

    def post(pair: tuple[Browser, dict[str, str]]) -> int:
        try:
            return int(pair[0].post(pair[1]).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(12) as pool:
        codes = list(pool.map(post, zip(browsers, forms, strict=True)))

    assert codes == [200] * 12
    assert len(lms.asked("/jwks")) == 1


@pytest.mark.parametrize(
    "wish",
    [{"status": 500}, {"status": 200, "body": "nonsense"}, {"status": 200, "body": {"keys": 3}}, {"status": 404}],
)
def test_keys_that_can_t_be_had(
    browser: Browser, lms: Lms, platform: Platform, reasons: Any, wish: dict[str, Any]
) -> None:
    """Without any keys nobody gets in; with old ones, a platform that is away for a while doesn't lock a class out."""
    from tests.web.lti.ours import tool_pem

    lms.be(tool=tool_pem(), behaviour={"jwks": {**wish, "times": 9}})
    assert browser.launch().status_code == 403
    assert reasons() == "token-keys-unreachable"
    lms.be(tool=tool_pem())
    rest(platform)
    assert browser.launch().content == b"arrived"
    lms.be(tool=tool_pem(), behaviour={"jwks": {**wish, "times": 9}})
    Platform.objects.update(jwks_done_at=timezone.now() - AGE - timedelta(seconds=1))
    rest(platform)
    assert browser.launch().content == b"arrived"
    assert len(lms.asked("/jwks")) == 1


def test_a_key_that_was_given_up(browser: Browser, platform: Platform, reasons: Any) -> None:
    """After half a day the set is asked for anew, so that a key that isn't in it any more isn't trusted."""
    form = browser.form()
    stale = {"keys": [{**platform_jwk(browser.lms), "kid": "given-up"}]}
    Platform.objects.update(jwks=stale, jwks_done_at=timezone.now() - AGE - timedelta(seconds=1))
    browser.post({**form, "id_token": browser.lms.signed({"iss": "x"}, kid="given-up")})

    assert reasons() == "token-unknown-key"


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"use": "enc"}, "token-unknown-key"),
        ({"kty": "oct", "k": "c2VjcmV0"}, "token-unknown-key"),
        ({"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}, "token-unknown-key"),
        ({"n": "!!"}, "token-unknown-key"),
        ({"n": None}, "token-unknown-key"),
        ({"n": 5}, "token-unknown-key"),
        ({"e": ""}, "token-unknown-key"),
    ],
)
def test_keys_that_are_none(
    browser: Browser, lms: Lms, platform: Platform, reasons: Any, change: dict[str, Any], reason: str
) -> None:
    """A set may hold other things; they sign nothing."""
    browser.launch()
    kept = Platform.objects.get().jwks["keys"][0]
    Platform.objects.update(jwks={"keys": [{**kept, **change}]})

    assert browser.launch().status_code == 403
    assert reasons() == reason


def test_a_short_key(browser: Browser, lms: Lms, platform: Platform, reasons: Any) -> None:
    """1024 bits aren't enough, even if the platform says so."""
    short = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    browser.launch()
    jwk = jwt.algorithms.RSAAlgorithm.to_jwk(short.public_key(), as_dict=True)
    Platform.objects.update(jwks={"keys": [{**jwk, "kid": "short"}]})
    form = browser.form()
    claims = jwt.decode(form["id_token"], options={"verify_signature": False})
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        token = jwt.encode(claims, pem_of(short), algorithm="RS256", headers={"kid": "short"})
    browser.post({**form, "id_token": token})

    assert reasons() == "token-weak-key"


@pytest.fixture
def fresh(lti: None) -> None:
    """Begin without any keys of ours."""
    ToolKey.objects.all().delete()


def test_two_keys_are_published_at_least(fresh: None, lti: None) -> None:
    """The one that signs, and the next one; nothing private in it."""
    from django.test import Client

    answer = Client(HTTP_HOST="grader.test").get("/lti/jwks", secure=True)
    given = answer.json()["keys"]

    assert len(given) == 2
    assert all(set(key) == {"kty", "kid", "use", "alg", "n", "e"} for key in given)
    assert "max-age" in answer["Cache-Control"]


def test_rotation(fresh: None) -> None:
    """What a platform that kept our set yesterday knows is enough today: the next key was in it already."""
    yesterday = keys.public_keys()
    old = keys.sign({"a": 1})
    kid = keys.rotate()
    today = keys.public_keys()
    new = keys.sign({"a": 1})

    assert jwt.get_unverified_header(new)["kid"] == kid
    for token, known in ((new, yesterday), (old, today), (new, today)):
        key = jwt.PyJWKSet.from_dict(known)[jwt.get_unverified_header(token)["kid"]]
        assert jwt.decode(token, key.key, algorithms=["RS256"]) == {"a": 1}
    assert len(today["keys"]) == 3
    ToolKey.objects.filter(role=ToolKey.OLD).update(retired_at=timezone.now() - keys.KEEP)
    assert len(keys.public_keys()["keys"]) == 2
    keys.rotate()
    assert ToolKey.objects.count() == 3


def test_keys_lie_sealed(fresh: None) -> None:
    """The database alone doesn't sign; the server's old secret key still opens what it sealed."""
    from django.conf import settings
    from django.test import override_settings

    from grader.web.lti.sealing import SealBroken

    keys.sign({})
    assert all("PRIVATE" not in key.sealed for key in ToolKey.objects.all())
    with override_settings(SECRET_KEY="another one", SECRET_KEY_FALLBACKS=[settings.SECRET_KEY]):
        assert keys.sign({"a": 1})
    with override_settings(SECRET_KEY="another one", SECRET_KEY_FALLBACKS=[]), pytest.raises(SealBroken):
        keys.sign({"a": 1})


def test_many_start_at_once(fresh: None) -> None:
    """Processes that start together agree about one key."""
    from django.db import connection

    def kid(_: int) -> str:
        try:
            return str(jwt.get_unverified_header(keys.sign({}))["kid"])
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(kid, range(4)))) == 1


@pytest.mark.slow
def test_a_slow_lms_and_a_storm_of_unknown_keys(the_lms: Lms, tmp_path: Path) -> None:
    """Threads of a real server that wait for keys are few: others get pages meanwhile, and honest people come in."""
    from tests.web.lti.test_lti_whole_way import form_of, launched, serving
    from tests.web.work.servers import Browser as Visitor

    with contextmanager(serving)(tmp_path, the_lms, {}) as server:
        launched(server, the_lms, "4")
        with sqlite3.connect(tmp_path / "data" / "grade.sqlite3") as rows:
            rows.execute("UPDATE lti_platform SET jwks_asked_at = '2020-01-01 00:00:00'")
        the_lms.learn(behaviour={"jwks": {"sleep": 6, "times": 1}})
        attackers = []
        for number in range(12):
            visitor = Visitor(server.address)
            visitor.get(f"{the_lms.base}/start?user=5")
            form = form_of(visitor)
            claims = jwt.decode(form["id_token"], options={"verify_signature": False})
            attackers.append((visitor, {**form, "id_token": the_lms.signed(claims, kid=f"unknown-{number}")}))
        with ThreadPoolExecutor(12) as pool:
            sent = [pool.submit(who.post, f"{server.address}/lti/launch", form) for who, form in attackers]
            until(lambda: len(the_lms.asked("/jwks")) == 2, "the question for keys")
            until(lambda: sum(one.done() for one in sent) >= 9, "those that don't wait")
            assert launched(server, the_lms, "5").status == 200
            assert not all(one.done() for one in sent)
        assert {who.status for who, _ in attackers} == {403}
