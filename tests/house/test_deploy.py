"""The files for containers: what they promise about rights and secrets is in them, and what they set is documented."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from grader.web.clients import client_of, networks
from tests.house.test_docs import ROOT, read

COMPOSE = "deploy/compose.yaml"


@pytest.fixture
def services() -> dict[str, Any]:
    """The services of the compose file."""
    found: dict[str, Any] = yaml.safe_load(read(COMPOSE))["services"]
    return found


@pytest.mark.parametrize("name", ["server", "worker"])
def test_ours_have_no_rights(services: dict[str, Any], name: str) -> None:
    """No capability, no way to win one, nothing of the image to be changed, nothing of the host to be seen."""
    service = services[name]

    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["read_only"] is True
    assert not {"privileged", "cap_add", "volumes", "devices", "pid", "ipc", "network_mode", "user"} & set(service)
    assert service["environment"]["GRADE_ISOLATION"] == "landlock"


def test_secrets_come_from_outside(services: dict[str, Any]) -> None:
    """No password stands in the file, and without one nothing starts."""
    text = read(COMPOSE)
    for name in ("GRADE_SECRET_KEY", "POSTGRES_PASSWORD", "GRADE_HOST"):
        assert f"${{{name}:?" in text
        assert re.search(rf"^{name}=", read("deploy/example.env"), re.M)
    assert services["database"]["environment"]["POSTGRES_PASSWORD"].startswith("${POSTGRES_PASSWORD:?")
    assert "ports" not in services["database"]


def test_only_the_proxy_is_reached(services: dict[str, Any]) -> None:
    """The server trusts its header, so nobody else may come to it."""
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    assert client_of("172.18.0.4", "203.0.113.7", networks(services["server"]["environment"]["GRADE_PROXIES"].split()))


def test_the_image_runs_as_nobody_much() -> None:
    """An ordinary user, by number, and every file that is copied is there."""
    lines = read("deploy/Containerfile").splitlines()
    copied = [name for line in lines if re.match("COPY (?!--from)", line) for name in line.split()[1:-1]]

    assert "USER 10001:10001" in lines
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert {"grader", "exercises", "reference", "reports", "pyproject.toml"} <= set(copied)


def test_every_variable_is_documented() -> None:
    """What the code reads from the environment stands in docs/server.md, and nothing else does."""
    code = read("grader/web/environment.py")
    code += "".join(read(f"grader/cli/{name}.py") for name in ("serve", "worker", "web"))
    inner = {"GRADE_WORKER", "GRADE_PARENT"}  # a server tells its own workers
    known = set(re.findall(r'"(GRADE_[A-Z_]+|DATABASE_URL)"', code)) - inner
    told = set(re.findall(r"^\| `(GRADE_[A-Z_]+|DATABASE_URL)`", read("docs/server.md"), re.M))

    assert "GRADE_BASE_URL" in known
    assert known == told


def test_what_is_copied_is_sent_to_the_builder() -> None:
    """What a builder sees is listed under the name that Docker and Podman both read, and hides no such file."""
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", read("deploy/Containerfile"), re.M)
    rules = read("deploy/Containerfile.dockerignore").splitlines()

    assert rules[0] == "*"
    assert {f"!{name}" for line in copied for name in line.split()} == {rule for rule in rules if rule[0] == "!"}
    assert "**/__pycache__" in rules


def test_every_engine_can_read_the_compose_file(services: dict[str, Any]) -> None:
    """podman-compose wants words in what must be set, and Podman knows no owner of a folder in memory."""
    assert re.findall(r"\$\{\w+:?\?\}", read(COMPOSE)) == []
    options = [
        option for service in services.values() for place in service.get("tmpfs", ()) for option in place.split(",")
    ]
    assert [option for option in options if option.startswith(("uid=", "gid="))] == []
    for name in ("server", "worker"):
        assert services[name]["environment"]["GRADE_DATA"].startswith(
            services[name]["tmpfs"][0].partition(":")[0] + "/"
        )
