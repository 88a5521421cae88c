"""The server's secret key is changed or lost: what is said, what still works, and the way back."""

from __future__ import annotations

import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import jwt
import pytest
from django.conf import settings
from django.test import override_settings

from grader.cli.main import main
from grader.web.lti import keys
from grader.web.lti.models import AccessToken, Platform, ToolKey
from grader.web.lti.sealing import LOST, SealBroken, seal
from tests.web.lti.away import CLIENT, DEPLOYMENT, Browser, Lms
from tests.web.work.servers import Server, until

ANOTHER = "another-key-that-is-long-enough-0123456789-abc"


@pytest.fixture
def fresh(lti: None) -> Any:
    """Begin without any keys of ours, and leave none that others can't open."""
    ToolKey.objects.all().delete()
    yield
    ToolKey.objects.all().delete()


def lost() -> Any:
    """Let the secret key be another one."""
    return override_settings(SECRET_KEY=ANOTHER, SECRET_KEY_FALLBACKS=[])


def test_changed_keys_are_sealed_anew(fresh: None) -> None:
    """With the old key named, everything goes on; after the server has begun once, the old one isn't needed for it."""
    keys.sign({})
    with override_settings(SECRET_KEY=ANOTHER, SECRET_KEY_FALLBACKS=[settings.SECRET_KEY]):
        assert keys.lost_keys() == []
        keys.reseal_keys()
    with lost():
        assert keys.sign({"a": 1})
        assert keys.lost_keys() == []
    assert len(keys.lost_keys()) == 1


def test_the_commands_say_what_is_wrong(fresh: None, capsys: pytest.CaptureFixture[str]) -> None:
    """In one sentence, with what to do; rotating alone would make it no better, and changes nothing."""
    keys.public_keys()
    before = set(ToolKey.objects.values_list("kid", "role"))
    with lost():
        assert main(["lti", "keys"]) == 0
        said = capsys.readouterr().out
        assert said.count("can't be opened\n") == 2
        assert said.endswith(f"{LOST}\n")
        assert main(["lti", "rotate-key"]) == 4
        assert LOST in " ".join(capsys.readouterr().err.split())
    assert set(ToolKey.objects.values_list("kid", "role")) == before


def test_what_can_be_opened_stays(fresh: None, platform: Platform) -> None:
    """A next key that can be opened signs; platforms know it. Only tokens that can't be opened go."""
    known = keys.public_keys()["keys"][1]["kid"]
    with lost():
        ToolKey.objects.filter(role=ToolKey.NEXT).update(sealed=seal("good"))
        from django.utils import timezone

        for scope, sealed in (("a", seal("token")), ("b", "nonsense")):
            AccessToken.objects.create(platform=platform, scope=scope, sealed=sealed, expires_at=timezone.now())
        assert len(keys.discard_lost()) == 1
        assert ToolKey.objects.get(role=ToolKey.CURRENT).kid == known
        assert [token.scope for token in AccessToken.objects.all()] == ["a"]
        assert keys.discard_lost() == []


def test_the_command_mends_it(fresh: None, capsys: pytest.CaptureFixture[str]) -> None:
    """New keys, published at once; where nothing is lost nothing goes; no other command takes the option."""
    old = {key["kid"] for key in keys.public_keys()["keys"]}
    assert main(["lti", "rotate-key", "--discard-lost"]) == 0
    assert capsys.readouterr().out == "All keys can be opened: nothing is discarded.\n"
    assert main(["lti", "keys", "--discard-lost"]) == 2
    with lost():
        with pytest.raises(SealBroken):
            keys.sign({})
        assert main(["lti", "rotate-key", "--discard-lost"]) == 0
        said = capsys.readouterr().out.splitlines()
        assert all(kid in said[0] for kid in old)
        published = keys.public_keys()["keys"]
        token = keys.sign({"a": 1})
        (first,) = [key for key in published if key["kid"] == jwt.get_unverified_header(token)["kid"]]
        assert jwt.decode(token, jwt.PyJWK.from_dict(first).key, algorithms=["RS256"]) == {"a": 1}
        assert not old & {key["kid"] for key in published}


def test_choosing_an_assignment(fresh: None, browser: Browser, lms: Lms, reasons: Any) -> None:
    """The LMS gets no answer that nobody signed; the page says whom to tell."""
    import re

    keys.public_keys()
    page = browser.launch("3", "deep_link").content.decode()
    ticket = re.search(r'name="ticket" value="([^"]*)"', page)
    assert ticket is not None
    ToolKey.objects.update(sealed="nonsense")
    answer = browser.post({"ticket": ticket[1], "assignment": "attention"}, "https://grader.test/lti/choose")

    assert answer.status_code == 503
    assert reasons() == "deep-link-key-lost"
    assert "grade lti keys" in answer.content.decode()


@pytest.mark.slow
def test_from_one_key_to_another(tmp_path: Path, the_lms: Lms) -> None:
    """A server whose key is lost lets people in, says why scores wait, and is mended by one command."""
    from tests.web.lti.test_lti_whole_way import RIGHT, WRONG, grade_of, launched

    server = Server(tmp_path / "data", environment={"GRADE_SECRET_KEY": "a-first-key-that-is-long-enough-0123456789"})
    server.environment["GRADE_BASE_URL"] = server.address
    server.start()
    try:
        words = ["add-platform", "--issuer", the_lms.base, "--client-id", CLIENT, "--deployment", DEPLOYMENT]
        words += ["--auth-url", f"{the_lms.base}/auth", "--token-url", f"{the_lms.base}/token"]
        assert grade(server, *words, "--jwks-url", f"{the_lms.base}/jwks", "--private-network").returncode == 0
        meet(server, the_lms)
        alice = launched(server, the_lms, "4")
        home, receipt = alice.url, ""
        first = alice.hand_in("mine.py", WRONG)
        alice.graded(first)
        receipt = alice.get(f"{first}receipt")
        score = until(lambda: grade_of(the_lms, "4"), "a grade in the LMS")["final"]
        assert server.stop() == 0

        server.environment["GRADE_SECRET_KEY"] = ANOTHER
        server.start()
        assert LOST in server.log
        alice.get(home)
        assert alice.status == 404
        assert "Open the assignment from your course" in alice.text
        alice.get("/verify/")
        assert "key has been lost" in alice.post("/verify/", {"receipt": receipt})
        alice = launched(server, the_lms, "4")
        assert "Attempt 1" in alice.text
        alice.graded(alice.hand_in("mine.py", RIGHT))
        tess = launched(server, the_lms, "3")
        classroom = tess.url
        until(lambda: "GRADE_OLD_SECRET_KEYS" in tess.get(classroom), "the reason on the class page")
        assert "GRADE_OLD_SECRET_KEYS" in tess.post(tess.link("/class/refresh"), {})
        assert grade_of(the_lms, "4")["final"] == score
        assert "can't be opened" in grade(server, "keys").stdout
        assert grade(server, "rotate-key").returncode == 4

        mended = grade(server, "rotate-key", "--discard-lost")
        assert mended.returncode == 0, mended.stderr
        meet(server, the_lms, keep=True)
        tess.get(classroom)
        tess.post(tess.link("/class/send"), {})
        until(lambda: grade_of(the_lms, "4")["final"] == 100, "the better grade in the LMS")
        assert "Bob Example" in tess.post(tess.link("/class/refresh"), {})
        assert launched(server, the_lms, "5").status == 200
        assert "can't be opened" not in grade(server, "keys").stdout
    finally:
        assert server.stop() == 0
    assert "Traceback" not in server.log


def grade(server: Server, *words: str) -> subprocess.CompletedProcess[str]:
    """Run ``grade lti`` with the server's environment."""
    command = [sys.executable, "-m", "grader", "lti", *words]
    return subprocess.run(command, env=server.environment, capture_output=True, text=True, check=False)


def meet(server: Server, lms: Lms, *, keep: bool = False) -> None:
    """Let the LMS know our address and key; ``keep`` its gradebook as it is."""
    import json

    from cryptography.hazmat.primitives import serialization

    with urllib.request.urlopen(f"{server.address}/lti/jwks") as answer:
        key = jwt.PyJWK.from_dict(json.load(answer)["keys"][0]).key
    kinds = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    pem = key.public_bytes(*kinds).decode()
    if keep:
        lms.learn(tool=pem)
    else:
        lms.be(tool=pem, login_url=f"{server.address}/lti/login", launch_url=f"{server.address}/lti/launch")
