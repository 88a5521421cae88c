"""Wrong references: what a learner's function would give who makes this mistake.

Targets and what ``predict`` gets: ``softmax/*``: (x, axis); ``attention/weights``: (Q, K); ``attention/out``:
(w, Q, K, V) with the learner's own weights; ``attention/shapes``: (Q, K, V) and gives whatever the function returns or
raises; ``variance/*``: (drawn, d, n) and yields candidates (raw, scaled); ``entropy/draws``: (scores, largest, d, n)
with one row of raw scores for each query-key pair that the draws may be read as, and yields candidate entropies;
``ranking/equal``: (scores, d) likewise, and yields candidate pairs of orders.
"""

from __future__ import annotations

from . import (
    wrong_entropy,
    wrong_out,
    wrong_ranking,
    wrong_scales,
    wrong_scores,
    wrong_shapes,
    wrong_softmax_axis,
    wrong_softmax_large,
    wrong_softmax_values,
    wrong_variance,
    wrong_weights,
)
from .book import BOOK

__all__ = ["BOOK", "PARTS", "SAID_BY_CHECKS"]

PARTS = (
    wrong_softmax_values,
    wrong_softmax_axis,
    wrong_softmax_large,
    wrong_scales,
    wrong_scores,
    wrong_weights,
    wrong_out,
    wrong_shapes,
    wrong_variance,
    wrong_entropy,
    wrong_ranking,
)
"""The modules that enter their mistakes in the book."""

SAID_BY_CHECKS = {
    "input_changed": "S21",
    "pair_swapped": "A17",
    "inputs_changed": "A31",
    "theory_returned": "V18",
    "same_numbers_always": "",
    "samples_ignored": "",
    "variances_swapped": "",
    "arguments_ignored": "E11",
    "widths_ignored": "E12",
    "conclusion_only": "R05 R18",
    "index_list": "R14",
    "weights_returned": "R17",
    "ranking_arguments_ignored": "",
    "positions_from_one": "",
    "keys_miscounted": "",
    "values_matched": "",
    "made_to_fall": "",
    "entropy_other_numbers": "",
}
"""Mistakes that a check sees by itself, where no value tells them: id to the names in the catalogue."""
