"""What a single run is told with."""

import math
from types import SimpleNamespace

import pytest

from dpsco_bench.execution.summary import Summary


@pytest.mark.parametrize(
    ("data_sets", "replicates", "half"), [(1, 4, 3.182446), (1, 1000, 1.962341), (3, 1000, 4.302653), (1, 1, math.nan)]
)
def test_the_interval_is_that_of_student(data_sets, replicates, half):
    """Over replicates, or over data sets where there are several; tables of Student's law."""
    found = SimpleNamespace(data_sets=data_sets, replicates=replicates, stderr=1.0)
    assert Summary.half_interval.func(found) == pytest.approx(half, rel=1e-6, nan_ok=True)
