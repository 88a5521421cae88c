"""Settings with which the app ``lti`` stands alone: made by ``configure``, in a process that has no others yet."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from django.conf import settings

__all__ = ["BASE", "configure"]

BASE = "https://grader.test"
URLS = "addresses_of_lti_alone"


def configure(database: Path) -> None:
    """Configure Django with a database file, and the addresses of ``lti`` where the server has them."""
    settings.configure(
        SECRET_KEY="a key for tests, of some length",
        ALLOWED_HOSTS=["*"],
        USE_TZ=True,
        TIME_ZONE="UTC",
        INSTALLED_APPS=[
            "django.contrib.admin",
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "django.contrib.messages",
            "grader.web.lti.apps.LtiConfig",
        ],
        MIDDLEWARE=[
            "grader.web.lti.cookies.FramedCookies",
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {
                    "context_processors": [
                        "django.template.context_processors.request",
                        "django.contrib.auth.context_processors.auth",
                        "django.contrib.messages.context_processors.messages",
                    ]
                },
            }
        ],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": str(database),
                "OPTIONS": {
                    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;",
                    "transaction_mode": "IMMEDIATE",
                    "timeout": 30,
                },
            }
        },
        ROOT_URLCONF=URLS,
        GRADE=SimpleNamespace(base_url=BASE, course=""),
    )
    sys.modules[URLS] = _Addresses(URLS)


class _Addresses(ModuleType):
    """A module of addresses, which can be made only once Django has begun."""

    @property
    def urlpatterns(self) -> list[Any]:
        """Return the addresses."""
        from django.contrib import admin
        from django.urls import include, path

        return [path("admin/", admin.site.urls), path("lti/", include("grader.web.lti.urls"))]
