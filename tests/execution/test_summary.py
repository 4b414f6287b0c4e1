"""What a single run is told with."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.execution.job_results import Summary, _chains


@pytest.mark.parametrize(
    ("data_sets", "replicates", "half"), [(1, 4, 3.182446), (1, 1000, 1.962341), (3, 1000, 4.302653), (1, 1, math.nan)]
)
def test_the_interval_is_that_of_student(data_sets, replicates, half):
    """Over replicates, or over data sets where there are several; tables of Student's law."""
    found = SimpleNamespace(data_sets=data_sets, replicates=replicates, stderr=1.0)
    assert Summary.half_interval.func(found) == pytest.approx(half, rel=1e-6, nan_ok=True)


@pytest.mark.parametrize(
    ("z", "said"), [((0.1, -9.0), "9 standard errors"), ((9.0, 0.1), "9 standard errors"), ((3.9, -3.9), "")]
)
def test_chains_are_held_against_a_known_law_from_both_sides(z, said):
    settled = {"rhat": np.array([1.0]), "ess": np.array([1e4]), "chain_risk": np.zeros(2)}
    found = _chains({**settled, "z_score": np.array(z)})
    assert said in found and bool(found) == bool(said)
