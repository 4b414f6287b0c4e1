"""The draw of an exponential mechanism as a query: scales, statuses, and the privacy facts of the chapter."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.privacy.accountants.gaussian import gdp_delta, gdp_epsilon, gdp_mu
from dpsco_bench.privacy.add_remove import add_remove
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import PrivacySpec, make_plan
from dpsco_bench.problems.base import Constants

CUBE = dict(initial_gap=1.0, diameter=2.0, norm=math.inf, domain="linf_ball", losses="linear")


def calibrated(calibration, epsilon, delta, difference=2.0, id="gopi2022.reg_exp_mech", **options):
    entry = get_algorithm(id)
    constants = Constants(1.0, 0.0, loss_range=difference, **CUBE)
    spec = PrivacySpec(epsilon, delta)
    variant = entry.variant_for(calibration)
    plan = entry.plan(constants, 1000, 4, spec, variant, **options)
    return plan, calibrate(plan, spec, calibration)


def test_the_accounted_schedule_uses_the_proven_range_of_differences():
    for difference in (0.7, 1.0, 2.0):
        plan, accounted = calibrated("accounted", 1.0, 1e-6, difference)
        assert plan.loss_range == difference
        t = difference * math.sqrt(plan.k / plan.mu) / 1000
        assert t == pytest.approx(plan.t, rel=1e-12)
        assert plan.query("draw").temperature.at(accounted.scales["draw"]) == pytest.approx((plan.k, plan.mu))


@pytest.mark.parametrize("id", ["gopi2022.gibbs", "gopi2022.hit_and_run"])
@pytest.mark.parametrize("calibration", ["paper", "accounted"])
def test_chains_prove_nothing_whatever_their_length(id, calibration):
    _, found = calibrated(calibration, 1.0, 1e-6, id=id, sweeps=10**9)
    assert found.privacy_status == "target_law_only" and found.charge.sampler_status == "target_law_only"
    assert math.isnan(found.charge.epsilon) and math.isnan(found.charge.tau)
    assert found.charge.epsilon_law == pytest.approx(1.71949592716 if calibration == "paper" else 1.0, rel=1e-9)


def test_the_alternating_sampler_is_proven_with_the_steps_of_the_theorem():
    plan, found = calibrated("accounted", 1.0, 1e-6, id="gopi2022.proximal_sampler")
    assert found.charge.sampler_status == "proven_tv" and found.privacy_status == "proven"
    assert found.charge.tau == pytest.approx(1.34471e-7, rel=1e-5) and found.charge.kind == "upper"
    assert found.charge.epsilon == pytest.approx(1.0, rel=1e-7) and found.charge.epsilon_law < 1.0
    assert plan.t == pytest.approx(0.229086942728, rel=1e-11)
    for shorter in ({"sweeps": plan.sweeps - plan.sweeps // 50}, {"delta_in": 0.05}, {"start": "corner"}):
        _, found = calibrated("accounted", 1.0, 1e-6, id="gopi2022.proximal_sampler", **shorter)
        assert found.privacy_status == "target_law_only" and math.isnan(found.charge.epsilon)


def test_the_printed_split_proves_no_epsilon():
    """E3: under the paper's calibration tau = delta/2, and no epsilon reaches delta."""
    _, found = calibrated("paper", 1.0, 1e-6, 1.0, id="gopi2022.proximal_sampler")
    assert found.charge.tau == 5e-7 and math.isnan(found.charge.epsilon)
    assert found.charge.sampler_status == "proven_tv" and found.privacy_status == "unproven"
    for difference in (1.0, 2.0):
        plan, found = calibrated("paper", 1.0, 1e-6, difference, id="gopi2022.proximal_sampler")
        t = difference * math.sqrt(plan.k / plan.mu) / 1000
        reached = gdp_delta(t, 1.0) + (1 + math.e) * 5e-7
        assert reached > 1.8e-6 and f"delta = {reached:.3g}" in plan.warnings[0]


def test_a_record_that_is_there_or_not_changes_the_exponent_by_one_loss():
    """Replace-one by a difference of Lipschitz constant S = sensitivity G."""
    plan, found = calibrated("accounted", 1.0, 1e-6)
    apart = add_remove(plan, found.scales, 1e-6)
    t = gdp_mu(1.0, 1e-6) / plan.queries[0].sensitivity
    assert apart.epsilon == pytest.approx(gdp_epsilon(t, 1e-6)) and apart.kind == "upper" and apart.reason == ""
    unproven, close = (
        make_plan(replace(plan.queries[0], sampler_status=status, tau=1e-9), gradient_evaluations=1)
        for status in ("target_law_only", "proven_tv")
    )
    assert math.isnan(add_remove(unproven, found.scales, 1e-6).epsilon)
    assert apart.epsilon < add_remove(close, found.scales, 1e-6).epsilon < 1.01 * apart.epsilon


class Fixed:
    """A law that returns its temperature and its random numbers."""

    shape = (2, 3)

    def draw(self, k, mu, draws):
        return np.column_stack([np.full(draws.rows, k), np.full(draws.rows, mu), draws.uniform("u", 0, 1)[:, 0]])

    def minimiser(self, mu):
        return np.full((2, 3), mu)


def test_the_mechanism_draws_at_the_calibrated_temperature_from_keyed_streams():
    plan, found = calibrated("accounted", 1.0, 1e-6)
    first = Mechanism(plan, found.scales, "run", 1, 0, 5).release("draw", Fixed())
    np.testing.assert_allclose(first[:, :2], [[plan.k, plan.mu]] * 5)
    part = Mechanism(plan, found.scales, "run", 1, 3, 2).release("draw", Fixed())
    np.testing.assert_array_equal(part, first[3:])
    assert not np.any(Mechanism(plan, found.scales, "run", 2, 0, 5).release("draw", Fixed())[:, 2] == first[:, 2])
    silent = Mechanism(plan, {"draw": 0.0}, "run", 1, 0, 2).release("draw", Fixed())
    np.testing.assert_array_equal(silent, 0.0)  # the weight of the regulariser in the limit of erm
