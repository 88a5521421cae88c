"""Secrets lie sealed in the database: who reads only the database can't sign for us."""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

__all__ = ["SealBroken", "digest", "seal", "unseal"]


class SealBroken(Exception):
    """What was sealed can't be opened: the server's secret key is another one now."""


def _box() -> MultiFernet:
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet(
        [
            Fernet(base64.urlsafe_b64encode(hashlib.sha256(f"grader.web.lti seal\0{secret}".encode()).digest()))
            for secret in secrets
        ]
    )


def seal(text: str) -> str:
    """Return ``text`` encrypted and authenticated with the server's secret key."""
    return _box().encrypt(text.encode()).decode()


def unseal(sealed: str) -> str:
    """Return the text that ``seal`` was given.

    Raises:
        SealBroken: If it was sealed with another secret key.
    """
    try:
        return _box().decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise SealBroken from None


def digest(secret: str) -> str:
    """Return the SHA-256 of a random secret, which is what we keep of it."""
    return hashlib.sha256(secret.encode()).hexdigest()
