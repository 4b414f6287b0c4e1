"""Trees over rounds: partitions, paths, what nodes cost, and the noise of the pure version."""

import math

import numpy as np
import pytest

from dpsco_bench.errors import DpscoError
from dpsco_bench.privacy import tree
from dpsco_bench.privacy.accountants import gaussian, pld
from dpsco_bench.privacy.add_remove import add_remove
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.mechanism import NOISE_LAWS
from dpsco_bench.privacy.plan import PrivacySpec, make_plan
from dpsco_bench.privacy.records import Full, Nodes
from dpsco_bench.rng.streams import Stream, stream_key

MOST = 5000


def block(t):
    """``S_t``: the records of node t."""
    return range(t - tree.lowest_bit(t) + 1, t + 1)


def record_nodes(q, nodes):
    """``IN(q)``: those of nodes 1..``nodes`` that cover record q."""
    return [t for t in range(1, nodes + 1) if q in block(t)]


def test_blocks_of_the_prefix_nodes_partition_the_records():
    for t in range(1, 300):
        covered = [q for node in tree.prefix_nodes(t) for q in block(node)]
        assert covered == list(range(1, t + 1))
    assert tree.prefix_nodes(7) == (4, 6, 7)


def test_most_nodes_of_a_record():
    """Theorem 17's U: ``floor(log2 N) + 1``, attained by record 1, for every N up to 5000."""
    reached = np.zeros(MOST + 1, dtype=int)  # nodes of record q among 1..N, as N grows
    largest = 0
    for nodes in range(1, MOST + 1):
        covered = np.arange(nodes - tree.lowest_bit(nodes) + 1, nodes + 1)
        reached[covered] += 1
        largest = max(largest, int(reached[covered].max()))
        assert largest == tree.levels(nodes) == math.floor(math.log2(nodes)) + 1


@pytest.mark.parametrize("size", [1, 2, 7, 8, 37])
def test_block_maxima(size):
    values = np.random.default_rng(size).uniform(size=size)
    expected = [max(values[q - 1] for q in block(t)) for t in range(1, size + 1)]
    np.testing.assert_array_equal(tree.block_maxima(values), expected)


@pytest.mark.parametrize("nodes", [1, 2, 6, 8, 21])
def test_path_sums_are_those_of_the_composition_theorem(nodes):
    rng = np.random.default_rng(nodes)
    cost = rng.uniform(size=(nodes + 1, nodes + 1))
    expected = max(sum(cost[q, t] for t in record_nodes(q, nodes)) for q in range(1, nodes + 1))
    assert tree.largest_path_sum(lambda q, t: cost[q, t], nodes) == pytest.approx(expected)
    rho = rng.uniform(size=nodes + 1)
    paid = [sum(rho[t] ** 2 for t in range(1, nodes + 1) if q in block(t)) for q in range(1, nodes + 1)]
    assert tree.largest_path_sum(lambda q, t: rho[t] ** 2, nodes) == pytest.approx(max(paid))


def nodes_plan(query=tree.TreeQuery, **keywords):
    settings = dict(path_cost=3.0, paid_cost=4.0)
    settings |= {"attained": True} if query is tree.TreeQuery else {}
    records = keywords.pop("records", Nodes(12))
    return make_plan(query("node", 1.0, 12, records, **settings | keywords), gradient_evaluations=23, n=13)


def test_normal_nodes_are_charged_by_their_dearest_record_and_paid_for_by_level():
    privacy = PrivacySpec(1.0, 1e-6)
    m = gaussian.gdp_mu(1.0, 1e-6)
    for attained, kind in ((True, "exact"), (False, "upper")):
        made = calibrate(nodes_plan(attained=attained, spread=2.0), privacy, "accounted")
        assert made.scales["node"] == pytest.approx(2.0 * 2.0 / m)
        assert made.charge.kind == kind
        assert made.charge.epsilon == pytest.approx(gaussian.gdp_epsilon(m * math.sqrt(3 / 4), 1e-6))


def test_pure_nodes_add_up_linearly_whatever_delta_is():
    for delta in (1e-9, 1e-3):
        made = calibrate(nodes_plan(tree.PureTreeQuery), PrivacySpec(2.0, delta), "accounted")
        assert made.scales["node"] == 2.0
        assert made.charge.epsilon == pytest.approx(1.5) and made.charge.kind == "upper"


def test_a_record_that_is_there_or_not_changes_nodes_by_half():
    plan, scale = nodes_plan(spread=2.0), {"node": 1.5}
    m = 2.0 * math.sqrt(3.0) / 1.5
    found = add_remove(plan, scale, 1e-6)
    assert found.epsilon == pytest.approx(gaussian.gdp_epsilon(m / 2, 1e-6)) and found.kind == "exact"
    assert add_remove(nodes_plan(attained=False), scale, 1e-6).kind == "upper"
    pure = add_remove(nodes_plan(tree.PureTreeQuery), scale, 1e-6)
    assert pure.epsilon == pytest.approx(0.5 * 3.0 / 1.5) and pure.kind == "upper"


@pytest.mark.parametrize("query", [tree.TreeQuery, tree.PureTreeQuery])
@pytest.mark.parametrize("changes", [{"path_cost": 5.0}, {"path_cost": 0.0}, {"idle": 1}, {"records": Full()}], ids=str)
def test_declarations_that_do_not_fit_a_tree(query, changes):
    with pytest.raises(DpscoError, match="of node"):
        nodes_plan(query, **changes)


def test_thirteen_nodes_by_privacy_loss_distributions():
    """Chapter zhang2022, section 8: the sum of 13 Gaussian nodes at rho = 1 is 1-GDP, by an independent accountant."""
    exact = gaussian.gdp_epsilon(1.0, 1e-6)
    assert exact == pytest.approx(4.88655, abs=1e-5)
    composed = pld.poisson_gaussian_epsilon(2.0 * math.sqrt(13.0), 1.0 - 1e-12, 13, 1e-6)
    assert composed == pytest.approx(exact, rel=2e-3)


@pytest.mark.parametrize("q, second", [(1.0, 2.0), (2.0, 6.0), (4.0, 10.0), (math.inf, 14.0)])
def test_moments_of_pure_noise(q, second):
    """E N* = 5, E N*^2 = 30 for d = 5 whatever the norm, and E x_1^2 (section 10)."""
    stream = Stream(stream_key(7, "moments", str(q)))
    z = NOISE_LAWS["gamma_norm"](stream, 0, 40, 0, 1000, 5, q).reshape(-1, 5)
    norms = np.linalg.norm(z, ord=q, axis=1)
    for values, expected in ((norms, 5.0), (norms**2, 30.0), (z[:, 0] ** 2, second), (z[:, 4] ** 2, second)):
        assert abs(values.mean() - expected) < 5 * values.std() / math.sqrt(values.size)
    assert abs(np.mean(z[:, 0] * z[:, 1])) < 5 * np.std(z[:, 0] * z[:, 1]) / math.sqrt(len(z))


@pytest.mark.parametrize("query", [tree.TreeQuery, tree.PureTreeQuery])
def test_nodes_are_measured_in_the_norm_of_their_order_and_may_be_enforced(query):
    for enforced in (False, True):
        plan = nodes_plan(query, order=3.0, enforced=enforced)
        assert plan.query("node").norm == 3.0 and tree.enforces_sensitivity(plan) is enforced
