"""The containers of ``deploy/``, built and run by a real engine: ``pytest -n 0 -m container``."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.store import load_transcript
from tests.attacks.attack import Attack, body
from tests.attacks.table import ATTACKS as EVERY_ATTACK
from tests.deploy.deployment import Deployment
from tests.web.work.servers import ROOT, Browser, until

pytestmark = pytest.mark.container

RIGHT = (ROOT / "examples" / "right.py").read_bytes()
WRONG = (ROOT / "examples" / "with_mistake.py").read_bytes()
SLOW = b"import time\nuntil = time.process_time() + 12\nwhile time.process_time() < until: pass\n" + RIGHT
GUARD = (Path(__file__).parent / "guard.py").read_text(encoding="utf-8")

OWN = (
    Attack(
        name="read_everybody",
        tries="reads the environment, memory and files of every process of the container, the worker's first",
        source=body(
            r"""
import re
WANTED = rb"SECRET-[A-Z]+-[0-9a-f]{16}"
for pid in [*range(1, 120), "self", "thread-self"]:
    for name in ("environ", "cmdline", "task/%s/environ" % pid):
        attempt(lambda: print(pid, re.findall(WANTED, open("/proc/%s/%s" % (pid, name), "rb").read())))
    attempt(lambda: print(os.listdir("/proc/%s/fd" % pid)), lambda: print(os.listdir("/proc/%s/root/tmp/data" % pid)))
print(re.findall(WANTED, repr(dict(os.environ)).encode()))
"""
        ),
    ),
    Attack(
        name="call_the_database",
        tries="connects to the database and to the server, by name and by number",
        source=body(
            """
import socket
for place in (("database", 5432), ("@DATABASE@", 5432), ("server", 8000), ("1.1.1.1", 53)):
    attempt(lambda: socket.create_connection(place, 2), harms="connects")
"""
        ),
    ),
    Attack(
        name="write_everywhere",
        tries="writes wherever the container can be written, and beside its own folder",
        source=body(
            """
for place in ("/data", "/tmp/data", "/tmp", "/dev/shm", "/run", "/", "/var/tmp", "..", "../..", "/opt/grade", "/etc"):
    attempt(lambda: open(os.path.join(place, PREFIX + "x"), "w").close(), harms="leaves something")
"""
        ),
    ),
)
KNOWN = (
    *(
        "read_solution",
        "read_neighbour",
        "read_grader",
        "read_by_handle",
        "read_own_process",
        "write_results",
        "delete",
    ),
    *("leave_messages", "signal_grader", "end_others", "signal_everybody", "trace_others", "read_grader_memory"),
    *("read_by_vm_call", "fork_many", "run_programs", "threads", "connect", "odd_sockets", "user_namespace", "mount"),
    *("memory_kept", "descriptors", "disk", "sparse", "many_files", "output"),
)
"""A few of each kind, out of those that are tried without a container on every build."""
ATTACKS = (*OWN, *(attack for attack in EVERY_ATTACK if attack.name in KNOWN))


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Everything that the compose file names, built and started."""
    made = Deployment(tmp_path_factory.mktemp("deploy"))
    try:
        made.up()
        yield made
    finally:
        made.down()


def entered(site: Deployment, person: str, number: str = "") -> Browser:
    """Return the browser of somebody in the demo's course, on their page."""
    made = site.browser()
    made.get("/demo/")
    made.post("/demo/", {"person": person, "number": number})
    assert made.status == 200, made.text[:500]
    return made


def test_landlock_works_there(deployed: Deployment) -> None:
    """In the worker's container, with all that it isn't allowed, ``grade doctor`` finds that Landlock works."""
    said = deployed.inside("worker", "grade", "doctor")

    assert re.search(r"^  landlock +works$", said, re.M), said


@pytest.mark.parametrize("service", ["server", "worker"])
def test_the_engine_takes_the_rights_away(deployed: Deployment, service: str) -> None:
    """An ordinary user without a capability, who can win none, below the engine's own filter, on a root for reading."""
    status = dict(re.findall(r"^(\w+):\t(.*)$", deployed.python(service, "print(open('/proc/1/status').read())"), re.M))

    assert status["Uid"].split() == ["10001"] * 4
    assert (int(status["CapPrm"], 16), int(status["CapBnd"], 16), status["NoNewPrivs"]) == (0, 0, "1")
    assert status["Seccomp"] == "2"
    code = "import os; print([os.access(place, os.W_OK) for place in ('/', '/etc', '/usr/local/bin', '/tmp')])"
    assert deployed.python(service, code).strip() == "[False, False, False, True]"


def test_a_learner_reads_a_report(deployed: Deployment) -> None:
    """Through the proxy: hand in, be graded in a worker's container, read the report; better the second time."""
    ada = entered(deployed, "ada")
    home = ada.url
    page = ada.graded(ada.hand_in("mine.py", WRONG))
    assert "of 100 points" in page
    assert "</html>" in ada.get(ada.link("/report"))
    ada.get(home)
    page = ada.graded(ada.hand_in("mine.py", RIGHT))

    assert "100 of 100 points" in page


def test_a_killed_worker_loses_nothing(deployed: Deployment) -> None:
    """The container of the worker is killed while it grades: the attempt is graded by the next one, once."""
    ben = entered(deployed, "ben")
    address = ben.hand_in("mine.py", SLOW)
    until(lambda: "is being graded" in ben.get(f"{address}state"), "a worker that has taken it")
    deployed.kill("worker")
    assert json.loads(ben.get(f"{address}state"))["waits"]
    deployed.start("worker")

    assert "100 of 100 points" in ben.graded(address)


def test_attacks_do_no_harm(deployed: Deployment) -> None:
    """Hostile files, one after the other, in the worker's container: no secret, no harm, no trace, no other process."""
    deployed.python("worker", GUARD, "guard", detached=True)
    before = until(lambda: looked(deployed), "a guard")
    started = {name: deployed.known(name)["State"]["StartedAt"] for name in ("server", "worker")}
    # The watch isn't blind: beside the worker, without isolation, secrets are to be read.
    said = deployed.python("worker", "print(open('/proc/1/environ').read())")
    assert all(secret in said for secret in deployed.secrets.values())
    package = deployed.python("worker", "import grader; print(grader.__path__[0])").strip()
    network = deployed.known("database")["NetworkSettings"]["Networks"]
    places = {
        "@ARENA@/course": package,
        "@ROOT@": str(Path(package).parent),
        "@ARENA@": "/tmp/data",
        "@SENTINEL@": str(before["pid"]),
        "@HOST@": "1",
        "@PORT@": str(before["port"]),
        "@ABSTRACT@": "attacks-on-a-container",
        "@DATABASE@": next(iter(network.values()))["IPAddress"],
    }
    for number, attack in enumerate(ATTACKS, 1):
        handed_in(deployed, attack, number, places)

    answers = told(deployed)
    wrong = {attack.name: trouble(deployed, attack, answers[number]) for number, attack in enumerate(ATTACKS, 1)}
    assert {name: said for name, said in wrong.items() if said} == {}
    after = until(lambda: still(deployed), "the worker to rest")
    for name in ("guard", "files", "left", "scratch"):
        assert after[name] == before[name], name
    assert {name: deployed.known(name)["State"]["StartedAt"] for name in started} == started
    assert deployed.health()["status"] == "ok"
    logs = deployed.logs()
    assert "Traceback" not in logs
    assert not any(secret in logs for secret in deployed.secrets.values())


def handed_in(site: Deployment, attack: Attack, number: int, places: dict[str, str]) -> None:
    """Hand an attack in as a learner of its own, and wait until it is graded."""
    source, ending = (attack.source, "py") if attack.source else (notebook(attack), "ipynb")
    for name, value in places.items():
        source = source.replace(name, value)
    learner = entered(site, "another", str(number))
    learner.graded(learner.hand_in(f"mine.{ending}", source.encode("utf-8", "surrogatepass")))


def notebook(attack: Attack) -> str:
    """Return the text of an attack's notebook."""
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": cell}
        for cell in attack.cells
    ]
    return attack.document or json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells})


def told(site: Deployment) -> dict[int, tuple[dict[str, Any], str, str]]:
    """Return result, printed text and all files of each learner by number, as the instructor downloads them."""
    ina = entered(site, "instructor")
    with ina._opener.open(site.address + ina.link("/download")) as answer:
        files = zipfile.ZipFile(io.BytesIO(answer.read()))
    found = {}
    for name in files.namelist():
        if known := re.fullmatch(r"(student-(\d+)-.*)/result\.json", name):
            transcript = load_transcript(files.read(f".grade/transcripts/{known[1]}.transcript"))
            everything = repr(transcript) + "".join(
                files.read(other).decode() for other in files.namelist() if other.startswith(f"{known[1]}/")
            )
            printed = "".join(outcome.stdout for outcome in transcript.outcomes)
            found[int(known[2])] = json.loads(files.read(name)), printed, everything
    return found


def trouble(site: Deployment, attack: Attack, answer: tuple[dict[str, Any], str, str]) -> list[str]:
    """Say what harm an attack did, by what is known of it afterwards."""
    result, printed, everything = answer
    found = re.findall(r"^HARM .*$", printed, re.M)
    found += [f"tells {kind}" for kind, secret in site.secrets.items() if secret in everything]
    if "SECRET-OTHERS" in everything or "SECRET-HOME" in everything:
        found.append("tells what others own")
    if not attack.at_least <= result["score"] <= attack.at_most:
        found.append(f"has {result['score']} points")
    if "ATTACK RUNS" not in printed and not attack.silent and "crashed" not in everything:
        found.append("never came to its attack")
    if result["environment"]["isolation"] != "landlock":
        found.append("ran without Landlock")
    return found


def looked(site: Deployment) -> dict[str, Any]:
    """Return what the guard sees."""
    seen: dict[str, Any] = json.loads(site.python("worker", GUARD, "look"))
    return seen


def still(site: Deployment) -> dict[str, Any] | None:
    """Return what the guard sees once nothing of a submission is left to be tidied up."""
    seen = looked(site)
    return seen if seen["scratch"] == ["/tmp/data"] else None
