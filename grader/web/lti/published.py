"""What everybody may see: our public keys, and what Canvas wants to know about us."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from grader.web.lti.addresses import base_url, launch_url, our_url
from grader.web.lti.keys import public_keys
from grader.web.lti.registration import NAME, SCOPES

__all__ = ["canvas", "canvas_key", "jwks"]


@require_safe
def jwks(request: HttpRequest) -> HttpResponse:
    """Return our key set; platforms keep it for a while, which is why the next key is in it long before it signs."""
    answer = JsonResponse(public_keys())
    answer["Cache-Control"] = "public, max-age=3600"
    return answer


@require_safe
def canvas(request: HttpRequest) -> HttpResponse:
    """Return the configuration that Canvas's form takes by address ("Enter URL")."""
    return JsonResponse(canvas_key(request))


def canvas_key(request: HttpRequest | None = None) -> dict[str, Any]:
    """Return the keys of Canvas's developer key."""
    target = launch_url(request)
    placements = [
        {
            "placement": place,
            "message_type": "LtiDeepLinkingRequest",
            "target_link_uri": target,
            "text": f"{NAME} assignment",
            "enabled": True,
        }
        for place in ("assignment_selection", "link_selection")
    ]
    return {
        "title": NAME,
        "description": "Grades numerical exercises and says what to look at next.",
        "oidc_initiation_url": our_url("login", request),
        "target_link_uri": target,
        "public_jwk_url": our_url("jwks", request),
        "scopes": list(SCOPES),
        "custom_fields": {},
        "extensions": [
            {
                "platform": "canvas.instructure.com",
                "domain": urlsplit(base_url(request)).netloc,
                "tool_id": "numgrade",
                "privacy_level": "public",
                "settings": {"text": NAME, "placements": placements},
            }
        ],
    }
