"""Right programs that look odd: they keep all their points, whatever stands against attacks."""

from __future__ import annotations

from tests.attacks.attack import HONEST, Attack

__all__ = ["ATTACKS"]

_DEFS = HONEST.split("def measure_variance", maxsplit=1)
_REST = "def measure_variance" + _DEFS[1]

ATTACKS = (
    Attack(
        name="honest_many_draws",
        tries="nothing: it draws q and k anew for each of its samples",
        source=HONEST
        + """
def measure_variance(d_k=1024, n_samples=10_000, seed=42):
    r = np.random.RandomState(seed)
    s = np.empty(n_samples)
    for i in range(n_samples):
        q, k = r.randn(d_k), r.randn(d_k)
        s[i] = q @ k
    return s.var(), (s / np.sqrt(d_k)).var()
""",
        at_most=100,
        at_least=100,
        roomy=True,
        silent=True,
    ),
    Attack(
        name="honest_unrecorded",
        tries="nothing: it draws where no record is kept",
        source=HONEST
        + """
import copy, pickle, statistics
def _normal(seed, *shape):
    r = pickle.loads(pickle.dumps(np.random.mtrand.RandomState(seed)))
    return copy.deepcopy(r).normal(size=shape)
def measure_variance(d_k=1024, n_samples=10_000, seed=42):
    s = (_normal(seed, n_samples, d_k) * _normal(seed + 1, n_samples, d_k)).sum(1)
    return s.var(), s.var() / d_k
def entropy_sweep(d_ks=(4, 16, 64, 256), n_keys=8, seed=42):
    found = []
    for d in d_ks:
        v = np.array(statistics.NormalDist().samples(d * (n_keys + 1), seed=seed))
        p = softmax(v[d:].reshape(n_keys, d) @ v[:d])
        found.append(float(-(p * np.log(p + 1e-300)).sum()))
    return found
def compare_rankings(d_k=256, n_keys=8, seed=42):
    r = np.random.mtrand._rand
    r.seed(seed)
    q, K = r.standard_normal(d_k), r.standard_normal((n_keys, d_k))
    return np.argsort(K @ q), np.argsort(K @ q / np.sqrt(d_k))
""",
        at_most=100,
        at_least=100,
        roomy=True,
        silent=True,
    ),
    Attack(
        name="honest_magic_like",
        tries="nothing: lines that begin with % or ! are strings and continuations",
        cells=(
            "import numpy as np\\ntext = '''\\n%matplotlib inline\\n!rm x\\n'''\\nassert '%mat' in text and (7\\n% 4) == 3".replace(
                "\\n", "\n"
            ),
            "%%time\n\nimport numpy as np\n" + _DEFS[0],
            _REST,
        ),
        at_most=100,
        at_least=100,
        roomy=True,
        silent=True,
    ),
    Attack(
        name="honest_noisy",
        tries="nothing: it prints, warns, keeps files and starts a thread on its way to the right answer",
        source=HONEST
        + """
import os, tempfile, threading, warnings
print("\\U0001f600", "é" * 100, {1: 2})
warnings.warn("careful")
with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "notes.txt"), "w") as file:
    file.write("x")
np.save("kept.npy", np.arange(3))
assert np.load("kept.npy").sum() == 3
_thread = threading.Thread(target=print, args=("thread",))
_thread.start()
_thread.join()
np.linalg.svd(np.random.rand(50, 50)), np.fft.fft(np.arange(64.0)), np.linalg.inv(np.eye(9))
""",
        at_most=100,
        at_least=100,
        roomy=True,
        silent=True,
    ),
    Attack(
        name="honest_imports",
        tries="nothing: it imports what lessons import, first thing",
        source="""
import collections, csv, dataclasses, datetime, decimal, functools, itertools, json, logging, math, multiprocessing
import operator, os, pathlib, pprint, random, re, statistics, string, subprocess, sys, time, typing, unittest, zoneinfo
import matplotlib.pyplot as plt
import pandas as pd
from tqdm import tqdm
import numpy.testing, numpy.fft, numpy.polynomial, numpy.ma
plt.plot([1, 2]); plt.show()
"""
        + HONEST,
        at_most=100,
        at_least=100,
        roomy=True,
        silent=True,
    ),
)
