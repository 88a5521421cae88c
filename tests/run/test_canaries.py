"""Canaries notice a hole, and no backend with one is ever used for other people's files."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from grader.errors import IsolationError
from grader.run import bubblewrap, isolation
from grader.run.backend import Backend
from grader.run.canaries import trouble
from grader.run.forked import LandlockBackend, NamespacesBackend
from grader.run.inside import landlock
from grader.run.isolation import Examined, examine, open_backend
from grader.run.process import ProcessBackend
from tests.run.offered import ISOLATED, opened

pytestmark = pytest.mark.usefixtures("nothing_stays")


@pytest.fixture
def secret(root: Path) -> tuple[Path, ...]:
    """Return the solution, by its real path."""
    return (root / "reference" / "attention" / "solution.py",)


@pytest.mark.parametrize("name", ISOLATED)
def test_a_sound_backend_passes(name: str, secret: tuple[Path, ...]) -> None:
    """Nothing gets through, and honest work can be done."""
    with opened(name) as backend:
        assert trouble(backend, secret) == ""


HOLES: dict[str, tuple[dict[str, Any], str]] = {
    "no-landlock": ({"landlock": False}, "could read the course's reference"),
    "everything-is-readable": ({"library": ["/"]}, "could read a file that isn't its own"),
    "no-filter": ({"filter": ""}, "could start another process"),
    "nothing-is-readable": ({"library": [], "folders": []}, "could not do an honest submission's work"),
    "neither": ({"landlock": False, "filter": ""}, "could open a network connection"),
    "signals": ({"landlock": False, "filter": ""}, "could signal another process"),
    "writes": ({"landlock": False}, "could write outside its folder"),
}


@pytest.mark.skipif("landlock" not in ISOLATED, reason="this kernel has no Landlock")
@pytest.mark.parametrize("changes, says", HOLES.values(), ids=HOLES.keys())
def test_a_hole_in_landlock_is_noticed(changes: dict[str, Any], says: str, secret: tuple[Path, ...]) -> None:
    """With a rule taken away, the canaries say what got through."""
    with LandlockBackend(changes=changes) as backend:
        assert says in trouble(backend, secret)


@pytest.mark.skipif("namespaces" not in ISOLATED, reason="this machine allows no namespaces")
@pytest.mark.parametrize(
    "changes, says",
    [({"filter": ""}, "could start another process"), ({"library": [], "folders": []}, "could not do an honest")],
    ids=["no-filter", "nothing-is-readable"],
)
def test_a_hole_in_namespaces_is_noticed(changes: dict[str, Any], says: str, secret: tuple[Path, ...]) -> None:
    """With a rule taken away, the canaries say what got through."""
    with NamespacesBackend(changes=changes) as backend:
        assert says in trouble(backend, secret)


@pytest.mark.skipif("namespaces" not in ISOLATED, reason="this machine allows no namespaces")
def test_namespaces_hold_without_landlock(secret: tuple[Path, ...]) -> None:
    """A kernel without Landlock still shows nothing but Python."""
    with NamespacesBackend(changes={"landlock": False}) as backend:
        assert trouble(backend, secret) == ""


@pytest.mark.skipif("namespaces" not in ISOLATED, reason="this machine allows no namespaces")
def test_a_folder_too_many_is_noticed(secret: tuple[Path, ...], root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever binds the checkout into the root is told."""

    def generous(*arguments: Any) -> list[str]:
        words = bubblewrap.wrapped(*arguments)
        at = words.index("--chdir")
        return [*words[:at], "--ro-bind", str(root / "reference"), str(root / "reference"), *words[at:]]

    monkeypatch.setattr("grader.run.forked.wrapped", generous)
    with NamespacesBackend(changes={"landlock": False}) as backend:
        assert "could read the course's reference" in trouble(backend, secret)


def test_a_word_in_the_environment_is_noticed(secret: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that is passed on is found, whichever backend."""
    monkeypatch.setattr(
        "grader.run.process.environment",
        lambda folder: {"PATH": "/bin", "OPENBLAS_NUM_THREADS": "1", "X": "planted-word"},
    )
    assert "could find a planted secret in the environment" in trouble(ProcessBackend(), secret, word="planted-word")


# ------------------------------------------------------------------ choosing


def without(monkeypatch: pytest.MonkeyPatch, *missing: str) -> None:
    """Take backends away from this machine."""
    if "namespaces" in missing:
        monkeypatch.setattr(bubblewrap, "program", lambda: None)
    if "landlock" in missing:
        monkeypatch.setattr(landlock, "version", lambda: 0)


@pytest.mark.skipif(len(ISOLATED) < 2, reason="both are needed to choose the better one")
@pytest.mark.parametrize("missing, name", [((), "namespaces"), (("namespaces",), "landlock")], ids=["all", "no-bwrap"])
def test_auto_takes_the_best(
    missing: Sequence[str], name: str, secret: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For other people's files, the best that passes; its name stands in results."""
    without(monkeypatch, *missing)
    with open_backend("auto", purpose="others' files", secrets=secret) as backend:
        assert backend.name == name


def test_auto_refuses_where_nothing_holds(secret: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what is missing, the cure, and what the last resort would mean; it never falls back by itself."""
    without(monkeypatch, "namespaces", "landlock")
    with pytest.raises(IsolationError) as caught:
        open_backend("auto", purpose="others' files", secrets=secret)

    assert caught.value.exit_code == 4
    for words in ("bubblewrap isn't installed", "has no Landlock", "--isolation process", "your own rights"):
        assert words in str(caught.value)


@pytest.mark.parametrize("name", ["namespaces", "landlock"])
def test_a_name_that_was_asked_for_is_never_replaced(name: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for and missing is an error, for one's own file too."""
    without(monkeypatch, "namespaces", "landlock")
    with pytest.raises(IsolationError, match=f"'{name}' doesn't work"):
        open_backend(name, purpose="own file")


@pytest.mark.skipif("landlock" not in ISOLATED, reason="this kernel has no Landlock")
def test_a_backend_with_a_hole_is_refused(secret: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """A hole that canaries find is a reason not to run, and nothing of the backend stays."""
    without(monkeypatch, "namespaces")

    def leaky(name: str, packages: Sequence[str] = ()) -> Backend:
        if name == "landlock":
            return LandlockBackend(changes={"library": ["/"]})
        raise IsolationError("It isn't here.")

    monkeypatch.setattr(isolation, "_made", leaky)
    with pytest.raises(IsolationError, match="could read the course's reference"):
        open_backend("auto", purpose="others' files", secrets=secret)


def test_ones_own_file_needs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """For one's own file a process of its own is enough, on any machine."""
    without(monkeypatch, "namespaces", "landlock")
    with open_backend("auto", purpose="own file") as backend:
        assert backend.name == "process"


def test_what_examining_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each backend is named, the best first, with the reason if it doesn't work."""
    without(monkeypatch, "namespaces", "landlock")

    assert examine() == (
        Examined(name="namespaces", works=False, why="Bubblewrap isn't installed."),
        Examined(name="landlock", works=False, why="This kernel has no Landlock."),
        Examined(name="process", works=True),
    )


def test_a_bubblewrap_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own words say why, as on a machine that forbids user namespaces."""
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{Path(shutil.which('sh') or '/bin/sh').parent}")
    (namespaces, *_) = examine()

    assert not namespaces.works
    assert "No permissions to create new namespace" in namespaces.why
