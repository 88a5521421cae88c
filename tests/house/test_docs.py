"""Docs as tests: what they promise is there, and what is there stands in them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from grader.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
MAX_LINES = 500
LINK = re.compile(r"!?\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


def read(name: str) -> str:
    """Return the text of a file of the checkout."""
    return (ROOT / name).read_text(encoding="utf-8")


def pages() -> list[Path]:
    """Return every page that people read."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("e*/**/README.md")])


def help_text(*words: str) -> str:
    """Return what ``grade WORDS --help`` prints."""
    command = [sys.executable, "-m", "grader", *words, "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return done.stdout


def bash_blocks(text: str) -> list[str]:
    """Return the content of each fenced bash block."""
    return [match[1] for match in re.finditer(r"^```bash\n(.*?)^```$", text, re.M | re.S)]


def test_every_option_is_documented() -> None:
    """Every option of every command has its row in docs/cli.md, and no row is left of an option that went."""
    pages_of_help = [help_text(), *(help_text(command) for command in COMMANDS)]
    offered = {option for text in pages_of_help for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)}
    documented = set(re.findall(r"^\| `(--[a-z][a-z-]+)", read("docs/cli.md"), re.M))

    assert "--seed" in offered
    assert offered == documented


def test_every_command_is_documented() -> None:
    """Every command has its row in docs/cli.md, and stands in the help of ``grade``."""
    rows = re.findall(r"^\| `grade ([a-z-]+)", read("docs/cli.md"), re.M)

    assert set(rows) == set(COMMANDS)
    assert [command for command in COMMANDS if f"grade {command}" not in help_text()] == []


def test_readme_s_two_commands_are_one_line_each() -> None:
    """A bare machine needs one line to grade and one to run the tests; the build runs exactly these two."""
    commands = [block.splitlines() for block in bash_blocks(read("README.md"))]

    assert [len(lines) for lines in commands[:2]] == [1, 1]
    assert commands[0][0].startswith("python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/grade examples/")
    assert commands[1][0] == "python3 -m venv .venv && .venv/bin/pip install '.[test]' && .venv/bin/pytest"


def test_links_lead_somewhere() -> None:
    """Every relative link and picture in a page exists."""
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages()
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]

    assert broken == []


def test_pictures_say_what_they_show() -> None:
    """Every picture in a page has a text for those who don't see it."""
    silent = [str(page.relative_to(ROOT)) for page in pages() if re.search(r"!\[\s*\]\(", page.read_text("utf-8"))]

    assert silent == []


def properties_of(schema: object) -> set[str]:
    """Return the names of all fields that a JSON Schema describes."""
    if isinstance(schema, list):
        return set().union(*map(properties_of, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", {})).union(*map(properties_of, schema.values()))


def test_result_json_is_documented() -> None:
    """Every field that the schema of result.json names stands in its page."""
    fields = properties_of(json.loads(read("grader/render/result.schema.json")))
    page = read("docs/result-json.md")

    assert "max_score" in fields
    assert {field for field in fields if f"`{field}`" not in page} == set()


def test_modules_stay_small() -> None:
    """No module is longer than a reader's patience."""
    long = {
        str(path.relative_to(ROOT)): count
        for folder in ("grader", "reference", "tests")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if (count := len(path.read_bytes().splitlines())) > MAX_LINES
    }

    assert long == {}


def test_the_build_is_executable() -> None:
    """``.ci/run`` can be run as it is."""
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o100
