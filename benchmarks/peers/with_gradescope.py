"""Gradescope's way: unittest with weights and a JSON result. ``with_gradescope.py SUBMISSION RESULT``."""

from __future__ import annotations

import sys
import unittest
from collections.abc import Callable
from pathlib import Path

from checks import CHECKS, Functions, load
from gradescope_utils.autograder_utils.decorators import weight
from gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner


class Attention(unittest.TestCase):
    """All checks, on functions that are loaded once."""

    code: Functions

    @classmethod
    def setUpClass(cls) -> None:
        """Run the submission."""
        cls.code = load(sys.argv[1])


def as_test(points: int, check: Callable[[Functions], None]) -> Callable[[Attention], None]:
    """Return a check as a test with its points."""

    @weight(points)
    def run_check(self: Attention) -> None:
        check(self.code)

    run_check.__doc__ = check.__doc__
    return run_check


for number, (points, check) in enumerate(CHECKS):
    setattr(Attention, f"test_{number:02d}_{check.__name__}", as_test(points, check))

suite = unittest.defaultTestLoader.loadTestsFromTestCase(Attention)
with Path(sys.argv[2]).open("w", encoding="utf-8") as result:
    JSONTestRunner(visibility="visible", stream=result).run(suite)
