"""Our own keys: what we sign with, and what platforms check that with."""

from __future__ import annotations

import json
import secrets
from datetime import timedelta
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.db import IntegrityError, transaction
from django.utils import timezone
from jwt.algorithms import RSAAlgorithm

from grader.web.lti.models import AccessToken, ToolKey
from grader.web.lti.sealing import SealBroken, reseal, seal, unseal

__all__ = ["KEEP", "discard_lost", "lost_keys", "public_keys", "reseal_keys", "rotate", "sign"]

KEEP = timedelta(days=30)
"""How long a key that signs no more is still published: longer than anything signed with it is valid or cached."""


def sign(claims: dict[str, Any]) -> str:
    """Return ``claims`` as a JWT signed with our current key, RS256.

    Raises:
        SealBroken: If the key can't be opened, because the server's secret key is another one now.
    """
    key = _of(ToolKey.CURRENT)
    return jwt.encode(claims, unseal(key.sealed), algorithm="RS256", headers={"kid": key.kid})


def public_keys() -> dict[str, Any]:
    """Return our key set: the key that signs, the next one, and those that signed until lately."""
    now = timezone.now()
    keys = [_of(ToolKey.CURRENT), _of(ToolKey.NEXT)]
    keys += ToolKey.objects.filter(role=ToolKey.OLD, retired_at__gt=now - KEEP).order_by("-retired_at")
    return {"keys": [key.public for key in keys]}


def rotate() -> str:
    """Let the next key sign from now on, and return its name; the one before stays published for ``KEEP``.

    Platforms that keep our key set know the next key already: it has been in the set since the last rotation.

    Raises:
        SealBroken: If the next key can't be opened: then nothing changes.
    """
    now = timezone.now()
    unseal(_of(ToolKey.NEXT).sealed)
    with transaction.atomic():
        ToolKey.objects.filter(role=ToolKey.OLD, retired_at__lte=now - KEEP).delete()
        ToolKey.objects.filter(role=ToolKey.CURRENT).update(role=ToolKey.OLD, retired_at=now)
        ToolKey.objects.filter(role=ToolKey.NEXT).update(role=ToolKey.CURRENT)
        _make(ToolKey.NEXT)
    return _of(ToolKey.CURRENT).kid


def lost_keys() -> list[str]:
    """Return the names of our keys that none of the server's secret keys opens."""
    return [key.kid for key in ToolKey.objects.order_by("created_at") if not _opens(key.sealed)]


def reseal_keys() -> None:
    """Seal with the secret key of today what older ones open, so that these can be given up some day."""
    for key in ToolKey.objects.all():
        try:
            sealed = reseal(key.sealed)
        except SealBroken:
            continue
        if sealed != key.sealed:
            ToolKey.objects.filter(kid=key.kid, sealed=key.sealed).update(sealed=sealed)


def discard_lost() -> list[str]:
    """Delete our keys and kept tokens that can't be opened, and make new ones; return the names of those keys.

    A next key that can be opened signs from now on: platforms know it already. New ones they have to ask for.
    """
    with transaction.atomic():
        lost = lost_keys()
        ToolKey.objects.filter(kid__in=lost).delete()
        tokens = [token.pk for token in AccessToken.objects.all() if not _opens(token.sealed)]
        AccessToken.objects.filter(pk__in=tokens).delete()
        if not ToolKey.objects.filter(role=ToolKey.CURRENT).exists():
            ToolKey.objects.filter(role=ToolKey.NEXT).update(role=ToolKey.CURRENT)
    public_keys()
    return lost


def _opens(sealed: str) -> bool:
    try:
        unseal(sealed)
    except SealBroken:
        return False
    return True


def _of(role: str) -> ToolKey:
    """Return the key of a role, made if there is none yet."""
    found = ToolKey.objects.filter(role=role).first()
    if found is not None:
        return found
    try:
        with transaction.atomic():
            return _make(role)
    except IntegrityError:
        return ToolKey.objects.get(role=role)  # another process made it meanwhile


def _make(role: str) -> ToolKey:
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    kid = secrets.token_urlsafe(12)
    public = json.loads(RSAAlgorithm.to_jwk(private.public_key()))
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return ToolKey.objects.create(
        kid=kid,
        role=role,
        sealed=seal(pem.decode()),
        public={"kty": "RSA", "kid": kid, "use": "sig", "alg": "RS256", "n": public["n"], "e": public["e"]},
        created_at=timezone.now(),
    )
