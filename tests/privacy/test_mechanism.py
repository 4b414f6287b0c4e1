"""Plans, the mechanism that draws for them, and its transcripts."""

import math

import numpy as np
import pytest

from dpsco_bench.errors import InputError
from dpsco_bench.privacy import mechanism as module
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import GaussianQuery, PrivacySpec, make_plan
from dpsco_bench.privacy.records import Poisson, SingleIndex, WithoutReplacement
from dpsco_bench.privacy.transcript import Recorder, Replay

PLAN = make_plan(
    GaussianQuery("gradient", 1.0, 6),
    GaussianQuery("sum", 1.0, 50, Poisson(0.1)),
    GaussianQuery("single", 1.0, 50, SingleIndex(40)),
    gradient_evaluations=0,
    n=40,
)
SCALES = {"gradient": 2.0, "sum": 0.5, "single": 1.0}


def source(first=0, replicates=4, what="what", seed=1, **keywords):
    return Mechanism(PLAN, SCALES, what, seed, first, replicates, **keywords)


def noise(mechanism, name="gradient", step=0, d=3, replicates=4):
    return mechanism.release(name, np.zeros((replicates, d)), step)


def test_noise_is_keyed_by_run_query_step_replicate_and_seed():
    base = noise(source())
    np.testing.assert_array_equal(base, noise(source()))
    others = [noise(source(**key)) for key in ({"what": "else"}, {"seed": 2}, {"first": 4})]
    for other in (*others, noise(source(), step=1), noise(source(), "sum") * 4):
        assert not np.isin(other, base).any()


def test_the_order_of_releases_and_the_blocks_do_not_matter(monkeypatch):
    forward = source()
    expected = [noise(forward, step=t) for t in range(6)]
    for block in (1, 12, 24, 1 << 20):
        monkeypatch.setattr(module, "BLOCK_VALUES", block)
        mechanism = source()
        for step in (4, 0, 5, 1, 3, 2):
            np.testing.assert_array_equal(noise(mechanism, step=step), expected[step])


@pytest.mark.parametrize("name", ["sum", "single"])
def test_batches_do_not_depend_on_blocks(monkeypatch, name):
    expected = [source().sample(name, t) for t in range(50)]
    monkeypatch.setattr(module, "BLOCK_VALUES", 20)
    mechanism = source()
    for step in (7, 0, 49, 3):
        again = mechanism.sample(name, step)
        np.testing.assert_array_equal(again.indices, expected[step].indices)
        np.testing.assert_array_equal(again.mask, expected[step].mask)


def test_batches_have_the_law_that_is_charged():
    """Sizes of Poisson batches have the variance n q (1 - q); those of a fixed size have none."""
    fixed = GaussianQuery("subset", 1.0, 50, WithoutReplacement(40, 4))
    plan = make_plan(*PLAN.queries, fixed, gradient_evaluations=0, n=40)
    drawn = Mechanism(plan, {**SCALES, "subset": 1.0}, "what", 1, 0, 400)
    sizes = np.stack([drawn.sample("sum", t).sizes for t in range(50)])
    mean, variance = 40 * 0.1, 40 * 0.1 * 0.9
    assert abs(sizes.mean() - mean) < 5 * np.sqrt(variance / sizes.size)
    assert abs(sizes.var() - variance) < 5 * variance * np.sqrt((2 + 1 / variance) / sizes.size)
    assert (drawn.sample("subset", 0).sizes == 4).all() and (drawn.sample("single", 0).sizes == 1).all()


def test_zero_scale_returns_the_value_and_draws_nothing():
    silent = Mechanism(PLAN, dict.fromkeys(SCALES, 0.0), "what", 1, 0, 4)
    value = np.ones((4, 3))
    np.testing.assert_array_equal(silent.release("gradient", value), value)
    assert not silent._streams


def test_the_states_dtype_is_kept_whatever_type_the_scale_has():
    scales = {name: np.float64(scale) for name, scale in SCALES.items()}
    mechanism = Mechanism(PLAN, scales, "what", 1, 0, 4, np, "float32")
    released = mechanism.release("gradient", np.zeros((4, 3), dtype=np.float32))
    assert released.dtype == np.float32
    np.testing.assert_array_equal(released, noise(source()).astype(np.float32))


def test_undeclared_excess_and_repeated_releases_are_refused():
    mechanism = source()
    with pytest.raises(InputError, match="^query = 'other'"):
        noise(mechanism, "other")
    for step in (-1, 6):
        with pytest.raises(InputError, match=f"^release of gradient = {step}: must be in 0..5, as the plan declares"):
            noise(mechanism, step=step)
    noise(mechanism, step=2)
    with pytest.raises(InputError, match="^release of gradient = 2: must be a step that was not released before"):
        noise(mechanism, step=2)


def test_permutations_are_uniform_and_split():
    whole = source(replicates=6000).permutation("records", 3)
    assert (np.sort(whole, axis=1) == [0, 1, 2]).all()
    counts = np.unique(whole, axis=0, return_counts=True)[1]
    assert len(counts) == 6 and np.abs(counts - 1000).max() < 5 * np.sqrt(1000)
    np.testing.assert_array_equal(source(first=7, replicates=5).permutation("records", 3), whole[7:12])
    assert not np.array_equal(source(replicates=6000).permutation("others", 3), whole)


def test_log_inverse_delta_at_the_ends_of_the_range():
    assert PrivacySpec(1, 1e-5).log_inverse_delta == pytest.approx(5 * math.log(10), rel=1e-15)
    assert math.isfinite(PrivacySpec(1, 5e-324).log_inverse_delta)
    assert PrivacySpec(1, 1 - 1e-15).log_inverse_delta > 0


def test_a_plan_reads_like_its_schedule():
    query = GaussianQuery("gradient", 0.5, 3)
    plan = make_plan(query, gradient_evaluations=12, steps=3, step=0.1)
    assert (plan.steps, plan.step, plan.gradient_evaluations) == (3, 0.1, 12.0)
    assert plan.query("gradient") is query and plan.leaks == ()
    with pytest.raises(AttributeError, match="'step', 'steps'"):
        plan.epochs  # noqa: B018
    with pytest.raises(InputError, match="^query = 'gradients'"):
        plan.query("gradients")
    assert GaussianQuery("x", 3.0, 1, Poisson(0.1)).contribution == 1.5


TOLD = make_plan(GaussianQuery("a", 1.0, 2), GaussianQuery("b", 1.0, 1, Poisson(0.5)), gradient_evaluations=0, n=8)
ARGUMENTS = (TOLD, {"a": 1.0, "b": 2.0}, "what", 1, 0, 3)


def recorded():
    recorder = Recorder(*ARGUMENTS)
    for step in range(2):
        recorder.release("a", np.full((3, 2), float(step)), step)
    recorder.sample("b")
    recorder.release("b", np.zeros((3, 2)))
    return recorder


def test_kept_values_are_copies():
    recorder = Recorder(*ARGUMENTS)
    value = np.zeros((3, 2))
    released = recorder.release("a", value)
    value += 7.0
    released += 7.0
    np.testing.assert_array_equal(recorder.transcript.values["a"][0], 0.0)
    assert np.abs(recorder.transcript.released["a"][0]).max() < 7


def test_a_replay_gives_the_recorded_values_whatever_is_passed_in():
    first = recorded().transcript
    replay = Replay(first, *ARGUMENTS)
    for step in range(2):
        got = replay.release("a", np.full((3, 2), 5.0), step)
        np.testing.assert_array_equal(got, first.released["a"][step])
    assert replay.sample("b") is first.batches["b"][0]
    np.testing.assert_array_equal(replay.transcript.value("a"), np.full((2, 3, 2), 5.0))
    assert dict(replay.released) == {"a": 2} and dict(replay.sampled) == {"b": 1}


def test_a_replay_keeps_the_books_of_the_mechanism():
    replay = Replay(recorded().transcript, *ARGUMENTS)
    replay.release("a", np.zeros((3, 2)))
    with pytest.raises(InputError, match="released before"):
        replay.release("a", np.zeros((3, 2)))
    with pytest.raises(InputError, match="as the plan declares"):
        replay.release("a", np.zeros((3, 2)), 2)
    empty = Replay(Recorder(*ARGUMENTS).transcript, *ARGUMENTS)
    with pytest.raises(InputError, match="^step of a = 0: must be one that the recorded run made"):
        empty.release("a", np.zeros((3, 2)))
