"""All that a course may import: ``from grader import api``.

A course's ``checks.py`` names a ``TASKS`` mapping from task id to an object with two pure functions, ``plan`` and
``judge`` (see ``TaskChecks``). It gets ``Inputs`` to make random arguments from the submission's seed and ``Observed``
to see what came back, and answers with ``Case`` and ``Finding``. ``replace`` gives a copy of such an object with other
values, and ``data`` makes a class of the same kind: frozen, slotted, keyword-only.
"""

from grader.core.assignment import TaskChecks
from grader.core.cells import CellSeen, Number, ReadsCells
from grader.core.compare import DOUBLE, SINGLE, Expected, Verdict, as_array, compare, picture, unit_of
from grader.core.misconceptions import Book, Misconception, Observation
from grader.core.normality import looks_normal
from grader.core.observed import Case, Drawn, Inputs, Observed, Seen
from grader.core.statistics import chi2_interval, chi2_quantile, product_variance_interval
from grader.core.values import Pairs, kind_name
from grader.model import Band, Chart, Comparison, Finding, Line, Note, Opaque, Orders, Params, Status, Table
from grader.model._data import data, replace

__all__ = [
    "DOUBLE",
    "SINGLE",
    "Band",
    "Book",
    "Case",
    "CellSeen",
    "Chart",
    "Comparison",
    "Drawn",
    "Expected",
    "Finding",
    "Inputs",
    "Line",
    "Misconception",
    "Note",
    "Number",
    "Observation",
    "Observed",
    "Opaque",
    "Orders",
    "Pairs",
    "Params",
    "ReadsCells",
    "Seen",
    "Status",
    "Table",
    "TaskChecks",
    "Verdict",
    "as_array",
    "chi2_interval",
    "chi2_quantile",
    "compare",
    "data",
    "kind_name",
    "looks_normal",
    "picture",
    "product_variance_interval",
    "replace",
    "unit_of",
]
