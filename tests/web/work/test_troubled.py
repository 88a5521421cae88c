"""Where grading doesn't work, nothing is lost, nobody is blamed, and the pages say so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.work.servers import KEY, ROOT, Browser, Server, until

RIGHT = (ROOT / "examples" / "right.py").read_bytes()


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A copy of the course that may be broken."""
    for name in ("exercises", "reference", "reports"):
        shutil.copytree(ROOT / name, tmp_path / "course" / name)
    return tmp_path / "course"


@pytest.fixture
def broken(course: Path, tmp_path: Path) -> Iterator[tuple[Server, Path]]:
    """A server whose course can't be used, and the file that is broken."""
    checks = course / "reference" / "attention" / "checks.py"
    checks.write_text(checks.read_text() + "\nraise RuntimeError\n")
    made = Server(tmp_path / "data", "--demo", "--course", str(course))
    made.start()
    yield made, checks
    made.stop()


@pytest.mark.slow
def test_a_broken_course_costs_nobody_anything(broken: tuple[Server, Path]) -> None:
    """The attempt waits and says why; when the course is mended, it is graded without anybody doing anything."""
    server, checks = broken
    ada, ina = Browser(server.address), Browser(server.address)
    ada.enter("ada")
    address = ada.hand_in("mine.py", RIGHT)
    until(lambda: "be graded at the moment" in ada.get(address), "the page to say so")
    assert "RuntimeError" not in ada.text
    assert "it waits, since the course can&#x27;t be used" in ina.enter("instructor")
    checks.write_text(checks.read_text().replace("\nraise RuntimeError\n", "\n"))

    assert "100 of 100 points" in ada.graded(address)


@pytest.mark.slow
def test_without_workers_the_page_promises_nothing(tmp_path: Path) -> None:
    """The file is kept; monitoring sees that nobody grades."""
    server = Server(tmp_path / "data", "--demo")
    server.start(workers=0)
    try:
        ada = Browser(server.address)
        ada.enter("ada")
        ada.hand_in("mine.py", RIGHT)
        assert "Nothing is being graded at the moment; your file is kept" in ada.text
        health = server.health()
        assert (health["status"], health["code"], health["queued"]) == ("no workers", 503, 1)
    finally:
        server.stop()


@pytest.mark.slow
def test_an_account_for_the_admin_shows_rows_and_changes_none(tmp_path: Path) -> None:
    """Made by the command; the pages have our headers and no button to save."""
    server = Server(tmp_path / "data", "--demo")
    told = {**server.environment, "GRADE_ADMIN_PASSWORD": "correct horse battery"}
    command = [sys.executable, "-m", "grader", "web", "admin"]
    subprocess.run(command, env=told, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    server.start()
    try:
        ada, admin = Browser(server.address), Browser(server.address)
        ada.enter("ada")
        ada.hand_in("mine.py", RIGHT)
        admin.get("/admin/login/")
        admin.post(
            "/admin/login/?next=/admin/work/attempt/", {"username": "admin", "password": "correct horse battery"}
        )
        assert "1 attempt" in admin.text
        assert "frame-ancestors 'none'" in admin.headers["Content-Security-Policy"]
        admin.get(admin.link(r"/admin/work/attempt/[\w-]+/change/"))
        assert admin.status == 200
        assert 'name="_save"' not in admin.text
        assert ada.get("/admin/work/attempt/") != admin.text
        assert "Log in" in ada.text
    finally:
        server.stop()


@pytest.mark.parametrize(
    "words, given, code, said",
    [
        ("serve --demo --host 0.0.0.0", {}, 2, "lets everybody in"),
        ("serve --demo", {"DATABASE_URL": "postgresql://u:sesame@h/d"}, 2, "database of its own"),
        ("serve", {"GRADE_ISOLATION": "process"}, 2, "other people's code"),
        ("serve", {"DATABASE_URL": "postgresql://u:sesame@127.0.0.1:1/d", "GRADE_SECRET_KEY": KEY}, 4, "database"),
        ("serve --course nowhere", {}, 3, "isn't a course"),
        ("serve --port 99999", {}, 2, "no port"),
        ("web purge", {}, 2, "--older-than"),
        ("web purge --older-than soon", {}, 2, "no term"),
        ("web migrate --older-than 2y", {}, 2, "--older-than"),
    ],
)
def test_what_can_not_be_served_is_said_in_a_sentence(
    tmp_path: Path, words: str, given: dict[str, str], code: int, said: str
) -> None:
    """One line, the right exit code, and no password in it."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("GRADE_", "DJANGO_"))}
    told = {**plain, "PYTHONPATH": str(ROOT), "GRADE_DATA": str(tmp_path / "data"), **given}
    done = subprocess.run(
        [sys.executable, "-m", "grader", *words.split()], env=told, cwd=tmp_path, capture_output=True, text=True,
        check=False, stdin=subprocess.DEVNULL, timeout=60,
    )  # fmt: skip

    assert (done.returncode, done.stderr.count("\n")) == (code, 1), done.stderr
    assert said in done.stderr
    assert "sesame" not in done.stderr
