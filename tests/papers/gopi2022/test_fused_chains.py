"""Compiled chains against the listings, over whole chains: the same words, states to 1e-10, the same queries."""

import numpy as np
import pytest

from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import run_block
from dpsco_bench.fused import compiled

if not compiled.available():
    pytest.skip("Numba is missing or switched off: reference implementations run", allow_module_level=True)

from dpsco_bench.papers.gopi2022 import fused

PROXIMAL = "gopi2022.proximal_sampler"
CORNER = {"delta_in": 0.05, "start": "corner"}
RUNS = {
    "alternating on the cube": (PROXIMAL, "cube_onehot", 8, 2, {}, 500, CORNER),
    "alternating on the l_1.5 ball": (PROXIMAL, "lp_onehot", 8, 3, {"p": 1.5}, 500, CORNER),
    "alternating on the l1 ball": (PROXIMAL, "lp_onehot", 8, 4, {"p": 1.0}, 500, CORNER),
}


def block(run, fused, replicates=3):
    id, problem, n, d, problem_options, sweeps, options = run
    cell = Cell(id, problem, n, 1.0, 1e-3, d, options=options | {"sweeps": sweeps}, problem_options=problem_options)
    plan = cell.plan("paper", 1)[1]
    scales = {query.name: query.paper_scale for query in plan.queries}
    return run_block(cell, plan, scales, cell.draw_data(1, 0), root_seed=1, replicates=replicates, fused=fused)


@pytest.mark.parametrize("name", RUNS)
def test_a_compiled_chain_is_its_listing(name):
    got, expected = (block(RUNS[name], fused) for fused in (True, False))
    np.testing.assert_allclose(got.output, expected.output, rtol=1e-10, atol=1e-10)
    assert got.extras.keys() == expected.extras.keys()
    for key, values in expected.extras.items():
        np.testing.assert_allclose(got.extras[key], values, rtol=1e-8, err_msg=key)
    np.testing.assert_array_equal(got.extras["value_queries"], expected.extras["value_queries"])


def test_streams_that_are_asked_for_late_are_looked_up(monkeypatch):
    run = RUNS["alternating on the l_1.5 ball"]
    expected = block(run, True)
    monkeypatch.setattr(fused, "FEW", 1)
    np.testing.assert_array_equal(block(run, True).output, expected.output)
