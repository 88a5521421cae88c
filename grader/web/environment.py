"""What the server is told by environment variables, read and checked once."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from grader.errors import OutputError, UsageError
from grader.model._data import data
from grader.web.clients import Network, networks

__all__ = ["KEY_FILE", "Environment", "database_of", "prepare", "read_environment"]

MIN_KEY = 32
KEY_FILE = "secret-key"
SCHEMES = ("postgres", "postgresql")


@data
class Environment:
    """How this server is set up.

    Attributes:
        folder: Where the database lies if it is SQLite, and the key if none is given.
        secret_key: Signs sessions and receipts; seeds follow from it.
        old_keys: Keys before it, whose signatures still hold.
        database: Django's settings of the one database.
        base_url: How the world reaches us, without a slash at the end.
        hosts: Names that we answer to.
        course: Folder of the course, ``""`` for the one that comes with the grader.
        isolation: How student code is kept apart, always isolated.
        demo: A local course without an LMS.
        lease: Seconds after which the work of somebody who gives no sign of life is taken by another one.
        frames: Origins that may show our pages in a frame, beside those that learners come from.
        proxies: Proxies on other machines, whose ``X-Forwarded-For`` is believed.
    """

    folder: Path
    secret_key: str
    old_keys: tuple[str, ...]
    database: Mapping[str, Any]
    base_url: str
    hosts: tuple[str, ...]
    course: str
    isolation: str
    demo: bool
    lease: float
    frames: tuple[str, ...]
    proxies: tuple[Network, ...]

    @property
    def https(self) -> bool:
        """Whether the world reaches us encrypted: only then do cookies work in another site's frame."""
        return self.base_url.startswith("https://")


def read_environment(given: Mapping[str, str]) -> Environment:
    """Read the variables whose names begin with ``GRADE_``, and ``DATABASE_URL``.

    Raises:
        UsageError: If one isn't what it should be.
    """
    folder = _folder(given)
    base_url = (given.get("GRADE_BASE_URL") or "http://localhost:8000").rstrip("/")
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query:
        raise UsageError("GRADE_BASE_URL isn't an address.", hint="Write it as https://grade.example.org.")
    isolation = given.get("GRADE_ISOLATION") or "auto"
    if isolation not in ("auto", "namespaces", "landlock"):
        raise UsageError(
            f"GRADE_ISOLATION is '{isolation[:30]}', and a server runs other people's code.",
            hint="Use auto, namespaces or landlock.",
        )
    try:
        lease = float(given.get("GRADE_LEASE") or 60)
    except ValueError:
        lease = 0.0
    if not 1 <= lease <= 3600:
        raise UsageError("GRADE_LEASE isn't a number of seconds from 1 to 3600.", hint="Leave it out: it is 60.")
    demo = given.get("GRADE_DEMO") == "1"
    if demo and parts.hostname != "localhost":
        raise UsageError("GRADE_DEMO lets everybody in, so it works for http://localhost only.", hint="Unset it.")
    hosts = tuple(dict.fromkeys([*_listed(given.get("GRADE_HOSTS", "")), parts.hostname]))
    if parts.hostname == "localhost":
        hosts = (*hosts, "127.0.0.1", "[::1]")
    url = given.get("DATABASE_URL", "")
    return Environment(
        folder=folder,
        secret_key=_key(given.get("GRADE_SECRET_KEY", ""), folder, shared=bool(url)),
        old_keys=_listed(given.get("GRADE_OLD_SECRET_KEYS", "")),
        database=database_of(url, folder),
        base_url=base_url,
        hosts=hosts,
        course=given.get("GRADE_COURSE", ""),
        isolation=isolation,
        demo=demo,
        lease=lease,
        frames=_listed(given.get("GRADE_FRAMES", "")),
        proxies=networks(_listed(given.get("GRADE_PROXIES", ""))),
    )


def database_of(url: str, folder: Path) -> dict[str, Any]:
    """Return Django's settings for the database at ``url``, or for a file in ``folder``.

    Raises:
        UsageError: If it is no address of a PostgreSQL database. The message doesn't repeat it: it holds a password.
    """
    if not url:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(folder / "grade.sqlite3"),
            "OPTIONS": {
                # Readers never wait for the writer; a writer waits for its turn from the beginning, so that no
                # transaction fails half way; what was committed outlives a power cut.
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
                "transaction_mode": "IMMEDIATE",
                "timeout": 30,
            },
            "CONN_MAX_AGE": None,
        }
    parts = urlsplit(url)
    name = unquote(parts.path.lstrip("/"))
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in SCHEMES or not name or port == -1:
        raise UsageError(
            "DATABASE_URL isn't the address of a PostgreSQL database.",
            hint="Write it as postgresql://USER:PASSWORD@HOST:5432/NAME, or leave it out for SQLite.",
        )
    options = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        # A socket's folder may stand in the query, since a host can't hold slashes.
        "HOST": options.pop("host", "") or unquote(parts.hostname or ""),
        "PORT": str(port or ""),
        "OPTIONS": {"connect_timeout": 10, **options},
        "CONN_MAX_AGE": 300,
        "CONN_HEALTH_CHECKS": True,
    }


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.replace(",", " ").split() if part.strip())


def _key(given: str, folder: Path, *, shared: bool) -> str:
    """Return the secret key: the given one, or on one machine what `prepare` has kept."""
    if given:
        if len(given) < MIN_KEY:
            raise UsageError(
                f"GRADE_SECRET_KEY has {len(given)} characters, and {MIN_KEY} are needed.",
                hint="Make one: python3 -c 'import secrets; print(secrets.token_urlsafe(48))'.",
            )
        return given
    if shared:
        raise UsageError(
            "GRADE_SECRET_KEY isn't set, and everybody who uses one database needs the same key.",
            hint="Make one: python3 -c 'import secrets; print(secrets.token_urlsafe(48))'.",
        )
    try:
        return (folder / KEY_FILE).read_text(encoding="ascii").strip() or secrets.token_urlsafe(48)
    except OSError:
        return secrets.token_urlsafe(48)  # good for as long as this process: nothing was prepared


def prepare(given: Mapping[str, str]) -> None:
    """Make the folder and, where none is given, the key that is kept in it for its owner alone.

    Raises:
        OutputError: If the folder can't be used.
    """
    folder = _folder(given)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if given.get("GRADE_SECRET_KEY") or given.get("DATABASE_URL"):
            return
        with contextlib.suppress(FileExistsError):
            handle = os.open(folder / KEY_FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(48))
    except OSError as error:
        raise OutputError(
            f"The folder {folder} can't be used ({error.strerror or error}).", hint="Set GRADE_DATA to another one."
        ) from error


def _folder(given: Mapping[str, str]) -> Path:
    return Path(given.get("GRADE_DATA") or "grade-data").absolute()
