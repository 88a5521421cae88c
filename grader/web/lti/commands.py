"""What ``grade lti`` does: platforms and keys, from the command line."""

from __future__ import annotations

import json
import secrets
from argparse import Namespace
from collections.abc import Callable, Mapping
from datetime import timedelta
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction
from django.utils import timezone

from grader.errors import EnvironmentFault, UsageError
from grader.web.lti.addresses import base_url, launch_url, our_url, split
from grader.web.lti.claims import UNFIT
from grader.web.lti.keys import KEEP, discard_lost, lost_keys, public_keys, rotate
from grader.web.lti.models import Deployment, Invitation, Platform, ToolKey
from grader.web.lti.published import canvas_key
from grader.web.lti.sealing import LOST, SealBroken, digest

__all__ = ["COMMANDS", "run"]

CANVAS = {
    "https://canvas.instructure.com": "https://sso.canvaslms.com",
    "https://canvas.beta.instructure.com": "https://sso.beta.canvaslms.com",
    "https://canvas.test.instructure.com": "https://sso.test.canvaslms.com",
}
"""Canvas's cloud: the issuer of all its customers, and the server that answers for it."""


def run(options: Namespace) -> list[str]:
    """Do what ``options`` say, and return the lines to print.

    Raises:
        UsageError: If that can't be done.
    """
    return COMMANDS[options.what](options)


def _add_platform(options: Namespace) -> list[str]:
    values = _values(options)
    private = bool(options.private_network)
    for name in ("issuer", "auth_url", "token_url", "jwks_url"):
        parts = split(values[name])
        option = f"--{name.replace('_', '-')}"
        if parts is None:
            raise UsageError(f"{option} is no address such as https://lms.example.edu/path.")
        if parts.scheme != "https" and not private:
            raise UsageError(f"{option} isn't https.", hint="For an LMS in your own network, add --private-network.")
    values["name"] = (options.name or urlsplit(values["issuer"]).hostname or values["issuer"])[:200]
    try:
        with transaction.atomic():
            platform = Platform.objects.create(**values, private_network=private)
            for deployment in dict.fromkeys(options.deployment):
                Deployment.objects.create(platform=platform, deployment_id=_deployment(deployment))
    except IntegrityError:
        raise UsageError(
            "This issuer and client id are registered already.", hint="See them with: grade lti platforms."
        ) from None
    lines = [f"Platform {platform.pk} is registered: {platform.name}."]
    if not options.deployment:
        lines.append(f"Launches are refused until you add its deployment: grade lti add-deployment {platform.pk} ID")
    return lines


def _values(options: Namespace) -> dict[str, str]:
    """Return the platform's addresses: given one by one, or those that all Moodles or Canvases have."""
    given = {name: getattr(options, name) or "" for name in ("issuer", "auth_url", "token_url", "jwks_url", "audience")}
    if options.moodle and options.canvas:
        raise UsageError("A platform is either a Moodle or a Canvas.", hint="Give one of --moodle and --canvas.")
    known: dict[str, str] = {}
    if options.moodle:
        root = options.moodle.rstrip("/")
        known = {
            "issuer": root,
            "auth_url": f"{root}/mod/lti/auth.php",
            "token_url": f"{root}/mod/lti/token.php",
            "jwks_url": f"{root}/mod/lti/certs.php",
        }
    if options.canvas:
        root = options.canvas.rstrip("/")
        server = CANVAS.get(root, root)
        known = {
            "issuer": root,
            "auth_url": f"{server}/api/lti/authorize_redirect",
            "token_url": f"{server}/login/oauth2/token",
            "jwks_url": f"{server}/api/lti/security/jwks",
        }
    values = {name: value or known.get(name, "") for name, value in given.items()}
    values["client_id"] = options.client_id or ""
    missing = [f"--{name.replace('_', '-')}" for name, value in values.items() if not value and name != "audience"]
    if missing:
        raise UsageError(
            f"add-platform needs {', '.join(missing)}.",
            hint="With --moodle URL or --canvas URL, only --client-id and --deployment are needed.",
        )
    limits = {"issuer": 500, "client_id": 255}
    for name, value in values.items():
        if len(value) > limits.get(name, 1000) or UNFIT.search(value):
            raise UsageError(f"--{name.replace('_', '-')} is too long, or holds signs that don't belong there.")
    return values


def _deployment(text: str) -> str:
    if not text or len(text) > 255 or UNFIT.search(text):
        raise UsageError("A deployment's id is a text of at most 255 characters.")
    return text


def _add_deployment(options: Namespace) -> list[str]:
    if len(options.rest) != 2:
        raise UsageError("add-deployment needs the platform's number and the deployment's id.")
    platform = _platform(options.rest[0])
    _, new = Deployment.objects.get_or_create(platform=platform, deployment_id=_deployment(options.rest[1]))
    return [f"{platform.name} {'now has' if new else 'had'} the deployment {options.rest[1]}."]


def _switch(on: bool) -> Callable[[Namespace], list[str]]:
    def switch(options: Namespace) -> list[str]:
        if len(options.rest) != 1:
            raise UsageError(f"{options.what} needs the platform's number.", hint="See: grade lti platforms.")
        platform = _platform(options.rest[0])
        Platform.objects.filter(pk=platform.pk).update(active=on)
        return [f"{platform.name} is switched {'on' if on else 'off'}."]

    return switch


def _platforms(options: Namespace) -> list[str]:
    lines = []
    for platform in Platform.objects.order_by("pk"):
        lines.append(f"{platform.pk}  {platform.name}{'' if platform.active else '  (switched off)'}")
        lines.append(f"   issuer {platform.issuer}, client id {platform.client_id}")
        ids = Deployment.objects.filter(platform=platform).order_by("pk").values_list("deployment_id", flat=True)
        lines.append(f"   deployments: {', '.join(ids) or 'none yet'}")
    return lines or ["No platform is registered yet."]


def _platform(text: str) -> Platform:
    found = Platform.objects.filter(pk=int(text)).first() if text.isascii() and text.isdigit() else None
    if found is None:
        raise UsageError(f"There is no platform '{text[:30]}'.", hint="See: grade lti platforms.")
    return found


def _urls(options: Namespace) -> list[str]:
    _base()
    rows = {
        "Tool URL, redirect URI, target link URI": launch_url(),
        "Login initiation URL": our_url("login"),
        "Public keyset URL (JWKS)": our_url("jwks"),
        "Canvas configuration": our_url("canvas"),
    }
    width = max(map(len, rows))
    return [f"{name:{width}}  {url}" for name, url in rows.items()]


def _canvas(options: Namespace) -> list[str]:
    _base()
    return [json.dumps(canvas_key(), indent=2)]


def _keys(options: Namespace) -> list[str]:
    public_keys()  # makes those that there aren't yet
    what: Mapping[str, str] = {"current": "signs", "next": "signs next", "old": "signed before"}
    lost = lost_keys()
    lines = [
        f"{key.kid}  {what[key.role]:13}  made {key.created_at:%Y-%m-%d}"
        + (f", published until {key.retired_at + KEEP:%Y-%m-%d}" if key.retired_at else "")
        + (", can't be opened" if key.kid in lost else "")
        for key in sorted(ToolKey.objects.all(), key=lambda key: list(what).index(key.role))
    ]
    return [*lines, LOST] if lost else lines


def _rotate(options: Namespace) -> list[str]:
    if options.discard_lost:
        gone = discard_lost()
        if not gone:
            return ["All keys can be opened: nothing is discarded."]
        return [
            f"Discarded, since nothing opens them any more: {', '.join(gone)}.",
            "New keys sign from now on; an LMS that keeps our key set refuses them until it asks for the set again.",
        ]
    try:
        kid = rotate()
    except SealBroken as error:
        raise EnvironmentFault(str(error)) from None
    return [f"{kid} signs from now on; the key before it stays published for {KEEP.days} days."]


def _invite(options: Namespace) -> list[str]:
    _base()
    if not 1 <= options.days <= 90:
        raise UsageError("--days is a number from 1 to 90.")
    secret = secrets.token_urlsafe(24)
    Invitation.objects.create(
        secret=digest(secret),
        private_network=bool(options.private_network),
        expires_at=timezone.now() + timedelta(days=options.days),
    )
    return [
        "Give this address to the LMS's administrator. It registers one LMS, once, and is a secret until then:",
        our_url("register", secret=secret),
    ]


def _base() -> str:
    found = base_url()
    if not found:
        raise UsageError("This server's own address isn't known.", hint="Set GRADE_BASE_URL.")
    return found


COMMANDS: Mapping[str, Callable[[Namespace], list[str]]] = {
    "add-platform": _add_platform,
    "add-deployment": _add_deployment,
    "platforms": _platforms,
    "off": _switch(False),
    "on": _switch(True),
    "urls": _urls,
    "canvas": _canvas,
    "invite": _invite,
    "keys": _keys,
    "rotate-key": _rotate,
}
"""What can be done."""
