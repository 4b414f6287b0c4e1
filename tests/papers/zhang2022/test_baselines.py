"""Baselines of the comparison table of chapter zhang2022, and the accountant of their batches."""

from math import ceil, log, sqrt

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import DpscoError
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon, gdp_mu
from dpsco_bench.privacy.calibrate import calibrate, charge
from dpsco_bench.privacy.plan import GaussianQuery, NoisyMinimumQuery, make_plan
from dpsco_bench.privacy.records import Full, WithoutReplacement
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


def test_noisy_mini_batch_sgd_with_the_printed_noise(points):
    """Private for a claim of 1, refuted for a claim of 4."""
    quiet = points.run(BFTT, unit_vectors(1024, 2), "paper", epsilon=1.0).calibrated
    assert (quiet.charge.kind, quiet.privacy_status) == ("upper", "proven") and 0.9 < quiet.charge.epsilon < 1.0
    loud = points.run(BFTT, unit_vectors(256, 2), "paper", epsilon=4.0).calibrated
    assert (loud.charge.kind, loud.privacy_status) == ("lower", "unproven")


def test_noisy_mini_batch_sgd_with_the_accounted_noise(points):
    found = points.run(BFTT, unit_vectors(256, 2), "accounted", epsilon=4.0)
    assert found.calibrated.charge.epsilon == pytest.approx(4.0, rel=1e-3) and found.calibrated.charge.epsilon <= 4.0
    assert found.calibrated.privacy_status == "proven"
    assert found.calibrated.scales["gradient"] > found.plan.queries[0].paper_scale
    with pytest.raises(DpscoError, match="^steps = 0: must be at least 1"):
        points.run(BFTT, unit_vectors(24, 3), "paper")


def test_a_batch_is_no_larger_than_the_data(points):
    """J = n/8 = 1: with eps = 4 the batch is n, with 8 it would have 12 of 8 records."""
    assert points.run(BFTT, unit_vectors(8, 1), "none", epsilon=4.0).plan.batch == 8
    with pytest.raises(DpscoError, match="batch = 12: must be at most n = 8"):
        points.run(BFTT, unit_vectors(8, 1), "none", epsilon=8.0)


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


# --- batches of a fixed size ------------------------------------------------------------------------------------------


def test_what_subsets_do_not_compose_with():
    subset = GaussianQuery("one", 1.0, 3, WithoutReplacement(10, 2))
    privacy = PrivacySpec(1.0, DELTA)
    with pytest.raises(DpscoError, match="no accountant here composes GaussianQuery, GaussianQuery"):
        calibrate(make_plan(subset, GaussianQuery("two", 1.0, 1, Full()), gradient_evaluations=1), privacy, "accounted")
    other = NoisyMinimumQuery("one", 1.0, 1, WithoutReplacement(10, 2))
    with pytest.raises(DpscoError, match="on drawn batches of the records"):
        calibrate(make_plan(other, gradient_evaluations=1), privacy, "accounted")
