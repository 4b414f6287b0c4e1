"""Cells share what their streams are keyed by, and nothing else."""

from dataclasses import replace

import pytest

from dpsco_bench.analysis.sharing import Sharing, sharing_of
from dpsco_bench.execution.cell import Cell

FIXED = Cell("wang2017.dp_gd_pl", "diag_quadratic", 256, 1.0, 1e-5, 4)
SAMPLED = Cell("bassily2021.poly_sfw", "needle_l1", 4096, 1.0, 1e-6, 32)


@pytest.mark.parametrize(
    ("cell", "change", "data", "replicates"),
    [
        (FIXED, {"n": 512}, (0, 1), (0, 1)),
        (FIXED, {"d": 8}, (0, 1), (0, 1)),
        (FIXED, {"epsilon": 2.0}, (0, 0), (0, 1)),  # the data set, not the noise
        (FIXED, {"options": {"steps": 9}}, (0, 0), (0, 0)),  # common random numbers
        (SAMPLED, {"epsilon": 2.0}, (0, 0), (0, 0)),  # a sample for each replicate
        (SAMPLED, {"n": 8192}, (0, 1), (0, 1)),
        (SAMPLED, {"problem_options": {"signal": 0.5}}, (0, 0), (0, 0)),
        (SAMPLED, {"problem_options": {"unit": "statistical"}}, (0, 1), (0, 1)),
    ],
)
def test_what_two_cells_share(cell, change, data, replicates):
    cells = [cell, replace(cell, **change)]
    assert sharing_of(cells) == Sharing(data, replicates)
    keys = [c.data_key() for c in cells]
    assert (keys[0] == keys[1]) == (data == (0, 0))
    if not cell.problem_entry.draws_per_replicate:
        runs = [c.run_key(0) for c in cells]
        assert (runs[0] == runs[1]) == (replicates == (0, 0))
