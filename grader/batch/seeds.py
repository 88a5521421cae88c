"""Seeds of a batch: those of one run belong together, and those of two files have nothing to do with each other."""

from __future__ import annotations

import hashlib
import hmac

__all__ = ["MAX_SEED", "run_key", "secret_of", "seed_of"]

MAX_SEED = 1 << 53
"""Every seed is below: a JSON number holds it exactly."""


def run_key(seed: int) -> bytes:
    """Return the key of a run that ``--seed`` names, or that was drawn after all files were handed in."""
    return hashlib.sha256(f"grade.batch/1:{seed}".encode()).digest()


def seed_of(key: bytes, assignment: str, sha256: str) -> int:
    """Return the seed of one submission: the same bytes get the same inputs, other bytes get others.

    Args:
        key: Of the run.
        assignment: Its id.
        sha256: Of the submission's main file, hexadecimal.
    """
    digest = hmac.digest(key, f"{assignment}\0{sha256}".encode(), "sha256")
    return int.from_bytes(digest[:8], "big") >> 11


def secret_of(hidden: bytes, assignment: str, sha256: str) -> str:
    """Return what the inputs of hidden criteria follow from, beside the seed.

    ``hidden`` is drawn anew for each run and is never printed: no number that a learner sees leads to it.
    """
    return hmac.digest(hidden, f"{assignment}\0{sha256}".encode(), "sha256")[:16].hex()
