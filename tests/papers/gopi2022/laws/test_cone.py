import numpy as np
import pytest

from dpsco_bench.papers.gopi2022.laws.radial import cone_norms


def test_norms_of_directions():
    assert cone_norms(1.5, 4, 1.5) == pytest.approx(1.0, rel=1e-12)
    assert np.mean(cone_norms(2.0, 3, 1.0)) == pytest.approx(1.5, abs=0.01)  # 3 E|u_1| on the sphere in R^3
    assert np.mean(cone_norms(1.0, 2, 2.0) ** 2) == pytest.approx(2 / 3, abs=0.005)  # u_1 uniform on (0, 1)
    assert np.mean(cone_norms(np.inf, 5, 2.0) ** 2) == pytest.approx(1 + 4 / 3, abs=0.02)
