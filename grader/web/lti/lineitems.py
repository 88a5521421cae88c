"""Columns of an LMS's gradebook: found, and created only where there is none."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from django.db.models import Q
from django.utils import timezone

from grader.web.lti.addresses import launch_url, origin, web_url
from grader.web.lti.models import LineItem, Platform
from grader.web.lti.services import LINE_ITEM, ServiceError, call, pages, platform_of

__all__ = ["below", "ensure_lineitem", "number", "submission_review", "with_query"]

ITEM = "application/vnd.ims.lis.v2.lineitem+json"
ITEMS = "application/vnd.ims.lis.v2.lineitemcontainer+json"

CLAIM = timedelta(seconds=120)
"""How long somebody who is at it keeps others away; whoever comes after a crash looks before it creates."""

MAX_ITEMS = 20_000


def ensure_lineitem(platform_id: int, lineitems: str, resource_link_id: str, tag: str, label: str, maximum: str) -> str:
    """Return the address of the line item of a link, found if it is there and created if it isn't.

    Creating isn't idempotent, and a second column can't be merged away. So one of our processes at a time looks
    and creates, and what it finds is kept.

    Args:
        platform_id: Our number of the LMS.
        lineitems: The address of the course's line items.
        resource_link_id: The link.
        tag: What the column is of: the assignment's id.
        label: The column's title.
        maximum: The points that can be had, as decimal text.

    Raises:
        ServiceError: If the LMS doesn't answer as it should, or another process is at it.
    """
    platform = platform_of(platform_id)
    key = hashlib.sha256("\0".join((str(platform_id), lineitems, resource_link_id, tag)).encode()).hexdigest()
    row, _ = LineItem.objects.get_or_create(key=key, defaults={"platform": platform})
    if row.url:
        return row.url
    now = timezone.now()
    free = Q(claimed_at=None) | Q(claimed_at__lt=now - CLAIM)
    if not LineItem.objects.filter(free, key=key, url="").update(claimed_at=now):
        row.refresh_from_db()
        if row.url:
            return row.url
        raise ServiceError("The gradebook's column is being looked for.", retry=True, after=3.0, code="lineitem-busy")
    url = ""
    try:
        url = _found(platform, lineitems, resource_link_id, tag)
        url = url or _created(platform, lineitems, resource_link_id, tag, label, maximum)
    finally:
        LineItem.objects.filter(key=key, claimed_at=now).update(claimed_at=None, url=url)
    return url


def _found(platform: Platform, lineitems: str, resource_link_id: str, tag: str) -> str:
    """Return the item of this link and tag; else one that belongs to no link, but has our resource id and tag."""
    loose = ""
    # Platforms may leave the filters out, so that what comes is looked at as well.
    for item in _items(platform, with_query(lineitems, resource_link_id=resource_link_id)):
        url = web_url(item.get("id"))
        if not url or origin(url) != origin(lineitems):
            continue
        link = item.get("resourceLinkId") or ""
        if link == resource_link_id and item.get("tag") == tag:
            return url
        if not link and not loose and item.get("resourceId") == tag and item.get("tag") == tag:
            # Two links of one assignment don't share a column.
            loose = "" if LineItem.objects.filter(platform=platform, url=url).exists() else url
    return loose


def _items(platform: Platform, url: str) -> Iterator[dict[str, Any]]:
    count = 0
    for page in pages(platform, url, [LINE_ITEM], ITEMS):
        if not isinstance(page, list):
            raise ServiceError("The LMS's list of columns can't be read.", retry=True, after=60.0, code="lineitems")
        for item in page:
            count += 1
            if count > MAX_ITEMS:
                raise ServiceError("The LMS's list of columns has no end.", retry=False, code="lineitems-many")
            if isinstance(item, dict):
                yield item


def _created(platform: Platform, lineitems: str, resource_link_id: str, tag: str, label: str, maximum: str) -> str:
    content = {
        "label": label[:250] or tag,
        "scoreMaximum": number(maximum),
        "resourceLinkId": resource_link_id,
        "resourceId": tag,
        "tag": tag,
        "submissionReview": submission_review(launch_url()),
    }
    answer = call(platform, "POST", lineitems, [LINE_ITEM], accept=ITEM, content_type=ITEM, content=content)
    try:
        given = answer.json()
    except ValueError:
        given = None
    url = web_url(given.get("id")) if isinstance(given, dict) else ""
    if answer.status == 409 or not url or origin(url) != origin(lineitems):
        # It may be there now all the same: whoever tries again finds it.
        raise ServiceError("The LMS didn't say where the new column is.", retry=True, after=30.0, code="lineitem-made")
    return url


def submission_review(url: str) -> dict[str, Any]:
    """Return what tells an LMS that its gradebook can open a learner's submission here, once there is a score."""
    return {"reviewableStatus": ["InProgress", "Submitted", "Completed"], "label": "Report", "url": url}


def below(url: str, name: str) -> str:
    """Return the address of ``name`` below a line item: before the query, which Moodle's addresses have."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{name}"))


def with_query(url: str, **values: str) -> str:
    """Return an address with more in its query, and what was there kept."""
    parts = urlsplit(url)
    query = [(name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if name not in values]
    return urlunsplit(parts._replace(query=urlencode([*query, *values.items()])))


def number(text: str) -> int | float:
    """Return decimal text as JSON's number: whole ones without a point."""
    value = Decimal(text)
    return int(value) if value == value.to_integral_value() else float(value)
