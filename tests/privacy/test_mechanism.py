"""Plans, the mechanism that draws for them, and its transcripts."""

import math
import pickle
from functools import partial

import numpy as np
import pytest

from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.privacy import mechanism as module
from dpsco_bench.privacy.plan import GaussianQuery, LastIterate, PrivacySpec, Query, last_iterate, make_plan
from dpsco_bench.privacy.queries import GeneralisedGaussianQuery
from dpsco_bench.privacy.records import Poisson, RandomAllocation, SingleIndex, WithoutReplacement, WithReplacement
from dpsco_bench.privacy.transcript import Recorder, Replay
from dpsco_bench.problems.base import Constants

from .plans import Halving, plan_of, source

SUM, SINGLE = GaussianQuery("sum", 1.0, 50, Poisson(0.1)), GaussianQuery("single", 1.0, 50, SingleIndex(40))
PLAN = plan_of(GaussianQuery("gradient", 1.0, 6), SUM, SINGLE, n=40)
SCALES = {"gradient": 2.0, "sum": 0.5, "single": 1.0}
drawing = partial(source, PLAN, SCALES)


def noise(mechanism, name="gradient", step=0, d=3, replicates=4):
    return mechanism.release(name, np.zeros((replicates, d)), step)


def test_noise_is_keyed_and_does_not_depend_on_the_order_of_releases(monkeypatch):
    base = noise(drawing())
    np.testing.assert_array_equal(base, noise(drawing()))
    others = [noise(drawing(**key)) for key in ({"what": "else"}, {"seed": 2}, {"first": 4})]
    for other in (*others, noise(drawing(), step=1), noise(drawing(), "sum") * 4):
        assert not np.isin(other, base).any()
    forward = drawing()
    expected = [noise(forward, step=t) for t in range(6)]
    for block in (1, 12, 24, 1 << 20):
        monkeypatch.setattr(module, "BLOCK_VALUES", block)
        mechanism = drawing()
        for step in (4, 0, 5, 1, 3, 2):
            np.testing.assert_array_equal(noise(mechanism, step=step), expected[step])


@pytest.mark.parametrize("name", ["sum", "single"])
def test_batches_do_not_depend_on_blocks(monkeypatch, name):
    expected = [drawing().sample(name, t) for t in range(50)]
    monkeypatch.setattr(module, "BLOCK_VALUES", 20)
    mechanism = drawing()
    for step in (7, 0, 49, 3):
        again = mechanism.sample(name, step)
        np.testing.assert_array_equal(again.indices, expected[step].indices)
        np.testing.assert_array_equal(again.mask, expected[step].mask)


def test_batches_have_the_law_that_is_charged_and_permutations_are_uniform():
    subset = GaussianQuery("subset", 1.0, 50, WithoutReplacement(40, 4))
    several = GaussianQuery("several", 1.0, 50, WithReplacement(20, 6))
    plan = plan_of(SUM, SINGLE, subset, several, n=40)
    drawn = source(plan, 1.0, 400)
    sizes = np.stack([drawn.sample("sum", t).sizes for t in range(50)])
    assert abs(sizes.mean() - 40 * 0.1) < 5 * np.sqrt(40 * 0.1 * 0.9 / sizes.size)
    for name, size in (("subset", 4), ("single", 1), ("several", 6)):
        batch = drawn.sample(name, 0)
        assert (batch.sizes == size).all() and batch.indices.shape == (400, size) and batch.expected_size == size
    batches = [drawn.sample("several", t).indices for t in range(30)]
    counts = np.bincount(np.ravel(batches), minlength=20)
    assert np.abs(counts - 3600).max() < 5 * np.sqrt(3600)
    np.testing.assert_array_equal(source(plan, 1.0, 10, 50).sample("several", 7).indices, batches[7][50:60])
    whole = drawing(6000).permutation("records", 3)
    assert (np.sort(whole, axis=1) == [0, 1, 2]).all()
    counts = np.unique(whole, axis=0, return_counts=True)[1]
    assert len(counts) == 6 and np.abs(counts - 1000).max() < 5 * np.sqrt(1000)
    np.testing.assert_array_equal(drawing(5, 7).permutation("records", 3), whole[7:12])
    assert not np.array_equal(drawing(6000).permutation("others", 3), whole)


def test_noise_has_the_dtype_of_the_state():
    scales = {name: np.float64(scale) for name, scale in SCALES.items()}
    released = source(PLAN, scales, dtype="float32").release("gradient", np.zeros((4, 3), dtype=np.float32))
    assert released.dtype == np.float32
    np.testing.assert_array_equal(released, noise(drawing()).astype(np.float32))


def test_undeclared_excess_and_repeated_releases_are_refused():
    mechanism = drawing()
    noise(mechanism, step=2)
    told = {-1: "in 0..5, as the plan declares", 6: "in 0..5", 2: "a step that was not released before"}
    for step, range in told.items():
        with pytest.raises(InputError, match=f"^release of gradient = {step}: must be {range}"):
            noise(mechanism, step=step)
    with pytest.raises(InputError, match="^query = 'other'"):
        noise(mechanism, "other")


def test_a_plan_reads_like_its_schedule():
    assert PrivacySpec(1, 1e-5).log_inverse_delta == pytest.approx(5 * math.log(10), rel=1e-15)
    assert math.isfinite(PrivacySpec(1, 5e-324).log_inverse_delta)
    assert PrivacySpec(1, 1 - 1e-15).log_inverse_delta > 0
    query = GaussianQuery("gradient", 0.5, 3)
    plan = make_plan(query, gradient_evaluations=12, steps=3, step=0.1)
    assert (plan.steps, plan.step, plan.gradient_evaluations) == (3, 0.1, 12.0)
    assert plan.query("gradient") is query and plan.leaks == ()
    with pytest.raises(AttributeError, match="'step', 'steps'"):
        plan.epochs  # noqa: B018
    with pytest.raises(InputError, match="^query = 'gradients'"):
        plan.query("gradients")
    assert GaussianQuery("x", 3.0, 1, Poisson(0.1)).contribution == 1.5
    query = GaussianQuery("a", 1.0, 3)
    for queries, count in (([query, query], 0), ([query, "b"], 0), *(([query], c) for c in (-1, math.nan, True, "3"))):
        with pytest.raises(InputError):
            make_plan(*queries, gradient_evaluations=count)
    plan = make_plan(query, gradient_evaluations=0, leaks=("x",), last_iterate=LastIterate(0.5, 2.0), steps=3)
    back = pickle.loads(pickle.dumps(plan))
    assert back == plan and back.steps == 3 and back.last_iterate.step == 0.5


TOLD = plan_of(GaussianQuery("a", 1.0, 2), GaussianQuery("b", 1.0, 1, Poisson(0.5)), n=8)
told = partial(source, TOLD, {"a": 1.0, "b": 2.0}, 3)


def recorded(*steps):
    """A run that releases the number of each step, in this order."""
    recorder = told(kind=Recorder)
    for step in steps:
        recorder.release("a", np.full((3, 2), float(step)), step)
    return recorder


def test_a_transcript_keeps_copies_in_the_order_of_steps():
    recorder = told(kind=Recorder)
    value = np.zeros((3, 2))
    released = recorder.release("a", value)
    value += 7.0
    released += 7.0
    np.testing.assert_array_equal(recorder.transcript.values["a"][0], 0.0)
    assert np.abs(recorder.transcript.released["a"][0]).max() < 7
    recorder = recorded(1, 0)
    kept = recorder.transcript
    np.testing.assert_array_equal(kept.value("a")[:, 0, 0], [0.0, 1.0])
    np.testing.assert_allclose(kept.noise("a"), [kept.released["a"][t] - kept.values["a"][t] for t in (0, 1)])
    with pytest.raises(InputError, match="^releases of query b = 0"):
        kept.value("b")
    with pytest.raises(InputError, match="a row for each replicate"):
        recorder.release("b", np.zeros((2, 2)))


def test_a_replay_gives_the_recorded_values_and_keeps_the_books():
    recorder = recorded(0, 1)
    recorder.sample("b")
    first = recorder.transcript
    replay = told(kind=partial(Replay, first))
    for step in range(2):
        got = replay.release("a", np.full((3, 2), 5.0), step)
        np.testing.assert_array_equal(got, first.released["a"][step])
    assert replay.sample("b") is first.batches["b"][0]
    np.testing.assert_array_equal(replay.transcript.value("a"), np.full((2, 3, 2), 5.0))
    assert dict(replay.released) == {"a": 2} and dict(replay.sampled) == {"b": 1}
    with pytest.raises(InputError, match="released before"):
        replay.release("a", np.zeros((3, 2)))
    with pytest.raises(InputError, match="as the plan declares"):
        replay.release("a", np.zeros((3, 2)), 2)
    empty = told(kind=partial(Replay, recorded().transcript))
    with pytest.raises(InputError, match="^step of a = 0: must be one that the recorded run made"):
        empty.release("a", np.zeros((3, 2)))


DRAWN = [GaussianQuery(str(own), 1.0, 6, own) for own in (WithoutReplacement(40, 3), Poisson(0.2), SingleIndex(40))]


def test_steps_at_once_are_those_that_are_released_one_by_one():
    wide = GeneralisedGaussianQuery("b", 1.0, 6, smooth=SmoothNorm(1.5, 2, "q"))
    plan = plan_of(Halving("a", 1.0, 6), wide, *DRAWN, n=40)
    one, many = (source(plan, 2.0, first=5) for _ in range(2))
    for query in plan.queries[:2]:
        assert many.spend(query.name, 1, 3, False) is query
        noise = many.variates(query, 1, 3, (1, 3), 2) * many.noise_scales(query, 1, 3)[:, None, None]
        released = [one.release(query.name, np.zeros((4, 2)), step)[1:3] for step in (1, 2, 3)]
        np.testing.assert_allclose(noise, released, rtol=1e-6)
    for query in DRAWN:
        indices, mask = many.batches(query, 1, 3, (1, 3))
        batches = [one.sample(query.name, step) for step in (1, 2, 3)]
        np.testing.assert_array_equal(indices, [batch.indices[1:3] for batch in batches])
        np.testing.assert_array_equal(mask, [batch.mask[1:3] for batch in batches])
        assert indices.shape[-1] == many.batch_width(query)
    assert [one.expected_size(query) for query in DRAWN] == [3.0, 8.0, 1.0]


SPENT = {
    "at once": lambda m: m.spend("gradient", 2, 3, False),
    "in turn": lambda m: [m.spend("gradient", step, 1, False) for step in (2, 3, 4)],
    "released": lambda m: [noise(m, step=step) for step in (2, 3, 4)],
}


@pytest.mark.parametrize("spend", SPENT.values(), ids=SPENT)
def test_no_step_is_spent_twice(spend):
    for first, steps in ((0, 2), (5, 1)):
        mechanism = drawing()
        spend(mechanism)
        mechanism.spend("gradient", first, steps, False)
        assert mechanism.released["gradient"] == 3 + steps and mechanism.sampled["gradient"] == 0
    for first, steps in ((0, 3), (1, 5), (2, 1), (4, 1), (4, 2), (5, 2), (-1, 2)):
        with pytest.raises(InputError, match="^release of gradient = "):
            mechanism = drawing()
            spend(mechanism)
            mechanism.spend("gradient", first, steps, False)
    for step in (2, 4):
        with pytest.raises(InputError, match="not released before"):
            noise(mechanism, step=step)


def test_choices_of_records_that_are_charged_and_never_made_are_told():
    allocated = GaussianQuery("order", 1.0, 2, RandomAllocation(40, 5))
    plan = plan_of(*DRAWN, allocated, GaussianQuery("all", 1.0, 3), n=40)
    mechanism = source(plan, 1.0, 2)
    assert not mechanism.undrawn(plan.query("all")) and mechanism.undrawn(allocated)
    for size in (39, 40):
        mechanism.permutation("records", size)
        assert bool(mechanism.undrawn(allocated)) == (size == 39)
    for query in DRAWN:
        for step in (0, 0, 5):  # the same batch twice
            mechanism.sample(query.name, step)
        mechanism.spend(query.name, 1, 3, True)
        assert "5 of 6" in mechanism.undrawn(query) and mechanism.sampled[query.name] == 6
        mechanism.sample(query.name, 4)
        assert not mechanism.undrawn(query)


def test_a_last_iterate_is_of_one_query_and_contracts_by_the_worst_curvature():
    one, steady, each, two = GaussianQuery("a", 1.0, 3), *(LastIterate(s, 2.0) for s in (0.5, (0.5,) * 3, (0.5,) * 2))
    for declared in (steady, each):
        assert plan_of(one, last_iterate=declared).last_iterate is declared
    others = [], [one, GaussianQuery("b", 1.0, 3)], [GaussianQuery("a", 1.0, 3, Poisson(0.5))], [Query("a", 1.0, 3)]
    for queries, declared in (*((queries, steady) for queries in others), ([one], two)):
        with pytest.raises(InputError, match="last_iterate"):
            plan_of(*queries, last_iterate=declared)
    steps, curvatures = (0.2, 0.5, 0.9, 1.0), np.linspace(0.5, 2.0, 301)
    expected = [0.8 * np.abs(1.0 - step * curvatures).max() for step in steps]
    np.testing.assert_allclose(LastIterate(steps, 2.0, 0.5, lipschitz=0.8).contractions, expected)
    assert LastIterate(1.0 + 1e-13, 2.0, 2.0 + 1e-13).contractions == [1.0]  # to rounding
    for step, convexity in ((1.0 + 1e-9, 0.0), ((0.5, 1.0 + 1e-9), 0.0), (0.5, 2.0 + 1e-9)):
        with pytest.raises(InputError):
            LastIterate(step, 2.0, convexity)
    with pytest.raises(InputError, match="^diameter of the last iterate"):
        LastIterate(steps[:2], 2.0, diameter=3.0)


def test_a_last_iterate_is_declared_where_the_objective_is_convex():
    def declared(curvature, release="sequence"):
        constants = Constants(1.0, 1.5, strong_convexity=0.5, regularisation=0.5, curvature=curvature)
        return last_iterate(constants, 0.7, release, "a test")

    assert declared("any") is None and declared("convex") == LastIterate(0.7, 2.0, 0.0)
    assert declared("strong") == LastIterate(0.7, 2.0, 0.5)
    assert declared("strong", "output") == LastIterate(0.7, 2.0, 0.5, calibrates=True)
    for curvature, release in (("any", "output"), ("convex", "output"), ("strong", "all")):
        with pytest.raises((Refusal, InputError), match=f"^release = '?{release}"):
            declared(curvature, release)
