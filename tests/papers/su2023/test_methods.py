"""Check vectors of the chapter, noise off or given; baselines of its table; truncation and shuffled budgets."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.algorithms.info import split
from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.papers.su2023.algorithms.lp import epsilon_of, local_budget, shuffled_epsilon, truncated
from dpsco_bench.papers.su2023.algorithms.table1 import Projected, PublicMetric, shortest_in_l1, weighted_vertices
from dpsco_bench.privacy.accountants.zcdp import zcdp_epsilon
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import GaussianQuery, PrivacySpec, make_plan
from dpsco_bench.privacy.queries import GeneralisedGaussianQuery, PerturbedObjectiveQuery
from dpsco_bench.privacy.records import Disjoint
from dpsco_bench.problems.base import Constants, Data, Problem, Trait
from dpsco_bench.problems.glm import Logistic
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import get_problem

from ...runs import drawn

PRIVACY = PrivacySpec(1.0, 1e-6)


class Given(Mechanism):
    """A mechanism with given noise ``(R, d)`` for every release; None for no noise."""

    def __init__(self, plan, noise=None):
        super().__init__(plan, {q.name: 0.0 for q in plan.queries}, "given", 0, 0, 1)
        self._given = None if noise is None else np.array([noise])

    def _noise(self, query, step, dim):
        return self._given


class Records(Problem):
    """Records with a given gradient ``(x (R, 1, d), z (R, W, d)) -> (R, W, d)``."""

    name = "records"
    traits = frozenset(Trait) - {Trait.LINEAR_LOSS}

    def __init__(self, gradient, d, domain="space", curvature=None):
        self._gradient, self._domain, self._curvature = gradient, domain, curvature
        super().__init__(d)

    @property
    def own_constants(self):
        return Constants(1.0, 1.0, domain=self._domain, diameter=0.0 if self._domain == "space" else 2.0)

    @property
    def isotropic_curvature(self):
        return self._curvature

    def mean_gradient(self, x, data):
        return self._gradient(x[:, None, :], data.features[None]).mean(axis=1)

    def batch_gradient(self, x, batch, weights):
        return (self._gradient(x[:, None, :], batch.features) * weights[:, :, None]).sum(axis=1)

    def risk(self, x, data):
        return 0.0 * x[:, 0]

    def optimal_risk(self, data):
        return 0.0


def run(id, plan, problem, features, noise=None, watch=None):
    features = np.array(features, dtype=np.float64)
    data = Data(len(features), features, np.zeros(len(features)))
    objective = Objective(problem, data, 1, observer=watch)
    return split(get_algorithm(id).run_function(objective, plan, Given(plan, noise)))[0][0]


def perturbation_plan(n, ridge, accuracy, convexity, steps):
    query = PerturbedObjectiveQuery("linear term", 2.0, 1, loss_class="linear", dimension=3)
    schedule = dict(n=n, ridge=ridge, convexity=convexity, accuracy=accuracy, steps=steps, output_noise=False)
    schedule["closed_form"] = accuracy == 0
    return make_plan(query, gradient_evaluations=n, **schedule)


def test_check_vectors():
    """Perturbed objectives, of a linear loss and of the logistic one; mirror descent; phases."""
    problem = Records(lambda x, z: 0 * x - z, 3, "l1_ball", curvature=0.0)
    plan = perturbation_plan(100, 0.1, 0.0, 0.2, 1)
    output = run("su2023.app_objp", plan, problem, [[0.5, -0.25, 0.1]] * 100, [10.0, -4.0, 6.0])
    np.testing.assert_allclose(output, [0.975, -0.025, 0.0], atol=1e-14)
    features = np.array([[1, 0.2], [-0.3, 0.8], [0.5, -0.5], [0.1, 0.9]])
    objective = Objective(FourLogistic(2), Data(4, features, np.ones(4)), 1)
    plan = perturbation_plan(4, 0.05, 1e-24, 0.1, 100)
    (output,), info = get_algorithm("su2023.objp").run_function(objective, plan, Given(plan, [0.4, -0.2]))
    np.testing.assert_allclose(output, [0.334970392349, 0.94222865391], atol=2e-11)
    assert info.certificate < 1e-11
    problem = Records(lambda x, z: np.tanh(x - z) / 3, 3)
    smooth = SmoothNorm(1.5, 3, "two_ln_d")
    assert (smooth.r, smooth.kappa) == (3.0, 2.0)
    query = GeneralisedGaussianQuery("gradient", 1.0, 2, smooth=smooth)
    plan = make_plan(query, gradient_evaluations=2, n=1, steps=2, alpha=0.2, beta=0.5, p=1.5, norm_rule="two_ln_d")
    output = run("su2023.nrmd", plan, problem, [[0.7, -0.4, 0.2]])
    np.testing.assert_allclose(output, [0.172567582743, -0.0699283351335, 0.0196830750695], rtol=1e-11)
    z = [1, -1, 0.5, 2, -0.5, 1, 0, 0.25, 1, 1, -2, 0.5, 0.75]
    planned = get_algorithm("su2023.phased_dp_sgd").plan(Constants(1.0, 1.0), 13, 1, PRIVACY, "standard", step=0.5)
    assert planned.sizes == (6, 3, 1) and planned.gradient_evaluations == 10
    output = run("su2023.phased_dp_sgd", planned, Records(lambda x, z: np.tanh(x - z), 1), np.array(z)[:, None])
    np.testing.assert_allclose(output, [0.0957817488829], rtol=1e-11)


class FourLogistic(Logistic):
    name = "four_logistic"

    @property
    def own_constants(self):
        return Constants(1.1, 0.3, diameter=2.0, domain="l2_ball")


HEAVY = [[1, 0.5], [-2, 0.2], [4, -1], [0.3, 0.3]]


def test_descent_on_heavy_records():
    """Truncated mirror descent, and the stand-in for heavy tails."""
    query = GeneralisedGaussianQuery("gradient", 1.0, 2, Disjoint(2), smooth=SmoothNorm(1.5, 2, "q"))
    schedule = dict(n=4, steps=2, batch=2, gamma=1.5, threshold=3.0, p=1.5, norm_rule="q")
    plan = make_plan(query, gradient_evaluations=4, **schedule)
    problem = Records(lambda x, z: z + 0.2 * x, 2, "lp_ball:1.5")
    seen = []
    watch = lambda objective, x: seen.append(x[0])  # noqa: E731
    output = run("su2023.truncated_batched_md", plan, problem, HEAVY, watch=watch)
    np.testing.assert_allclose(seen[0], [0.151062527006, -0.0740206382332], rtol=1e-11)
    np.testing.assert_allclose(output, [0.110174100971, -0.111962548337], rtol=1e-11)
    query = GaussianQuery("clipped gradient", 1.0, 2)
    plan = make_plan(query, gradient_evaluations=8, n=4, steps=2, step=0.4, clip=0.8)
    output = run("su2023.heavy_tailed_euclid", plan, Records(lambda x, z: z + 0.2 * x, 2, "l2_ball"), HEAVY)
    np.testing.assert_allclose(output, [-0.1639, -0.0294], atol=1e-14)


BATCHED, SHUFFLED = (get_algorithm(f"su2023.{name}_md") for name in ("truncated_batched", "shuffled_truncated"))


def test_no_record_enters_a_mean_beyond_the_threshold():
    gradients = np.array([[[3.0, 0.0], [0.0, 3.1], [-2.0, 2.0]]])
    np.testing.assert_array_equal(truncated(gradients, 3.0, 3.0), [[[3.0, 0.0], [0.0, 0.0], [-2.0, 2.0]]])
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
    sample = drawn(problem, 256, 2)
    source = Ordered(made, {"gradient": 0.0}, "unit test", 0, 0, 2)
    SHUFFLED.run_function(Objective(problem, sample, 2), made, source)
    assert Ordered.asked == 0
    order = source.permutation("records", 256)
    assert order.shape == (2, 256) and np.array_equal(np.sort(order, axis=1), np.tile(np.arange(256), (2, 1)))
    assert not np.array_equal(order[0], order[1])


DELTA = 1e-6


def test_the_budget_is_used_up_exactly():
    assert shuffled_epsilon(0.5, 2**14, 5e-7) == pytest.approx(0.0756259837526, rel=1e-11)
    n = 2**16
    for epsilon in (0.01, 0.1):
        local, share, rho = local_budget(epsilon, DELTA, n)
        assert shuffled_epsilon(local, n, DELTA / 2) == pytest.approx(epsilon, rel=1e-9)
        assert n * (math.exp(epsilon) + 1) * (1 + math.exp(-local) / 2) * share == pytest.approx(DELTA / 2)
        assert zcdp_epsilon(rho, share) == pytest.approx(local, rel=1e-9)
        assert epsilon_of(rho, DELTA, n) == pytest.approx(epsilon, rel=1e-6)


TTZ = get_algorithm("su2023.ttz14")
PRIVACY = PrivacySpec(1.0, 1e-6)


@pytest.mark.parametrize(("domain", "factor"), [("l1_ball", 1), ("l2_ball", 16)])
def test_the_step_of_ttz14(execute, domain, factor):
    """The first iterate of a run with one step: a mirror step of 1/(s sqrt(T)), with sqrt(d T) on the l2 ball."""
    problem = get_problem("pointmass_linear", 16, domain=domain)
    made = TTZ.plan(problem.constants, 400, 16, PRIVACY, "standard", steps=1)
    data = problem.draw(400, None)
    tiny = execute(TTZ, made, problem, data, scale=1e-9)  # too small to see, but a step that is set by it: far out
    np.testing.assert_allclose(tiny[0], problem.vertex, atol=1e-6)
    if domain == "l2_ball":
        s = 5.0
        moved = execute(TTZ, made, problem, data, scale=s, replicates=4000).mean(axis=0)
        assert moved @ problem.vertex == pytest.approx(1 / (s * math.sqrt(factor)), rel=0.3)


@pytest.mark.parametrize("domain", ["l1_ball", "l2_ball"])
def test_the_projected_problem(draw, domain):
    problem = get_problem("logistic_glm", 8, domain=domain)
    small = Projected(Objective(problem, draw(problem, 50), 6), 4, 1.0)
    assert np.linalg.norm(small.data.features, axis=1).max() <= 1.1 + 1e-12
    u = np.random.default_rng(0).normal(size=(6, 4))
    for _ in range(20):
        v = small.project(u)
    x = small.lift(v)
    np.testing.assert_allclose(x @ small.matrix.T, v, atol=1e-8)
    assert np.all(problem.set.norm(x) <= 1 + 1e-4)
    residual = (u - v) @ small.matrix
    gap = problem.set.support(residual)[:, 0] - np.sum((u - v) * v, axis=1)
    assert np.all(gap <= 1e-4), "v is the nearest point: <u - v, w - v> <= 0 for all w"


def test_parts_of_the_baselines(draw):
    """Beyond the ball the squared loss is steeper than L = 2; within it nothing changes."""
    problem = get_problem("public_quadratic", 8)
    small = Projected(Objective(problem, draw(problem, 50), 1), 8, 2.0)
    near, far = 0.1 * np.ones((1, 8)), 1e6 * np.ones((1, 8))
    np.testing.assert_array_equal(small.mean_gradient(near), problem.mean_gradient(near, small.data))
    signs = np.sign(far @ small.data.features.T)
    np.testing.assert_allclose(small.mean_gradient(far), 2.0 * signs @ small.data.features / 50)
    # The entropic map is exponentiated gradient on the vertices; shortest points.
    u = np.random.default_rng(3).normal(size=(4, 5))
    weights = np.exp(np.concatenate([-u, u], axis=1))
    weights /= weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(weighted_vertices(u, 2.0), 2.0 * (weights[:, :5] - weights[:, 5:]), atol=1e-14)
    np.testing.assert_array_equal(weighted_vertices(np.zeros((1, 5)), 2.0), np.zeros((1, 5)))
    far = weighted_vertices(np.array([[-1e4, 3.0, 1.0]]), 1.0)
    np.testing.assert_allclose(far, [[1.0, 0.0, 0.0]], atol=1e-300)
    matrix = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(shortest_in_l1(matrix, np.array([1.0, -3.0])), [0.0, 0.5, -3.0], atol=1e-9)
    np.testing.assert_array_equal(shortest_in_l1(matrix, np.zeros(2)), np.zeros(3))


def test_projections_in_the_public_metric():
    """KKT: <u - x, Q (w - x)> <= 0 for every w of the ball."""
    problem = get_problem("public_quadratic", 6, public_points=64)
    objective = Objective(problem, problem.domain_records(2, 0), 5)
    metric, u = PublicMetric(objective), np.random.default_rng(1).normal(size=(5, 6))
    x = metric.project(u, np.zeros((5, 6)))
    for _ in range(5):
        x = metric.project(u, x)
    pull = (u - x) @ metric.matrix
    gap = problem.own_constants.ball.support(pull)[:, 0] - np.sum(pull * x, axis=1)
    assert np.all(gap < 1e-6)
    inside = 0.1 * u / np.linalg.norm(u, axis=1, keepdims=True)
    np.testing.assert_allclose(metric.project(inside, inside), inside, atol=1e-12)
