"""``grade lti``, and the admin."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from grader.cli.lti import WHAT
from grader.cli.main import main
from grader.web.lti.commands import COMMANDS
from grader.web.lti.models import Deployment, Invitation, Platform, ToolKey
from tests.web.lti.away import HOST


@pytest.fixture
def grade(lti: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs ``grade lti`` here, and returns its exit code and what it printed."""

    def run(*words: str) -> tuple[int, str]:
        code = main(["lti", *words])
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return run


def test_what_stands_in_its_help_can_be_done() -> None:
    """The parser and the commands name the same."""
    assert set(WHAT) == set(COMMANDS)


def test_a_moodle(grade: Any) -> None:
    """Its address, client id and deployment are all that is needed."""
    code, said = grade(
        "add-platform", "--moodle", "https://moodle.example.edu/", "--client-id", "abc", "--deployment", "3"
    )
    platform = Platform.objects.get()

    assert (code, said) == (0, f"Platform {platform.pk} is registered: moodle.example.edu.\n")
    assert (platform.issuer, platform.client_id) == ("https://moodle.example.edu", "abc")
    assert platform.auth_url == "https://moodle.example.edu/mod/lti/auth.php"
    assert platform.token_url == "https://moodle.example.edu/mod/lti/token.php"
    assert platform.jwks_url == "https://moodle.example.edu/mod/lti/certs.php"
    assert [one.deployment_id for one in Deployment.objects.all()] == ["3"]
    assert not platform.private_network


@pytest.mark.parametrize(
    "root, server",
    [
        ("https://canvas.instructure.com", "https://sso.canvaslms.com"),
        ("https://canvas.beta.instructure.com", "https://sso.beta.canvaslms.com"),
        ("https://canvas.example.edu", "https://canvas.example.edu"),
    ],
)
def test_a_canvas(grade: Any, root: str, server: str) -> None:
    """The cloud's server is another one than its issuer; one's own is itself."""
    code, said = grade("add-platform", "--canvas", root, "--client-id", "10000000000001")
    platform = Platform.objects.get()

    assert code == 0
    assert f"grade lti add-deployment {platform.pk} ID" in said
    assert platform.issuer == root
    assert platform.auth_url == f"{server}/api/lti/authorize_redirect"
    assert platform.token_url == f"{server}/login/oauth2/token"
    assert platform.jwks_url == f"{server}/api/lti/security/jwks"


def test_any_other(grade: Any) -> None:
    """With all its addresses one by one."""
    words = ["--issuer", "https://b", "--client-id", "c", "--auth-url", "https://b/a", "--token-url", "https://b/t"]
    code, _ = grade("add-platform", *words, "--jwks-url", "https://b/j", "--audience", "https://b/x", "--name", "Ours")

    assert code == 0
    assert (Platform.objects.get().name, Platform.objects.get().audience) == ("Ours", "https://b/x")


@pytest.mark.parametrize(
    "words, said",
    [
        (["--client-id", "c"], "add-platform needs --issuer, --auth-url, --token-url, --jwks-url."),
        (["--moodle", "https://m"], "add-platform needs --client-id."),
        (["--moodle", "https://m", "--canvas", "https://c", "--client-id", "c"], "either a Moodle or a Canvas"),
        (["--moodle", "http://m", "--client-id", "c"], "isn't https. For an LMS in your own network"),
        (["--moodle", "moodle", "--client-id", "c"], "is no address such as"),
        (["--moodle", "https://m", "--client-id", "c" * 256], "--client-id is too long"),
        (["--moodle", "https://m", "--client-id", "c", "--deployment", "x\n"], "A deployment's id"),
        (["x", "--moodle", "https://m", "--client-id", "c"], "'x' isn't needed"),
    ],
)
def test_what_can_t_be_registered(grade: Any, words: list[str], said: str) -> None:
    """One sentence, exit code 2, and nothing is kept."""
    code, text = grade("add-platform", *words)

    assert code == 2
    assert said in text
    assert not Platform.objects.exists()


def test_twice(grade: Any) -> None:
    """The same registration isn't made a second time."""
    words = ("add-platform", "--moodle", "https://m", "--client-id", "c")
    grade(*words)
    code, said = grade(*words)

    assert (code, Platform.objects.count()) == (2, 1)
    assert "registered already" in said


def test_deployments_and_switches(grade: Any) -> None:
    """Places are added later; a platform is switched off and on again, and the list shows all of it."""
    grade("add-platform", "--moodle", "http://m.local", "--client-id", "c", "--private-network")
    number = str(Platform.objects.get().pk)

    assert "now has" in grade("add-deployment", number, "7")[1]
    assert "had" in grade("add-deployment", number, "7")[1]
    grade("off", number)
    assert not Platform.objects.get().active
    assert "switched off" in grade("platforms")[1]
    grade("on", number)
    said = grade("platforms")[1]
    assert "switched off" not in said
    assert "deployments: 7" in said
    for words in (("off",), ("off", "99999"), ("off", "x"), ("add-deployment", number), ("no-such-thing",)):
        assert grade(*words)[0] == 2


def test_addresses(grade: Any) -> None:
    """What has to be entered in an LMS."""
    said = grade("urls")[1]

    for end in ("launch", "login", "jwks", "canvas.json"):
        assert f"https://{HOST}/lti/{end}" in said


def test_the_configuration_for_canvas(grade: Any) -> None:
    """It is printed, and served at its address, the same."""
    printed = json.loads(grade("canvas")[1])
    served = Client(HTTP_HOST=HOST).get("/lti/canvas.json", secure=True).json()

    assert printed == served
    assert printed["oidc_initiation_url"] == f"https://{HOST}/lti/login"
    assert printed["public_jwk_url"] == f"https://{HOST}/lti/jwks"
    assert len(printed["scopes"]) == 4


def test_an_invitation(grade: Any) -> None:
    """Its secret stands in the printed address only."""
    said = grade("invite", "--days", "3")[1]
    (secret,) = re.findall(rf"https://{HOST}/lti/register/(\S+)", said)

    assert secret not in Invitation.objects.get().secret
    assert grade("invite", "--days", "0")[0] == 2


def test_keys(grade: Any) -> None:
    """They are listed by what they do, and rotated."""
    before = grade("keys")[1]
    said = grade("rotate-key")[1]
    after = grade("keys")[1]

    assert [line.split("  ")[1].strip() for line in before.splitlines()][:2] == ["signs", "signs next"]
    assert said.split()[0] == before.splitlines()[1].split()[0] == after.splitlines()[0].split()[0]
    assert "published until" in after


def test_without_an_address_of_our_own(grade: Any) -> None:
    """What tells our address needs to know it."""
    from types import SimpleNamespace

    from django.conf import settings
    from django.test import override_settings

    with override_settings(GRADE=SimpleNamespace(**{**vars(settings.GRADE), "base_url": ""})):
        assert "Set GRADE_BASE_URL" in grade("urls")[1]


@pytest.fixture
def admin(lti: None) -> Any:
    """Return somebody who may do everything."""
    from django.contrib.auth.models import User

    user = User.objects.create_superuser("root", password="x")
    client = Client(HTTP_HOST=HOST)
    client.force_login(user)
    yield client
    user.delete()


def test_a_platform_by_the_admin(admin: Any) -> None:
    """Registered with its deployment; an address that can't be used is refused in the form."""
    form = {
        "name": "M", "issuer": "https://m", "client_id": "c", "auth_url": "https://m/a", "token_url": "https://m/t",
        "jwks_url": "http://m/j", "audience": "", "active": "on", "deployments-TOTAL_FORMS": "1",
        "deployments-INITIAL_FORMS": "0", "deployments-0-deployment_id": "1",
    }  # fmt: skip
    page = admin.post("/admin/lti/platform/add/", form, secure=True)
    assert page.status_code == 200
    assert "reached by https" in page.content.decode()
    assert admin.post("/admin/lti/platform/add/", {**form, "jwks_url": "https://m/j"}, secure=True).status_code == 302

    assert Deployment.objects.get().platform.jwks_url == "https://m/j"


def test_keys_in_the_admin(admin: Any) -> None:
    """They can be seen, without what is private, and neither added, changed nor deleted."""
    from grader.web.lti.keys import public_keys

    public_keys()
    key = ToolKey.objects.first()
    assert key is not None
    page = admin.get(f"/admin/lti/toolkey/{key.kid}/change/", secure=True).content.decode()

    assert key.kid in page
    assert key.sealed not in page
    assert admin.get("/admin/lti/toolkey/add/", secure=True).status_code == 403
    assert admin.post(f"/admin/lti/toolkey/{key.kid}/delete/", {"post": "yes"}, secure=True).status_code == 403
    assert admin.get("/admin/lti/platform/", secure=True).status_code == 200
    assert admin.get("/admin/lti/deployment/", secure=True).status_code == 200
