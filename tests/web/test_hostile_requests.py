"""Requests that no browser sends: each gets an answer, and none of them is a fault of ours."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest

pytestmark = pytest.mark.usefixtures("database")


def ask(method: str, path: str, kind: str = "", body: bytes = b"", **more: str) -> str:
    """Return the status that our application answers to a server."""
    from grader.web.wsgi import application

    path, _, query = path.partition("?")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": query, "CONTENT_TYPE": kind,
        "CONTENT_LENGTH": str(len(body)), "wsgi.input": io.BytesIO(body), "HTTP_HOST": "localhost", **more,
    }  # fmt: skip
    setup_testing_defaults(environ)
    told: list[str] = []

    def start(status: str, headers: object, error: object = None) -> Callable[[bytes], object]:
        told.append(status)
        return len

    answer = application(environ, start)
    b"".join(answer)
    close = getattr(answer, "close", lambda: None)
    close()
    return told[0][:3]


CHARSETS = (
    "charset=hex",
    "charset=rot13",
    'a=b; Charset = "zlib"',
    "charset*=utf-8''hex",
    "charset=utf-7; charset=hex",
)


@pytest.mark.parametrize("charset", CHARSETS)
@pytest.mark.parametrize("method, page", [("GET", "/lti/login?iss=x"), ("POST", "/lti/launch"), ("POST", "/verify/")])
def test_a_charset_that_is_none(method: str, page: str, charset: str) -> None:
    """What a request calls its charset is no matter: text here is UTF-8."""
    kind = f"application/x-www-form-urlencoded; {charset}"

    assert ask(method, page, kind, b"state=a&receipt=b") in ("200", "400", "403")


def test_a_form_with_files_and_a_charset() -> None:
    """What is left of the type is what the form needs."""
    body = b'--x\r\nContent-Disposition: form-data; name="receipt"\r\n\r\nabc\r\n--x--\r\n'

    assert ask("POST", "/verify/", "multipart/form-data; charset=hex; boundary=x", body) == "200"


@pytest.mark.parametrize("page", ["/", "/lti/login?iss=x", "/admin/login/", "/nothing"])
def test_a_cookie_that_no_database_takes(page: str) -> None:
    """It is as if it weren't there."""
    assert ask("GET", page, HTTP_COOKIE='grade_session="\\000abcdefghij"') in ("200", "400", "404")
    assert ask("GET", page, HTTP_COOKIE="grade_session=\0abcdefghij; lti-a=\0") in ("200", "400", "404")


def test_more_fields_than_any_form_has() -> None:
    """They are refused, before anything looks at them."""
    assert ask("GET", "/lti/login?" + "&".join(f"a{number}=b" for number in range(1000))) == "400"
