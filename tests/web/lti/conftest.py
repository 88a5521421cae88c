"""What tests of LTI share: Django with a database of its own, an LMS that signs, a browser."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import django
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings

from tests.web.lti.alone import BASE, configure


def pem_of(key: rsa.RSAPrivateKey) -> str:
    """Return a key as PEM."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


FOLDER = tempfile.TemporaryDirectory(prefix="grade-lti-", ignore_cleanup_errors=True)


def stand() -> None:
    """Set Django up: with the server's own settings, else with those of LTI alone.

    It is done when tests are collected, since what they import at their heads has tables.
    """
    if settings.configured:
        return
    if importlib.util.find_spec("grader.web.settings") is not None:
        os.environ["GRADE_DATA"] = FOLDER.name  # each process of the tests has its own
        os.environ.setdefault("GRADE_SECRET_KEY", "a-key-of-the-tests-that-is-long-enough-0123456789")
        os.environ["DJANGO_SETTINGS_MODULE"] = "grader.web.settings"
    else:
        configure(Path(FOLDER.name) / "lti.sqlite3")
    django.setup()


stand()


@pytest.fixture(scope="session")
def django_stands() -> Iterator[None]:
    """Make the tables."""
    from django.core.management import call_command
    from django.db import connections

    call_command("migrate", verbosity=0)
    yield
    connections.close_all()


@pytest.fixture(scope="session")
def the_lms(tmp_path_factory: pytest.TempPathFactory, django_stands: None) -> Iterator[Any]:
    """Start the LMS."""
    from tests.web.lti.away import Lms

    path = tmp_path_factory.mktemp("lms") / "key.pem"
    path.write_text(pem_of(rsa.generate_private_key(public_exponent=65537, key_size=2048)), encoding="ascii")
    made = Lms(path)
    yield made
    made.close()


@pytest.fixture
def arrived() -> list[Any]:
    """Return the launches that were handed on."""
    return []


@pytest.fixture
def lti(django_stands: None, arrived: list[Any]) -> Iterator[None]:
    """Let the server be ``https://grader.test``, with empty tables."""
    from django.http import HttpRequest, HttpResponse
    from django.test import override_settings

    from grader.web.lti import models
    from grader.web.lti.launch import Launch

    def arrive(request: HttpRequest, launch: Launch) -> HttpResponse:
        arrived.append(launch)
        # The pages that really come then name the LMS themselves.
        return HttpResponse("arrived", headers={"Content-Security-Policy": "frame-ancestors http: https:"})

    told = SimpleNamespace(**{**vars_of(getattr(settings, "GRADE", None)), "base_url": BASE, "course": ""})
    with override_settings(GRADE=told, ALLOWED_HOSTS=["*"], LTI_ARRIVE=arrive):
        yield
    # Our keys stay: making some takes time, and tests of keys see to themselves.
    for model in (models.Platform, models.Invitation):
        model.objects.all().delete()


def vars_of(told: Any) -> dict[str, Any]:
    """Return what a server was told, as a dictionary."""
    names = getattr(told, "__slots__", None) or (vars(told) if told is not None else ())
    return {name: getattr(told, name) for name in names}


@pytest.fixture
def lms(the_lms: Any, lti: None) -> Any:
    """Return the LMS, with everything forgotten and our key known to it."""
    from tests.web.lti.ours import tool_pem

    the_lms.be(tool=tool_pem())
    return the_lms


@pytest.fixture
def platform(lms: Any) -> Any:
    """Return the LMS as it is registered here."""
    from grader.web.lti.models import Deployment, Platform
    from tests.web.lti.away import CLIENT, DEPLOYMENT

    made = Platform.objects.create(
        name="lms.test",
        issuer=lms.base,
        client_id=CLIENT,
        auth_url=f"{lms.base}/auth",
        token_url=f"{lms.base}/token",
        jwks_url=f"{lms.base}/jwks",
        private_network=True,
    )
    Deployment.objects.create(platform=made, deployment_id=DEPLOYMENT)
    return made


@pytest.fixture
def browser(lms: Any, platform: Any) -> Any:
    """Return a browser."""
    from tests.web.lti.away import Browser

    return Browser(lms)


@pytest.fixture
def reasons(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that says why the last thing was refused, by the log."""
    import logging

    # The server's own settings may keep its log to itself.
    monkeypatch.setattr(logging.getLogger("grader.web"), "propagate", True)
    caplog.set_level(logging.WARNING, logger="grader.web.lti")

    def last() -> str:
        found = [record for record in caplog.records if record.name == "grader.web.lti"]
        return str(found[-1].args[0]) if found and found[-1].args else ""  # type: ignore[index]  # a tuple

    return last


# pytest finds what the module holds; this keeps the path of the data in one place.
DATA = Path(__file__).resolve().parents[2] / "data" / "lti"
