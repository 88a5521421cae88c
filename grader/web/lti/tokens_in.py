"""The token of a launch: who signed it, for whom, when, and for which login."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any

import jwt
from django.conf import settings
from jwt.exceptions import (
    DecodeError,
    ExpiredSignatureError,
    ImmatureSignatureError,
    InvalidAlgorithmError,
    InvalidAudienceError,
    InvalidIssuerError,
    InvalidSignatureError,
    MissingRequiredClaimError,
    PyJWTError,
)

from grader.web.lti.claims import read_deployment
from grader.web.lti.models import Deployment, LoginState
from grader.web.lti.platform_keys import key_of
from grader.web.lti.refusals import Refusal

__all__ = ["LEEWAY", "verified"]

LEEWAY = 30
"""Seconds that a platform's clock and ours may differ."""

MAX_TOKEN = 100_000
REQUIRED = ("exp", "iat", "iss", "aud", "nonce")

_REASONS: tuple[tuple[type[PyJWTError], str], ...] = (
    (ExpiredSignatureError, "token-expired"),
    (ImmatureSignatureError, "token-early"),
    (InvalidIssuerError, "token-issuer"),
    (InvalidAudienceError, "token-audience"),
    (InvalidAlgorithmError, "token-algorithm"),
    (InvalidSignatureError, "token-signature"),
    (DecodeError, "token-malformed"),
)


def verified(token: str, login: LoginState) -> dict[str, Any]:
    """Return the claims of ``token``, if it answers ``login``.

    Raises:
        Refusal: For the first thing that doesn't hold.
    """
    if len(token) > MAX_TOKEN:
        raise Refusal("token-too-large")
    kid = _key_id(token)
    platform = login.platform
    key = key_of(platform, kid)
    leeway = float(getattr(settings, "GRADE_LTI_LEEWAY", LEEWAY))
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key.key,
            algorithms=["RS256"],
            audience=platform.client_id,
            issuer=platform.issuer,
            leeway=leeway,
            # Whether there is a person is said by a reason of its own.
            options={"require": list(REQUIRED), "verify_sub": False, "verify_jti": False},
        )
    except MissingRequiredClaimError as error:
        raise Refusal("token-missing-claim", error.claim) from None
    except PyJWTError as error:
        reason = next((name for kind, name in _REASONS if isinstance(error, kind)), "token-bad-claim")
        raise Refusal(reason) from None
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise Refusal("token-bad-claim") from None
    _for_us_alone(claims, platform.client_id)
    if not isinstance(claims["nonce"], str) or not hmac.compare_digest(
        claims["nonce"].encode("utf-8", "replace"), login.nonce.encode()
    ):
        raise Refusal("token-nonce")
    deployment = read_deployment(claims)
    if not Deployment.objects.filter(platform_id=login.platform_id, deployment_id=deployment).exists():
        raise Refusal("token-deployment")
    return claims


def _key_id(token: str) -> str:
    """Return the name of the key that a token says it is signed with, if it says RS256 as well."""
    try:
        header = jwt.get_unverified_header(token)
    except (PyJWTError, ValueError, TypeError, RecursionError):
        raise Refusal("token-malformed") from None
    if header.get("alg") != "RS256":
        raise Refusal("token-algorithm")
    if "crit" in header:
        raise Refusal("token-malformed", "crit")
    kid = header.get("kid")
    if not isinstance(kid, str) or not kid or len(kid) > 500:
        raise Refusal("token-no-key-id")
    return kid


def _for_us_alone(claims: Mapping[str, Any], client_id: str) -> None:
    """See to it that a token for several parties was given to us, and one with a named party to us."""
    audience = claims["aud"]
    party = claims.get("azp")
    if isinstance(audience, list) and len(audience) > 1 and party is None:
        raise Refusal("token-authorised-party", "missing")
    if party is not None and party != client_id:
        raise Refusal("token-authorised-party")
