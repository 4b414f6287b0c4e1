"""Single rules behind verdicts: the word of an interval, cells that share random numbers, what their runs noted."""

import numpy as np
import pyarrow as pa
import pytest

from dpsco_bench.analysis import evidence
from dpsco_bench.analysis.cells import HOLDS, OPEN, REVERSED, compared
from dpsco_bench.analysis.sharing import Replicates
from dpsco_bench.execution.results import FINAL, RESULT_SCHEMA


@pytest.mark.parametrize("equal", [(), (0.0,)])
def test_an_interval_on_one_side_of_equality_decides(equal):
    """Rows are ratios, or their logarithms."""
    for low, high, word in ((-0.5, -0.1, HOLDS), (0.1, 0.5, REVERSED), (-0.1, 0.1, OPEN)):
        assert compared(low + 1 - len(equal), high + 1 - len(equal), *equal) == word


def test_cells_that_share_are_two_or_more():
    """By their data sets where they have several, else by their runs; what is known exactly shares nothing."""
    one, several = np.ones((1, 1, 3)), np.ones((1, 2, 3))
    sharing = (0, 0, 0, 1, 1, 0), (0, 0, 1, 2, 3, 0)
    cells = [one, one, one, several, several, one]
    assert Replicates.of(cells, [None] * 5 + [0.1], sharing).groups() == [[0, 1], [3, 4]]


def test_what_runs_note_is_told_by_data_set_and_replicate():
    """Rows stand in any order; a name that a row lacks is left out."""
    rows = [(s, r) for r in (2, 0, 1) for s in (1, 0)]
    notes = [[("rhat", 10.0 * s + r), *[("odd", 1.0)] * s] for s, r in rows]
    columns = {"cell": [7] * 6, "data_set": [s for s, _ in rows], "replicate": [r for _, r in rows]}
    columns |= {"checkpoint": [FINAL] * 6, "extras": pa.array(notes, RESULT_SCHEMA.field("extras").type)}
    ((cell, noted),) = evidence._noted(pa.table(columns)).items()
    np.testing.assert_array_equal(noted.pop("rhat"), [[0, 1, 2], [10, 11, 12]])
    assert cell == 7 and not noted
