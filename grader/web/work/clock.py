"""The database's clock: the one that all workers, on whatever machine, share."""

from __future__ import annotations

from django.db import connection

__all__ = ["now", "now_sql"]


def now_sql() -> str:
    """Return SQL for the seconds since 1970, as a number."""
    if connection.vendor == "postgresql":
        return "extract(epoch from clock_timestamp())::double precision"
    return "((julianday('now') - 2440587.5) * 86400.0)"


def now() -> float:
    """Return the seconds since 1970 by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {now_sql()}")
        (seconds,) = cursor.fetchone()
    return float(seconds)
