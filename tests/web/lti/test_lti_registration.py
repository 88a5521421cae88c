"""Dynamic registration, from the invitation to the first launch."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone

from grader.web.lti.models import Deployment, Invitation, Platform
from grader.web.lti.registration import MAX_TRIES, _ourselves
from grader.web.lti.sealing import digest
from tests.web.lti.away import HOST, LAUNCH, LOGIN, Lms
from tests.web.lti.conftest import DATA

TOOL = "https://purl.imsglobal.org/spec/lti-tool-configuration"
SECRET = "a-secret"


@pytest.fixture
def invited(lms: Lms) -> Any:
    """Return an invitation for an LMS in our own network."""
    return Invitation.objects.create(
        secret=digest(SECRET), private_network=True, expires_at=timezone.now() + timedelta(days=1)
    )


def register(lms: Lms, secret: str = SECRET, **given: str) -> Any:
    """Open the registration's address as an LMS does."""
    query = {"openid_configuration": f"{lms.base}/openid-configuration", "registration_token": "a.b.c", **given}
    return Client(HTTP_HOST=HOST).get(f"/lti/register/{secret}?{urlencode(query)}", secure=True)


def test_an_lms_registers_itself(invited: Any, lms: Lms, browser: Any) -> None:
    """Both sides know each other afterwards, the page tells the LMS to close it, and the address is spent."""
    Platform.objects.all().delete()
    answer = register(lms)

    assert answer.status_code == 200
    assert 'subject: "org.imsglobal.lti.close"' in answer.content.decode()
    platform = Platform.objects.get()
    assert (platform.issuer, platform.client_id, platform.private_network) == (lms.base, "new-client", True)
    assert (platform.auth_url, platform.token_url, platform.jwks_url) == tuple(
        f"{lms.base}/{name}" for name in ("auth", "token", "jwks")
    )
    assert platform.name == "127.0.0.1 (moodle)"
    assert Deployment.objects.get().deployment_id == "17"
    (sent,) = lms.state()["registered"]
    assert sent["authorization"] == "Bearer a.b.c"
    assert register(lms).status_code == 403
    assert len(lms.state()["registered"]) == 1


def test_what_moodle_is_told() -> None:
    """Of what a real Moodle offers, we take the rights we use and the messages we know."""
    from django.test import RequestFactory, override_settings

    config = json.loads((DATA / "lti_openid_configuration.json").read_text(encoding="utf-8"))
    with override_settings(ALLOWED_HOSTS=["*"]):
        told = _ourselves(RequestFactory().get("/", HTTP_HOST=HOST, secure=True), config)

    assert told["initiate_login_uri"].endswith("/lti/login")
    assert len(told["redirect_uris"]) == 1
    assert {scope.rsplit("/", 1)[1] for scope in told["scope"].split()} == {
        "lineitem", "result.readonly", "score", "contextmembership.readonly",
    }  # fmt: skip
    assert [(one["type"], one.get("placements")) for one in told[TOOL]["messages"]] == [
        ("LtiResourceLinkRequest", None),
        ("LtiDeepLinkingRequest", ["ContentArea"]),
    ]
    assert told["token_endpoint_auth_method"] == "private_key_jwt"


def test_addresses_that_an_lms_is_told(invited: Any, lms: Lms) -> None:
    """They are our own, to the letter."""
    register(lms)
    (sent,) = lms.state()["registered"]

    assert sent["given"]["redirect_uris"] == [LAUNCH]
    assert sent["given"]["initiate_login_uri"] == LOGIN
    assert sent["given"]["jwks_uri"] == f"https://{HOST}/lti/jwks"
    assert sent["given"][TOOL]["domain"] == HOST


def test_without_an_invitation(lms: Lms, reasons: Any) -> None:
    """Nobody makes us fetch anything: unknown, late, and tried too often."""
    now = timezone.now()
    Invitation.objects.create(secret=digest("late"), expires_at=now - timedelta(seconds=1))
    Invitation.objects.create(secret=digest("often"), expires_at=now + timedelta(days=1), tries=MAX_TRIES)
    for secret in ("unknown", "late", "often"):
        assert register(lms, secret).status_code == 403
        assert reasons() == "registration-invitation"

    assert lms.asked("configuration") == []


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"issuer": "https://other.example"}, "registration-issuer"),
        ({"issuer": 5}, "registration-configuration"),
        ({"token_endpoint": "ftp://127.0.0.1/token"}, "registration-configuration"),
        ({"jwks_uri": None}, "registration-configuration"),
        ({"registration_endpoint": "https://evil.example/register"}, "registration-configuration"),
        ({"token_endpoint_auth_methods_supported": ["client_secret_post"]}, "registration-configuration"),
        ({"registration_endpoint": "http://127.0.0.1:1/"}, "registration-unreachable"),
    ],
)
def test_configurations_that_can_t_be_used(
    invited: Any, lms: Lms, reasons: Any, change: dict[str, Any], reason: str
) -> None:
    """Nothing is registered, and the address can be tried again."""
    lms.be(behaviour={"configuration": {**change, "times": 0}})
    answer = register(lms)

    assert (answer.status_code, reasons()) == (403, reason)
    assert not Platform.objects.exists()
    lms.be()
    assert register(lms).status_code == 200


@pytest.mark.parametrize(
    "address",
    [
        "",
        "file:///etc/passwd",
        "http://169.254.169.254/latest/meta-data/",
        "https://169.254.169.254/openid",
        "http://user@127.0.0.1/",
    ],
)
def test_where_an_invited_one_may_not_send_us(invited: Any, lms: Lms, address: str) -> None:
    """Not even with an invitation for our own network."""
    assert register(lms, openid_configuration=address).status_code == 403
    assert not Platform.objects.exists()


def test_our_own_network_has_to_be_allowed(invited: Any, lms: Lms, reasons: Any) -> None:
    """An ordinary invitation is for public https addresses only."""
    invited.private_network = False
    invited.save()
    port = lms.base.rsplit(":", 1)[1]

    assert register(lms).status_code == 403
    assert reasons() == "registration-configuration"
    register(lms, openid_configuration=f"https://127.0.0.1:{port}/openid-configuration")
    assert reasons() == "registration-unreachable"
    assert lms.asked("configuration") == []


@pytest.mark.parametrize(
    "wish",
    [{"status": 400}, {"status": 200, "body": {}}, {"status": 200, "body": {"client_id": "x\n"}}, {"status": 302}],
)
def test_an_lms_that_refuses(invited: Any, lms: Lms, reasons: Any, wish: dict[str, Any]) -> None:
    """Without a client id there is no registration."""
    lms.be(behaviour={"register": wish})

    assert register(lms).status_code == 403
    assert reasons() == "registration-refused"
    assert not Platform.objects.exists()


def test_an_lms_without_deployment(invited: Any, lms: Lms) -> None:
    """Where the LMS names none, the page says how to add it."""
    lms.be(behaviour={"register": {"status": 200, "body": {"client_id": 17}}})
    answer = register(lms)

    assert "grade lti add-deployment" in answer.content.decode()
    assert Platform.objects.get().client_id == "17"


def test_registered_already(invited: Any, lms: Lms, reasons: Any) -> None:
    """The same client id of the same issuer isn't registered twice."""
    register(lms)
    Invitation.objects.update(used_at=None)

    assert register(lms).status_code == 403
    assert reasons() == "registration-known"
    assert Platform.objects.count() == 1


def test_canvas_has_two_hosts() -> None:
    """Canvas's cloud gives its configuration from another host than its issuer's; nobody else may."""
    from grader.web.lti import registration

    assert registration.CANVAS["https://canvas.instructure.com"] == "sso.canvaslms.com"
    assert len(set(registration.CANVAS.values())) == 3
