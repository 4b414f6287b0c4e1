"""Check vectors of the chapter, noise off or given; baselines of its table; truncation and shuffled budgets."""

import math

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
from dpsco_bench.privacy.transcript import Recorder
from dpsco_bench.problems.base import Constants, Data
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import get_problem

from ...runs import drawn
from ..conftest import Records, execute

PRIVACY = PrivacySpec(1.0, 1e-6)
METHODS = ("truncated_batched_md", "shuffled_truncated_md", "ttz14")
BATCHED, SHUFFLED, TTZ = (get_algorithm(f"su2023.{name}") for name in METHODS)


class Given(Mechanism):
    """A mechanism with given noise ``(R, d)`` for every release; None for no noise."""

    def __init__(self, plan, noise=None):
        super().__init__(plan, {q.name: 0.0 for q in plan.queries}, "given", 0, 0, 1)
        self._given = None if noise is None else np.array([noise])

    def _noise(self, query, step, dim):
        return self._given


def run(id, plan, problem, features, noise=None, watch=None):
    data = Data(len(features), np.array(features, dtype=np.float64), np.zeros(len(features)))
    objective = Objective(problem, data, 1, observer=watch)
    return split(get_algorithm(id).run_function(objective, plan, Given(plan, noise)))[0][0]


def perturbation_plan(n, ridge, accuracy, convexity, steps):
    query = PerturbedObjectiveQuery("linear term", 2.0, 1, loss_class="linear", dimension=3)
    schedule = dict(n=n, ridge=ridge, convexity=convexity, accuracy=accuracy, steps=steps, output_noise=False)
    return make_plan(query, gradient_evaluations=n, closed_form=accuracy == 0, **schedule)


def on(domain):
    return Constants(1.0, 1.0, domain=domain, diameter=2.0)


def test_check_vectors_of_perturbed_objectives():
    problem = Records(3, lambda x, z: 0 * x - z, on("l1_ball"), curvature=0.0)
    plan = perturbation_plan(100, 0.1, 0.0, 0.2, 1)
    output = run("su2023.app_objp", plan, problem, [[0.5, -0.25, 0.1]] * 100, [10.0, -4.0, 6.0])
    np.testing.assert_allclose(output, [0.975, -0.025, 0.0], atol=1e-14)
    features = np.array([[1, 0.2], [-0.3, 0.8], [0.5, -0.5], [0.1, 0.9]])
    objective = Objective(get_problem("logistic_plain", 2, radius=1.0), Data(4, features, np.ones(4)), 1)
    plan = perturbation_plan(4, 0.05, 1e-24, 0.1, 100)
    (output,), info = get_algorithm("su2023.objp").run_function(objective, plan, Given(plan, [0.4, -0.2]))
    np.testing.assert_allclose(output, [0.334970392349, 0.94222865391], atol=2e-11)
    assert info.certificate < 1e-11


TANH = Constants(1.0, 1.0)
Z = [1, -1, 0.5, 2, -0.5, 1, 0, 0.25, 1, 1, -2, 0.5, 0.75]


def test_check_vectors_of_mirror_descent_and_of_phases():
    smooth = SmoothNorm(1.5, 3, "two_ln_d")
    assert (smooth.r, smooth.kappa) == (3.0, 2.0)
    query = GeneralisedGaussianQuery("gradient", 1.0, 2, smooth=smooth)
    plan = make_plan(query, gradient_evaluations=2, n=1, steps=2, alpha=0.2, beta=0.5, p=1.5, norm_rule="two_ln_d")
    output = run("su2023.nrmd", plan, Records(3, lambda x, z: np.tanh(x - z) / 3, TANH), [[0.7, -0.4, 0.2]])
    np.testing.assert_allclose(output, [0.172567582743, -0.0699283351335, 0.0196830750695], rtol=1e-11)
    plan = get_algorithm("su2023.phased_dp_sgd").plan(TANH, 13, 1, PRIVACY, "standard", step=0.5)
    assert plan.sizes == (6, 3, 1) and plan.gradient_evaluations == 10
    output = run("su2023.phased_dp_sgd", plan, Records(1, lambda x, z: np.tanh(x - z), TANH), np.array(Z)[:, None])
    np.testing.assert_allclose(output, [0.0957817488829], rtol=1e-11)


HEAVY = [[1, 0.5], [-2, 0.2], [4, -1], [0.3, 0.3]]


def truncated_plan(d, n, steps, batch, threshold):
    query = GeneralisedGaussianQuery("gradient", 1.0, steps, Disjoint(batch), smooth=SmoothNorm(1.5, d, "q"))
    own = dict(n=n, steps=steps, batch=batch, gamma=1.5, threshold=threshold, p=1.5, norm_rule="q")
    return make_plan(query, gradient_evaluations=n, **own)


def test_descent_on_heavy_records():
    problem, seen = Records(2, lambda x, z: z + 0.2 * x, on("lp_ball:1.5")), []
    watch = lambda objective, x: seen.append(x[0])  # noqa: E731
    output = run("su2023.truncated_batched_md", truncated_plan(2, 4, 2, 2, 3.0), problem, HEAVY, watch=watch)
    np.testing.assert_allclose(seen[0], [0.151062527006, -0.0740206382332], rtol=1e-11)
    np.testing.assert_allclose(output, [0.110174100971, -0.111962548337], rtol=1e-11)
    query = GaussianQuery("clipped gradient", 1.0, 2)
    plan = make_plan(query, gradient_evaluations=8, n=4, steps=2, step=0.4, clip=0.8)
    output = run("su2023.heavy_tailed_euclid", plan, Records(2, lambda x, z: z + 0.2 * x, on("l2_ball")), HEAVY)
    np.testing.assert_allclose(output, [-0.1639, -0.0294], atol=1e-14)


def test_no_record_enters_a_mean_beyond_the_threshold():
    gradients = np.array([[[3.0, 0.0], [0.0, 3.1], [-2.0, 2.0]]])
    np.testing.assert_array_equal(truncated(gradients, 3.0, 3.0), [[[3.0, 0.0], [0.0, 0.0], [-2.0, 2.0]]])
    problem, plan = Records(8, lambda x, z: z + 0 * x, on("lp_ball:1.5")), truncated_plan(8, 30, 6, 5, 1.2)
    records = 0.1 * np.random.default_rng(4).standard_cauchy((30, 8))
    source = Recorder(plan, {"gradient": 0.0}, "unit test", 0, 0, 1)
    BATCHED.run_function(Objective(problem, Data(30, records, np.zeros(30)), 1), plan, source)
    norms = np.linalg.norm(records, ord=3, axis=1)
    assert 0.2 < (norms > 1.2).mean() < 0.8
    expected = np.where((norms <= 1.2)[:, None], records, 0.0).reshape(6, 5, 8).mean(axis=1)
    released = [source.transcript.values["gradient"][step][0] for step in range(6)]
    np.testing.assert_allclose(released, expected, rtol=1e-12, atol=1e-15)


def test_algorithm_4_shuffles_only_what_the_replicates_share(monkeypatch):
    problem = get_problem("heavy_linear_t", 4).at(256, 0.2, 1e-6)
    constants = problem.constants.override(gradient_deviation=3.0)
    plan = SHUFFLED.plan(constants, 256, 4, PrivacySpec(0.2, 1e-6), "standard", steps=8)
    source = Mechanism(plan, {"gradient": 0.0}, "unit test", 0, 0, 2)
    monkeypatch.setattr(source, "permutation", lambda *_: pytest.fail("records of its own are in random order"))
    SHUFFLED.run_function(Objective(problem, drawn(problem, 256, 2), 2), plan, source)


def test_the_budget_is_used_up_exactly():
    assert shuffled_epsilon(0.5, 2**14, 5e-7) == pytest.approx(0.0756259837526, rel=1e-11)
    n = 2**16
    for epsilon in (0.01, 0.1):
        local, share, rho = local_budget(epsilon, 1e-6, n)
        assert shuffled_epsilon(local, n, 5e-7) == pytest.approx(epsilon, rel=1e-9)
        assert n * (math.exp(epsilon) + 1) * (1 + math.exp(-local) / 2) * share == pytest.approx(5e-7)
        assert zcdp_epsilon(rho, share) == pytest.approx(local, rel=1e-9)
        assert epsilon_of(rho, 1e-6, n) == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize("domain", ["l1_ball", "l2_ball"])
def test_the_step_of_ttz14(domain):
    """The first iterate of a run with one step: a mirror step of 1/(s sqrt(T)), with sqrt(d T) on the l2 ball."""
    problem = get_problem("pointmass_linear", 16, domain=domain)
    made, data = TTZ.plan(problem.constants, 400, 16, PRIVACY, "standard", steps=1), problem.draw(400, None)
    tiny = execute(TTZ, made, problem, data, scale=1e-9)  # too small to see, but a step that is set by it: far out
    np.testing.assert_allclose(tiny[0], problem.vertex, atol=1e-6)
    if domain == "l2_ball":
        moved = execute(TTZ, made, problem, data, scale=5.0, replicates=4000).mean(axis=0)
        assert moved @ problem.vertex == pytest.approx(1 / (5.0 * math.sqrt(16)), rel=0.3)


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
