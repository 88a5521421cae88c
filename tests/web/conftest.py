"""Django, set up once for all tests of the server: a SQLite database of its own in a temporary folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

KEY = "a-key-of-the-tests-that-is-long-enough-0123456789"

# A browser's driver leaves its loop in the thread of the tests, and Django would take us for asynchronous.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"


@pytest.fixture(scope="session")
def django_once() -> Iterator[Path]:
    """Set Django up with empty tables; return the folder that everything lies in."""
    with tempfile.TemporaryDirectory(prefix="grade-web-", ignore_cleanup_errors=True) as folder:
        from django.conf import settings

        if not settings.configured:
            os.environ["GRADE_DATA"] = folder  # each process of the tests has its own
        os.environ.setdefault("GRADE_SECRET_KEY", KEY)
        from grader.web.start import migrate, set_up

        set_up()
        migrate()
        yield Path(folder)
        from django.db import connections

        connections.close_all()


@pytest.fixture
def database(django_once: Path) -> Iterator[Path]:
    """Hand over the database; whatever a test wrote is deleted after it."""
    yield django_once
    from django.apps import apps
    from django.db import connection

    tables = [
        model._meta.db_table
        for model in apps.get_models()
        if model._meta.app_label in ("work", "lti", "sessions", "procrastinate")
    ]
    with connection.constraint_checks_disabled(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"TRUNCATE {', '.join(tables)} CASCADE")
        else:
            for table in tables:
                cursor.execute(f"DELETE FROM {table}")


@pytest.fixture
def client(database: Path) -> Any:
    """Return Django's own client, which checks forms as a browser would have to."""
    del database
    from django.conf import settings
    from django.test import Client

    return Client(enforce_csrf_checks=True, HTTP_HOST=settings.ALLOWED_HOSTS[0])
