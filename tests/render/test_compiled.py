"""Compiled templates are kept beside their sources."""

from __future__ import annotations

import sys
from pathlib import Path

import jinja2
import pytest

from grader.render.compiled import Compiled


@pytest.fixture(autouse=True)
def _bytecode_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def render(folder: Path) -> str:
    """Render the template in ``folder`` as a new process would."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(folder), autoescape=True, bytecode_cache=Compiled())
    return environment.get_template("page.html").render(text="<b>")


def cached(folder: Path) -> list[Path]:
    """Return what is kept."""
    return sorted((folder / "__pycache__").glob("*"))


def test_a_template_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second time nothing is parsed, and the page is the same."""
    (tmp_path / "page.html").write_text("<p>{{ text }}</p>")
    first = render(tmp_path)
    monkeypatch.setattr(jinja2.Environment, "_parse", None)

    assert render(tmp_path) == first == "<p>&lt;b&gt;</p>"
    assert [path.name.startswith("page.html.") for path in cached(tmp_path)] == [True]


def test_a_changed_template_is_compiled_again(tmp_path: Path) -> None:
    """Whatever its time says."""
    for word in ("one", "two"):
        (tmp_path / "page.html").write_text(f"{word} {{{{ text }}}}")
        assert render(tmp_path) == f"{word} &lt;b&gt;"


@pytest.mark.parametrize("broken", [b"", b"j2", b"\x80\x04.", b"garbage" * 100])
def test_broken_ones_are_compiled_again(broken: bytes, tmp_path: Path) -> None:
    """Also one that only begins well."""
    (tmp_path / "page.html").write_text("{{ text }}")
    render(tmp_path)
    place = cached(tmp_path)[0]
    for content in (broken, place.read_bytes()[:20], place.read_bytes()[:-5]):
        place.write_bytes(content)
        assert render(tmp_path) == "&lt;b&gt;"


def test_a_folder_that_cannot_be_written_does(tmp_path: Path) -> None:
    """It takes a little longer, that is all."""
    (tmp_path / "page.html").write_text("{{ text }}")
    (tmp_path / "__pycache__").write_text("in the way")

    assert render(tmp_path) == "&lt;b&gt;"
