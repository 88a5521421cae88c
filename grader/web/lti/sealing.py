"""Secrets lie sealed in the database: who reads only the database can't sign for us."""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

__all__ = ["LOST", "SealBroken", "digest", "reseal", "seal", "unseal"]

LOST = (
    "The keys that this server signs with can't be opened, because GRADE_SECRET_KEY is another one than they were "
    "kept with: name the old one in GRADE_OLD_SECRET_KEYS, or, if it is lost, run grade lti rotate-key --discard-lost."
)
"""What is said wherever we should sign and can't."""


class SealBroken(Exception):
    """What was sealed can't be opened: the server's secret key is another one now."""

    def __init__(self) -> None:
        super().__init__(LOST)


def _box() -> MultiFernet:
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(_key(secret)) for secret in secrets])


def _key(secret: str) -> bytes:
    return base64.urlsafe_b64encode(hashlib.sha256(f"grader.web.lti seal\0{secret}".encode()).digest())


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


def reseal(sealed: str) -> str:
    """Return the same sealed with the secret key of today, so that an older one isn't needed for it any more.

    Raises:
        SealBroken: If none of our secret keys opens it.
    """
    try:
        Fernet(_key(settings.SECRET_KEY)).decrypt(sealed.encode())
    except InvalidToken:
        return seal(unseal(sealed))
    return sealed


def digest(secret: str) -> str:
    """Return the SHA-256 of a random secret, which is what we keep of it."""
    return hashlib.sha256(secret.encode()).hexdigest()
