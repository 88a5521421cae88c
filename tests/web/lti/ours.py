"""Our own keys, as the LMS of the tests takes them."""

from __future__ import annotations

import json

from cryptography.hazmat.primitives import serialization
from jwt import PyJWK

from grader.web.lti.keys import public_keys

__all__ = ["tool_pem"]


def tool_pem() -> str:
    """Return the key that we sign with as PEM."""
    first = public_keys()["keys"][0]
    key = PyJWK.from_json(json.dumps(first)).key
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
