"""What the server is told, and what it refuses to be told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.errors import UsageError
from grader.web.environment import database_of, prepare, read_environment

KEY = "k" * 40


def read(tmp_path: Path, **given: str) -> Any:
    """Read variables."""
    return read_environment({"GRADE_DATA": str(tmp_path), **given})


@pytest.mark.parametrize(
    "given, words",
    [
        ({"GRADE_ISOLATION": "process"}, "other people's code"),
        ({"GRADE_ISOLATION": "none"}, "other people's code"),
        ({"GRADE_BASE_URL": "grade.example.org"}, "isn't an address"),
        ({"GRADE_BASE_URL": "ftp://grade.example.org"}, "isn't an address"),
        ({"GRADE_BASE_URL": "https://grade.example.org/below"}, "isn't an address"),
        ({"GRADE_SECRET_KEY": "short"}, "32 are needed"),
        ({"GRADE_LEASE": "soon"}, "number of seconds"),
        ({"GRADE_LEASE": "nan"}, "number of seconds"),
        ({"DATABASE_URL": "postgresql://u:p@h/d"}, "needs the same key"),
        ({"DATABASE_URL": "mysql://u:sesame@h/d", "GRADE_SECRET_KEY": KEY}, "PostgreSQL"),
        ({"DATABASE_URL": "postgresql://u:sesame@h:port/d", "GRADE_SECRET_KEY": KEY}, "PostgreSQL"),
        ({"DATABASE_URL": "postgresql://u:sesame@h", "GRADE_SECRET_KEY": KEY}, "PostgreSQL"),
        ({"GRADE_DEMO": "1", "GRADE_BASE_URL": "https://grade.example.org"}, "lets everybody in"),
    ],
    ids=lambda value: "-".join(map(str, value.values())) if isinstance(value, dict) else "",
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, given: dict[str, str], words: str) -> None:
    """One sentence, and no password in it."""
    with pytest.raises(UsageError, match=words) as caught:
        read(tmp_path, **given)
    assert "sesame" not in str(caught.value)


def test_a_database_s_address_is_taken_apart(tmp_path: Path) -> None:
    """With escapes in it, a socket's folder and further options."""
    found = database_of("postgresql://us%40er:p%2Fw@db.example:6432/gr%20ade?sslmode=require", tmp_path)
    assert [found[name] for name in ("USER", "PASSWORD", "HOST", "PORT", "NAME")] == [
        "us@er", "p/w", "db.example", "6432", "gr ade",
    ]  # fmt: skip
    assert found["OPTIONS"]["sslmode"] == "require"
    assert database_of("postgresql:///grade?host=/run/postgresql", tmp_path)["HOST"] == "/run/postgresql"
    assert database_of("", tmp_path)["NAME"] == str(tmp_path / "grade.sqlite3")


def test_the_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    """One machine needs none given; reading alone leaves nothing behind."""
    given = {"GRADE_DATA": str(tmp_path / "data")}
    read_environment(given)
    assert not (tmp_path / "data").exists()
    prepare(given)
    prepare(given)
    key = (tmp_path / "data" / "secret-key").read_text()

    assert read_environment(given).secret_key == key
    assert len(key) >= 32
    assert (tmp_path / "data" / "secret-key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "address, https", [("https://grade.example.org", True), ("http://grade.example.org:8000/", False)]
)
def test_cookies_for_frames_need_https(tmp_path: Path, address: str, https: bool) -> None:
    """Browsers take a cookie for another site's frame over https only."""
    found = read(tmp_path, GRADE_BASE_URL=address, GRADE_HOSTS="other.example, third.example")

    assert found.https is https
    assert set(found.hosts) == {"other.example", "third.example", "grade.example.org"}
