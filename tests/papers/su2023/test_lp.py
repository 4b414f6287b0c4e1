from types import SimpleNamespace

import numpy as np

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.papers.su2023.algorithms.lp import truncated
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.base import Draws
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import get_problem
from dpsco_bench.rng.streams import Stream, stream_key

BATCHED, SHUFFLED = (get_algorithm(f"su2023.{name}_md") for name in ("truncated_batched", "shuffled_truncated"))


def test_truncation_sets_to_zero():
    gradients = np.array([[[3.0, 0.0], [0.0, 3.1], [-2.0, 2.0]]])
    np.testing.assert_array_equal(truncated(gradients, 3.0, 3.0), [[[3.0, 0.0], [0.0, 0.0], [-2.0, 2.0]]])


def test_no_record_enters_a_mean_beyond_the_threshold():
    rng, released = np.random.default_rng(4), []
    drawn = rng.standard_cauchy((6, 3, 5, 8)) * 0.3

    def release(name, value, step):
        released.append(value)
        return value

    objective = SimpleNamespace(
        start=np.zeros((3, 8)), xp=np, domain=SimpleNamespace(radius=1.0), observe=lambda w: None,
        record_gradients=lambda w, first, count: drawn[first // 5],
    )  # fmt: skip
    plan = SimpleNamespace(p=1.5, norm_rule="two_ln_d", steps=6, batch=5, threshold=1.2, gamma=2.0)
    BATCHED.run_function(objective, plan, SimpleNamespace(release=release))
    norms = np.linalg.norm(drawn, ord=3, axis=-1)
    assert 0.2 < (norms > 1.2).mean() < 0.8
    expected = np.where((norms <= 1.2)[..., None], drawn, 0.0).mean(axis=2)
    np.testing.assert_allclose(np.array(released), expected, rtol=1e-12)
    assert np.linalg.norm(expected, ord=3, axis=-1).max() <= 1.2


class Ordered(Mechanism):
    """Remembers that an order was asked for."""

    asked = 0

    def permutation(self, name, n):
        type(self).asked += 1
        return super().permutation(name, n)


def test_algorithm_4_shuffles_what_the_replicates_share():
    problem = get_problem("heavy_linear_t", 4).at(256, 0.2, 1e-6)
    privacy = PrivacySpec(0.2, 1e-6)
    constants = problem.constants.override(gradient_deviation=3.0)
    made = SHUFFLED.plan(constants, 256, 4, privacy, "standard", steps=8)
    sample = problem.sample(256, Draws(lambda name: Stream(stream_key(1, "t", name), np), 0, 2))
    source = Ordered(made, {"gradient": 0.0}, "unit test", 0, 0, 2)
    SHUFFLED.run_function(Objective(problem, sample, 2), made, source)
    assert Ordered.asked == 0
    order = source.permutation("records", 256)
    assert order.shape == (2, 256) and np.array_equal(np.sort(order, axis=1), np.tile(np.arange(256), (2, 1)))
    assert not np.array_equal(order[0], order[1])
