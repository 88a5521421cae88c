"""A Canvas on this machine: it checks what is sent, pages, throttles, and works in the background."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

TOKEN = "7~SecretTokenOfATeacher"
COURSE, ASSIGNMENT = 7, 501
BASE = f"/api/v1/courses/{COURSE}/assignments/{ASSIGNMENT}"


class Site:
    """What the site holds, what it was asked, and how it misbehaves.

    Attributes:
        submissions: By user id: ``score``, ``late_penalty`` and ``submission_comments``.
        asked: Method, path and form fields of each request, in their order.
        throttle: Answers (status, headers, body) that come before the next real ones.
        broken: Users that a job passes over and that are refused alone.
        skipped: Users that a job passes over, but that are taken alone.
        job: States that a job goes through, one each time it is asked for.
    """

    page_size = 2

    def __init__(self, users: tuple[str, ...]) -> None:
        self.submissions: dict[str, dict[str, Any]] = {
            user: {"score": None, "late_penalty": 0, "submission_comments": []} for user in users
        }
        self.points_possible: float | None = 50.0
        self.asked: list[tuple[str, str, list[tuple[str, str]]]] = []
        self.throttle: list[tuple[int, dict[str, str], str]] = []
        self.broken: set[str] = set()
        self.skipped: set[str] = set()
        self.job: list[str] = ["queued", "running", "completed"]
        self.upload_url = ""
        self.uploads: list[tuple[str, bytes]] = []
        self.trouble: list[str] = []
        self.url = ""
        self._states: list[str] = []
        self._pending: list[tuple[str, str, str]] = []

    def posted(self, kind: str) -> list[tuple[str, list[tuple[str, str]]]]:
        """Return path and fields of the requests of a kind: ``PUT``, ``POST``."""
        return [(path, fields) for method, path, fields in self.asked if method == kind]

    def answer(self, method: str, path: str, fields: list[tuple[str, str]], body: bytes) -> tuple[int, Any, str]:
        """Return status, document and Link header."""
        if path == BASE and method == "GET":
            about = {"id": ASSIGNMENT, "course_id": COURSE, "points_possible": self.points_possible}
            return 200, about, ""
        if path == f"{BASE}/submissions" and method == "GET":
            return self._page(dict(fields))
        if path == f"{BASE}/submissions/update_grades" and method == "POST":
            for key, value in fields:
                found = re.fullmatch(r"grade_data\[(\d+)\]\[(posted_grade|text_comment)\]", key)
                if not found:
                    return 400, {"errors": [{"message": f"what is {key}?"}]}, ""
                self._pending.append((found[1], found[2], value))
            self._states = list(self.job)
            return 200, self._progress(), ""
        if path == "/api/v1/progress/9" and method == "GET":
            return 200, self._progress(), ""
        if found := re.fullmatch(rf"{BASE}/submissions/(\d+)(/comments/files)?", path):
            return self._one(method, found[1], bool(found[2]), fields)
        if path == "/upload" and method == "POST":
            self.uploads.append((dict(fields).get("filename", ""), body))
            return 200, {"id": 3000 + len(self.uploads), "url": "https://files.example.invalid/x"}, ""
        return 404, {"errors": [{"message": "no such page"}]}, ""

    def _page(self, query: dict[str, str]) -> tuple[int, Any, str]:
        if query.get("include[]") != "submission_comments" or query.get("per_page") != "100":
            return 400, {"errors": [{"message": "the comments weren't asked for"}]}, ""
        at = int(query.get("page", "0"))
        users = list(self.submissions)[at : at + self.page_size]
        more = at + self.page_size < len(self.submissions)
        next_page = (
            f"{self.url}{BASE}/submissions?include[]=submission_comments&per_page=100&page={at + self.page_size}"
        )
        return 200, [self._shown(user) for user in users], f'<{next_page}>; rel="next"' if more else ""

    def _shown(self, user: str) -> dict[str, Any]:
        has = self.submissions[user]
        score = None if has["score"] is None else has["score"] - has["late_penalty"]
        return {
            "id": 9000 + int(user),
            "user_id": int(user),
            "assignment_id": ASSIGNMENT,
            "score": score,
            "entered_score": has["score"],
            "submission_comments": has["submission_comments"],
        }

    def _progress(self) -> dict[str, Any]:
        state = self._states.pop(0) if len(self._states) > 1 else self._states[0]
        if state == "completed":
            for user, what, value in self._pending:
                if user in self.submissions and user not in self.broken | self.skipped:
                    self._set(user, what, value)
            self._pending = []
        return {"id": 9, "tag": "submissions_update", "workflow_state": state}

    def _set(self, user: str, what: str, value: str) -> None:
        if what == "posted_grade":
            self.submissions[user]["score"] = float(value)
        elif what == "text_comment":
            self.submissions[user]["submission_comments"].append({"comment": value, "attachments": []})

    def _one(self, method: str, user: str, file: bool, fields: list[tuple[str, str]]) -> tuple[int, Any, str]:
        if user in self.broken and (method == "PUT" or file):
            return 400, {"errors": [{"message": f"the grading period is closed, {TOKEN}"}]}, ""
        if file:
            params = {"key": "secret-key", "filename": dict(fields)["name"]}
            return 200, {"upload_url": self.upload_url or f"{self.url}/upload", "upload_params": params}, ""
        if method == "PUT":
            for key, value in fields:
                if key == "comment[file_ids][]":
                    name = self.uploads[int(value) - 3001][0]
                    self.submissions[user]["submission_comments"].append(
                        {"comment": "See attached files.", "attachments": [{"display_name": name, "filename": name}]}
                    )
                else:
                    self._set(user, {"submission[posted_grade]": "posted_grade"}.get(key, "text_comment"), value)
        return 200, self._shown(user), ""


@contextmanager
def serve(site: Site) -> Iterator[str]:
    """Serve a site on the loopback interface while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            kind = self.headers.get_content_type()
            if kind == "multipart/form-data":
                text = body.decode("utf-8")
                fields = re.findall(r'name="(\w+)"\r\n\r\n(.*?)\r\n', text)
            else:
                fields = parse_qsl(body.decode() or parts.query, keep_blank_values=True, strict_parsing=False)
            site.asked.append((self.command, parts.path, fields))
            if parts.path == "/upload":
                if self.headers.get("Authorization"):
                    site.trouble.append("the token was sent to the place of files")
            elif self.headers.get("Authorization") != f"Bearer {TOKEN}":
                self.reply(401, {"errors": [{"message": "Invalid access token."}]}, {"WWW-Authenticate": "Bearer"})
                return
            if site.throttle:
                status, headers, text = site.throttle.pop(0)
                self.reply(status, text, headers)
                return
            status, document, link = site.answer(self.command, parts.path, fields, body)
            self.reply(status, document, {"Link": link} if link else {})

        do_GET = do_POST = do_PUT = handle_any

        def reply(self, status: int, document: Any, headers: dict[str, str]) -> None:
            raw = document.encode() if isinstance(document, str) else json.dumps(document).encode()
            self.send_response(status)
            for key, value in {"Content-Type": "application/json", "Content-Length": str(len(raw)), **headers}.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield site.url
        finally:
            server.shutdown()
            thread.join()
