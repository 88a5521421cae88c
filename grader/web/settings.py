"""Django's settings: all that differs between servers comes from `grader.web.environment`."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from grader.web.environment import read_environment

GRADE = read_environment(os.environ)
"""What this server was told."""

SECRET_KEY = GRADE.secret_key
SECRET_KEY_FALLBACKS = list(GRADE.old_keys)
DEBUG = False
ALLOWED_HOSTS = list(GRADE.hosts)
CSRF_TRUSTED_ORIGINS = [GRADE.base_url]

HAS_LTI = find_spec("grader.web.lti.urls") is not None
HAS_TICKETS = str(GRADE.database["ENGINE"]).endswith("postgresql")
"""Whether workers of other machines are called by procrastinate, which needs PostgreSQL."""
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    *(["procrastinate.contrib.django"] if HAS_TICKETS else []),
    "grader.web.work.apps.WorkConfig",
    *(["grader.web.lti.apps.LtiConfig"] if HAS_LTI else []),
]
MIDDLEWARE = [
    "grader.web.work.middleware.headers",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "grader.web.work.middleware.database_away",
    "grader.web.limits.limited",
    *(["grader.web.lti.cookies.FramedCookies"] if HAS_LTI else []),
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
ROOT_URLCONF = "grader.web.urls"
WSGI_APPLICATION = "grader.web.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASES = {"default": dict(GRADE.database)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# Who writes tickets needs none of the tasks, and who draws them has them at hand.
PROCRASTINATE_AUTODISCOVER_MODULE_NAME = ""

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = str(Path(__file__).resolve().parent / "work" / "static")
# Files are served as they lie in the package: nothing has to be collected before the server starts.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False
WHITENOISE_ROOT = None

# The LMS shows us in a frame of its own site. There a cookie is only sent if it is marked so, which browsers take over
# https alone; over http (a demo, a test) the pages stand on their own.
SESSION_COOKIE_NAME = "grade_session"
SESSION_COOKIE_SECURE = GRADE.https
SESSION_COOKIE_SAMESITE = "None" if GRADE.https else "Lax"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_AGE = 12 * 3600
# The token lies in the session: one cookie less that a frame could lose.
CSRF_USE_SESSIONS = True
CSRF_FAILURE_VIEW = "grader.web.work.failures.csrf"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = None
SECURE_HSTS_SECONDS = 31536000 if GRADE.https else 0
# The proxy that speaks https for us says so; what it doesn't say can't make anything less strict.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if GRADE.https else None

MAX_UPLOAD = 5_000_000
"""Bytes of a file that is handed in."""
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000_000
FILE_UPLOAD_MAX_MEMORY_SIZE = 6_000_000
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200
DATA_UPLOAD_MAX_NUMBER_FILES = 2
FILE_UPLOAD_HANDLERS = ["grader.web.work.uploads.CappedUpload"]

# What is logged names requests and rows by their random ids: no text of a submission, no name of a person.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {"()": "grader.web.logs.Plain", "format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        "django": {"handlers": ["console"], "level": "WARNING", "propagate": False},
        # Every 404 and every refused form would be a line with an address in it.
        "django.request": {"handlers": ["console"], "level": "ERROR", "propagate": False},
        "django.security": {"handlers": ["console"], "level": "ERROR", "propagate": False},
        "grader.web": {"handlers": ["console"], "level": "INFO", "propagate": False},
        # What they say while the database is away, others say too, without its address.
        "procrastinate.utils": {"handlers": ["console"], "level": "CRITICAL", "propagate": False},
        "psycopg.pool": {"handlers": ["console"], "level": "ERROR", "propagate": False},
    },
}
