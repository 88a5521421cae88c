"""Starts Django for a command, and says in one sentence what is missing."""

from __future__ import annotations

import os

from grader.errors import EnvironmentFault, UsageError
from grader.web.environment import prepare

__all__ = ["migrate", "pending", "set_up"]

LOCK = 0x67726164
"""PostgreSQL's number of the lock that whoever migrates holds."""


def set_up() -> None:
    """Read the environment and start Django.

    Raises:
        UsageError: If the packages of the server aren't installed, or a variable isn't what it should be.
        OutputError: If the folder can't be used.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "grader.web.settings")
    try:
        import django
        import waitress  # noqa: F401 - all that a server needs, or nothing
        import whitenoise  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise UsageError("The server's packages aren't installed.", hint="pip install 'numgrade[web]'") from error
    prepare(os.environ)
    from django.core.exceptions import ImproperlyConfigured

    try:
        django.setup()
    except ImproperlyConfigured as error:
        if "psycopg" in str(error):
            raise UsageError(
                "The package for PostgreSQL isn't installed.", hint="pip install 'numgrade[web]'"
            ) from error
        raise


def migrate() -> None:
    """Bring the database's tables up to date; of several servers that start at once, one does it.

    Raises:
        EnvironmentFault: If the database doesn't answer. The message repeats no address: it may hold a password.
    """
    from django.core.management import call_command
    from django.db import DatabaseError, connection

    try:
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
                try:
                    call_command("migrate", interactive=False, verbosity=0)
                finally:
                    cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])
        else:
            call_command("migrate", interactive=False, verbosity=0)
    except DatabaseError as error:
        raise EnvironmentFault(
            f"The database doesn't answer ({type(error).__name__}).",
            hint="Check DATABASE_URL, or that the folder of GRADE_DATA can be written.",
        ) from error


def pending() -> bool:
    """Whether tables are missing or older than this program. Raises django.db.DatabaseError."""
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
