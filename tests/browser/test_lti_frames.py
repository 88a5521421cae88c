"""Launches in an LMS's frame, in Chromium: over https, from another site, with cookies of other sites blocked."""

# ruff: noqa: F811 - fixtures of LTI are imported, and asked for by the same names

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from socketserver import ThreadingMixIn
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from tests.browser.conftest import CHROMIUM, CHROMIUM_FLAGS
from tests.web.lti.conftest import (  # noqa: F401 - fixtures, found by their names
    arrived,
    django_stands,
    lms,
    lti,
    pem_of,
    platform,
    the_lms,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.web.lti.away import Lms

pytestmark = pytest.mark.browser


class Quiet(WSGIRequestHandler):
    """Says nothing of what it is asked."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Threads(ThreadingMixIn, WSGIServer):
    """Answers several at a time, and doesn't mind a browser that hangs up."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing."""


def certificate(folder: Path) -> Path:
    """Return a certificate of localhost with its key, signed by itself."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "localhost.pem"
    path.write_text(pem_of(key) + made.public_bytes(serialization.Encoding.PEM).decode(), encoding="ascii")
    return path


@pytest.fixture
def served(
    platform: Any,
    lms: Lms,
    tmp_path: Path,
) -> Iterator[str]:
    """Serve us at https://localhost; the LMS, at http://127.0.0.1, is another site. It takes each hint once only."""
    from django.conf import settings
    from django.core.wsgi import get_wsgi_application
    from django.db import connections
    from django.test import override_settings

    from tests.web.lti.ours import tool_pem

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(tmp_path))
    server = make_server("127.0.0.1", 0, get_wsgi_application(), Threads, Quiet)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    base = f"https://localhost:{server.server_port}"
    lms.be(tool=tool_pem(), hints_once=True, login_url=f"{base}/lti/login", launch_url=f"{base}/lti/launch")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    told = SimpleNamespace(**{**vars(settings.GRADE), "base_url": base})
    with override_settings(GRADE=told):
        thread.start()
        yield base
        server.shutdown()
        server.server_close()
    thread.join(10)
    connections.close_all()


@pytest.fixture(scope="session", autouse=True)
def unsafe() -> Iterator[None]:
    """Let Django use its database beside Playwright, whose loop runs in this thread."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        yield


@pytest.fixture
def strict(chromium: Browser) -> Iterator[Callable[[], Page]]:
    """Return what opens a page in a Chromium that keeps no cookies of other sites."""
    flags = [*CHROMIUM_FLAGS, "--test-third-party-cookie-phaseout"]
    browser = chromium.browser_type.launch(executable_path=CHROMIUM, args=flags)
    yield lambda: browser.new_context(ignore_https_errors=True).new_page()
    browser.close()


def frame_says(page: Page, text: str) -> None:
    """Wait until the LMS's frame shows a text."""
    page.frame_locator("iframe").get_by_text(text).first.wait_for(timeout=20_000)


def test_a_launch_in_a_frame(strict: Callable[[], Page], served: str, lms: Lms, arrived: list[Any]) -> None:
    """Our cookies are partitioned, so that the frame keeps them where other sites' cookies are blocked."""
    page = strict()
    page.goto(f"{lms.base}/course?user=4")
    frame_says(page, "arrived")

    assert [launch.user for launch in arrived] == ["4"]


def test_a_frame_that_keeps_no_cookies(
    strict: Callable[[], Page],
    served: str,
    lms: Lms,
    arrived: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without partitions the frame keeps none: one button opens a window, where the launch goes on."""
    from grader.web.lti import cookies

    monkeypatch.setattr(cookies, "_partition", lambda response, name: None)
    page = strict()
    page.goto(f"{lms.base}/course?user=4")
    frame_says(page, "Your browser blocks cookies")
    assert arrived == []
    with page.expect_popup() as opened:
        page.frame_locator("iframe").get_by_role("link", name="Open in a new window").click()
    opened.value.get_by_text("arrived").wait_for(timeout=20_000)

    assert [launch.user for launch in arrived] == ["4"]
    # The platform was asked once: its hint is good for one launch only.
    assert len(lms.asked("/auth")) == 1


def test_choosing_in_a_frame(
    strict: Callable[[], Page],
    served: str,
    lms: Lms,
) -> None:
    """An instructor chooses an assignment inside of the LMS, and the LMS gets it: no policy of ours is in the way."""
    page = strict()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if "Content Security" in message.text else None)
    page.goto(f"{lms.base}/course?user=3&kind=deep_link")
    frame = page.frame_locator("iframe")
    frame.locator("input[value=attention]").check()
    frame.get_by_label("Attempts").fill("3")
    frame.get_by_role("button", name="Add it to the course").click()
    frame_says(page, "chosen")

    (choice,) = lms.state()["choices"]
    assert choice["items"][0]["custom"]["attempts"] == "3"
    assert wrong == []


def test_pages_hold_up(
    chromium: Browser,
    served: str,
    lms: Lms,
    axe: Callable[[Page], list[str]],
) -> None:
    """Axe finds nothing: a refusal, the form of a choice with a mistake in it, in light and dark."""
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        context = chromium.new_context(ignore_https_errors=True, color_scheme=scheme)
        page = context.new_page()
        page.goto(f"{served}/lti/launch")
        assert "launch-not-posted" in page.content()
        assert axe(page) == []
        page.goto(f"{lms.base}/start?user=3&kind=deep_link")
        page.get_by_label("Attempts").wait_for()
        assert axe(page) == []
        context.close()
