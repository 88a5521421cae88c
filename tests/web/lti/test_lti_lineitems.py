"""Columns of the gradebook: found before they are created, and never created twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from grader.web.lti.lineitems import CLAIM, below, ensure_lineitem, with_query
from grader.web.lti.models import LineItem, Platform
from grader.web.lti.services import ServiceError
from tests.web.lti.away import LAUNCH, Lms
from tests.web.lti.ours import tool_pem


def ensure(platform: Platform, lms: Lms, link: str = "7", tag: str = "attention") -> str:
    """Ask for the column of a link."""
    return ensure_lineitem(platform.pk, f"{lms.base}/course/2/lineitems?type_id=1", link, tag, "Attention", "100")


def made(lms: Lms) -> list[Any]:
    """Return the requests that created a column."""
    return [one for one in lms.asked("/lineitems") if one["method"] == "POST"]


def test_a_column_is_created_once(platform: Platform, lms: Lms) -> None:
    """With our resource id and tag, coupled to its link; afterwards it is known."""
    url = ensure(platform, lms)

    assert url == f"{lms.base}/course/2/lineitems/5/lineitem?type_id=1"
    assert ensure(platform, lms) == url
    assert len(made(lms)) == 1
    assert len(lms.asked("/lineitems")) == 2
    assert lms.state()["items"]["5"] == {
        "label": "Attention", "scoreMaximum": 100, "resourceLinkId": "7", "resourceId": "attention", "tag": "attention",
        "submissionReview": {
            "reviewableStatus": ["InProgress", "Submitted", "Completed"], "label": "Report", "url": LAUNCH,
        },
    }  # fmt: skip
    (request,) = made(lms)
    assert request["path"] == "/course/2/lineitems?type_id=1"
    assert request["headers"]["content-type"] == "application/vnd.ims.lis.v2.lineitem+json"


def test_a_column_that_is_there_is_found(platform: Platform, lms: Lms) -> None:
    """One that deep linking made, behind others, on the third page of a list that isn't filtered."""
    others = {
        str(n): {"label": "x", "scoreMaximum": 1, "resourceLinkId": str(n), "tag": "attention"} for n in range(10, 15)
    }
    ours = {"label": "A", "scoreMaximum": 100, "resourceLinkId": "7", "resourceId": "attention", "tag": "attention"}
    lms.be(tool=tool_pem(), items={**others, "20": ours}, page=2, behaviour={"unfiltered": {"times": 0}})

    assert ensure(platform, lms) == f"{lms.base}/course/2/lineitems/20/lineitem?type_id=1"
    assert made(lms) == []
    assert len(lms.asked("/lineitems")) == 3


def test_a_column_of_no_link(platform: Platform, lms: Lms) -> None:
    """One with our resource id and tag that belongs to no link is taken, but by one link only."""
    loose = {"label": "A", "scoreMaximum": 100, "resourceId": "attention", "tag": "attention"}
    lms.be(tool=tool_pem(), items={"20": loose}, behaviour={"unfiltered": {"times": 0}})

    assert "/20/" in ensure(platform, lms, "7")
    assert "/21/" in ensure(platform, lms, "8")


def test_columns_of_others_stay_theirs(platform: Platform, lms: Lms) -> None:
    """Neither another link's column nor one with another tag is taken."""
    items = {
        "20": {"label": "A", "scoreMaximum": 9, "resourceLinkId": "6", "resourceId": "attention", "tag": "attention"},
        "21": {"label": "B", "scoreMaximum": 9, "resourceLinkId": "7", "resourceId": "attention", "tag": "bonus"},
    }
    lms.be(tool=tool_pem(), items=items, behaviour={"unfiltered": {"times": 0}})

    assert "/22/" in ensure(platform, lms)


def test_eight_at_once(platform: Platform, lms: Lms) -> None:
    """Eight workers want the same column: one creates it, the others get it or are told to come again."""
    from django.db import connection

    def one(_: int) -> str:
        try:
            return ensure(platform, lms)
        except ServiceError as error:
            assert (error.code, error.retry) == ("lineitem-busy", True)  # noqa: PT017 - both outcomes are right
            return ""
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        urls = set(pool.map(one, range(8))) - {""}

    assert len(made(lms)) == 1
    assert urls == {ensure(platform, lms)}


def test_a_crash_between_creating_and_keeping(platform: Platform, lms: Lms) -> None:
    """The column is there and nobody kept its address: who comes after the claim has run out finds it."""
    url = ensure(platform, lms)
    LineItem.objects.update(url="", claimed_at=timezone.now())
    with pytest.raises(ServiceError, match="lineitem-busy"):
        ensure(platform, lms)
    LineItem.objects.update(claimed_at=timezone.now() - CLAIM - timedelta(seconds=1))

    assert ensure(platform, lms) == url
    assert len(made(lms)) == 1


@pytest.mark.parametrize("status", [500, 503])
def test_a_failure_doesn_t_block(platform: Platform, lms: Lms, status: int) -> None:
    """After a failure the next try goes at once, and looks before it creates."""
    lms.be(tool=tool_pem(), behaviour={"lineitems": {"status": status, "times": 1}})
    with pytest.raises(ServiceError) as caught:
        ensure(platform, lms)

    assert caught.value.retry
    assert "/5/" in ensure(platform, lms)
    assert len(made(lms)) == 1


@pytest.mark.parametrize(
    "body, code",
    [("nonsense", "lineitems"), ({"items": []}, "lineitems"), (["x", 3, None], "")],
)
def test_lists_that_can_t_be_read(platform: Platform, lms: Lms, body: Any, code: str) -> None:
    """Before anything is created the list has to be one; what isn't a column in it is passed over."""
    lms.be(tool=tool_pem(), behaviour={"lineitems": {"status": 200, "body": body, "times": 1}})
    if code:
        with pytest.raises(ServiceError, match=code):
            ensure(platform, lms)
        assert made(lms) == []
    else:
        assert "/5/" in ensure(platform, lms)


def test_a_list_without_end(platform: Platform, lms: Lms) -> None:
    """A next page that is the same again is an error, not a loop."""
    url = f"{lms.base}/course/2/lineitems?resource_link_id=7&type_id=1"
    wish = {"status": 200, "body": [], "headers": {"Link": f'<{url}>; rel="next"'}, "times": 9}
    lms.be(tool=tool_pem(), behaviour={"lineitems": wish})
    with pytest.raises(ServiceError, match="pages"):
        ensure(platform, lms)

    assert len(lms.asked("/lineitems")) <= 2


def test_a_list_that_leads_elsewhere(platform: Platform, lms: Lms) -> None:
    """Our token goes to no other server."""
    wish = {"status": 200, "body": [], "headers": {"Link": '<https://evil.example/x>; rel="next"'}}
    lms.be(tool=tool_pem(), behaviour={"lineitems": wish})
    with pytest.raises(ServiceError, match="pages-origin"):
        ensure(platform, lms)


@pytest.mark.parametrize(
    "url, scores",
    [
        ("https://l/i?type_id=1", "https://l/i/scores?type_id=1"),
        ("https://l/i", "https://l/i/scores"),
        ("https://l/i/", "https://l/i/scores"),
        ("https://l/i/lineitem?a=b%2Fc&d", "https://l/i/lineitem/scores?a=b%2Fc&d"),
    ],
)
def test_scores_stand_before_the_query(url: str, scores: str) -> None:
    """What is below a line item's address goes into its path, and the query stays as it is."""
    assert below(url, "scores") == scores


def test_a_query_gets_more() -> None:
    """What was there stays, and a value is set once."""
    assert with_query("https://l/i?type_id=1&rlid=5", rlid="a b") == "https://l/i?type_id=1&rlid=a+b"
