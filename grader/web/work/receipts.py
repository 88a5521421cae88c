"""Receipts: what was handed in and when, signed, so that nobody has to take anybody's word for it."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from django.core import signing

from grader.web.work.models import Attempt

__all__ = ["read_receipt", "receipt_of"]

SALT = "grade.receipt/1"
MAX_TEXT = 5_000
_CODE = re.compile(r"^Signed: (\S{20,2000})\s*\Z", re.MULTILINE)


def receipt_of(attempt: Attempt) -> str:
    """Return the receipt of an attempt: lines to read, and the same again with a signature."""
    when = attempt.handed_in_at.astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    told = {
        "attempt": str(attempt.id),
        "number": attempt.number,
        "assignment": attempt.link.assignment,
        "course": str(attempt.course_id),
        "learner": str(attempt.member_id),
        "file": attempt.name,
        "size": attempt.size,
        "sha256": attempt.sha256,
        "handed_in": when,
    }
    lines = [f"{name.replace('_', ' ').capitalize()}: {value}" for name, value in told.items()]
    return "\n".join(["Receipt", "", *lines, "", f"Signed: {signing.dumps(told, salt=SALT, compress=True)}", ""])


def read_receipt(text: str) -> dict[str, Any] | None:
    """Return what a receipt says, if the signature at its end is ours; else None. What stands above it is not read."""
    found = _CODE.search(text.strip()) if len(text) <= MAX_TEXT else None
    code = found[1] if found else text.strip()
    if len(code) > MAX_TEXT:
        return None
    try:
        told = signing.loads(code, salt=SALT)
    except (signing.BadSignature, ValueError):
        return None
    return told if isinstance(told, dict) else None
