"""Forged launches: each is refused, and each for its own reason."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from grader.web.lti.refusals import REASONS
from tests.web.lti.away import CLIENT, KID, LTI, Browser, Lms
from tests.web.lti.conftest import pem_of

Claims = dict[str, Any]
TARGET = f"{LTI}/target_link_uri"
MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership"
NRPS = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"


def put(key: str, value: Any) -> Callable[[Claims], None]:
    """Return what sets a claim."""
    return lambda claims: claims.__setitem__(key, value)


def drop(key: str) -> Callable[[Claims], None]:
    """Return what takes a claim away."""
    return lambda claims: claims.pop(key)


def times(issued: float, ends: float) -> Callable[[Claims], None]:
    """Return what sets when a token was made and ends, in seconds from now."""
    return lambda claims: claims.update(iat=int(time.time() + issued), exp=int(time.time() + ends))


CLAIMS: dict[str, tuple[Callable[[Claims], Any], str]] = {
    "another issuer": (put("iss", "https://other.example"), "token-issuer"),
    "issuer with a slash more": (lambda c: c.update(iss=c["iss"] + "/"), "token-issuer"),
    "issuer in capitals": (lambda c: c.update(iss=c["iss"].upper()), "token-issuer"),
    "issuer is a list": (lambda c: c.update(iss=[c["iss"]]), "token-issuer"),
    "no issuer": (drop("iss"), "token-missing-claim"),
    "another audience": (put("aud", "other-client"), "token-audience"),
    "an audience that begins as ours": (put("aud", f"{CLIENT}x"), "token-audience"),
    "audiences without us": (put("aud", ["a", "b"]), "token-audience"),
    "no audience": (drop("aud"), "token-missing-claim"),
    "audience is an object": (put("aud", {CLIENT: 1}), "token-audience"),
    "several audiences, no party": (lambda c: (c.update(aud=[CLIENT, "b"]), c.pop("azp")), "token-authorised-party"),
    "several audiences, another party": (lambda c: c.update(aud=[CLIENT, "b"], azp="b"), "token-authorised-party"),
    "one audience, another party": (put("azp", "other-client"), "token-authorised-party"),
    "expired": (times(-3700, -100), "token-expired"),
    "expired just beyond the leeway": (times(-100, -31), "token-expired"),
    "made in the future": (times(100, 3700), "token-early"),
    "no end": (drop("exp"), "token-missing-claim"),
    "no beginning": (drop("iat"), "token-missing-claim"),
    "end is a word": (put("exp", "tomorrow"), "token-malformed"),
    "end is infinite": (put("exp", float("inf")), "token-malformed"),
    "not valid yet": (lambda c: c.update(nbf=int(time.time()) + 100), "token-early"),
    "no nonce": (drop("nonce"), "token-missing-claim"),
    "a nonce of its own": (put("nonce", "abc"), "token-nonce"),
    "nonce is a number": (put("nonce", 17), "token-nonce"),
    "unknown deployment": (put(f"{LTI}/deployment_id", "2"), "token-deployment"),
    "no deployment": (drop(f"{LTI}/deployment_id"), "token-missing-claim"),
    "deployment is a number": (put(f"{LTI}/deployment_id", 1), "token-bad-claim"),
    "another version": (put(f"{LTI}/version", "1.1.0"), "token-version"),
    "no version": (drop(f"{LTI}/version"), "token-missing-claim"),
    "another message": (put(f"{LTI}/message_type", "LtiStartProctoring"), "token-message-type"),
    "no message": (drop(f"{LTI}/message_type"), "token-missing-claim"),
    "foreign target": (put(TARGET, "https://evil.example/lti/launch"), "token-foreign-target"),
    "target that looks like ours": (
        put(TARGET, "https://grader.test.evil.example/lti/launch"), "token-foreign-target",
    ),
    "target by user name": (put(TARGET, "https://grader.test@evil.example/"), "token-foreign-target"),
    "target by backslash": (put(TARGET, "https://evil.example\\@grader.test/"), "token-foreign-target"),
    "target without encryption": (put(TARGET, "http://grader.test/lti/launch"), "token-foreign-target"),
    "target is a script": (put(TARGET, "javascript:alert(1)"), "token-foreign-target"),
    "no target": (drop(TARGET), "token-missing-claim"),
    "nobody": (drop("sub"), "token-no-person"),
    "an empty person": (put("sub", ""), "token-no-person"),
    "a person too long": (put("sub", "x" * 256), "token-bad-claim"),
    "a person with a NUL": (put("sub", "4\0"), "token-bad-claim"),
    "no roles": (drop(f"{LTI}/roles"), "token-missing-claim"),
    "roles are a word": (put(f"{LTI}/roles", f"{MEMBERSHIP}#Instructor"), "token-bad-claim"),
    "roles by short names": (put(f"{LTI}/roles", ["Instructor", "Learner"]), "token-roles"),
    "a role that ends as ours": (put(f"{LTI}/roles", ["https://evil.example/membership#Instructor"]), "token-roles"),
    "administrator of the system only": (
        put(f"{LTI}/roles", ["http://purl.imsglobal.org/vocab/lis/v2/system/person#Administrator"]), "token-roles",
    ),
    "instructor of the institution only": (
        put(f"{LTI}/roles", ["http://purl.imsglobal.org/vocab/lis/v2/institution/person#Instructor"]), "token-roles",
    ),
    "mentor": (put(f"{LTI}/roles", [f"{MEMBERSHIP}#Mentor"]), "token-roles"),
    "no link": (drop(f"{LTI}/resource_link"), "token-no-link"),
    "a link without id": (put(f"{LTI}/resource_link", {"title": "x"}), "token-no-link"),
    "link is a word": (put(f"{LTI}/resource_link", "1"), "token-bad-claim"),
    "course without id": (put(f"{LTI}/context", {"title": "x"}), "token-missing-claim"),
    "course is a word": (put(f"{LTI}/context", "2"), "token-bad-claim"),
    "roster is a word": (put(NRPS, "x"), "token-bad-claim"),
    "review of nobody": (
        lambda c: c.update({f"{LTI}/message_type": "LtiSubmissionReviewRequest", f"{LTI}/for_user": {}}),
        "review-whose",
    ),
    "review of somebody else": (
        lambda c: c.update({f"{LTI}/message_type": "LtiSubmissionReviewRequest", f"{LTI}/for_user": {"user_id": "5"}}),
        "review-not-yours",
    ),
    "a learner who wants to choose": (put(f"{LTI}/message_type", "LtiDeepLinkingRequest"), "deep-link-not-instructor"),
}  # fmt: skip


@pytest.mark.parametrize("name", CLAIMS)
def test_claims(browser: Browser, arrived: list[Any], reasons: Any, name: str) -> None:
    """The platform's own key has signed it; what it says doesn't hold."""
    change, reason = CLAIMS[name]
    answer = browser.post(browser.forged(change))

    assert (answer.status_code, reasons()) == (403, reason)
    assert reason in answer.content.decode()
    assert arrived == []


def b64(value: Any) -> str:
    """Return a part of a token."""
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def parts(token: str) -> tuple[dict[str, Any], str, str]:
    """Return the header, and the two other parts as they stand."""
    header, claims, signature = token.split(".")
    return json.loads(base64.urlsafe_b64decode(header + "==")), claims, signature


def stranger() -> str:
    """Return a key that nobody knows."""
    return pem_of(rsa.generate_private_key(public_exponent=65537, key_size=2048))


def unsigned(token: str, lms: Lms) -> str:
    """Say that there is no signature."""
    _, claims, _ = parts(token)
    return f"{b64({'alg': 'none', 'kid': KID})}.{claims}."


def odd_none(token: str, lms: Lms) -> str:
    """Say it in another spelling."""
    _, claims, signature = parts(token)
    return f"{b64({'alg': 'nOnE', 'kid': KID})}.{claims}.{signature}"


def hmac_by_public_key(token: str, lms: Lms) -> str:
    """Sign with the public key as if it were a shared secret."""
    from cryptography.hazmat.primitives import serialization

    private = serialization.load_pem_private_key(lms.key.encode(), None)
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    _, claims, _ = parts(token)
    signed = f"{b64({'alg': 'HS256', 'kid': KID})}.{claims}"
    return f"{signed}.{b64(hmac.new(public, signed.encode(), hashlib.sha256).digest())}"


def rs512(token: str, lms: Lms) -> str:
    """Sign with the right key by another algorithm."""
    claims = jwt.decode(token, options={"verify_signature": False})
    return jwt.encode(claims, lms.key, algorithm="RS512", headers={"kid": KID})


def signed_by_stranger(token: str, lms: Lms) -> str:
    """Sign with another key, under the right key's name."""
    claims = jwt.decode(token, options={"verify_signature": False})
    return jwt.encode(claims, stranger(), algorithm="RS256", headers={"kid": KID})


def key_in_the_header(token: str, lms: Lms) -> str:
    """Sign with another key, and bring it along."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    jwk = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    claims = jwt.decode(token, options={"verify_signature": False})
    return jwt.encode(claims, pem_of(key), algorithm="RS256", headers={"kid": KID, "jwk": jwk})


def key_by_address(token: str, lms: Lms) -> str:
    """Sign with another key, and say where it can be had."""
    claims = jwt.decode(token, options={"verify_signature": False})
    headers = {"kid": "evil", "jku": "https://evil.example/jwks", "x5u": "https://evil.example/x5u"}
    return jwt.encode(claims, stranger(), algorithm="RS256", headers=headers)


def nameless_key(token: str, lms: Lms) -> str:
    """Leave the key's name out."""
    _, claims, signature = parts(token)
    return f"{b64({'alg': 'RS256'})}.{claims}.{signature}"


def key_by_path(token: str, lms: Lms) -> str:
    """Name a file."""
    return lms.signed(jwt.decode(token, options={"verify_signature": False}), kid="../../../dev/null")


def critical(token: str, lms: Lms) -> str:
    """Ask for an extension that nobody knows."""
    header, claims, signature = parts(token)
    return f"{b64({**header, 'crit': ['b64'], 'b64': False})}.{claims}.{signature}"


def other_claims(token: str, lms: Lms) -> str:
    """Change a claim and keep the signature."""
    header, claims, signature = parts(token)
    changed = {**json.loads(base64.urlsafe_b64decode(claims + "==")), "sub": "3"}
    return f"{b64(header)}.{b64(changed)}.{signature}"


def no_signature(token: str, lms: Lms) -> str:
    """Cut the signature off."""
    return token.rsplit(".", 1)[0] + "."


def deep(token: str, lms: Lms) -> str:
    """Nest the claims deeper than anybody reads."""
    header, _, _ = parts(token)
    return f"{b64(header)}.{b64(b'[' * 30000 + b']' * 30000)}.{b64(b'x' * 256)}"


TOKENS: dict[str, tuple[Callable[[str, Lms], str], str]] = {
    "alg none": (unsigned, "token-algorithm"),
    "alg nOnE": (odd_none, "token-algorithm"),
    "alg HS256 with the public key": (hmac_by_public_key, "token-algorithm"),
    "alg RS512": (rs512, "token-algorithm"),
    "another key under its name": (signed_by_stranger, "token-signature"),
    "a key in the header": (key_in_the_header, "token-signature"),
    "a key by address": (key_by_address, "token-unknown-key"),
    "a key without name": (nameless_key, "token-no-key-id"),
    "a key by path": (key_by_path, "token-unknown-key"),
    "an unknown extension": (critical, "token-malformed"),
    "changed claims": (other_claims, "token-signature"),
    "no signature": (no_signature, "token-signature"),
    "nothing signed": (lambda token, lms: "abc", "token-malformed"),
    "two parts": (lambda token, lms: "e30.e30", "token-malformed"),
    "no base 64": (lambda token, lms: "!!.??.##", "token-malformed"),
    "header is a list": (lambda token, lms: f"{b64([])}.e30.e30", "token-malformed"),
    "not ASCII": (lambda token, lms: token.replace(".", "é", 1), "token-malformed"),
    "deeply nested": (deep, "token-signature"),
    "too large": (lambda token, lms: token + "A" * 100_000, "token-too-large"),
}


@pytest.mark.parametrize("name", TOKENS)
def test_tokens(browser: Browser, lms: Lms, arrived: list[Any], reasons: Any, name: str) -> None:
    """The token's form, key or signature is wrong."""
    make, reason = TOKENS[name]
    form = browser.form()
    answer = browser.post({**form, "id_token": make(form["id_token"], lms)})

    assert (answer.status_code, reasons()) == (403, reason)
    assert arrived == []


FORMS: dict[str, tuple[Callable[[dict[str, str]], dict[str, str]], str]] = {
    "no state": (lambda form: {"id_token": form["id_token"]}, "launch-no-state"),
    "a made-up state": (lambda form: {**form, "state": "x" * 43}, "launch-unknown-state"),
    "a state too long": (lambda form: {**form, "state": "x" * 5000}, "launch-unknown-state"),
    "a state with a NUL": (lambda form: {**form, "state": "x\0"}, "launch-unknown-state"),
    "no token": (lambda form: {"state": form["state"]}, "launch-no-token"),
    "an error": (lambda form: {"state": form["state"], "error": "login_required"}, "launch-platform-said-no"),
    "an error and a token": (lambda form: {**form, "error": "x\nforged line"}, "launch-platform-said-no"),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms(browser: Browser, arrived: list[Any], reasons: Any, name: str) -> None:
    """What is posted beside the token is wrong."""
    change, reason = FORMS[name]
    answer = browser.post(change(browser.form()))

    assert (answer.status_code, reasons()) == (403, reason)
    assert arrived == []


def test_a_login_that_took_too_long(browser: Browser, arrived: list[Any], reasons: Any) -> None:
    """Ten minutes are enough."""
    from django.utils import timezone

    from grader.web.lti.models import LoginState

    form = browser.form()
    LoginState.objects.update(expires_at=timezone.now())

    assert browser.post(form).status_code == 403
    assert (reasons(), arrived) == ("launch-late", [])


def test_a_platform_that_was_switched_off(browser: Browser, platform: Any, arrived: list[Any], reasons: Any) -> None:
    """Switched off is switched off, also for logins that have begun."""
    form = browser.form()
    platform.active = False
    platform.save()

    assert browser.post(form).status_code == 403
    assert (reasons(), arrived) == ("launch-inactive", [])
    browser.begin()
    assert reasons() == "login-unknown-platform"


def test_a_get_is_no_launch(browser: Browser, arrived: list[Any], reasons: Any) -> None:
    """A token in an address would stand in logs."""
    form = browser.form()
    answer = browser.get(f"https://grader.test/lti/launch?state={form['state']}&id_token={form['id_token']}")

    assert (answer.status_code, reasons(), arrived) == (403, "launch-not-posted", [])


@pytest.mark.parametrize(
    "given, reason",
    [
        ({"iss": ""}, "login-no-issuer"),
        ({"iss": "https://other.example"}, "login-unknown-platform"),
        ({"iss": "x\0"}, "login-too-long"),
        ({"iss": "x" * 1001}, "login-too-long"),
        ({"client_id": "other"}, "login-unknown-platform"),
        ({"login_hint": ""}, "login-no-hint"),
        ({"login_hint": "x" * 8001}, "login-too-long"),
        ({"lti_message_hint": "x\0"}, "login-too-long"),
        ({"target_link_uri": "https://evil.example/"}, "login-foreign-target"),
        ({"target_link_uri": "//evil.example/"}, "login-foreign-target"),
    ],
)
def test_logins(browser: Browser, platform: Any, reasons: Any, given: dict[str, str], reason: str) -> None:
    """A login initiation that isn't one is refused before anything is kept."""
    from grader.web.lti.models import LoginState
    from tests.web.lti.away import LAUNCH, LOGIN

    base = {"iss": platform.issuer, "client_id": CLIENT, "login_hint": "4", "target_link_uri": LAUNCH}
    answer = browser.post({**base, **given}, LOGIN)

    assert (answer.status_code, reasons()) == (400, reason)
    assert not LoginState.objects.exists()


def test_one_issuer_for_several_clients(browser: Browser, platform: Any, lms: Lms, reasons: Any) -> None:
    """Canvas has one issuer for all: the client id decides, and without one nobody guesses. Tokens don't mix either."""
    from grader.web.lti.models import Deployment, Platform
    from tests.web.lti.away import LAUNCH, LOGIN, query_of

    other = Platform.objects.create(
        name="b", issuer=platform.issuer, client_id="other", auth_url=platform.auth_url, token_url=platform.token_url,
        jwks_url=platform.jwks_url, private_network=True,
    )  # fmt: skip
    Deployment.objects.create(platform=other, deployment_id="1")
    given = {"iss": platform.issuer, "login_hint": "4", "target_link_uri": LAUNCH}

    assert browser.post(given, LOGIN).status_code == 400
    assert reasons() == "login-which-platform"
    asked = query_of(browser.post({**given, "client_id": "other"}, LOGIN)["Location"])
    assert asked["client_id"] == "other"
    # A token for the first client under a login of the second.
    claims = jwt.decode(browser.form()["id_token"], options={"verify_signature": False})
    token = lms.signed({**claims, "nonce": asked["nonce"]})
    assert browser.post({"state": asked["state"], "id_token": token}).status_code == 403
    assert reasons() == "token-audience"


@pytest.mark.parametrize("seconds", [-25, 25])
def test_clocks_may_differ_a_little(browser: Browser, arrived: list[Any], seconds: int) -> None:
    """Moodle's token lives for 60 seconds; half a minute of difference does no harm."""
    browser.post(browser.forged(times(seconds, seconds + (60 if seconds > 0 else 0))))

    assert len(arrived) == 1


def test_several_audiences_and_our_party(browser: Browser, arrived: list[Any]) -> None:
    """A token may be for others too, if it was given to us."""
    browser.post(browser.forged(lambda c: c.update(aud=["b", CLIENT], azp=CLIENT)))

    assert len(arrived) == 1


def test_a_refusal_tells_nothing_of_the_person(
    browser: Browser, caplog: pytest.LogCaptureFixture, reasons: Any
) -> None:
    """Neither page nor log holds a name, an address, a token, or what was forged."""
    form = browser.forged(put(f"{LTI}/version", "<script>alert(1)</script>"))
    page = browser.post(form).content.decode()
    browser.post({"state": "x", "error": "<b>Alice Example"})

    for text in (page, caplog.text):
        for secret in ("Alice", "example.invalid", form["id_token"][:30], form["state"], "alert(1)", "<b>"):
            assert secret not in text


def test_every_refusal_has_its_page() -> None:
    """Each reason says what happened and what to do; the table above uses most of those of a launch."""
    used = {reason for table in (CLAIMS, TOKENS, FORMS) for _, reason in table.values()}

    assert used <= set(REASONS)
    assert len(used) >= 25
    assert all(text.happened.endswith(".") and text.todo.endswith(".") for text in REASONS.values())
