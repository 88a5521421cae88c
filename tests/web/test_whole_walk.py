"""From the LMS and back: a launch, a file, a report and a score in the gradebook, with everything killed meanwhile."""

from __future__ import annotations

import html
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.web.work.servers import ROOT, Browser, Postgres, Server, postgres, until

if TYPE_CHECKING:
    from tests.web.lti.away import Lms

pytestmark = pytest.mark.slow

WRONG = (ROOT / "examples" / "with_mistake.py").read_bytes()
RIGHT = (ROOT / "examples" / "right.py").read_bytes()
SCORES = "/scores"


@pytest.fixture
def lms(tmp_path: Path) -> Iterator[Lms]:
    """An LMS of our own: Open edX's platform with a gradebook that behaves as Moodle's."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    from tests.web.lti.away import Lms

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    kinds = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (tmp_path / "lms.pem").write_bytes(key.private_bytes(*kinds))
    made = Lms(tmp_path / "lms.pem")
    yield made
    made.close()


def register(server: Server, lms: Lms) -> None:
    """Register each with the other."""
    from tests.web.lti.away import CLIENT, DEPLOYMENT

    words = [
        *("--issuer", lms.base, "--client-id", CLIENT, "--deployment", DEPLOYMENT, "--private-network"),
        *("--auth-url", f"{lms.base}/auth", "--token-url", f"{lms.base}/token", "--jwks-url", f"{lms.base}/jwks"),
    ]
    environment = {**server.environment, "GRADE_BASE_URL": server.address}
    done = subprocess.run(
        [sys.executable, "-m", "grader", "lti", "add-platform", *words], env=environment, cwd=server.folder,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lms.be(**told(server))


def told(server: Server) -> dict[str, Any]:
    """Return what an LMS has to know of us: our key and addresses."""
    from cryptography.hazmat.primitives import serialization
    from jwt import PyJWK

    with urllib.request.urlopen(f"{server.address}/lti/jwks", timeout=20) as answer:
        first = json.load(answer)["keys"][0]
    kinds = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    pem = PyJWK.from_json(json.dumps(first)).key.public_bytes(*kinds).decode()
    return {"tool": pem, "login_url": f"{server.address}/lti/login", "launch_url": f"{server.address}/lti/launch"}


def launch(server: Server, lms: Lms, user: str) -> Browser:
    """Open the assignment from the LMS, and return the browser on our page."""
    browser = Browser(server.address)
    browser.get(lms.start(user))
    fields = {
        name: html.unescape(value)
        for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', browser.text)
    }
    assert "id_token" in fields, browser.text[:500]
    browser.post("/lti/launch", fields)
    assert browser.status == 200, browser.text[:500]
    return browser


def sent(lms: Lms) -> dict[str, list[dict[str, Any]]]:
    """Return the scores that were sent, by learner, in the order of their coming."""
    found: dict[str, list[dict[str, Any]]] = {}
    for asked in lms.state()["requests"]:
        if urlsplit(asked["path"]).path.endswith(SCORES):
            score = json.loads(asked["body"])
            found.setdefault(score["userId"], []).append(score)
    return found


@pytest.fixture(params=["sqlite", "postgresql"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Server, Postgres | None]]:
    """A server on each database."""
    if request.param == "sqlite":
        made = Server(tmp_path / "data")
        yield made.start(), None
        made.stop()
        return
    with postgres() as pg:
        key = "a-key-of-the-tests-that-is-long-enough-0123456789"
        made = Server(tmp_path / "data", environment={"DATABASE_URL": pg.url, "GRADE_SECRET_KEY": key})
        yield made.start(), pg
        made.stop()


def test_scores_arrive_whatever_is_killed(server: tuple[Server, Postgres | None], lms: Lms) -> None:
    """Two learners hand in twice; a worker, the server and the database are killed; each one's last score is last."""
    site, pg = server
    register(site, lms)
    people = {user: launch(site, lms, user) for user in ("4", "5")}
    lms.be(**told(site), behaviour={"scores": {"status": 503, "times": 2}})
    homes = {user: browser.url for user, browser in people.items()}
    for user, browser in people.items():
        assert "Nothing yet." in browser.text
        browser.hand_in("mine.py", WRONG + f"\n# {user}\n".encode())
    for worker in site.workers():
        os.kill(worker, signal.SIGKILL)
    for user, browser in people.items():
        browser.get(homes[user])
        browser.hand_in("mine.py", RIGHT + f"\n# {user}\n".encode())
    site.kill()
    if pg is not None:
        pg.stop()
        pg.start()
    site.start()

    until(lambda: {user: score["final"] for user, score in _grades(lms).items()} == {"4": 100, "5": 100}, "the scores")
    for scores in sent(lms).values():
        stamps = [score["timestamp"] for score in scores]
        assert stamps == sorted(set(stamps))
        assert scores[-1]["scoreGiven"] == 100
        assert scores[-1]["scoreMaximum"] == 100
        assert "Attempt 2" in scores[-1]["comment"]

    tess = launch(site, lms, "3")
    assert "Alice Example" in tess.text
    until(lambda: tess.get(tess.url).count(">in the gradebook<") == 2, "the page to know")
    tess.get(tess.link(r"/attempt/[\w-]+/"))
    tess.post(tess.link("/override"), {"criterion": "softmax/values", "points": "0", "reason": "as agreed"})
    until(lambda: sorted(score["final"] for score in _grades(lms).values()) == [90, 100], "the override")


def _grades(lms: Lms) -> dict[str, Any]:
    """Return the gradebook by learner."""
    return {key.partition("/")[2]: grade for key, grade in lms.state()["grades"].items()}
