"""Baselines of the comparison table of chapter zhang2022, and the accountant of subsets without replacement."""

from math import ceil, log, sqrt

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import DpscoError
from dpsco_bench.privacy.accountants.fixed_size import subset_gaussian_epsilon
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon, gdp_mu
from dpsco_bench.privacy.accountants.subsampled_zcdp import without_replacement_epsilon
from dpsco_bench.privacy.calibrate import calibrate, charge
from dpsco_bench.privacy.plan import Full, GaussianQuery, NoisyMinimumQuery, WithoutReplacement, make_plan
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants

FKT, BFTT, SGD = "zhang2022.fkt20_phased_sgd", "zhang2022.bftt19_noisy_sgd", "zhang2022.dp_sgd"
DELTA = 1e-6
L = log(1 / DELTA)


def unit_vectors(n, d, seed=0):
    z = np.random.default_rng(seed).standard_normal((n, d))
    return z / np.linalg.norm(z, axis=1, keepdims=True)


# --- phased SGD ------------------------------------------------------------------------------------------------------


def test_phases_are_those_of_the_other_paper_times_the_diameter(points):
    """One implementation for both: steps times D, the same noise in units of the step, the same phases."""
    ball, space = Constants(3.0, 1e-9, diameter=2.0, domain="l2_ball"), Constants(3.0, 1e-9)
    plans = [
        get_algorithm(name).plan(c, 100, 4, PrivacySpec(1.0, DELTA), "standard")
        for name, c in ((FKT, ball), ("su2023.phased_dp_sgd", space))
    ]
    assert plans[0].step == pytest.approx(2.0 * plans[1].step)
    assert plans[0].sizes == plans[1].sizes == (50, 25, 12, 6, 3, 1)
    for one, other in zip(plans[0].queries, plans[1].queries, strict=True):
        assert one.paper_scale == pytest.approx(2.0 * other.paper_scale)
        assert one.sensitivity == pytest.approx(2.0 * other.sensitivity)


def test_phases_cost_one_phase(points):
    found = points.run(FKT, unit_vectors(64, 3), "accounted")
    assert found.calibrated.charge.epsilon == pytest.approx(1.0) and found.calibrated.charge.kind == "exact"
    m = gdp_mu(1.0, DELTA)
    for i, query in enumerate(found.plan.queries, start=1):
        assert found.calibrated.scales[query.name] == pytest.approx(2.0 * found.plan.step / 4**i / m)
    printed = points.run(FKT, unit_vectors(64, 3), "paper").calibrated
    assert printed.charge.epsilon == pytest.approx(gdp_epsilon(1.0 / (2 * sqrt(L)), DELTA))


def test_the_result_lies_in_the_ball(points):
    """Noise far larger than the ball: without the projection the excess risk would be negative."""
    for calibration in ("paper", "accounted"):
        output = points.run(FKT, unit_vectors(32, 3), calibration, epsilon=0.01, replicates=20, step=1.0).output
        assert np.linalg.norm(output, axis=1).max() <= 1 + 1e-12


def test_steps_of_more_than_two_over_the_smoothness_are_refused(points):
    points.run(FKT, unit_vectors(8, 2), curvature=0.5, step=4.0)
    with pytest.raises(DpscoError, match=r"^step = 4.1: must be in \(0, 2/H\] with 2/H = 4"):
        points.run(FKT, unit_vectors(8, 2), curvature=0.5, step=4.1)
    with pytest.raises(DpscoError, match="^step = -1.0: must be a finite number > 0"):
        points.run(FKT, unit_vectors(8, 2), step=-1.0)


def test_steps_up_to_two_over_the_smoothness_do_not_drive_runs_apart(points):
    """The last phase's average moves by at most 2 L eta_i where its only record changes."""
    records = unit_vectors(16, 2)
    found = points.run(FKT, records, curvature=1.0, step=2.0)
    assert found.plan.sizes == (8, 4, 2, 1)
    last = found.plan.step / 4 ** len(found.plan.sizes)
    changed = records.copy()
    changed[14] = -records[14]  # the only record of the last phase
    moved = np.linalg.norm(points.run(FKT, changed, curvature=1.0, step=2.0).output - found.output)
    assert 0 < moved <= 2 * 2.0 * last


# --- mini-batch SGD --------------------------------------------------------------------------------------------------


def test_schedule_of_noisy_mini_batch_sgd(points):
    n, d, epsilon = 4096, 16, 1.0
    plan = points.run(BFTT, unit_vectors(n, d), "paper").plan
    J = int(min(n / 8, epsilon**2 * n**2 / (32 * d * L)))
    assert J == plan.steps == 512
    assert plan.batch == ceil(n * sqrt(epsilon / (4 * J))) == 91
    assert plan.step == pytest.approx(1.0 / sqrt(J))
    assert plan.queries[0].paper_scale ** 2 == pytest.approx(8 * J * L / (n * epsilon) ** 2)
    assert plan.gradient_evaluations == J * 91


def test_noisy_mini_batch_sgd_is_not_proven(points):
    """Nobody bounds batches drawn with replacement from above here."""
    found = points.run(BFTT, unit_vectors(256, 2), "paper", epsilon=2.0, steps=4)
    assert found.calibrated.charge.kind == "lower"
    assert found.calibrated.privacy_status in ("unproven", "exceeds_claim")
    with pytest.raises(DpscoError, match="no variant defines it"):
        points.run(BFTT, unit_vectors(256, 2), "accounted", steps=4)
    with pytest.raises(DpscoError, match="^steps = 0: must be at least 1"):
        points.run(BFTT, unit_vectors(24, 3), "paper")


@pytest.mark.parametrize("algorithm", [BFTT, SGD])
def test_mini_batch_sgd_returns_the_mean_of_its_iterates(points, algorithm):
    """One record and no noise: projected gradient descent by hand."""
    z = np.array([[0.6, -0.2]])
    keys = {"batch": 1} if algorithm == SGD else {}
    found = points.run(algorithm, np.tile(z, (8, 1)), curvature=1.0, steps=5, **keys)
    step = found.plan.step if algorithm == BFTT else 2.0 / (2.0 * sqrt(5))
    x, seen = np.zeros((1, 2)), []
    for _ in range(5):
        seen.append(x)
        x = x - step * (x - z)
        x = x / max(1.0, float(np.linalg.norm(x)))
    np.testing.assert_allclose(found.output, np.mean(seen, axis=0), rtol=1e-12)


def test_accounted_sgd(points):
    found = points.run(SGD, unit_vectors(4096, 4), "accounted", epsilon=1.0)
    plan, scale = found.plan, found.calibrated.scales["gradient"]
    assert (plan.steps, plan.batch) == (512, 128) and plan.queries[0].sensitivity == pytest.approx(2.0 / 128)
    assert found.calibrated.charge.epsilon == pytest.approx(1.0, rel=1e-3) and found.calibrated.charge.epsilon <= 1.0
    assert found.calibrated.privacy_status == "proven"
    assert charge(plan, {"gradient": 0.9 * scale}, DELTA).epsilon > 1.05
    with pytest.raises(DpscoError, match="no variant defines it"):
        points.run(SGD, unit_vectors(64, 4), "paper")
    with pytest.raises(DpscoError, match="^size = 65: must be at most 64"):
        points.run(SGD, unit_vectors(64, 4), "accounted", batch=65)


# --- subsets without replacement -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("multiplier", "size", "steps"), [(2.0, 200, 512), (1.0, 64, 100), (5.0, 640, 50)])
def test_the_bound_is_below_that_of_mechanisms_in_general(multiplier, size, steps):
    """Of any mechanism that is (1/(2 z^2))-zCDP, for the same scheme: dp-accounting's knows that noise is normal."""
    ours = subset_gaussian_epsilon(multiplier, 6400, size, steps, DELTA)
    general = without_replacement_epsilon(0.5 / multiplier**2, size / 6400, steps, DELTA)
    assert 0.3 * general <= ours <= general * (1 + 1e-9)
    query = GaussianQuery("gradient", 3.0, steps, WithoutReplacement(6400, size))
    charged = charge(make_plan(query, gradient_evaluations=1), {"gradient": 3.0 * multiplier}, DELTA)
    assert charged.epsilon == ours and charged.kind == "upper"


def test_the_bound_is_above_one_pair_and_below_no_sampling():
    """Whether the record is drawn is a coin: a test on one step already shows part of the bound."""
    from scipy.stats import norm

    query = GaussianQuery("gradient", 1.0, 1, WithoutReplacement(100, 50))
    plan, scale = make_plan(query, gradient_evaluations=1), 0.5
    bound = charge(plan, {"gradient": scale}, DELTA).epsilon
    cut = np.linspace(-5, 5, 2001)
    first = 0.5 * norm.sf(cut / scale) + 0.5 * norm.sf((cut - 1) / scale)
    second = norm.sf(cut / scale)
    shown = np.log((first - DELTA)[first > DELTA] / second[first > DELTA]).max()
    assert shown <= bound <= gdp_epsilon(1.0 / scale, DELTA) * 1.5


def test_what_subsets_do_not_compose_with():
    subset = GaussianQuery("one", 1.0, 3, WithoutReplacement(10, 2))
    privacy = PrivacySpec(1.0, DELTA)
    with pytest.raises(DpscoError, match="no accountant here composes GaussianQuery, GaussianQuery"):
        calibrate(make_plan(subset, GaussianQuery("two", 1.0, 1, Full()), gradient_evaluations=1), privacy, "accounted")
    other = NoisyMinimumQuery("one", 1.0, 1, WithoutReplacement(10, 2))
    with pytest.raises(DpscoError, match="on subsets of the records"):
        calibrate(make_plan(other, gradient_evaluations=1), privacy, "accounted")
