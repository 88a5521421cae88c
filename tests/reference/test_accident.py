"""How likely shown numbers agree with draws by accident."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reference.attention.accident import of_entropy


@pytest.mark.parametrize("shown", [[], [(math.inf, 0.1)], [(math.inf, math.inf)], [(1.0, math.inf)], [(math.nan, 0.1)]])
def test_what_is_no_number_agrees_with_nothing(shown: list[tuple[float, float]]) -> None:
    """Whatever a notebook prints, nothing is subtracted from what has no end."""
    assert of_entropy(shown, np.array([1.0, 0.5]), 2, 16, 8) is None


def test_more_numbers_agree_more_easily() -> None:
    """A number beside others is found by accident at least as easily as alone."""
    alone = of_entropy([(1.0, 0.001)], np.array([1.0]), 1, 16, 8)
    many = of_entropy([(1.0, 0.001), (0.5, 0.001), (1.5, 0.001)], np.array([1.0]), 1, 16, 8)
    assert alone is not None
    assert many is not None
    assert 0 < alone <= many <= 1
