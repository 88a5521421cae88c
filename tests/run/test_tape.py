"""The record of random numbers, made in a real worker: what came back is noted, and nothing that is drawn changes."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from grader.core.observed import unfold
from grader.model import DrawsWanted, Outcome
from grader.run.replay import replay_draws
from tests.run.arena import Arena, arena

WAYS = """
import random
import numpy as np
from numpy.random import randn, default_rng, RandomState, Generator, PCG64, PCG64DXSM, Philox, SFC64, MT19937

def module_functions(seed):
    np.random.seed(seed)
    return [np.random.randn(3, 2), np.random.normal(size=4), np.random.standard_normal(5), np.random.rand(2),
            np.random.random(3), np.random.random_sample(2), np.random.uniform(size=2)]

def imported_by_name(seed):
    np.random.seed(seed)
    return [randn(4), randn(), randn(2, 3)]

def randomstate(seed):
    rng = RandomState(seed)
    return [rng.randn(3), rng.normal(size=(2, 2)), rng.standard_normal(), rng.rand(2), rng.uniform(-1, 1, 3)]

def randomstate_by_keyword(seed):
    return [np.random.RandomState(seed=seed).randn(3)]

def rng(seed):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((2, 3)), rng.normal(size=3), rng.random(4), rng.uniform(0, 2, size=2), rng.normal()]

def rng_of_a_sequence(seed):
    return [np.random.default_rng([seed, 1]).normal(size=3), default_rng(np.random.SeedSequence(seed)).random(2)]

def rng_of_a_rng(seed):
    rng = default_rng(seed)
    assert default_rng(rng) is rng
    return [rng.random(2), default_rng(rng).random(2)]

def rng_of_a_bit_generator(seed):
    return [default_rng(PCG64(seed)).normal(size=3)]

def pcg64(seed):
    return [Generator(PCG64(seed)).standard_normal(5)]

def pcg64dxsm(seed):
    return [Generator(PCG64DXSM(seed)).standard_normal(5)]

def philox(seed):
    return [Generator(Philox(seed)).standard_normal(5)]

def sfc64(seed):
    return [Generator(SFC64(seed)).standard_normal(5)]

def mt19937(seed):
    return [Generator(MT19937(seed)).standard_normal(5)]

def randomstate_of_a_bit_generator(seed):
    return [RandomState(MT19937(seed)).randn(5)]

def location_and_scale(seed):
    rng = default_rng(seed)
    return [rng.normal(1, 2, size=3), rng.normal(loc=-1.5, scale=np.float64(0.5), size=(2, 2)), rng.normal(3)]

def arrays_of_locations(seed):
    return [default_rng(seed).normal(np.arange(3.0), 0, size=3)]

def single_precision(seed):
    rng = default_rng(seed)
    return [rng.standard_normal(4, dtype=np.float32), rng.random((2, 2), dtype="float32")]

def into_an_array(seed):
    rng = default_rng(seed)
    place = np.zeros((2, 3))
    again = rng.standard_normal(out=place)
    assert again is place
    return [place.copy()]

def scalars_in_a_loop(seed):
    rng = default_rng(seed)
    return [np.array([rng.normal() for _ in range(50)])]

def small_draws(seed):
    np.random.seed(seed)
    return [np.array([np.random.randn(2) for _ in range(20_000)])]

def seeded_again(seed):
    drawn = []
    for _ in range(3):
        np.random.seed(seed)
        drawn.append(np.random.randn(3))
    return drawn

def seeded_again_by_method(seed):
    rng = RandomState(seed)
    first = rng.randn(2)
    rng.seed(seed)
    return [first, rng.randn(2)]

def state_put_back(seed):
    np.random.seed(seed)
    state = np.random.get_state()
    first = np.random.randn(3)
    np.random.set_state(state)
    return [first, np.random.randn(3)]

def interleaved(seed):
    one, two = default_rng(seed), RandomState(seed)
    drawn = []
    for _ in range(3):
        drawn += [one.normal(size=2), two.randn(2)]
    return drawn

def spawned(seed):
    parent = default_rng(seed)
    return [child.normal(size=2) for child in parent.spawn(2)] + [parent.normal(size=2)]

def shuffled(seed):
    rng = default_rng(seed)
    first = rng.normal(size=4)
    rng.shuffle(first.copy())
    rng.permutation(5)
    np.random.seed(seed)
    np.random.shuffle([1, 2, 3])
    np.random.randint(5)
    return [first, rng.normal(size=2)]

def empty(seed):
    return [default_rng(seed).normal(size=0), default_rng(seed).normal(size=(0, 3))]

def nothing(seed):
    return []

def failing(seed):
    rng = default_rng(seed)
    first = rng.normal(size=2)
    try:
        rng.normal(scale=-1)
    except ValueError:
        pass
    return [first, rng.normal(size=2)]

def not_finite(seed):
    with np.errstate(all="ignore"):
        return [default_rng(seed).normal(float("nan"), 1, size=2)]

def unseeded_rng(seed):
    return [default_rng().normal(size=3), np.random.default_rng(None).normal(size=3)]

def unseeded_state(seed):
    return [RandomState().randn(3), np.random.RandomState(None).randn(2)]

def unseeded_global(seed):
    return [np.random.randn(3), np.array([random.random()])]

def unseeded_bit_generator(seed):
    return [Generator(PCG64()).normal(size=3), RandomState(MT19937()).randn(2)]

def seeded_with_nothing(seed):
    np.random.seed()
    first = np.random.randn(2)
    np.random.seed(None)
    return [first, np.random.randn(2)]

def are_what_they_are(seed):
    import copy, pickle
    made = [RandomState(seed), RandomState(), np.random.mtrand._rand, copy.deepcopy(RandomState(seed)),
            pickle.loads(pickle.dumps(RandomState(seed)))]
    rngs = [default_rng(seed), default_rng(), Generator(PCG64(seed)), copy.deepcopy(default_rng(seed)),
            default_rng(seed).spawn(1)[0]]
    names = [type(RandomState(1)).__name__, type(default_rng(1)).__name__, np.random.randn.__name__,
             np.random.default_rng.__name__, type(default_rng(1)).__module__]
    return [[isinstance(one, np.random.RandomState) for one in made],
            [isinstance(one, np.random.Generator) for one in rngs],
            names, [issubclass(RandomState, np.random.RandomState)]]

def many(seed, kind):
    if kind == "RandomState":
        rng = RandomState(seed)
    else:
        rng = Generator(getattr(np.random, kind)(seed))
    rng.normal(size=3)
    rng.standard_normal()
    return [rng.standard_normal((100, 100)), rng.normal(1, 2, size=5000), rng.uniform(size=(3, 1)), rng.random(7)]

def many_interleaved(seed):
    np.random.seed(seed)
    rng = default_rng(seed)
    drawn = []
    for _ in range(4):
        drawn += [np.random.randn(2001), rng.random(3000), np.random.rand(3), rng.standard_normal(5, dtype=np.float32)]
        np.random.permutation(3)
    return drawn

def very_many(seed):
    rng = RandomState(seed)
    return [rng.randn(2_000_000)[:0], rng.randn(2_000_001)[:0]]
"""


@pytest.fixture(scope="module")
def worker() -> Iterator[Arena]:
    """Return a loaded worker that knows all the ways."""
    with arena(WAYS) as made:
        assert made.load.kind == "returned", made.load
        yield made


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    """Return the same functions without a record, in this process."""
    names: dict[str, Any] = {}
    exec(WAYS, names)
    return names


def flat(parts: object) -> list[float]:
    """Return all numbers of a list of arrays, in order."""
    assert isinstance(parts, list)
    return [float(number) for part in parts for number in np.asarray(part).ravel()]


def numbers(outcome: Outcome) -> list[float]:
    """Return all numbers of the record, in order."""
    assert outcome.draws is not None
    drawn = unfold(outcome.draws)
    assert drawn is not None, outcome.draws
    return [float(number) for step in drawn for number in step.values.ravel()]


SEEDED = [
    node.name
    for node in ast.parse(WAYS).body
    if isinstance(node, ast.FunctionDef)
    and node.name not in ("are_what_they_are", "many", "many_interleaved", "very_many", "not_finite", "small_draws")
    and not node.name.startswith(("unseeded", "seeded_with"))
]


@pytest.mark.parametrize("wanted", ["values", "replay"])
@pytest.mark.parametrize("way", SEEDED)
def test_draws_are_recorded_as_they_are(worker: Arena, plain: dict[str, Any], way: str, wanted: DrawsWanted) -> None:
    """Whatever the way, the record holds the numbers that came back, in order, and they are NumPy's own."""
    outcome = worker.ask(way, 5, draws=wanted)

    assert outcome.kind == "returned", outcome
    expected = flat(plain[way](5))
    assert numbers(outcome) == expected
    assert flat(worker.value(way, 5)) == expected


@pytest.mark.parametrize(
    "way, steps",
    [
        (
            "module_functions",
            [
                *[("randn", (), (3, 2)), ("normal", (0.0, 1.0), (4,)), ("standard_normal", (), (5,))],
                *[("rand", (), (2,)), ("random", (), (3,)), ("random_sample", (), (2,)), ("uniform", (0.0, 1.0), (2,))],
            ],
        ),
        (
            "location_and_scale",
            [("normal", (1.0, 2.0), (3,)), ("normal", (-1.5, 0.5), (2, 2)), ("normal", (3.0, 1.0), ())],
        ),
        ("arrays_of_locations", [("normal?", (), (3,))]),
        ("into_an_array", [("standard_normal", (), (2, 3))]),
        ("empty", [("normal", (0.0, 1.0), (0,)), ("normal", (0.0, 1.0), (0, 3))]),
        ("nothing", []),
    ],
    ids=["module functions", "location and scale", "arrays of locations", "into an array", "empty", "nothing"],
)
def test_methods_parameters_and_shapes(worker: Arena, way: str, steps: list[object]) -> None:
    """A step says the method, its parameters if they are single numbers, and the shape that came back."""
    draws = worker.ask(way, 5, draws="values").draws

    assert draws is not None
    assert draws.complete
    assert [(step.method, step.args, step.shape) for step in draws.steps] == steps


def test_single_precision_is_named(worker: Arena) -> None:
    """A step says the precision in which was drawn."""
    draws = worker.ask("single_precision", 5, draws="values").draws

    assert draws is not None
    assert {step.dtype for step in draws.steps} == {"<f4"}


def test_equal_draws_in_a_row_are_one_step(worker: Arena, plain: dict[str, Any]) -> None:
    """20,000 small draws of one generator are one step, also when they have to be replayed."""
    draws = worker.ask("small_draws", 5, draws="replay").draws

    assert draws is not None
    assert [(step.method, step.shape, step.count) for step in draws.steps] == [("randn", (2,), 20_000)]
    assert len(draws.sources) == 1
    assert draws.values is None
    replayed = replay_draws(draws)
    assert replayed.values is not None
    assert replayed.values.data == plain["small_draws"](5)[0].tobytes()


@pytest.mark.parametrize(
    "way, sources",
    [("seeded_again", 3), ("seeded_again_by_method", 2), ("state_put_back", 2), ("interleaved", 2), ("spawned", 3)],
)
def test_a_new_state_is_a_new_source(worker: Arena, way: str, sources: int) -> None:
    """Each generator, and each time that one is seeded again, is a source of its own."""
    draws = worker.ask(way, 5, draws="values").draws

    assert draws is not None
    assert len(draws.sources) == sources


def test_other_methods_are_named(worker: Arena) -> None:
    """What else was drawn is named, and cuts the record of its generator so that a replay can't go wrong."""
    draws = worker.ask("shuffled", 5, draws="values").draws

    assert draws is not None
    assert draws.complete
    assert set(draws.others) == {"shuffle", "permutation", "randint"}
    assert [step.source for step in draws.steps] == [0, 1]


def test_a_parameter_that_is_no_number(worker: Arena) -> None:
    """NaN as a location is the student's business: the call returns, and no parameters are said."""
    outcome = worker.ask("not_finite", 5, draws="values")

    assert outcome.kind == "returned", outcome
    assert outcome.draws is not None
    assert outcome.draws.steps[0].args == ()


@pytest.mark.parametrize("kind", ["rng", "state", "global", "bit_generator"])
def test_unseeded_draws_are_the_same_for_the_same_call(worker: Arena, kind: str) -> None:
    """Generators without a seed get one of the call: the same in every run, another for each generator and seed."""
    way = f"unseeded_{kind}"
    first, again, other = (flat(worker.value(way, 5, seed=seed)) for seed in (11, 11, 12))

    assert first == again
    assert not set(first) & set(other)
    assert len(set(first)) == len(first)


def test_seeding_with_nothing_is_the_same_for_the_same_call(worker: Arena) -> None:
    """``np.random.seed()`` asks for chance, and still replays."""
    first, again, other = (flat(worker.value("seeded_with_nothing", 5, seed=seed)) for seed in (11, 11, 12))

    assert first == again
    assert not set(first) & set(other)
    assert len(set(first)) == len(first)


def test_unseeded_draws_are_the_same_in_another_worker(worker: Arena) -> None:
    """The same holds from one process to the next."""
    ways = ("unseeded_rng", "unseeded_state", "unseeded_global")
    with arena(WAYS) as other:
        for way in ways:
            assert flat(worker.value(way, 5, seed=3)) == flat(other.value(way, 5, seed=3))


@pytest.mark.parametrize("seed", [0, (1 << 32) - 1, 1 << 32, (1 << 53) - 1])
def test_every_seed_of_the_grader_is_one(worker: Arena, seed: int) -> None:
    """NumPy's global generator takes 32 bits, the grader 53: no seed stops a worker."""
    first, again = (flat(worker.value("unseeded_global", 5, seed=seed)) for _ in range(2))

    assert first == again


def test_types_are_what_they_are(worker: Arena) -> None:
    """``isinstance`` and the names of NumPy's types and functions hold as ever, for copies too."""
    names = ["RandomState", "Generator", "randn", "default_rng", "numpy.random"]

    assert worker.value("are_what_they_are", 5) == [[True] * 5, [True] * 5, names, [True]]


def test_numbers_are_sent_while_they_are_few(worker: Arena) -> None:
    """Up to 64 KiB the numbers themselves are sent, with no state; beyond it states and digests."""
    few = worker.ask("interleaved", 5, draws="replay").draws
    many = worker.ask("many", 5, "PCG64", draws="replay").draws
    unwanted = worker.ask("many", 5, "PCG64", draws="values").draws

    assert few is not None
    assert few.values is not None
    assert all(source.state is None for source in few.sources)
    assert many is not None
    assert (many.values, many.complete) == (None, True)
    assert all(source.state is not None and len(source.sha256) == 64 for source in many.sources)
    assert unwanted is not None
    assert (unwanted.values, unwanted.complete) == (None, False)
    assert [step.shape for step in unwanted.steps] == [(3,), (), (100, 100), (5000,), (3, 1), (7,)]


def test_nothing_is_recorded_unless_it_is_wanted(worker: Arena) -> None:
    """A call whose draws nobody wants has no record."""
    assert worker.ask("rng", 5).draws is None


@pytest.mark.parametrize("kind", ["RandomState", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_replayed_draws_are_the_same_bits(worker: Arena, plain: dict[str, Any], kind: str) -> None:
    """Draws beyond 64 KiB come back to the bit from the state of each of NumPy's generators."""
    draws = worker.ask("many", 5, kind, draws="replay").draws
    assert draws is not None

    replayed = replay_draws(draws)

    assert replayed.complete
    drawn = unfold(replayed)
    assert drawn is not None
    rest = np.concatenate([step.values.ravel() for step in drawn[2:]])
    expected = np.concatenate([part.ravel() for part in plain["many"](5, kind)])
    assert rest.tobytes() == expected.tobytes()


def test_interleaved_draws_are_replayed_in_order(worker: Arena, plain: dict[str, Any]) -> None:
    """Several sources, single precision and methods that aren't recorded in between: all comes back in order."""
    draws = worker.ask("many_interleaved", 5, draws="replay").draws
    assert draws is not None
    assert draws.values is None

    replayed = replay_draws(draws)

    drawn = unfold(replayed)
    assert drawn is not None
    assert [float(n) for step in drawn for n in step.values.ravel()] == flat(plain["many_interleaved"](5))


def test_too_many_draws_are_not_recorded(worker: Arena) -> None:
    """4,000,001 numbers are neither sent nor replayed: their shapes are known, they aren't."""
    draws = worker.ask("very_many", 5, draws="replay").draws

    assert draws is not None
    assert (draws.values, draws.complete) == (None, False)
    assert [step.shape for step in draws.steps] == [(2_000_000,), (2_000_001,)]


def test_signatures_are_kept(plain: dict[str, Any]) -> None:
    """What the table calls is what it says (a slip in the table would test nothing)."""
    assert len(SEEDED) > 20
    assert all(list(inspect.signature(plain[way]).parameters) == ["seed"] for way in SEEDED)
