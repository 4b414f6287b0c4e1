"""The public twin of a file: its constants are those of the file, and its records keep within its bounds."""

import numpy as np
import pytest

from dpsco_bench.execution.cell import Cell
from dpsco_bench.leaderboard.choose import make_point, twin_of
from dpsco_bench.problems.registry import get_problem

SETTINGS = [
    {"clip": 2.0},
    {"clip": 2.0, "domain": "l1_ball", "radius": 3.0, "intercept": True},
    {"clip": 0.5, "domain": "lp_ball", "p": 1.5, "loss": "smoothed_hinge", "width": 0.5},
    {"clip": 1.0, "domain": "simplex", "loss": "linear"},
    {"clip": 1.5, "domain": "l2_ball", "loss": "squared", "label_clip": 2.0, "regularisation": 0.1},
    {"clip": 1.0, "loss": "huber", "label_clip": 3.0},
]


@pytest.mark.parametrize("options", SETTINGS)
def test_constants_are_those_of_the_file_and_records_keep_within_them(options):
    point = twin_of(make_point({"problem": "data_file", "n": 300, "d": 4, **options}))
    own, twin = get_problem("data_file", 4, **options), get_problem(point.problem, 4, **point.options)
    assert twin.constants == own.constants and twin.traits == own.traits and (point.n, point.d) == (300, 4)
    assert twin.constants.status == own.constants.status
    data = Cell("", point.problem, 300, 1.0, 1e-6, 4, problem_options=point.options).draw_data(7, 0)
    rows = data.features[:, : 4 - twin.intercept]
    assert data.features.shape == (300, 4) and twin.row_norms(rows) == pytest.approx(np.full(300, options["clip"]))
    if twin.classes:
        assert set(data.labels) == {-1.0, 1.0}
    else:
        assert np.abs(data.labels).max() <= options["label_clip"]
    best = twin.minimiser(data)
    assert twin.risk(best[None], data)[0] < twin.risk(twin.start[None], data)[0], "there is something to learn"
