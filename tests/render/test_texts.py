"""All that people read of a report stands in catalogues: nothing is missing, nothing is left over, nothing is in code.

Pages, fragments, summaries, what platforms and notebooks show, the class page: these are made of catalogues, so that a
translation is one file. What the commands say to whoever types them, such as errors and the progress of a batch, is
English and stands in code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from grader.core.catalogue import placeholders
from grader.model import Status
from tests.render.course import REPORTS, engine_texts

GRADER = Path(__file__).parents[2] / "grader"
SECTIONS = "status|page|intake|engine|class"
TEMPLATES = "".join(path.read_text(encoding="utf-8") for path in sorted(REPORTS.glob("*.j2")))
SOURCES = {
    path.relative_to(GRADER).as_posix(): path.read_text(encoding="utf-8") for path in sorted(GRADER.rglob("*.py"))
}
CODE = "".join(SOURCES.values())
SUFFIXES = re.compile(r"(_at_line|_in_cell|_somewhere)$")
KEYS = re.compile(rf"f?\"((?:{SECTIONS})\.[\w.{{}}]+)\"")


def named() -> set[str]:
    """Every key that templates or modules name as it is."""
    found = {key for key in KEYS.findall(CODE) if "{" not in key and not key.endswith((".", ".js", ".css", ".j2"))}
    found |= {f"page.{name}" for name in re.findall(r"\bwords\.([a-z_0-9]+)", TEMPLATES)}
    found |= {f"class.{name}" for name in re.findall(r"\bsay\.([a-z_0-9]+)", TEMPLATES)}
    found |= {f"page.{name}" for name in re.findall(r"_word\(\s*[\"']([a-z_0-9]+)[\"']", CODE)}
    return found | {f"page.{name}" for name in re.findall(r"words\[\"([a-z_0-9]+)\"\]", CODE)}


def families() -> list[re.Pattern[str]]:
    """Patterns of the keys that modules put together."""
    made = {key for key in KEYS.findall(CODE) if "{" in key} | {"page.terminal_{label}", "class.{key}", "page.{key}"}
    return [re.compile(re.sub(r"\\\{\w+(\\\})", r"\\w+", re.escape(key)).replace("\\}", "")) for key in sorted(made)]


def put_together(key: str, quoted: set[str]) -> bool:
    """Whether a module puts this key together of words that stand somewhere in quotation marks."""
    last = SUFFIXES.sub("", key.rpartition(".")[2])
    parts = {last, *(last.removeprefix(prefix) for prefix in ("terminal_", "look_", "needs_", "count_"))}
    parts.add(re.sub(r"\d$", "", last))
    return bool(parts & (quoted | {"hint"})) and any(family.fullmatch(key) for family in families())


def test_every_text_that_is_named_is_there() -> None:
    """No page can miss one of our own texts."""
    assert len(named()) > 150
    assert named() - set(engine_texts()) == set()


def test_every_text_is_used() -> None:
    """What no template and no module names, and none puts together, is left over. A next step goes with its text."""
    quoted = set(re.findall(r"[\"']([a-z_0-9]+)[\"']", CODE)) | set(re.findall(r"\b([a-z_]+) = \"", CODE))
    quoted |= {word.lower() for word in Status.__members__}
    texts = {key.removesuffix(".next") if key.startswith("engine.") else key for key in engine_texts()}

    assert sorted(key for key in texts - named() if not put_together(key, quoted)) == []


def test_every_status_has_a_word() -> None:
    """Each status can be said."""
    texts = engine_texts()

    assert all(texts[f"status.{status}"] for status in Status)


def test_words_of_templates_are_plain() -> None:
    """What a template shows as it is has neither placeholders nor backticks."""
    texts = engine_texts()
    shown = {f"page.{name}" for name in re.findall(r"\bwords\.([a-z_0-9]+)", TEMPLATES)}
    # The class page's script fills these in.
    filled = {"shown", "sorted_up", "sorted_down"}
    shown |= {f"class.{name}" for name in set(re.findall(r"\bsay\.([a-z_0-9]+)", TEMPLATES)) - filled}

    for key in shown:
        assert not placeholders(texts[key]), key
        assert "`" not in texts[key], key


def words_in(source: str) -> Iterator[str]:
    """Yield strings of a module that look like words for people: docstrings and errors aside."""
    tree = ast.parse(source)
    aside = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise):
            aside |= {id(part) for part in ast.walk(node)}
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Constant) and id(node) not in aside else None
        if isinstance(value, str) and re.search(r"[A-Za-z]{2,} [a-z]{2,}", value):
            yield value


def test_no_module_that_renders_has_words_of_its_own() -> None:
    """Whatever language the catalogue speaks, nothing of another one stands between."""
    commands = {"grade name-group "}
    found = {name: set(words_in(source)) - commands for name, source in SOURCES.items() if name.startswith("render/")}

    assert {name: words for name, words in found.items() if words} == {}
    assert list(words_in("x = 'two words'")) == ["two words"]


def test_no_template_has_words_of_its_own() -> None:
    """Neither between tags nor in what is read aloud."""
    bare = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<[^<>]+>", " ", TEMPLATES, flags=re.DOTALL)
    aloud = re.findall(r'(?:aria-label|title|alt|placeholder)="([^"{]+)"', TEMPLATES)

    assert re.findall(r"[A-Za-z]{3,}", bare) == []
    assert aloud == []
