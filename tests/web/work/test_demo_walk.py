"""The demo, from one end to the other, as a browser without script sees it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator

import pytest

from tests.web.work.servers import ROOT, Browser, Server

pytestmark = pytest.mark.slow

RIGHT = (ROOT / "examples" / "right.py").read_bytes()
WRONG = (ROOT / "examples" / "with_mistake.py").read_bytes()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The demo, with one worker."""
    made = Server(tmp_path_factory.mktemp("demo"), "--demo")
    made.start()
    yield made
    assert made.stop() == 0
    assert "Traceback" not in made.log


def test_a_learner_hands_in_twice_and_an_instructor_decides(server: Server) -> None:
    """Hand in, read, hand in again, see what changed; the instructor gives other points, and the log tells of it."""
    ada, ina = Browser(server.address), Browser(server.address)
    home = ada.enter("ada")
    assert "Nothing yet." in home

    first = ada.hand_in("mine.py", WRONG)
    page = ada.graded(first)
    assert "of 100 points" in page
    report = ada.get(ada.link("/report"))
    assert "default-src 'none'" in ada.headers["Content-Security-Policy"]
    assert ada.headers["Content-Security-Policy"].startswith("sandbox;")
    assert "</html>" in report

    ada.get(first)
    ada.get(ada.link(r"/a/[\w-]+/"))
    second = ada.hand_in("mine.py", RIGHT)
    page = ada.graded(second)
    assert "100 of 100 points" in page
    assert "Since attempt 1" in page
    assert "Now right: " in page

    roster = ina.enter("instructor")
    assert "Ada (student)" in roster
    assert "in the gradebook" in roster

    ina.get(second)
    assert ina.status == 200
    ina.post(ina.link("/override"), {"criterion": "softmax/values", "points": "7,5", "reason": "as agreed"})
    assert "Noted." in ina.text
    ina.graded(second)
    assert "100 points became" in ina.text
    seen = ada.get(second)
    assert "of 100 points" in seen
    assert "100 of 100" not in seen
    assert "as agreed" in ada.get(ada.link("/report"))

    log = ina.get(ina.link("/log"))
    for word in ("handed in", "graded", "override: softmax/values", "7.5: as agreed", "score sent"):
        assert word in log

    ina.get(ina.link(r"/a/[\w-]+/class"))
    address = ina.link("/download")
    with ina._opener.open(server.address + address) as answer:
        names = zipfile.ZipFile(io.BytesIO(answer.read())).namelist()
    assert {"gradebook.csv", "index.html"} <= set(names)
    assert sum(name.endswith("/result.json") for name in names) == 1
    assert sum(name.startswith("submissions/") for name in names) == 1


def test_a_receipt_proves_what_was_handed_in(server: Server) -> None:
    """Anybody can check one; what isn't signed isn't believed."""
    ben = Browser(server.address)
    ben.enter("ben")
    address = ben.hand_in("mine.py", RIGHT)
    receipt = ben.get(f"{address}receipt")
    assert "File: mine.py" in receipt

    stranger = Browser(server.address)
    stranger.get("/verify/")
    assert "This receipt is ours" in stranger.post("/verify/", {"receipt": receipt})
    assert "mine.py" in stranger.text
    assert "isn't a receipt" in stranger.post("/verify/", {"receipt": receipt[:-9] + "AAAA"})
    # What stands above the signature is only for people: what was signed is shown.
    assert "mine.py" in stranger.post("/verify/", {"receipt": receipt.replace("mine.py", "other.py")})
    assert "other.py" not in stranger.text.partition("<form")[0]


def test_the_server_says_how_it_is(server: Server) -> None:
    """Monitoring sees whether somebody grades."""
    health = server.health()
    assert (health["status"], health["workers"], health["code"]) == ("ok", 1, 200)


def test_no_text_of_a_submission_is_logged(server: Server) -> None:
    """Neither a name nor a line of what was handed in, nor what it prints or raises."""
    ben = Browser(server.address)
    ben.enter("ben")
    ben.graded(ben.hand_in("sesame-name.py", b"print('sesame-text')\nraise ValueError('sesame-error')\n"))
    assert "sesame" not in server.log
