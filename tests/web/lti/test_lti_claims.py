"""Claims as platforms send them, and as nobody should."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.web.lti.addresses import origin, split, web_url
from grader.web.lti.claims import DEEP_LINK, LTI, UNFIT, read_deep_link, read_launch
from grader.web.lti.launch import Launch
from grader.web.lti.refusals import REASONS, Refusal
from grader.web.lti.roles import INSTRUCTORS, LEARNERS, roles_in

DATA = Path(__file__).resolve().parents[2] / "data" / "lti"
MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership"


def sample(who: str) -> dict[str, Any]:
    """Return the claims of a launch by a real Moodle 4.5."""
    found: dict[str, Any] = json.loads((DATA / f"lti_launch_claims_{who}.json").read_text(encoding="utf-8"))
    return found


def test_a_student_of_moodle() -> None:
    """A real launch is read to the last field."""
    base = "http://127.0.0.1:8765"
    assert read_launch(sample("student"), 7) == Launch(
        platform_id=7,
        deployment_id="1",
        context_id="2",
        context_title="Deep Learning 101",
        resource_link_id="1",
        resource_title="Autograded HW (LTI)",
        user="4",
        name="Alice Example",
        email="alice@example.invalid",
        roles=frozenset({"learner"}),
        message="resource",
        custom=(
            ("assignment", "hw1"),
            ("context_memberships_url", f"{base}/mod/lti/services.php/CourseSection/2/bindings/1/memberships"),
            ("context_setting_url", f"{base}/mod/lti/services.php/CourseSection/2/bindings/tool/1/custom"),
            ("link_setting_url", f"{base}/mod/lti/services.php/links/{{link_id}}/custom"),
            ("system_setting_url", f"{base}/mod/lti/services.php/tool/1/custom"),
        ),
        lineitem=f"{base}/mod/lti/services.php/2/lineitems/4/lineitem?type_id=1",
        lineitems=f"{base}/mod/lti/services.php/2/lineitems?type_id=1",
        scopes=frozenset(
            f"https://purl.imsglobal.org/spec/lti-ags/scope/{name}"
            for name in ("lineitem", "lineitem.readonly", "result.readonly", "score")
        ),
        memberships=f"{base}/mod/lti/services.php/CourseSection/2/bindings/1/memberships",
        for_user="",
        return_url=f"{base}/mod/lti/return.php?course=2&launch_container=2&instanceid=1",
        locale="en",
    )


def test_a_teacher_of_moodle() -> None:
    """The same course, the same link, another role."""
    launch = read_launch(sample("teacher"), 7)

    assert (launch.user, launch.roles) == ("3", frozenset({"instructor"}))


def test_a_review() -> None:
    """An instructor looks at anybody's submission, a learner at the own one."""
    review = {f"{LTI}/message_type": "LtiSubmissionReviewRequest", f"{LTI}/for_user": {"user_id": "4"}}

    assert read_launch({**sample("teacher"), **review}, 1).for_user == "4"
    assert read_launch({**sample("student"), **review}, 1).message == "review"


def test_without_a_course() -> None:
    """A link may stand outside of a course."""
    claims = sample("student")
    del claims[f"{LTI}/context"]

    assert read_launch(claims, 1).context_id == ""


def test_texts_are_cleaned_and_cut() -> None:
    """What is only shown is cut and freed of what turns text around; what isn't a web address isn't one."""
    claims = sample("student")
    claims |= {"name": "\u202eecilA\0" + "x" * 900, "email": 5}
    claims[f"{LTI}/launch_presentation"] = {"return_url": "javascript:alert(1)", "locale": ["en"]}
    claims[f"{LTI}/custom"] = {"n": 3, "b": True, "l": [], "s\0": "a\nb", "f": 1.5}
    launch = read_launch(claims, 1)

    assert launch.name.startswith("ecilAx")
    assert len(launch.name) <= 500
    assert (launch.email, launch.return_url, launch.locale) == ("", "", "")
    assert launch.custom == (("f", "1.5"), ("n", "3"), ("s", "ab"))


def test_names_from_their_parts() -> None:
    """Without the whole name, given and family name."""
    claims = sample("student")
    del claims["name"]

    assert read_launch(claims, 1).name == "Alice Example"


@pytest.mark.parametrize(
    "roles, expected",
    [
        ([f"{MEMBERSHIP}#Learner"], {"learner"}),
        ([f"{MEMBERSHIP}#Instructor"], {"instructor"}),
        ([f"{MEMBERSHIP}/Instructor#TeachingAssistant"], {"instructor"}),
        ([f"{MEMBERSHIP}#Learner", f"{MEMBERSHIP}/Instructor#TeachingAssistant"], {"learner", "instructor"}),
        ([f"{MEMBERSHIP}/Learner#Instructor"], {"learner"}),
        ([f"{MEMBERSHIP}/Instructor#GuestInstructor"], set()),
        ([f"{MEMBERSHIP}#instructor"], set()),
        ([f" {MEMBERSHIP}#Instructor"], set()),
        ([f"{MEMBERSHIP}#Instructor/"], set()),
        (["urn:lti:role:ims/lis/Instructor"], set()),
        (["Instructor", 3, None, [f"{MEMBERSHIP}#Instructor"]], set()),
    ],
)
def test_roles(roles: list[Any], expected: set[str]) -> None:
    """By full names only, to the letter."""
    assert roles_in(roles) == expected


JSONS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.text(st.characters(), max_size=300),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYS = [*sample("student"), f"{LTI}/for_user", DEEP_LINK]
KINDS = st.sampled_from(["LtiResourceLinkRequest", "LtiDeepLinkingRequest", "LtiSubmissionReviewRequest"])


def check(launch: Launch) -> None:
    """See that a launch can be kept and shown whatever the claims were."""
    assert launch.roles
    assert launch.user
    assert launch.deployment_id
    assert launch.message == "review" or not launch.for_user
    assert launch.message == "review" or (launch.message == "deep_link") == (not launch.resource_link_id)
    assert launch.resource_link_id or launch.lineitem or launch.message == "deep_link"
    texts = [launch.user, launch.name, launch.email, launch.context_id, launch.context_title, launch.resource_link_id]
    texts += [launch.resource_title, launch.for_user, launch.locale, *(text for pair in launch.custom for text in pair)]
    for text in texts:
        assert not UNFIT.search(text)
        text.encode()
        assert len(text) <= 2000
    for url in (launch.lineitem, launch.lineitems, launch.memberships, launch.return_url):
        assert url == "" or url.startswith(("http://", "https://", "HTTP", "Http"))
    hash(launch)


@given(st.dictionaries(st.sampled_from(KEYS), JSONS, max_size=4), KINDS, st.sampled_from(["student", "teacher"]))
def test_any_claims(changes: dict[str, Any], kind: str, who: str) -> None:
    """Whatever stands in place of some claims, there is a launch that can be kept, or a refusal with a reason."""
    claims = {**sample(who), f"{LTI}/message_type": kind, f"{LTI}/for_user": {"user_id": "4"}, **changes}
    try:
        check(read_launch(claims, 1))
    except Refusal as refusal:
        assert refusal.reason in REASONS  # noqa: PT017 - both outcomes are right
        assert len(refusal.detail) < 60  # noqa: PT017 - the same


@given(st.dictionaries(st.text(max_size=12), JSONS, max_size=5), st.sampled_from([*KEYS, ""]))
def test_any_inner_claims(inner: dict[str, Any], key: str) -> None:
    """The same one level down, where the objects are."""
    claims = sample("student")
    names = list(claims[key]) if isinstance(claims.get(key), dict) else []
    claims[key] = {**dict(zip(names, inner.values(), strict=False)), **inner}
    try:
        check(read_launch(claims, 1))
    except Refusal as refusal:
        assert refusal.reason in REASONS  # noqa: PT017 - both outcomes are right


@given(JSONS)
def test_any_deep_linking_settings(settings: Any) -> None:
    """There is a return address, or a refusal."""
    try:
        wanted = read_deep_link({DEEP_LINK: settings})
    except Refusal as refusal:
        assert refusal.reason in REASONS  # noqa: PT017 - both outcomes are right
    else:
        assert split(wanted.return_url)


@given(st.lists(st.sampled_from([*LEARNERS, *INSTRUCTORS, "x"]) | JSONS, max_size=5))
def test_roles_come_from_full_names(roles: list[Any]) -> None:
    """Nothing else makes an instructor."""
    found = roles_in(role for role in roles if isinstance(role, str))

    assert ("instructor" in found) == any(isinstance(role, str) and role in INSTRUCTORS for role in roles)


@pytest.mark.parametrize(
    "url, expected",
    [
        ("https://a.example/x?y", "https://a.example"),
        ("https://A.example:443/", "https://a.example"),
        ("http://a.example:8080", "http://a.example:8080"),
        ("https://[::1]:8443/", "https://[::1]:8443"),
        ("https://u@a.example/", ""),
        ("https://a.example\\@b.example/", ""),
        ("https://a.example\t.b.example/", ""),
        ("//a.example/", ""),
        ("ftp://a.example/", ""),
        ("https:///x", ""),
        ("https://a.example:99999/", ""),
        ("https://[::1/", ""),
        ("", ""),
    ],
)
def test_origins(url: str, expected: str) -> None:
    """As browsers see them; what they would read differently has none."""
    assert origin(url) == expected


@given(st.text(max_size=40) | st.from_regex(r"(https?|ftp)://[\w.:@\[\]\\/?#-]{0,30}"))
def test_any_address(text: str) -> None:
    """Whatever it is, an address or none comes out, never an exception."""
    assert web_url(text) in ("", text)
    assert origin(text) == "" or origin(origin(text)) == origin(text)
