"""From a course in the LMS to the score in its gradebook: a real server, real workers, and launches by Open edX."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from jwt import PyJWK

from tests.web.lti.away import CLIENT, DEPLOYMENT, Lms
from tests.web.work.servers import ROOT, Browser, Server, postgres, until

pytestmark = pytest.mark.slow

RIGHT = (ROOT / "examples" / "right.py").read_bytes()
WRONG = (ROOT / "examples" / "with_mistake.py").read_bytes()


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, the_lms: Lms) -> Iterator[Server]:
    """``grade serve`` with the LMS registered by ``grade lti``; the LMS knows our address and key."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "sqlite":
        yield from serving(folder, the_lms, {})
    else:
        with postgres() as database:
            key = {"GRADE_SECRET_KEY": "a-key-of-the-tests-that-is-long-enough-0123456789"}
            yield from serving(folder, the_lms, {"DATABASE_URL": database.url, **key})


def serving(folder: Path, lms: Lms, environment: dict[str, str]) -> Iterator[Server]:
    """Run a server."""
    made = Server(folder / "data", environment=environment)
    made.environment["GRADE_BASE_URL"] = made.address
    made.start()
    words = ["--issuer", lms.base, "--client-id", CLIENT, "--deployment", DEPLOYMENT, "--private-network"]
    words += ["--auth-url", f"{lms.base}/auth", "--token-url", f"{lms.base}/token", "--jwks-url", f"{lms.base}/jwks"]
    command = [sys.executable, "-m", "grader", "lti", "add-platform", *words]
    done = subprocess.run(command, env=made.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with urllib.request.urlopen(f"{made.address}/lti/jwks") as answer:
        key = PyJWK.from_dict(json.load(answer)["keys"][0]).key
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    pem = key.public_bytes(serialization.Encoding.PEM, form).decode()
    lms.be(tool=pem, login_url=f"{made.address}/lti/login", launch_url=f"{made.address}/lti/launch", hints_once=True)
    try:
        yield made
    finally:
        code = made.stop()
    assert code == 0
    assert "Traceback" not in made.log
    for secret in ("Alice", "example.invalid", "id_token", "eyJ"):
        assert secret not in made.log


def launched(server: Server, lms: Lms, user: str) -> Browser:
    """Return the browser of somebody who has opened the link in the course."""
    made = Browser(server.address)
    made.get(f"{lms.base}/start?user={user}")
    made.post(f"{server.address}/lti/launch", form_of(made))
    assert made.status == 200, made.text
    return made


def form_of(browser: Browser) -> dict[str, str]:
    """Return the LMS's form in the page that is open."""
    return dict(re.findall(r'name="(\w+)" value="([^"]*)"', browser.text))


def grade_of(lms: Lms, user: str) -> Any:
    """Return what the gradebook has."""
    return lms.state()["grades"].get(f"4/{user}")


def test_the_whole_way(server: Server, the_lms: Lms) -> None:
    """Hand in, be graded, and see the score in the gradebook; better, and worse by an override: the last one stays."""
    lms = the_lms
    alice = launched(server, lms, "4")
    assert "Autograded HW (LTI)" in alice.text
    home = alice.url
    first = alice.hand_in("mine.py", WRONG)
    alice.graded(first)
    grade = until(lambda: grade_of(lms, "4"), "a grade in the LMS")
    assert 0 < grade["final"] < 100
    assert grade["sent"]["scoreMaximum"] == 100
    assert "Attempt 1" in grade["comment"]

    alice.get(home)
    second = alice.hand_in("mine.py", RIGHT)
    alice.graded(second)
    until(lambda: grade_of(lms, "4")["final"] == 100, "a better grade in the LMS")

    tess = launched(server, lms, "3")
    assert "Alice Example" in tess.text
    tess.get(second)
    assert tess.status == 200
    tess.post(tess.link("/override"), {"criterion": "softmax/values", "points": "0", "reason": "as agreed"})
    until(lambda: grade_of(lms, "4")["final"] < 100, "a changed grade in the LMS")
    assert grade_of(lms, "3") is None


def test_the_roster(server: Server, the_lms: Lms) -> None:
    """The instructor's page asks the LMS who is in the course: those who never came are there too."""
    tess = launched(server, the_lms, "3")
    tess.post(tess.link("/class/refresh"), {})

    until(lambda: "Bob Example" in tess.get(tess.url), "a roster")


def test_a_stranger_sees_nothing(server: Server, the_lms: Lms) -> None:
    """Another browser that has overheard the launch and knows all addresses gets nowhere."""
    alice = Browser(server.address)
    alice.get(f"{the_lms.base}/start?user=4")
    form = form_of(alice)
    thief = Browser(server.address)
    thief.post(f"{server.address}/lti/launch", form)
    assert thief.status == 403
    alice.post(f"{server.address}/lti/launch", form)
    assert alice.status == 200

    thief.get(alice.url)
    assert thief.status == 404
    thief.post(f"{server.address}/lti/launch", form)
    assert thief.status == 403
    # Nor does a cookie that no database can look for.
    odd = urllib.request.Request(f"{server.address}/verify/", headers={"Cookie": 'grade_session="\\000abcdefghij"'})
    with urllib.request.urlopen(odd) as answer:
        assert answer.status == 200
