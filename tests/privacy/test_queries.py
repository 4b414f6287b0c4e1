"""Releases of each kind of query, trees over rounds, the laws of their noise, and draws of an exponential mechanism."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import DpscoError, Refusal
from dpsco_bench.privacy import tree
from dpsco_bench.privacy.accountants.gaussian import gdp_delta, gdp_epsilon, gdp_mu
from dpsco_bench.privacy.accountants.objective import plane_tail, tail_epsilon
from dpsco_bench.privacy.accountants.zcdp import composed_epsilon
from dpsco_bench.privacy.add_remove import add_remove
from dpsco_bench.privacy.calibrate import calibrate, charge
from dpsco_bench.privacy.mechanism import NOISE_LAWS
from dpsco_bench.privacy.plan import GammaObjectiveQuery, NoisyMinimumQuery, ObjectiveQuery, PrivacySpec
from dpsco_bench.privacy.queries import RULES, Temperature
from dpsco_bench.privacy.records import Full, Nodes, Poisson
from dpsco_bench.problems.base import Constants
from dpsco_bench.rng.streams import Stream, stream_key

from ..samplers.test_noise import probabilities
from .plans import plan_of, source

PRIVACY = PrivacySpec(1.0, 1e-5)
VERTEX = NoisyMinimumQuery("vertex", 0.5, 12, paper_scale=2.0)
NORMAL = ObjectiveQuery("linear", 2.0, 1, paper_scale=10.0, log_jacobian=0.3)
GAMMA = GammaObjectiveQuery("linear", 2.0, 1, paper_scale=10.0, log_jacobian=0.3)


OWN_NORMS = [(q, 5, share) for q, share in ((1.0, 2 / 30), (2.0, 6 / 30), (4.0, 10 / 30), (math.inf, 14 / 30))]


@pytest.mark.parametrize(("q", "d", "share"), [*((2.0, d, 1 / d) for d in (1, 3, 10)), *OWN_NORMS])
def test_gamma_norm_and_uniform_direction(q, d, share):
    """E||b|| = d, E||b||^2 = d (d + 1), whatever the norm; ``share`` is the mean square of a direction's entry."""
    own = () if q == 2.0 else (q,)
    b = NOISE_LAWS["gamma_norm"](Stream(stream_key(7, "queries", str(q))), 0, 40, 0, 1000, d, *own).reshape(-1, d)
    norm, error = np.linalg.norm(b, ord=q, axis=1), 5 / math.sqrt(len(b))
    assert stats.kstest(norm, stats.gamma(d).cdf).pvalue > 1e-3
    direction = b / norm[:, None]
    for values, moment in ((norm, d), (norm**2, d * (d + 1)), *((entry**2, share) for entry in direction.T)):
        assert abs(values.mean() - moment) <= error * values.std() + 1e-12
    assert np.abs(direction.mean(axis=0)).max() < error * math.sqrt(share)
    assert np.abs(direction.T @ direction / len(b) - share * np.eye(d)).max() < error * math.sqrt(share) + 1e-12
    assert abs(np.corrcoef(norm, direction[:, 0])[0, 1]) < error


def test_the_least_noisy_score_is_chosen_as_privately_as_charged():
    """Ratios of the exact probabilities on scores that all move by the sensitivity: at most 2 s/scale, and near it."""
    scale, s = 0.8, 0.2
    worst = 0.0
    for shift in ([s, -s, -s], [-s, s, s], [s, s, -s], [s, -s, s]):
        base = [0.0, 4.0, 4.0]
        first = probabilities(base, scale)
        second = probabilities([a + b for a, b in zip(base, shift, strict=True)], scale)
        worst = max(worst, max(abs(math.log(p / q)) for p, q in zip(first, second, strict=True)))
    assert 0.9 * 2 * s / scale < worst <= 2 * s / scale
    silent = source(plan_of(VERTEX), 0.0, 2)
    np.testing.assert_array_equal(silent.release("vertex", np.array([[3.0, 1.0, 1.0], [0.0, 0.0, 0.0]])), [1, 0])


def test_objective_queries_hand_the_noise_to_the_solver_and_expose_the_gradient_sum():
    seen = []
    value = SimpleNamespace(shape=(4, 3), solve=lambda b: seen.append(b) or -b, data_part=lambda x: 2 * x)
    answer = source(plan_of(NORMAL), 5.0).release("linear", value)
    assert seen[0].shape == (4, 3) and 1 < seen[0].std() < 20
    np.testing.assert_array_equal(answer, -seen[0])
    np.testing.assert_array_equal(NORMAL.exposed(value, answer), 2 * answer)
    silent = SimpleNamespace(shape=(4, 3), solve=lambda b: b)
    assert source(plan_of(NORMAL), 0.0).release("linear", silent) is None


@pytest.mark.parametrize("query", [VERTEX, NORMAL, GAMMA], ids=["vertex", "normal", "gamma"])
def test_accounted_scales_meet_the_claim_from_above(query):
    plan = plan_of(query)
    result = calibrate(plan, PRIVACY, "accounted")
    assert result.charge.kind == "upper"
    assert 1 - 1e-6 < result.charge.epsilon <= 1 + 1e-12
    more = {name: 0.9 * scale for name, scale in result.scales.items()}
    assert charge(plan, more, 1e-5).epsilon > 1.0
    assert math.isnan(add_remove(plan, result.scales, 1e-5).epsilon)
    assert calibrate(plan, PRIVACY, "paper").scales == {query.name: query.paper_scale}


def test_composition_and_status_of_queries():
    assert calibrate(plan_of(VERTEX), PRIVACY, "accounted").privacy_status == "proven"
    assert calibrate(plan_of(NORMAL), PRIVACY, "accounted").privacy_status == "target_law_only"
    assert calibrate(plan_of(NORMAL), PRIVACY, "accounted", "nominal").privacy_status == "unproven"
    weak = plan_of(ObjectiveQuery("linear", 2.0, 1, paper_scale=0.1, log_jacobian=0.3))
    assert calibrate(weak, PRIVACY, "paper").privacy_status == "unproven"
    plan = plan_of(replace(NORMAL, releases=3))
    each = tail_epsilon(2.0 / 10.0, 0.3, plane_tail(1e-5 / 3))
    assert charge(plan, {"linear": 10.0}, 1e-5).epsilon == pytest.approx(3 * each)
    scales = calibrate(plan, PRIVACY, "accounted").scales
    assert charge(plan, scales, 1e-5).epsilon == pytest.approx(1.0)
    assert charge(plan_of(VERTEX), {"vertex": 4.0}, 1e-5).epsilon == composed_epsilon(0.25, 12, 1e-5)


CUBE = dict(initial_gap=1.0, diameter=2.0, norm=math.inf, domain="linf_ball", losses="linear")


def calibrated(calibration, epsilon, delta, difference=2.0, id="gopi2022.reg_exp_mech", **options):
    entry = get_algorithm(id)
    constants = Constants(1.0, 0.0, loss_range=difference, **CUBE)
    spec = PrivacySpec(epsilon, delta)
    variant = entry.variant_for(calibration)
    plan = entry.plan(constants, 1000, 4, spec, variant, **options)
    return plan, calibrate(plan, spec, calibration)


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
    # E3: under the paper's calibration tau = delta/2, and no epsilon reaches delta.
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
        plan_of(replace(plan.queries[0], sampler_status=status, tau=tau))
        for status, tau in (("target_law_only", 0.0), ("proven_tv", 1e-9))
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
    plan, found = calibrated("accounted", 1.0, 1e-6, 0.7)
    assert plan.loss_range == 0.7
    assert found.charge.sampler_status == "exact" and found.charge.tau == 0.0
    first = source(plan, found.scales, 5).release("draw", Fixed())
    np.testing.assert_allclose(first[:, :2], [[plan.k, plan.mu]] * 5)
    np.testing.assert_array_equal(source(plan, found.scales, 2, 3).release("draw", Fixed()), first[3:])
    assert not np.any(source(plan, found.scales, 5, seed=2).release("draw", Fixed())[:, 2] == first[:, 2])
    silent = source(plan, 0.0, 2).release("draw", Fixed())
    np.testing.assert_array_equal(silent, 0.0)  # the weight of the regulariser in the limit of erm


def test_several_draws_cost_what_one_does_at_a_lower_temperature():
    one = replace(calibrated("accounted", 1.0, 1e-6)[0].queries[0], sampler_status="proven_tv", tau=4e-9)
    plans = [plan_of(query) for query in (one, replace(one, releases=4, tau=1e-9))]
    single, double = (calibrate(plan, PrivacySpec(1.0, 1e-6), "accounted").scales for plan in plans)
    assert double["draw"] == pytest.approx(2.0 * single["draw"])
    for epsilon_of in (charge, add_remove):
        found = [epsilon_of(plan, scales, 1e-6).epsilon for plan, scales in zip(plans, (single, double), strict=True)]
        assert found[0] == pytest.approx(found[1])
    for queries in ((VERTEX, one), (one, VERTEX), (replace(one, records=Poisson(0.5)),)):
        with pytest.raises(Refusal, match="composes"):
            charge(plan_of(*queries), {"draw": 1.0, "vertex": 1.0}, 1e-6)


@pytest.mark.parametrize("rule", RULES)
def test_a_temperature_has_the_parameter_of_its_scale(rule):
    law = Temperature(rule, 50, 4, 2.0, 3.0, theta=0.7, convexity=0.3)
    for scale in (0.1, 2.0):
        k, mu = law.at(scale)
        assert [3.0 * math.sqrt(k / mu) / 50, law.parameter(scale)] == pytest.approx([3.0 / (2.0 * scale)] * 2)
    assert law.at(0.0) == (math.inf, pytest.approx(law.at(1e-9)[1], abs=1e-9)) and law.parameter(0.0) == math.inf


def block(t):
    """``S_t``: the records of node t."""
    return range(t - tree.lowest_bit(t) + 1, t + 1)


def record_nodes(q, nodes):
    """``IN(q)``: those of nodes 1..``nodes`` that cover record q."""
    return [t for t in range(1, nodes + 1) if q in block(t)]


def test_prefix_nodes_partition_the_records_of_which_each_has_few():
    for t in range(1, 300):
        covered = [q for node in tree.prefix_nodes(t) for q in block(node)]
        assert covered == list(range(1, t + 1))
    assert tree.prefix_nodes(7) == (4, 6, 7)
    # Theorem 17's U: ``floor(log2 N) + 1``, attained by record 1, for every N up to 5000.
    reached, largest = np.zeros(5001, dtype=int), 0  # nodes of record q among 1..N, as N grows
    for nodes in range(1, 5001):
        covered = np.arange(nodes - tree.lowest_bit(nodes) + 1, nodes + 1)
        reached[covered] += 1
        largest = max(largest, int(reached[covered].max()))
        assert largest == tree.levels(nodes) == math.floor(math.log2(nodes)) + 1


@pytest.mark.parametrize("nodes", [1, 2, 6, 7, 8, 21, 37])
def test_block_maxima_and_path_sums_are_those_of_the_composition_theorem(nodes):
    values = np.random.default_rng(nodes).uniform(size=nodes)
    expected = [max(values[q - 1] for q in block(t)) for t in range(1, nodes + 1)]
    np.testing.assert_array_equal(tree.block_maxima(values), expected)
    cost = np.random.default_rng(nodes).uniform(size=(nodes + 1, nodes + 1))
    expected = max(sum(cost[q, t] for t in record_nodes(q, nodes)) for q in range(1, nodes + 1))
    assert tree.largest_path_sum(lambda q, t: cost[q, t], nodes) == pytest.approx(expected)


def nodes_plan(query=tree.TreeQuery, sensitivity=1.0, records=None, **keywords):
    settings = {"path_cost": 3.0, "paid_cost": 4.0, **({"attained": True} if query is tree.TreeQuery else {})}
    return plan_of(query("node", sensitivity, 12, records or Nodes(12), **settings | keywords), n=13)


def test_nodes_are_charged_by_their_dearest_record_and_paid_for_by_level():
    privacy = PrivacySpec(1.0, 1e-6)
    m = gdp_mu(1.0, 1e-6)
    for attained, kind in ((True, "exact"), (False, "upper")):
        made = calibrate(nodes_plan(attained=attained, spread=2.0), privacy, "accounted")
        assert made.scales["node"] == pytest.approx(2.0 * 2.0 / m)
        assert made.charge.kind == kind
        assert made.charge.epsilon == pytest.approx(gdp_epsilon(m * math.sqrt(3 / 4), 1e-6))
    for delta in (1e-9, 1e-3):
        made = calibrate(nodes_plan(tree.PureTreeQuery), PrivacySpec(2.0, delta), "accounted")
        assert made.scales["node"] == 2.0
        assert made.charge.epsilon == pytest.approx(1.5) and made.charge.kind == "upper"
    # Chapter zhang2022, section 8: the sum of 13 Gaussian nodes at rho = 1 is 1-GDP.
    assert gdp_epsilon(1.0, 1e-6) == pytest.approx(4.88655, abs=1e-5)


def test_a_record_that_is_there_or_not_changes_nodes_by_half():
    plan, scale = nodes_plan(spread=2.0, sensitivity=0.7), {"node": 1.5}
    m = 0.7 * 2.0 * math.sqrt(3.0) / 1.5
    found = add_remove(plan, scale, 1e-6)
    assert found.epsilon == pytest.approx(gdp_epsilon(m / 2, 1e-6)) and found.kind == "exact"
    assert add_remove(nodes_plan(attained=False), scale, 1e-6).kind == "upper"
    pure = add_remove(nodes_plan(tree.PureTreeQuery, sensitivity=0.7), scale, 1e-6)
    assert pure.epsilon == pytest.approx(0.5 * 0.7 * 3.0 / 1.5) and pure.kind == "upper"


@pytest.mark.parametrize("query", [tree.TreeQuery, tree.PureTreeQuery])
@pytest.mark.parametrize("changes", [{"path_cost": 5.0}, {"path_cost": 0.0}, {"idle": 1}, {"records": Full()}], ids=str)
def test_declarations_that_do_not_fit_a_tree(query, changes):
    with pytest.raises(DpscoError, match="of node"):
        nodes_plan(query, **changes)


@pytest.mark.parametrize("query", [tree.TreeQuery, tree.PureTreeQuery])
def test_nodes_are_measured_in_the_norm_of_their_order_and_may_be_enforced(query):
    for enforced in (False, True):
        plan = nodes_plan(query, order=3.0, enforced=enforced)
        assert plan.query("node").norm == 3.0 and tree.enforces_sensitivity(plan) is enforced
