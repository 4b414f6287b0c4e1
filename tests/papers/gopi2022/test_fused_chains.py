"""Compiled chains against the listings, over whole chains: the same words, states to 1e-10, the same queries."""

import numpy as np
import pytest

from dpsco_bench.execution import library
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import run_block
from dpsco_bench.fused import compiled
from dpsco_bench.geometry.schatten import singular_values
from tests.marks import rest_at_night

if not compiled.available():
    pytest.skip("Numba is missing or switched off: the listings run", allow_module_level=True)

from dpsco_bench.papers.gopi2022.fused import hit_and_run, proximal_sampler

HIT, PROXIMAL, GIBBS = "gopi2022.hit_and_run", "gopi2022.proximal_sampler", "gopi2022.gibbs"
CORNER = {"delta_in": 0.05, "start": "corner"}
RUNS = {
    "hit-and-run on matrices": (HIT, "schatten_radial", 2000, 12, {"p": 1.5, "columns": 3}, 500, {}),
    "hit-and-run, linear": (HIT, "lp_onehot", 40, 4, {"p": 1.5}, 500, {}),
    "hit-and-run on the cube": (HIT, "cube_onehot", 40, 3, {}, 500, {}),
    "Gibbs in l_1.5": (GIBBS, "lp_onehot", 40, 3, {"p": 1.5}, 500, {}),
    "Gibbs on the l1 ball": (GIBBS, "lp_onehot", 40, 5, {"p": 1.0}, 500, {}),
    "Gibbs on the cube": (GIBBS, "cube_onehot", 40, 3, {}, 500, {}),
    "alternating on the cube": (PROXIMAL, "cube_onehot", 8, 2, {}, 500, CORNER),
    "alternating on the l_1.5 ball": (PROXIMAL, "lp_onehot", 8, 3, {"p": 1.5}, 500, CORNER),
    "alternating on the l1 ball": (PROXIMAL, "lp_onehot", 8, 4, {"p": 1.0}, 500, CORNER),
    "alternating on the l_4 ball": (PROXIMAL, "diag_linear_p4", 30, 2, {}, 500, {"delta_in": 0.05}),
}

LONG = ["hit-and-run, linear", "Gibbs in l_1.5", "alternating on the cube"]


def block(run, fused, replicates=3):
    id, problem, n, d, problem_options, sweeps, options = run
    cell = Cell(id, problem, n, 1.0, 1e-3, d, options=options | {"sweeps": sweeps}, problem_options=problem_options)
    plan = cell.plan("paper", 1)[1]
    scales = {query.name: query.paper_scale for query in plan.queries}
    return run_block(cell, plan, scales, cell.draw_data(1, 0), root_seed=1, replicates=replicates, fused=fused)


@pytest.mark.slow
@pytest.mark.parametrize("name", rest_at_night(LONG, 0))
def test_ten_thousand_sweeps(name):
    *run, _, options = RUNS[name]
    got, expected = (block((*run, 10_000, options), fused, replicates=2) for fused in (True, False))
    np.testing.assert_allclose(got.output, expected.output, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", RUNS)
def test_a_compiled_chain_is_its_listing(name):
    got, expected = (block(RUNS[name], fused) for fused in (True, False))
    np.testing.assert_allclose(got.output, expected.output, rtol=1e-10, atol=1e-10)
    assert got.extras.keys() == expected.extras.keys()
    for key, values in expected.extras.items():
        np.testing.assert_allclose(got.extras[key], values, rtol=1e-8, err_msg=key)
    np.testing.assert_array_equal(got.extras["value_queries"], expected.extras["value_queries"])


def test_streams_that_are_asked_for_late_are_looked_up(monkeypatch):
    """Few at first, so that tiles are begun anew."""
    run = RUNS["alternating on the l_1.5 ball"]
    expected = block(run, True)
    monkeypatch.setattr(proximal_sampler, "FEW", 1)
    np.testing.assert_array_equal(block(run, True).output, expected.output)


@compiled.compiled
def all_singular_values(values, x, columns):
    for i in range(len(x)):
        hit_and_run.singular_values(values[i], x[i], columns, np.empty(x.shape[1]))


@pytest.mark.parametrize(("rows", "columns"), [(4, 3), (1, 1), (6, 2), (5, 5)])
def test_singular_values(rows, columns):
    """Also of matrices with columns that are equal, zero or far apart in length."""
    x = np.random.default_rng(rows).standard_normal((200, rows * columns))
    x[0], x[1], x[2] = 0.0, 1.0, np.repeat(10.0 ** -np.arange(rows), columns) * x[2]
    values = np.empty((200, columns))
    all_singular_values(values, x, columns)
    expected = singular_values(x, columns)
    np.testing.assert_allclose(-np.sort(-values, axis=1), expected, rtol=1e-12, atol=1e-14)


def test_far_in_a_tail_a_chain_is_its_listing():
    """Near the sphere of the l2 ball, where intervals are short and lie hundreds of standard deviations out."""
    given = {"n": 5000, "d": 2, "epsilon": 8.0, "delta": 1e-6, "replicates": 64, "sweeps": 100}
    loop, listing = (library.run("gopi2022.gibbs", "linear_ball", **given, fused=fused).risk for fused in (True, False))
    np.testing.assert_allclose(loop, listing, rtol=1e-10, atol=1e-14)
