"""An LMS for tests, in a process of its own: Open edX's platform signs, and the gradebook behaves as Moodle 4.5's does.

Run as ``lms.py KEY.pem``; it prints its address. The test side of it is ``tests.web.lti.away``.
"""

from __future__ import annotations

import html
import json
import os
import sys
import threading
import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import django
from django.conf import settings

settings.configure(
    SECRET_KEY="the platform's own",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    LMS_ROOT_URL="http://lms.test",
    LMS_BASE="lms.test",
    LTI_API_BASE="http://lms.test",
    PLATFORM_NAME="an LMS for tests",
)
django.setup()

from edx_django_utils.cache import TieredCache  # noqa: E402 - Django is set up first
from lti_consumer.data import Lti1p3LaunchData  # noqa: E402 - it wants Django to stand
from lti_consumer.lti_1p3.consumer import LtiAdvantageConsumer  # noqa: E402 - Django is set up first
from lti_consumer.lti_1p3.key_handlers import PlatformKeyHandler  # noqa: E402 - Django is set up first
from lti_consumer.utils import get_data_from_cache  # noqa: E402 - Django is set up first

CLIENT, DEPLOYMENT, KID = "kZgGtzWLmcuGTq0", "1", "lms-key-1"
LTI = "https://purl.imsglobal.org/spec/lti/claim"
MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership"
PEOPLE = {
    "4": ("student", "Alice Example", "alice@example.invalid"),
    "5": ("student", "Bob Example", "bob@example.invalid"),
    "3": ("instructor", "Tess Teacher", "teacher1@example.invalid"),
}
LEARNERS = ("4", "5")
JSON = "application/json"
ITEM = "application/vnd.ims.lis.v2.lineitem+json"
ITEMS = "application/vnd.ims.lis.v2.lineitemcontainer+json"
SCORE = "application/vnd.ims.lis.v1.score+json"
RESULTS = "application/vnd.ims.lis.v2.resultcontainer+json"
MEMBERS = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"


class State:
    """All that the LMS knows; a test sets it back."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.reset({})

    def reset(self, given: dict[str, Any]) -> None:
        """Forget everything, and take over what a test wants to be otherwise."""
        self.requests: list[dict[str, Any]] = []
        self.grades: dict[tuple[str, str], dict[str, Any]] = {}
        self.items: dict[str, dict[str, Any]] = {
            "4": {"label": "HW1", "scoreMaximum": 100, "resourceLinkId": "1", "resourceId": "", "tag": ""}
        }
        self.choices: list[dict[str, Any]] = []
        self.registered: list[dict[str, Any]] = []
        self.tokens = 0
        self.page = 100
        self.ahead = 0.0
        self.tool = ""
        self.login_url, self.launch_url = "https://grader.test/lti/login", "https://grader.test/lti/launch"
        self.target = ""
        self.hints_once = False
        self.behaviour: dict[str, dict[str, Any]] = {}
        for name, value in given.items():
            setattr(self, name, value)


STATE = State()
HANDLER = PlatformKeyHandler(Path(sys.argv[1]).read_text(encoding="ascii"), KID)
"""It is made once, since the key is proved each time that it is read."""


def consumer() -> Any:
    """Return Open edX's platform for us."""
    made = LtiAdvantageConsumer(
        iss=BASE,
        lti_oidc_url=STATE.login_url,
        lti_launch_url=STATE.target or STATE.launch_url,
        client_id=CLIENT,
        deployment_id=DEPLOYMENT,
        rsa_key=None,
        rsa_key_id=KID,
        tool_key=STATE.tool or None,
        redirect_uris=[STATE.launch_url],
    )
    made.key_handler = HANDLER
    return made


def start(user: str, kind: str, whose: str = "") -> str:
    """Return the address with which Open edX begins a launch; a review looks at somebody's submission."""
    made = consumer()
    role, name, email = PEOPLE[user]
    data = Lti1p3LaunchData(
        user_id=user,
        user_role=role,
        name=name,
        email=email,
        config_id="1",
        resource_link_id="1",
        message_type="LtiDeepLinkingRequest" if kind == "deep_link" else "LtiResourceLinkRequest",
        context_id="2",
        context_title="Deep Learning 101",
        custom_parameters={"whose": whose} if kind == "review" else {},
    )
    if kind == "deep_link":
        made.enable_deep_linking(STATE.launch_url, f"{BASE}/choose?course=2")
    address: str = made.prepare_preflight_url(data)
    return address


def launch(asked: dict[str, str]) -> dict[str, str]:
    """Return the fields of the form that an authentication request is answered with."""
    data = get_data_from_cache(asked["lti_message_hint"])
    if data is None or asked["login_hint"] != data.user_id:
        return {"state": asked["state"], "error": "login_required"}
    made = consumer()
    made.set_user_data(user_id=data.user_id, role=data.user_role, full_name=data.name, email_address=data.email)
    made.set_resource_link_claim("1", title="Autograded HW (LTI)")
    made.set_context_claim("2", context_title=data.context_title, context_label="DL101")
    made.set_launch_presentation_claim("iframe", f"{BASE}/return")
    made.set_custom_parameters({"assignment": "attention", "attempts": "3"})
    made.enable_ags(
        lineitems_url=f"{BASE}/course/2/lineitems?type_id=1",
        lineitem_url=f"{BASE}/course/2/lineitems/4/lineitem?type_id=1",
        allow_programmatic_grade_interaction=True,
    )
    made.enable_nrps(f"{BASE}/course/2/members")
    if data.message_type == "LtiDeepLinkingRequest":
        made.enable_deep_linking(STATE.launch_url, f"{BASE}/choose?course=2")
    if "whose" in data.custom_parameters:
        # As Moodle's gradebook opens it: the same link, without its own parameters, and whose submission it is about.
        made.set_custom_parameters({})
        made.set_extra_claim({
            f"{LTI}/message_type": "LtiSubmissionReviewRequest",
            f"{LTI}/for_user": {"user_id": data.custom_parameters["whose"]},
        })  # fmt: skip
    answer: dict[str, str] = made.generate_launch_request(asked)
    if STATE.hints_once:
        # Moodle forgets a launch once it has been answered.
        TieredCache.delete_all_tiers(asked["lti_message_hint"])
    return answer


class Handler(BaseHTTPRequestHandler):
    """Answers as an LMS does."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def date_time_string(self, timestamp: float | None = None) -> str:
        """Return the LMS's own time."""
        return formatdate(time.time() + STATE.ahead, usegmt=True)

    def do_GET(self) -> None:
        """Answer."""
        self._answer("GET")

    def do_POST(self) -> None:
        """Answer."""
        self._answer("POST")

    def _answer(self, method: str) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if parts.path == "/control":
            STATE.reset(json.loads(body))
            self._say(200, {})
            return
        if parts.path == "/learn":
            vars(STATE).update(json.loads(body))
            self._say(200, {})
            return
        if parts.path == "/state":
            names = ("requests", "items", "choices", "registered", "tokens")
            grades = {f"{item}/{user}": grade for (item, user), grade in STATE.grades.items()}
            self._say(200, {**{name: getattr(STATE, name) for name in names}, "grades": grades})
            return
        with STATE.lock:
            STATE.requests.append({
                "method": method, "path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()},
                "body": body.decode("utf-8", "replace"),
            })  # fmt: skip
        if self._misbehaves(parts.path.rsplit("/", 1)[-1]):
            return
        with STATE.lock:
            self._route(method, parts.path, dict(parse_qsl(parts.query, keep_blank_values=True)), body)

    def _misbehaves(self, name: str) -> bool:
        """Do what a test wants of this address; a number in ``times`` says how often."""
        wish = STATE.behaviour.get(name)
        if wish is None or wish.get("times", 1) <= 0:
            return False
        if "times" in wish:
            wish["times"] -= 1
        time.sleep(wish.get("sleep", 0))
        if "status" in wish:
            self._say(wish["status"], wish.get("body", []), wish.get("headers"), reason=wish.get("reason", ""))
        elif "bytes" in wish:
            self._raw(b"[" + b" " * wish["bytes"] + b"]")
        elif "drip" in wish:
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            for _ in range(wish["drip"]):
                try:
                    self.wfile.write(b" ")
                except OSError:
                    break
                time.sleep(0.1)
            self.close_connection = True
        else:
            return False
        return True

    def _route(self, method: str, path: str, query: dict[str, str], body: bytes) -> None:
        if path == "/course":
            self._raw(
                f'<h1>Course</h1><iframe width=900 height=600 src="/start?{urlencode(query)}"></iframe>'.encode(),
                "text/html",
            )
        elif path == "/start":
            self._say(302, {}, {"Location": start(query["user"], query.get("kind", "resource"), query.get("for", ""))})
        elif path == "/auth":
            asked = query if method == "GET" else dict(parse_qsl(body.decode()))
            self._form(asked["redirect_uri"], launch(asked))
        elif path == "/jwks":
            self._say(200, consumer().get_public_keyset())
        elif path == "/token":
            STATE.tokens += 1
            self._say(200, consumer().access_token(dict(parse_qsl(body.decode()))))
        elif path == "/choose":
            form = parse_qs(body.decode())
            STATE.choices.append(chosen(form["JWT"][0]))
            self._raw(b"<p>chosen</p>", "text/html")
        elif path == "/openid-configuration":
            self._say(200, configuration())
        elif path == "/register":
            self._register(json.loads(body))
        elif not self._may():
            self._say(401, [], reason="No token")
        elif path == "/course/2/lineitems":
            self._items(method, query, body)
        elif path.startswith("/course/2/lineitems/") and query.get("type_id") == "1":
            self._item(method, path.split("/")[4], path.rsplit("/", 1)[-1], query, body)
        elif path == "/course/2/members":
            self._members(query)
        else:
            self._say(404, [], reason="Not Found")

    def _may(self) -> bool:
        word = self.headers.get("Authorization", "")
        try:
            return word.startswith("Bearer ") and bool(consumer().check_token(word[7:]))
        except Exception:  # noqa: BLE001 - whatever is wrong with a token
            return False

    def _register(self, given: dict[str, Any]) -> None:
        STATE.registered.append({"given": given, "authorization": self.headers.get("Authorization", "")})
        tool = {**given["https://purl.imsglobal.org/spec/lti-tool-configuration"], "deployment_id": "17"}
        self._say(
            200, {**given, "client_id": "new-client", "https://purl.imsglobal.org/spec/lti-tool-configuration": tool}
        )

    # ------------------------------------------------------------------ the gradebook

    def _items(self, method: str, query: dict[str, str], body: bytes) -> None:
        if method == "POST":
            if self.headers.get("Content-Type") != ITEM:
                self._say(400, [], reason="Invalid content type")
                return
            number = str(max(map(int, STATE.items), default=3) + 1)
            STATE.items[number] = json.loads(body)
            self._say(201, listed(number), kind=ITEM)
            return
        if self.headers.get("Accept") != ITEMS:
            self._say(400, [], reason="Invalid content type")
            return
        wanted = [
            number
            for number, item in STATE.items.items()
            if query.get("resource_link_id") in (None, item.get("resourceLinkId")) or STATE.behaviour.get("unfiltered")
        ]
        self._paged([listed(number) for number in wanted], query, "/course/2/lineitems", kind=ITEMS)

    def _item(self, method: str, number: str, last: str, query: dict[str, str], body: bytes) -> None:
        if number not in STATE.items:
            self._say(404, [], reason=f"Not Found: Grade item {number} doesn't exist.")
        elif last == "scores" and method == "POST":
            self._score(number, json.loads(body))
        elif last == "results" and method == "GET":
            if self.headers.get("Accept") != RESULTS:
                self._say(400, [], reason="Invalid content type")
                return
            found = [
                {
                    "id": f"{BASE}/results/{user}", "userId": user, "resultScore": grade["final"],
                    "resultMaximum": STATE.items[number]["scoreMaximum"], "comment": grade["comment"],
                }
                for (item, user), grade in STATE.grades.items()
                if item == number and query.get("user_id") in (None, user) and grade["final"] is not None
            ]  # fmt: skip
            self._say(200, found, kind=RESULTS)
        else:
            self._say(405, [], reason="Method not allowed")

    def _score(self, number: str, sent: dict[str, Any]) -> None:
        if self.headers.get("Content-Type") != SCORE or sent.get("userId") not in LEARNERS:
            self._say(400, [], reason="Incorrect score received")
            return
        now = int(time.time() + STATE.ahead)
        when = int(django_time(sent["timestamp"]))
        before = STATE.grades.get((number, sent["userId"]))
        if before is not None and before["arrived"] >= when:
            reason = f"Refusing score with an earlier timestamp for item {number} and user {sent['userId']}"
            self._say(409, [], reason=reason)
            return
        full = sent["gradingProgress"] == "FullyGraded"
        of = STATE.items[number]["scoreMaximum"]
        raw = round(sent["scoreGiven"] * of / sent.get("scoreMaximum", 1), 5) if full and "scoreGiven" in sent else None
        STATE.grades[number, sent["userId"]] = {
            "raw": raw,
            "final": None if raw is None else min(raw, of),
            "comment": sent.get("comment", "") if full else "",
            "arrived": now,
            "sent": sent,
        }
        self._say(200, [])

    def _members(self, query: dict[str, str]) -> None:
        people = [
            {
                "user_id": user, "status": "Active", "name": name, "email": email,
                "lis_person_sourcedid": f"S100{user}",
                "roles": [f"{MEMBERSHIP}#{'Instructor' if role == 'instructor' else 'Learner'}"],
            }
            for user, (role, name, email) in PEOPLE.items()
            if "rlid" not in query or user != "5"
        ]  # fmt: skip
        self._paged(people, query, "/course/2/members", key="members", kind=MEMBERS)

    def _paged(self, rows: list[Any], query: dict[str, str], path: str, *, key: str = "", kind: str = JSON) -> None:
        start = int(query.get("From", 0))
        chosen, after = rows[start : start + STATE.page], start + STATE.page
        headers = {}
        if after < len(rows):
            others = "".join(f"&{name}={value}" for name, value in query.items() if name != "From")
            # As Moodle writes it: with typographical quotes. And the name's case matters.
            headers["Link"] = f"<{BASE}{path}?From={after}{others}>; rel=“next”".encode().decode("latin-1")
        self._say(
            200, {"id": f"{BASE}{path}", "context": {"id": "2"}, key: chosen} if key else chosen, headers, kind=kind
        )

    # ------------------------------------------------------------------ answers

    def _form(self, to: str, fields: dict[str, str]) -> None:
        inputs = "".join(f'<input type="hidden" name="{k}" value="{html.escape(v)}">' for k, v in fields.items())
        page = (
            f'<form method="post" action="{html.escape(to)}">{inputs}</form><script>document.forms[0].submit()</script>'
        )
        self._raw(page.encode(), "text/html")

    def _say(
        self, status: int, content: object, headers: dict[str, str] | None = None, *, kind: str = JSON, reason: str = ""
    ) -> None:
        self._raw(json.dumps(content).encode(), kind, status, headers, reason)

    def _raw(
        self, body: bytes, kind: str = JSON, status: int = 200, headers: dict[str, str] | None = None, reason: str = ""
    ) -> None:
        self.send_response(status, reason or None)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            self.close_connection = True


def listed(number: str) -> dict[str, Any]:
    """Return a line item as a list shows it."""
    return {"id": f"{BASE}/course/2/lineitems/{number}/lineitem?type_id=1", **STATE.items[number]}


def chosen(token: str) -> dict[str, Any]:
    """Return what a deep linking answer brings, checked by Open edX, and its claims."""
    made = consumer()
    made.enable_deep_linking(STATE.launch_url, f"{BASE}/choose?course=2")
    items = made.check_and_decode_deep_linking_token(token)
    return {"items": items, "claims": made.tool_jwt.validate_and_decode(token)}


def django_time(text: str) -> float:
    """Return the seconds since 1970 of a time in ISO 8601."""
    from django.utils.dateparse import parse_datetime

    found = parse_datetime(text)
    if found is None:
        raise ValueError(text)
    return found.timestamp()


def configuration() -> dict[str, Any]:
    """Return what Moodle says about itself, at this address."""
    path = Path(__file__).resolve().parents[2] / "data" / "lti" / "lti_openid_configuration.json"
    given = json.loads(path.read_text(encoding="utf-8"))
    places = {
        "issuer": BASE, "token_endpoint": f"{BASE}/token", "jwks_uri": f"{BASE}/jwks",
        "authorization_endpoint": f"{BASE}/auth", "registration_endpoint": f"{BASE}/register",
    }  # fmt: skip
    changed = {name: value for name, value in STATE.behaviour.get("configuration", {}).items() if name != "times"}
    return {**given, **places, **changed}


SERVER = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
SERVER.daemon_threads = True
BASE = f"http://127.0.0.1:{SERVER.server_address[1]}"

if __name__ == "__main__":
    print(BASE, flush=True)
    # It ends with whoever started it: his end of the pipe closes.
    threading.Thread(target=SERVER.serve_forever, daemon=True).start()
    sys.stdin.read()
    os._exit(0)
