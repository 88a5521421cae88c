"""The test side of the LMS in ``lms.py``, and a browser between it and us."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
from django.test import Client

__all__ = ["CLIENT", "DEPLOYMENT", "HOST", "KID", "LAUNCH", "LOGIN", "LTI", "Browser", "Lms"]

CLIENT, DEPLOYMENT, KID = "kZgGtzWLmcuGTq0", "1", "lms-key-1"
HOST = "grader.test"
LOGIN, LAUNCH = f"https://{HOST}/lti/login", f"https://{HOST}/lti/launch"
LTI = "https://purl.imsglobal.org/spec/lti/claim"


class Lms:
    """An LMS in a process of its own."""

    def __init__(self, key: Path) -> None:
        self.key = key.read_text(encoding="ascii")
        program = Path(__file__).with_name("lms.py")
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", str(program), str(key)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        self.base = self.process.stdout.readline().strip()
        assert self.base.startswith("http://"), "the LMS doesn't start"

    def close(self) -> None:
        """End it."""
        self.process.communicate("")

    def ask(self, method: str, url: str, body: str = "", kind: str = "application/x-www-form-urlencoded") -> Any:
        """Return status, headers and text of what it answers."""
        parts = urlsplit(url)
        connection = http.client.HTTPConnection("127.0.0.1", urlsplit(self.base).port, timeout=20)
        try:
            connection.request(
                method, f"{parts.path}?{parts.query}", body.encode(), {"Content-Type": kind, "Connection": "close"}
            )
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            connection.close()

    def be(self, **wishes: Any) -> None:
        """Forget everything, and behave so from now on."""
        self.ask("POST", f"{self.base}/control", json.dumps(wishes), "application/json")

    def learn(self, **wishes: Any) -> None:
        """Be otherwise from now on, and forget nothing."""
        self.ask("POST", f"{self.base}/learn", json.dumps(wishes), "application/json")

    def state(self) -> Any:
        """Return what it knows."""
        return json.loads(self.ask("GET", f"{self.base}/state")[2])

    def asked(self, end: str) -> list[Any]:
        """Return the requests to addresses whose path ends so."""
        return [one for one in self.state()["requests"] if urlsplit(one["path"]).path.endswith(end)]

    def start(self, user: str = "4", kind: str = "resource") -> str:
        """Return the address with which it begins a launch."""
        address: str = self.ask("GET", f"{self.base}/start?{urlencode({'user': user, 'kind': kind})}")[1]["Location"]
        return address

    def answer(self, url: str) -> dict[str, str]:
        """Return the form that it answers an authentication request with."""
        status, _, page = self.ask("GET", url)
        assert status == 200, page
        return dict(re.findall(r'name="(\w+)" value="([^"]*)"', page))

    def signed(self, claims: dict[str, Any], **header: Any) -> str:
        """Return any claims, signed with its key."""
        # As bytes: PyJWT itself refuses to write some of what a forger would.
        return jwt.PyJWS().encode(
            json.dumps(claims).encode(), self.key, algorithm="RS256", headers={"kid": KID, **header}
        )


class Browser:
    """A browser that has cookies of its own."""

    def __init__(self, lms: Lms) -> None:
        self.lms = lms
        self.client = Client(HTTP_HOST=HOST)

    def get(self, url: str, **headers: str) -> Any:
        """Open an address of ours."""
        parts = urlsplit(url)
        return self.client.get(f"{parts.path}?{parts.query}", secure=True, headers=headers or None)

    def post(self, fields: dict[str, str], url: str = LAUNCH, **headers: str) -> Any:
        """Post a form to us, as a page of the LMS does."""
        origin = {"origin": self.lms.base, **headers}
        return self.client.post(urlsplit(url).path, fields, secure=True, headers=origin)

    def begin(self, user: str = "4", kind: str = "resource") -> Any:
        """Begin a launch, and return our answer to the login."""
        return self.get(self.lms.start(user, kind))

    def form(self, user: str = "4", kind: str = "resource") -> dict[str, str]:
        """Begin a launch, and return the form that the LMS wants to post."""
        return self.lms.answer(self.begin(user, kind)["Location"])

    def launch(self, user: str = "4", kind: str = "resource") -> Any:
        """Launch, and return our answer."""
        return self.post(self.form(user, kind))

    def forged(self, change: Any = None, user: str = "4", kind: str = "resource", **header: Any) -> dict[str, str]:
        """Begin a launch, and return a form with other claims, signed by the LMS's own key."""
        form = self.form(user, kind)
        claims = jwt.decode(form["id_token"], options={"verify_signature": False})
        if change is not None:
            change(claims)
        return {**form, "id_token": self.lms.signed(claims, **header)}


def query_of(url: str) -> dict[str, str]:
    """Return the query of an address."""
    return dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))
