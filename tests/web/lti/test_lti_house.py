"""What holds of the room as a whole."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from django.core.management import call_command

from grader.web.lti.refusals import REASONS

ROOT = Path(__file__).resolve().parents[3]


def test_the_platform_of_the_tests_stays_there() -> None:
    """Open edX's package is under the AGPL: nothing that we hand out imports it."""
    names = {
        alias
        for path in (ROOT / "grader").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        for alias in (
            [one.name for one in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }

    assert "jwt" in names
    assert [name for name in names if name.split(".")[0] in ("lti_consumer", "edx_django_utils", "xblock")] == []


def test_the_tables_are_what_the_models_say(lti: None) -> None:
    """No change of a model without its migration."""
    call_command("makemigrations", "lti", check=True, dry_run=True, verbosity=0)


def test_codes_in_the_docs() -> None:
    """Each code that docs/lti.md explains can come up."""
    text = (ROOT / "docs" / "lti.md").read_text(encoding="utf-8")
    codes = set(re.findall(r"`((?:login|launch|token)-[a-z-]+)`", text))

    assert len(codes) > 15
    assert codes <= set(REASONS)


def test_every_reason_is_used() -> None:
    """A reason that nothing gives would be a page that nobody has seen."""
    source = "".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "grader" / "web" / "lti").glob("*.py")
        if path.name != "refusals.py"
    )

    assert [reason for reason in REASONS if f'"{reason}"' not in source] == []
