"""Instances: linear losses, the canary, and Covertype with records held out."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpsco_bench.datasets.distribution import Table
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.linear import binomial_quantile
from dpsco_bench.problems.real import CovertypeHeldOut, _ordered
from dpsco_bench.problems.registry import get_problem

from ..runs import drawn

INSTANCES = ("cube_iid", "cube_fixed", "needle_l1", "gaps_l1", "onehot", "cube_vertices")
EXPONENTS = {"cube_iid": {"p": 1.5}, "cube_fixed": {"p": 1.25}, "onehot": {"p": 4.0}}
L = math.log(1e6)
UNITS = {
    "empirical": math.sqrt(8 * L) / (0.5 * 1000),
    "population": math.sqrt(2) * (8 * L) ** 0.25 / math.sqrt(1000),
    "frank_wolfe": math.sqrt(8 * 32 * 2 * L / 1000) * math.log(1000) / math.sqrt(1000) / 0.5 * 1000**0.25,
    "statistical": math.sqrt(2 / 1000),
    "fixed": 1.0,
}
"""The cube's units of a signal for n = 1000, d = 8, eps = 0.5."""


def make(name, n=400, d=5, epsilon=30.0, **options):
    return get_problem(name, d, **{**EXPONENTS.get(name, {}), **options}).at(n, epsilon, 1e-6)


@pytest.mark.parametrize("name", INSTANCES)
def test_the_risk_is_the_gap_of_the_mean(name):
    problem = make(name)
    sample = drawn(problem, 400, 3)
    x, mean = np.random.default_rng(0).standard_normal((3, 5)), problem.means[0]
    q = {"cube_iid": 3.0, "cube_fixed": 5.0, "onehot": 4 / 3, "cube_vertices": 1.0}.get(name, np.inf)
    np.testing.assert_allclose(problem.excess_risk(x, sample), np.linalg.norm(mean, q) - x @ mean, rtol=1e-12)
    if name != "cube_vertices":
        x = problem.feasible_set.minimise_linear(-np.tile(mean, (3, 1)))
        assert np.abs(problem.excess_risk(x, sample)).max() < 1e-14


@pytest.mark.parametrize("name", [name for name in INSTANCES if name != "cube_fixed"])
def test_records_have_the_declared_mean_and_norm(name):
    problem = make(name)
    records = drawn(problem, 40_000, 2).records(0, 40_000)
    assert records.shape == (2, 40_000, 5)
    error = records.mean(axis=1) - problem.means[0]
    assert np.abs(error).max() < 5 / math.sqrt(40_000)
    dual = 1.0 if name == "cube_vertices" else dual_exponent(problem.p)
    np.testing.assert_allclose(np.linalg.norm(records[:, :100], ord=dual, axis=-1), 1.0, rtol=1e-12)
    assert not np.array_equal(records[0], records[1]), "replicates differ"


def test_sums_of_many_records_have_the_binomial_law():
    problem = make("cube_iid", n=40_000, d=3, epsilon=1.0, signal=20.0)
    sample = drawn(problem, 40_000, 2000)
    tau = problem.strengths[0]
    pluses = (sample.mean(0, 20_000) / problem.scale + 1) * 10_000
    np.testing.assert_allclose(pluses, np.round(pluses), atol=1e-6)
    assert pluses.mean() == pytest.approx(10_000 * (1 + tau), abs=5 * 70.7 / math.sqrt(6000))
    assert pluses.std() == pytest.approx(math.sqrt(5000 * (1 - tau**2)), rel=0.05)
    np.testing.assert_array_equal(sample.mean(0, 20_000), sample.mean(0, 20_000))


@pytest.mark.parametrize(("n", "d"), [(50, 4), (37, 5), (8, 16)])
def test_cube_fixed_is_the_pattern_of_the_chapter(n, d):
    problem = make("cube_fixed", n=n, d=d, p=1.5, unit="fixed", signal=0.3)
    k = round(n * 1.3 / 2)
    assert problem.pluses.tolist() == [k]
    rows = np.full((n, d), -1.0)
    for j in range(d):
        rows[[(i + j * n // d) % n for i in range(k)], j] = 1.0
    records = drawn(problem, n, 1).records(0, n)[0]
    np.testing.assert_allclose(records, rows * d ** (-1 / 3), rtol=1e-12)
    mean = problem.range_gradient(np.zeros((1, d)), drawn(problem, n, 3), 0, n)
    np.testing.assert_allclose(mean, -np.tile(problem.means, (3, 1)))
    np.testing.assert_allclose(records.mean(axis=0), problem.means[0], rtol=1e-12)


@pytest.mark.parametrize(("unit", "expected"), UNITS.items())
def test_units_of_the_cube(unit, expected):
    problem = make("cube_iid", n=1000, d=8, epsilon=0.5, p=1.5, unit=unit, signal=0.25)
    assert problem.unit == pytest.approx(expected, rel=1e-12)
    assert problem.strengths[0] == pytest.approx(min(1.0, 0.25 * expected))
    assert problem.signal_capped == (0.25 * expected >= 1)


def test_units_of_the_others():
    n, d, eps = 4096, 16, 8.0
    eta, K = math.log(n / math.log(32)) / n, math.log(32)
    last = 2 * max((1 - eta) ** (n // 2) * 4 / n, 2 * eta * 2) * math.sqrt(n * L) / eps
    assert make("needle_l1", n=n, d=d, epsilon=eps).unit == pytest.approx(last * K, rel=1e-12)
    assert make("needle_l1", n=n, d=d, unit="statistical").unit == pytest.approx(math.sqrt(eta * K), rel=1e-12)
    both = make("onehot", n=n, d=d, epsilon=0.1)
    assert both.unit == pytest.approx(16 * math.sqrt(L) / (0.1 * n))
    assert make("onehot", n=n, d=d, unit="statistical").unit == pytest.approx(math.sqrt(16 / n))
    np.testing.assert_allclose(make("gaps_l1", d=5).means, [[0, 0.25, 0.5, 0.75, 1]])


@pytest.mark.parametrize("count", [1, 10, 1000])
def test_binomial_quantiles_invert_the_distribution_function(count):
    u, chance = np.linspace(0.01, 0.99, 23)[:, None], np.array([0.5, 0.55, 1.0])
    k = binomial_quantile(u, count, chance)
    assert (binom.cdf(k, count, chance) >= u).all() and (binom.cdf(k - 1, count, chance) < u).all()


def record_gradient(problem, data, x, record=0):
    one = Data(1, data.features[None, record : record + 1], data.labels[None, record : record + 1])
    return problem.batch_gradient(x[None], one, np.ones((1, 1)))[0]


@pytest.mark.parametrize("canary", ["turning", "steady"])
def test_the_neighbour_differs_in_one_record_and_mirrors_its_gradient(canary, draw):
    problem = get_problem("canary_huber", 3, canary=canary)
    data = draw(problem, 20)
    other = problem.neighbour(data)
    changed = (data.features != other.features).any(axis=1) | (data.labels != other.labels)
    np.testing.assert_array_equal(np.flatnonzero(changed), [0])
    x = np.array([4.0, 0.0, 0.0])
    mirrored = record_gradient(problem, data, x) * [1, -1, -1]
    np.testing.assert_allclose(record_gradient(problem, other, x), mirrored)


def test_canaries_attain_the_sensitivity_of_gradients_and_of_differences(draw):
    problem = get_problem("canary_huber", 2, canary="steady")
    data = draw(problem, 10)
    for x in (problem.start, np.zeros(2), np.array([-50.0, 30.0]), np.array([0.0, -200.0])):
        change = record_gradient(problem, data, x) - record_gradient(problem, problem.neighbour(data), x)
        assert np.linalg.norm(change) == pytest.approx(2.0)
    problem = get_problem("canary_huber", 2)
    data = draw(problem, 10)
    sides, ends = (data, problem.neighbour(data)), (np.zeros(2), problem.start)
    turns = [np.subtract(*(record_gradient(problem, side, x) for x in ends)) for side in sides]
    assert [np.linalg.norm(turn) for turn in turns] == pytest.approx([2.0, 2.0])
    assert np.linalg.norm(turns[0] - turns[1]) == pytest.approx(4 * np.sqrt(0.99))


def test_the_last_records_are_held_out_and_never_drawn(monkeypatch):
    """Covertype with 30 records in use and 10 held out. The order mixes all the others."""
    rows = np.random.default_rng(1).standard_normal((40, 54))
    table = Table(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.where(rows[:, 0] > 0, 1.0, -1.0))
    monkeypatch.setattr(CovertypeHeldOut, "records", 30)
    monkeypatch.setattr(CovertypeHeldOut, "table", table)
    problem = get_problem("covertype_held_out")
    data = problem.draw(30, None)
    np.testing.assert_array_equal(data.features, table.features[:30])
    x = problem.minimiser(data)[None]
    found = problem.beside(np.concatenate([x, 0 * x]), data)
    margins = table.features[30:] @ x[0]
    assert found["held_out_loss"][0] == pytest.approx(np.log1p(np.exp(-table.labels[30:] * margins)).mean())
    assert found["held_out_accuracy"].tolist() == [np.mean(np.sign(margins) == table.labels[30:]), 0.5]
    assert found["held_out_loss"][1] == pytest.approx(np.log(2.0))
    order = _ordered(Table(np.arange(12.0)[:, None], np.ones(12)), "twelve", 9).features[:, 0].tolist()
    assert sorted(order[:9]) == list(range(9)) != order[:9] and order[9:] == [9, 10, 11]
