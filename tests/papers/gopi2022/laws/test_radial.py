import math

import numpy as np
import pytest
from scipy.special import gammaincc, gammaln

from dpsco_bench.papers.gopi2022.laws.radial import RadialLaw, cone_norms


def test_check_vector_of_the_chapter():
    law = RadialLaw(3, 1.0, 3.0, 1.0)
    assert (law.mean(), law.second_moment()) == pytest.approx((0.541542484, 0.338890310), abs=5e-10)


def test_tail_of_a_gamma_law():
    law = RadialLaw(3, 100.0, 0.0)
    for shift in (-0.01, 0.0, 0.02, 0.1):
        assert law.tail(shift) == pytest.approx(gammaincc(3, 3.0 + 100.0 * shift), rel=1e-9)
    assert law.tail(-0.5) == 1.0 and law.tail(2.0) == 0.0


def test_several_curvatures_are_a_mixture_by_mass():
    curvatures = np.array([1.0, 4.0, 9.0])
    each = [RadialLaw(4, 5.0, b) for b in curvatures]
    rho = (np.arange(200_000) + 0.5) / 200_000
    mass = np.array([np.mean(rho**3 * np.exp(-5.0 * rho - b * rho * rho)) for b in curvatures])
    wanted = np.sum(mass * [law.mean() for law in each]) / np.sum(mass)
    assert RadialLaw(4, 5.0, curvatures).mean() == pytest.approx(wanted, rel=1e-9)


def test_tails_add_up_to_the_mean_excess():
    law = RadialLaw(64, 640.0, 0.0)
    shifts = np.linspace(0.0, 0.2, 4001)
    tails = np.array([law.tail(s) for s in shifts])
    excess = math.exp(64 * math.log(64) - 64 - gammaln(64)) / 640.0
    assert np.sum(0.5 * (tails[1:] + tails[:-1]) * np.diff(shifts)) == pytest.approx(excess, rel=1e-4)


def test_norms_of_directions():
    assert cone_norms(1.5, 4, 1.5) == pytest.approx(1.0, rel=1e-12)
    assert np.mean(cone_norms(2.0, 3, 1.0)) == pytest.approx(1.5, abs=0.01)  # 3 E|u_1| on the sphere in R^3
    assert np.mean(cone_norms(1.0, 2, 2.0) ** 2) == pytest.approx(2 / 3, abs=0.005)  # u_1 uniform on (0, 1)
    assert np.mean(cone_norms(np.inf, 5, 2.0) ** 2) == pytest.approx(1 + 4 / 3, abs=0.02)
