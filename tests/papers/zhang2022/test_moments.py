"""Second moments of normal noise in dual norms, against closed forms and simulation; (7) in closed form."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

from dpsco_bench.claims.bounds.registry import BoundContext, get_bound
from dpsco_bench.claims.jobs import load_claim, part_jobs
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.papers.zhang2022.algorithms.reduction import NODE, NodeUnits, TreeSum
from dpsco_bench.papers.zhang2022.moments import path_moment, second_moment
from dpsco_bench.problems.base import Constants

DRAWS = 200_000


def context(n, d, k=1.0, p=2.0, smoothness=0.0, sensitivity="eq6", radius="adaptive", scale=0.7, calibration="paper"):
    constants = Constants(1.0, smoothness, diameter=2.0, domain="l2_ball", norm=p)
    schedule = {"n": n, "k": k, "lipschitz": 1.0, "smoothness": smoothness, "diameter": 2.0, "rho": 1.0}
    schedule |= {"sensitivity": sensitivity, "radius": radius}
    return BoundContext(n, d, 1.0, 1e-6, constants, calibration, schedule, {NODE: scale})


@pytest.mark.parametrize("d", [2, 9])
def test_far_from_2_it_is_the_largest_squared_coordinate(d):
    """``E max g_i^2`` from the law of the largest of d chi-squared variables; l_q is above l_inf by at most d^(1/q)."""
    x = np.linspace(0.0, 80.0, 400_001)
    largest = float(np.trapezoid(1.0 - chi2.cdf(x, 1) ** d, x))
    assert largest <= second_moment(80.0, d) <= d ** (2 / 80) * largest


@pytest.mark.parametrize(("q", "d"), [(2.5, 3), (3.0, 16), (5.0, 3), (5.0, 81), (11.0, 20)])
def test_against_simulation(q, d):
    g = np.random.default_rng(5).standard_normal((DRAWS, d))
    squares = np.linalg.norm(g, ord=q, axis=1) ** 2
    assert abs(squares.mean() - second_moment(q, d)) < 4 * squares.std() / math.sqrt(DRAWS)


class Draws:
    """A mechanism that adds normal noise of one scale to zeros."""

    def __init__(self, scale, d):
        self.scale, self.d, self.rng = scale, d, np.random.default_rng(11)

    def release(self, name, value, step):
        return value + self.scale * self.rng.standard_normal((20_000, self.d))


@pytest.mark.parametrize(("n", "d", "k", "q"), [(16, 4, 1.0, 2.0), (16, 3, 3.0, 2.0), (13, 3, 2.0, 3.0)])
def test_the_noise_of_a_path_is_that_of_the_streaming_tree(n, d, k, q):
    c = context(n, d, k, p=q / (q - 1.0))
    units = NodeUnits(k, n, 1.0, 0.0, 2.0, "eq6", "adaptive").fixed_units
    tree = TreeSum(Draws(0.7, d))
    for t in range(1, n):
        gamma = tree.add(t, np.zeros((1, d)), units[t - 1])
        if t in (n // 4, n // 2, n - 1):
            squares = np.linalg.norm(gamma, ord=q, axis=1) ** 2
            assert abs(squares.mean() - path_moment(c, t)) < 4 * squares.std() / math.sqrt(len(squares))


@pytest.mark.parametrize("id", ["zhang2022.thm4", "zhang2022.thm6", "zhang2022.thm4.moment"])
def test_equation_7_holds_in_every_part_of_the_claims(id):
    claim, settings = load_claim(id, "ci")
    for part in claim.parts_of("ci"):
        for job in part_jobs(claim, part, "ci", settings) if part.plans else ():
            largest = {cell.method: cell for cell in sorted(job.cells, key=lambda cell: cell.n)}
            for cell in largest.values() if job.calibration != "none" else ():
                found = calibrate_cell(cell, job.calibration, 0)
                setting = (int(cell.n), found.dimension, cell.epsilon, cell.delta, found.constants)
                c = BoundContext(*setting, "paper", found.schedule, found.scales)
                for place in ("quarter", "half", "last"):
                    expected, limit = (
                        get_bound(f"zhang2022.{name}_{place}").value(c) for name in ("expected_noise", "noise")
                    )
                    assert 0 < expected < 0.95 * limit
