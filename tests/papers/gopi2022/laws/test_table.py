import numpy as np
import pytest

from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw, gap_table


@pytest.mark.parametrize(
    ("p", "d", "c", "reach"), [(1.5, 2, 40.0, 300.0), (1.5, 2, 5e4, 4e5), (1.04, 16, 2e3, 1e5), (2.0, 64, 70.0, 1e3)]
)
def test_tables_agree_with_the_laws(p, d, c, reach):
    table = gap_table(p, d, c, reach)
    kaps = reach * np.random.default_rng(0).uniform(-1.0, 1.0, 60) ** 3
    exact = np.array([AxisLaw(p, d, float(kap), c).mean_gap() for kap in kaps])
    assert np.abs(table(kaps) - exact).max() < 1e-6
    assert gap_table(p, d, c, reach) is table
