"""A working softmax, as the lesson prints it: put in place of a wrong one, so that it is paid for once."""

import numpy as np


def softmax(x, axis=-1):  # type: ignore[no-untyped-def]  # shown to learners, in the lesson's words
    x = np.asarray(x, dtype=float)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
