"""``grade web``: what has to be done for a server now and then."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence

from grader.cli.options import Parser
from grader.errors import UsageError

__all__ = ["parser", "run"]

UNITS = {"d": 1, "w": 7, "y": 365}


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``grade web``."""
    made = Parser(prog="grade web", description="Care for the database of a server.")
    made.add_argument(
        "what",
        metavar="WHAT",
        choices=("purge", "admin", "migrate"),
        help="purge: delete what is older than a term; admin: make an account for /admin/, with the password in "
        "GRADE_ADMIN_PASSWORD or typed; migrate: bring the tables up to date",
    )
    made.add_argument(
        "--older-than", metavar="TERM", type=_days, help="of purge: such as 400d, 60w or 2y; what was handed in before"
    )
    made.add_argument("--dry-run", action="store_true", help="of purge: only say what would be deleted")
    made.add_argument("--account", metavar="NAME", default="admin", help="of admin: the account (default: admin)")
    return made


def run(words: Sequence[str]) -> int:
    """Do it; return the exit code."""
    options = parser().parse_args(words)
    if (options.what == "purge") != (options.older_than is not None):
        raise UsageError("purge needs --older-than, and nothing else takes it.", hint="Such as --older-than 2y.")
    from grader.web.start import migrate, set_up

    set_up()
    migrate()
    if options.what == "purge":
        from grader.web.work.purge import purge

        for kind, count in purge(options.older_than, dry=options.dry_run).items():
            print(f"{kind}: {count}{' would go' if options.dry_run else ''}")
    elif options.what == "admin":
        _admin(options.account)
    return 0


def _admin(name: str) -> None:
    import getpass

    from django.contrib.auth import get_user_model
    from django.contrib.auth.password_validation import validate_password
    from django.core.exceptions import ValidationError

    password = os.environ.get("GRADE_ADMIN_PASSWORD") or getpass.getpass("Password: ")
    try:
        validate_password(password)
    except ValidationError as error:
        raise UsageError(" ".join(error.messages)) from error
    users = get_user_model().objects
    if users.filter(username=name).exists():
        raise UsageError(f"There is an account '{name}' already.", hint="Choose another --account.")
    users.create_superuser(username=name, password=password)
    print(f"{name} can log in at /admin/")


def _days(text: str) -> int:
    found = re.fullmatch(r"([1-9]\d{0,4})([dwy])", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"'{text[:20]}' is no term such as 400d, 60w or 2y")
    return int(found[1]) * UNITS[found[2]]
