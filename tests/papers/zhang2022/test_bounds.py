"""Bounds of the zhang2022 chapter: check vectors, inequalities of the proofs, sums by a loop, moments of the noise."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import chi2

from dpsco_bench.claims.bounds.registry import BoundContext, evaluate, get_bound
from dpsco_bench.claims.jobs import claim_plan
from dpsco_bench.errors import InputError
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.papers.zhang2022.algorithms.reduction import NODE, NodeUnits, TreeSum
from dpsco_bench.papers.zhang2022.bounds import path_moment, second_moment
from dpsco_bench.problems.base import Constants

LEARNERS = {"ogd_adagrad": math.sqrt(2), "optimistic_omd": 0.5 + 2 * math.sqrt(2)}
LEARNERS |= dict.fromkeys(("ftrl_adagrad", "lp_ftrl", "optimistic_ftrl"), 0.25 + 2 * math.sqrt(2))
"""Constants of the learners' regret bounds."""
LOOPS = [("osd", 2.0, 1.0), ("osd", 1.8, 3.0), *((name, 1.5, 2.0) for name in LEARNERS)]


def cell(n, k=1.0, d=16, H=0.0, rho=math.inf, sigma=0.5, regret=1000.0, learner="osd", p=2.0, mu=1.0):
    """G = 1, D = 2; in l_2 V is the dimension."""
    ball = {"diameter": 2.0, "domain": "l2_ball", "norm": p}
    constants = Constants(1.0, H, strong_convexity=mu, gradient_deviation=sigma, **ball)
    schedule = {"k": k, "learner": learner, "rho": rho}
    extras = {"regret": regret, "regularised_regret": regret}
    return BoundContext(n, d, 1.0, 1e-6, constants, "paper", schedule, {}, extras=extras)


def value(name, context):
    return get_bound(f"zhang2022.{name}").value(context)


def at(name, context, t):
    """A moment at another round than the three that are registered."""
    text = get_bound(f"zhang2022.{name}_last").text.replace("t = n - 1", f"t = {t:g}")
    return evaluate("zhang2022.thm4", text, context)


def test_check_vector_and_terms_of_theorem_4():
    """Noise off leaves the statistical terms; a measured regret is known to the rounding of its summands."""
    assert value("thm4", cell(1024, rho=1.0)) == pytest.approx(0.8661840439, abs=1e-10)
    c = cell(256, k=3.0)
    for silent in (c, replace(c, calibration="none", schedule={**c.schedule, "rho": 1.0})):
        private = ("thm4_private", "thm8_private", "noise_half")
        assert not any(evaluate("zhang2022.one", text, silent) for text in private)
        assert value("thm4_statistical", silent) == pytest.approx(2 * 16 * 2 * 0.5 / math.sqrt(2 * 256))
        assert value("thm8_statistical", silent) == pytest.approx(16 * 64 / 2 * 0.25 / 256)
        assert value("thm4", silent) == pytest.approx(4 * 1000 / 256**4 + value("thm4_statistical", silent))
    assert value("thm4", cell(256, sigma=0.0, regret=-1e-18)) == 256 * 2.0 * 2.0**-52


@pytest.mark.parametrize("k", [1.0, 2.0, 3.0, 2.5])
@pytest.mark.parametrize("n", [2, 7, 512])
def test_the_sums_of_the_proofs_are_at_most_what_the_theorems_make_of_them(k, n):
    t = np.arange(1.0, n + 1)
    weights = np.cumsum(t**k)
    assert weights[-1] >= n ** (k + 1) / (k + 1)
    assert (t**k - (t - 1) ** k <= k * t ** (k - 1) * (1 + 1e-12)).all()
    assert (t ** (2 * k) / weights <= (k + 1) * t ** (k - 1) * (1 + 1e-12)).all()
    c = cell(n, k, d=8, rho=2.0, learner="optimistic_ftrl")
    assert np.sum(t ** (k - 2)) <= evaluate("zhang2022.thm8_e6", "F", c) * n ** (k - 1) * (1 + 1e-12)
    # Theorem 4: the sums of square roots of (4) and (7), divided by the sum of the weights
    noise = np.array([at("noise", c, s) for s in t])
    statistical = 2.0 * np.sqrt([at("statistical", c, s) for s in t]).sum() / weights[-1]
    assert statistical <= value("thm4_statistical", c) * (1 + 1e-12)
    assert 2.0 * np.sqrt(noise).sum() / weights[-1] <= value("thm4_private", c) * (1 + 1e-12)
    # Theorem 6: the square root of the sum of the squared differences' moments
    moments = 3 * (k + 1) ** 2 * t ** (2 * k - 2) + 6 * noise
    regret = LEARNERS["optimistic_ftrl"] * 2.0 * math.sqrt(moments.sum())
    assert regret <= evaluate("zhang2022.thm4", "Reg_A", c) * (1 + 1e-12)


def test_what_erratum_e6_is_about():
    """For k = 1 the sum is the harmonic number, not 1; between 1 and 2 there is no verdict."""
    harmonic = float(np.sum(1 / np.arange(1.0, 4097)))
    assert harmonic == pytest.approx(8.895, abs=1e-3)
    assert harmonic <= evaluate("zhang2022.thm8_e6", "F", cell(4096)) == pytest.approx(1 + math.log(4096))
    with pytest.raises(InputError, match="must be one with a case that applies"):
        value("thm8_e6", cell(16, k=1.5))
    assert value("thm8_e6", cell(4096, rho=1.0)) > value("thm8", cell(4096, rho=1.0))


@pytest.mark.parametrize(("learner", "p", "k"), LOOPS)
def test_the_a_priori_regret_is_the_sum_of_a_loop(learner, p, k):
    c = cell(64, k, d=4, H=1.0, rho=8.0, learner=learner, p=p)
    V, lam = evaluate("zhang2022.one", "V", c), 2 * (p - 1)
    inner = [0.25 / t + 2 * V * 9 * 49 / (8 * t) ** 2 for t in range(1, 65)]
    if learner == "osd":
        moments = [t ** (2 * k) * (4 + 4 + 16 * (k + 1) ** 2 / lam * x) for t, x in enumerate(inner, 1)]
        expected = sum(m / (2 * sum(0.5 * s**k for s in range(1, t + 1))) for t, m in enumerate(moments, 1))
    elif "optimistic" in learner:
        root = math.sqrt(3) * (k + 1) * 2 * 3 * (1 + 4 * math.sqrt(V / lam) * 7 / 8)
        expected = LEARNERS[learner] * root * 64 ** (k - 0.5)
    else:
        moments = [3 * t ** (2 * k) * (1 + 4 * (k + 1) ** 2 / lam * x) for t, x in enumerate(inner, 1)]
        expected = LEARNERS[learner] * 2 * math.sqrt(sum(moments)) / math.sqrt(p - 1)
    assert evaluate("zhang2022.thm4", "Reg_A", c) == pytest.approx(expected, rel=1e-12)
    assert value("thm4_a_priori", c) == pytest.approx(value("thm4", replace(c, extras={"regret": expected})), rel=1e-12)
    if learner == "osd":
        again = replace(c, extras={"regularised_regret": expected})
        assert value("thm8_a_priori", c) == pytest.approx(value("thm8", again), rel=1e-12)


@pytest.mark.parametrize("d", [2, 9])
def test_far_from_2_it_is_the_largest_squared_coordinate(d):
    """``E max g_i^2`` from the law of the largest of d chi-squared variables; l_q is above l_inf by at most d^(1/q)."""
    x = np.linspace(0.0, 80.0, 400_001)
    largest = float(np.trapezoid(1.0 - chi2.cdf(x, 1) ** d, x))
    assert largest <= second_moment(80.0, d) <= d ** (2 / 80) * largest


@pytest.mark.parametrize(("q", "d"), [(2.5, 3), (3.0, 16), (5.0, 3), (5.0, 81), (11.0, 20)])
def test_against_simulation(q, d):
    g = np.random.default_rng(5).standard_normal((200_000, d))
    squares = np.linalg.norm(g, ord=q, axis=1) ** 2
    assert abs(squares.mean() - second_moment(q, d)) < 4 * squares.std() / math.sqrt(200_000)


@pytest.mark.parametrize(("n", "d", "k", "q"), [(16, 4, 1.0, 2.0), (16, 3, 3.0, 2.0), (13, 3, 2.0, 3.0)])
def test_the_noise_of_a_path_is_that_of_the_streaming_tree(n, d, k, q):
    own = {"n": n, "k": k, "lipschitz": 1.0, "smoothness": 0.0, "diameter": 2.0, "rho": 1.0}
    own |= {"sensitivity": "eq6", "radius": "adaptive"}
    c = replace(cell(n, k, d, p=q / (q - 1.0)), schedule=own, scales={NODE: 0.7})
    units, rng = NodeUnits(k, n, 1.0, 0.0, 2.0, "eq6", "adaptive").fixed_units, np.random.default_rng(11)
    noise = SimpleNamespace(release=lambda name, value, step: value + 0.7 * rng.standard_normal((20_000, d)))
    tree = TreeSum(noise)
    for t in range(1, n):
        gamma = tree.add(t, np.zeros((1, d)), units[t - 1])
        if t in (n // 4, n // 2, n - 1):
            squares = np.linalg.norm(gamma, ord=q, axis=1) ** 2
            assert abs(squares.mean() - path_moment(c, t)) < 4 * squares.std() / math.sqrt(len(squares))


@pytest.mark.parametrize("id", ["zhang2022.thm4", "zhang2022.thm6", "zhang2022.thm4.moment"])
def test_equation_7_holds_in_every_part_of_the_claims(id):
    for job in claim_plan(id, "ci").jobs:
        largest = {cell.method: cell for cell in sorted(job.cells, key=lambda cell: cell.n)}
        for cell in largest.values() if job.calibration != "none" else ():
            found = calibrate_cell(cell, job.calibration, 0)
            setting = (int(cell.n), found.dimension, cell.epsilon, cell.delta, found.constants)
            c = BoundContext(*setting, "paper", found.schedule, found.scales)
            for place in ("quarter", "half", "last"):
                assert 0 < value(f"expected_noise_{place}", c) < 0.95 * value(f"noise_{place}", c)
