"""The checks of every task."""

from __future__ import annotations

from grader.api import TaskChecks

from .attention import Attention
from .entropy import Entropy
from .ranking import Ranking
from .softmax import Softmax
from .variance import Variance

__all__ = ["TASKS"]

TASKS: dict[str, TaskChecks] = {
    "softmax": Softmax(),
    "attention": Attention(),
    "variance": Variance(),
    "entropy": Entropy(),
    "ranking": Ranking(),
}
