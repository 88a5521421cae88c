"""pytest's way: a test for each check. The submission is named by ``SUBMISSION``."""

from __future__ import annotations

import os

import pytest
from checks import CHECKS, Functions, load


@pytest.fixture(scope="session")
def code() -> Functions:
    """Run the submission."""
    return load(os.environ["SUBMISSION"])


@pytest.mark.parametrize("check", [check for _, check in CHECKS], ids=lambda check: check.__name__)
def test_check(code: Functions, check) -> None:  # noqa: ANN001 - as pytest hands it over
    """Run one check."""
    check(code)
