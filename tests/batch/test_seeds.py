"""Seeds of a batch."""

from __future__ import annotations

import hypothesis
import hypothesis.strategies as st

from grader.batch.seeds import MAX_SEED, run_key, seed_of

HASHES = st.text("0123456789abcdef", min_size=64, max_size=64)


@hypothesis.given(st.integers(0, MAX_SEED - 1), HASHES, HASHES)
def test_a_seed_depends_on_run_assignment_and_bytes_only(run: int, one: str, other: str) -> None:
    """The same three give the same seed; another one of them gives another. All are whole numbers below 2^53."""
    seed = seed_of(run_key(run), "attention", one)

    assert 0 <= seed < MAX_SEED
    assert seed == seed_of(run_key(run), "attention", one)
    assert seed != seed_of(run_key(run + 1), "attention", one)
    assert seed != seed_of(run_key(run), "causal_attention", one)
    assert (seed == seed_of(run_key(run), "attention", other)) == (one == other)


def test_seeds_stay_what_they_are() -> None:
    """A run that is repeated with --seed years later has the same inputs."""
    assert seed_of(run_key(2340), "attention", "0" * 64) == 8785454870005776
