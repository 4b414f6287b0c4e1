import math
from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench.algorithms.info import split
from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.execution.cell import Cell
from dpsco_bench.papers.su2023.algorithms.perturbation import CertifiedMinimiser
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.base import Constants, Data, Problem, Trait
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import get_problem

from ... import runs

APP, SC, EXACT = (get_algorithm(f"su2023.{name}") for name in ("app_objp", "app_objp_sc", "objp"))
PRIVACY = PrivacySpec(1.0, 1e-6)
SETS = [("l1_ball", None), ("l2_ball", None), ("k_support_ball", 5), ("group_ball", 4), ("subspace_ball", 10)]


def run(entry, problem, data, calibration, replicates=3, **options):
    constants = entry.visible_constants(problem.constants, problem)
    made = entry.plan(constants, data.n, problem.dimension, PRIVACY, "standard", **options)
    scales = calibrate(made, PRIVACY, calibration).scales
    objective = Objective(problem, data, replicates)
    source = Mechanism(made, scales, "unit test", 0, 0, replicates)
    output, info = split(entry.run_function(objective, made, source))
    return made, objective, info, output


@pytest.mark.parametrize(("domain", "size"), SETS)
def test_the_certificate_reaches_alpha_on_every_set(draw, domain, size):
    problem = get_problem("logistic_glm", 20, domain=domain, size=size)
    data = draw(problem, 4000)
    for calibration in ("paper", "none"):
        made, objective, info, output = run(APP, problem, data, calibration)
        assert made.accuracy < 2e-10 and np.all(objective.evaluations == made.gradient_evaluations)
        size_of_terms = 1.0 + 6 * made.query("linear term").paper_scale * math.sqrt(20) / 4000
        mapping = info.certificate * size_of_terms
        assert mapping**2 / (2 * made.convexity) <= made.accuracy
        assert np.all(problem.set.norm(output) <= 1 + 1e-9)


def test_minimisers_are_those_of_the_exact_solver(draw):
    """Noise off it minimises F + lam ||x||^2: compared with the exact solver of generalised linear problems."""
    problem = get_problem("logistic_glm", 6)
    data = draw(problem, 400)
    made, _, _, output = run(EXACT, problem, data, "none", replicates=1)
    gradient = problem.mean_gradient(output, data) + 2 * made.ridge * output
    gap = float(np.sum(gradient * output) + problem.set.support(-gradient)[0, 0])
    assert -1e-15 < gap < 1e-9
    problem = get_problem("boundary_mean", 6, domain="k_support_ball", size=2)
    terms = np.random.default_rng(6).standard_normal((5, 6))
    objective = Objective(problem, Data(10), 5)
    exact = CertifiedMinimiser(objective, 0.2, 1.4, 0.0, 1).solve(terms)
    assert np.all(objective.evaluations == 10)
    solver = CertifiedMinimiser(objective, 0.2, 1.4, 1e-26, 50)
    approximate = solver._approximate(terms / 10)
    np.testing.assert_allclose(approximate, exact, atol=1e-12)
    assert solver.info.certificate < 1e-12


def test_output_noise_is_projected_and_moves_less(draw):
    problem = get_problem("pointmass_linear", 8, domain="l1_ball")
    data = problem.draw(50, None)
    made, objective, info, output = run(APP, problem, data, "paper", output_noise=True)
    assert [q.name for q in made.queries] == ["linear term", "output"]
    assert made.query("output").sensitivity == pytest.approx(2 * math.sqrt(2 * made.accuracy / made.convexity))
    assert np.all(np.abs(output).sum(axis=1) <= 1 + 1e-12) and np.all(objective.evaluations == 50)
    # A point of the set is never further from a projection than from the projected point.
    keys = {"options": {"output_noise": True}, "problem_options": {"domain": "l1_ball", "signal": 0.1}}
    cell, scales = Cell("su2023.app_objp", "pointmass_linear", 512, 1.0, 1e-6, 64, **keys), {"linear term": 10.0}
    noted = runs.run(cell, scales | {"output": 0.05}, "paper", replicates=200, rounds="su2023.cover").extras
    moved, free = noted["moved"], noted["unprojected"]
    assert (moved <= free).all() and abs(free.mean() / (64 * 0.0025) - 1) < 4 * np.sqrt(2 / 64 / 200)


class CommonHessian(Problem):
    """``x' A x/2 - <z, x>`` with one A for all records, no multiple of the identity, and ``||z|| <= 1``."""

    name = "common_hessian"
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.STRONGLY_CONVEX})
    traits |= {Trait.TWICE_DIFFERENTIABLE, Trait.COMMON_HESSIAN}
    scales = np.array([1.0, 0.1, 0.001])

    @property
    def own_constants(self):
        modulus = {"strong_convexity": 0.001, "gauge_convexity": 0.001}
        return Constants(2.0, 1.0, **modulus, gradient_range=2.0, hessian_rank=0.0, diameter=2.0, domain="l2_ball")

    def mean_gradient(self, x, data):
        return x * self.scales - data.features.mean(axis=0)


@pytest.mark.parametrize("entry, name", [(APP, "pointmass_linear"), (EXACT, "pointmass_linear"), (SC, "boundary_mean")])
def test_closed_forms_are_exact_cost_n_gradients_and_need_no_output_noise(entry, name):
    problem = get_problem(name, 8)
    made, objective, info, _ = run(entry, problem, problem.draw(50, None), "paper")
    assert made.closed_form and made.accuracy == 0 and not made.output_noise and info.certificate is None
    assert np.all(objective.evaluations == 50) and made.gradient_evaluations == 50
    assert calibrate(made, PRIVACY, "paper").privacy_status == "proven"


def test_rounding_above_alpha_withdraws_the_proof_of_the_output_noise():
    records = np.random.default_rng(3).standard_normal((100, 3))
    records /= np.linalg.norm(records, axis=1, keepdims=True)
    problem, data = CommonHessian(3), Data(100, records, np.zeros(100))
    made, objective, info, _ = run(APP, problem, data, "paper")
    assert not info.rounded.any() and not info.demoted.any()
    finest = replace(made, schedule={**made.schedule, "accuracy": 1e-36})
    objective = Objective(problem, data, 3)
    scales = calibrate(made, PRIVACY, "paper").scales
    _, info = APP.run_function(objective, finest, Mechanism(finest, scales, "unit test", 0, 0, 3))
    assert info.rounded.all() and info.demoted.all()
