import math
from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.execution.cell import Cell
from dpsco_bench.papers.su2023.algorithms.perturbation import CertifiedMinimiser
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.base import Constants, Data, Trait
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import get_problem

from ... import runs
from ..conftest import Records, run_calibrated

APP, SC, EXACT = (get_algorithm(f"su2023.{name}") for name in ("app_objp", "app_objp_sc", "objp"))
SETS = [("l1_ball", None), ("l2_ball", None), ("k_support_ball", 5), ("group_ball", 4), ("subspace_ball", 10)]


def run(entry, problem, data, calibration, replicates=3, **options):
    return run_calibrated(entry, problem, data, PrivacySpec(1.0, 1e-6), calibration, replicates=replicates, **options)


@pytest.mark.parametrize(("domain", "size"), SETS)
@pytest.mark.parametrize("calibration", ["paper", "none"])
def test_the_certificate_reaches_alpha_on_every_set(draw, domain, size, calibration):
    problem = get_problem("logistic_glm", 20, domain=domain, size=size)
    found = run(APP, problem, draw(problem, 4000), calibration)
    made = found.plan
    assert made.accuracy < 2e-10 and np.all(found.objective.evaluations == made.gradient_evaluations)
    mapping = found.info.certificate * (1.0 + 6 * made.query("linear term").paper_scale * math.sqrt(20) / 4000)
    assert mapping**2 / (2 * made.convexity) <= made.accuracy
    assert np.all(problem.set.norm(found.output) <= 1 + 1e-9)


def test_minimisers_are_those_of_the_exact_solver(draw):
    """Noise off it minimises F + lam ||x||^2: compared with the exact solver of generalised linear problems."""
    problem = get_problem("logistic_glm", 6)
    data = draw(problem, 400)
    found = run(EXACT, problem, data, "none", replicates=1)
    gradient = problem.mean_gradient(found.output, data) + 2 * found.plan.ridge * found.output
    gap = float(np.sum(gradient * found.output) + problem.set.support(-gradient)[0, 0])
    assert -1e-15 < gap < 1e-9
    problem = get_problem("boundary_mean", 6, domain="k_support_ball", size=2)
    terms = np.random.default_rng(6).standard_normal((5, 6))
    objective = Objective(problem, Data(10), 5)
    exact = CertifiedMinimiser(objective, 0.2, 1.4, 0.0, 1).solve(terms)
    assert np.all(objective.evaluations == 10)
    solver = CertifiedMinimiser(objective, 0.2, 1.4, 1e-26, 50)
    np.testing.assert_allclose(solver._approximate(terms / 10), exact, atol=1e-12)
    assert solver.info.certificate < 1e-12


def test_output_noise_is_projected_and_moves_less():
    problem = get_problem("pointmass_linear", 8, domain="l1_ball")
    found = run(APP, problem, problem.draw(50, None), "paper", output_noise=True)
    made = found.plan
    assert [q.name for q in made.queries] == ["linear term", "output"]
    assert made.query("output").sensitivity == pytest.approx(2 * math.sqrt(2 * made.accuracy / made.convexity))
    assert np.all(np.abs(found.output).sum(axis=1) <= 1 + 1e-12) and np.all(found.objective.evaluations == 50)
    # A point of the set is never further from a projection than from the projected point.
    keys = {"options": {"output_noise": True}, "problem_options": {"domain": "l1_ball", "signal": 0.1}}
    cell, scales = Cell("su2023.app_objp", "pointmass_linear", 512, 1.0, 1e-6, 64, **keys), {"linear term": 10.0}
    noted = runs.run(cell, scales | {"output": 0.05}, "paper", replicates=200, rounds="su2023.cover").extras
    moved, free = noted["moved"], noted["unprojected"]
    assert (moved <= free).all() and abs(free.mean() / (64 * 0.0025) - 1) < 4 * np.sqrt(2 / 64 / 200)


@pytest.mark.parametrize("entry, name", [(APP, "pointmass_linear"), (EXACT, "pointmass_linear"), (SC, "boundary_mean")])
def test_closed_forms_are_exact_cost_n_gradients_and_need_no_output_noise(entry, name):
    problem = get_problem(name, 8)
    found = run(entry, problem, problem.draw(50, None), "paper")
    made = found.plan
    assert made.closed_form and made.accuracy == 0 and not made.output_noise and found.info.certificate is None
    assert np.all(found.objective.evaluations == 50) and made.gradient_evaluations == 50
    assert found.calibrated.privacy_status == "proven"


def test_rounding_above_alpha_withdraws_the_proof_of_the_output_noise():
    """``x' A x/2 - <z, x>`` with one A for all records, no multiple of the identity, and ``||z|| <= 1``."""
    records = np.random.default_rng(3).standard_normal((100, 3))
    records /= np.linalg.norm(records, axis=1, keepdims=True)
    own = {"gauge_convexity": 0.001, "gradient_range": 2.0, "hessian_rank": 0.0, "diameter": 2.0, "domain": "l2_ball"}
    constants = Constants(2.0, 1.0, strong_convexity=0.001, **own)
    traits = {Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.STRONGLY_CONVEX, Trait.TWICE_DIFFERENTIABLE}
    traits |= {Trait.COMMON_HESSIAN}
    problem = Records(3, lambda x, z: np.array([1.0, 0.1, 0.001]) * x - z, constants, traits)
    found = run(APP, problem, Data(100, records, np.zeros(100)), "paper")
    assert not found.info.rounded.any() and not found.info.demoted.any()
    finest = replace(found.plan, schedule={**found.plan.schedule, "accuracy": 1e-36})
    source = type(found.mechanism)(finest, found.calibrated.scales, "unit test", 0, 0, 3)
    _, info = APP.run_function(Objective(problem, found.objective.data, 3), finest, source)
    assert info.rounded.all() and info.demoted.all()
