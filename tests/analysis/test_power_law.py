"""Lack of fit has its level under a power law, and finds a bend."""

import numpy as np
import pytest

from dpsco_bench.analysis.power_law import LackOfFit, lack_of_fit, local_slopes
from dpsco_bench.analysis.slopes import fit_rate

N = 2.0 ** np.arange(8, 14)


def fitted(risks, errors=None):
    return fit_rate(N[: len(risks)], risks, ("t",), numerical_errors=errors, resamples=10)


@pytest.mark.parametrize("replicates", [4, 64])
def test_level_under_a_power_law(replicates):
    source = np.random.default_rng(2)
    found = [
        lack_of_fit(fitted([source.gamma(16, 1 / 16, replicates) / n for n in N]), 1 / N).p_value for _ in range(1000)
    ]
    assert np.mean(np.array(found) < 0.05) == pytest.approx(0.05, abs=0.03)
    assert np.mean(np.array(found) < 1e-3) < 0.005


def test_a_bend_is_found_and_measured():
    bent = np.where(N < 1500, 1.0, 1500 / N)
    lack = lack_of_fit(fitted([[m] for m in bent], [1e-9] * 6), np.ones(6))
    line = np.polyval(np.polyfit(np.log(N), np.log(bent), 1), np.log(N))
    assert lack.p_value < 1e-6 and lack.bent
    assert lack.largest == pytest.approx(np.abs(bent / np.exp(line) - 1).max(), rel=1e-6)
    own = lack_of_fit(fitted([[m] for m in bent], [1e-9] * 6), bent)
    assert own.largest < 1e-9 and own.p_value > 0.99 and not own.bent


@pytest.mark.parametrize(("p", "largest", "bent"), [(1e-4, 0.2, True), (1e-4, 0.14, False), (0.01, 0.5, False)])
def test_both_conditions_are_needed(p, largest, bent):
    assert LackOfFit(p, largest).bent == bent


def test_two_cells_are_always_a_power_law():
    assert lack_of_fit(fitted([[1.0, 2.0], [5.0, 6.0]]), np.ones(2)).p_value == 1.0


def test_local_slopes_are_in_the_order_of_the_parameter():
    np.testing.assert_allclose(local_slopes([4, 1, 2], [8, 1, 4]), [2, 1])
    assert np.isnan(local_slopes([1, 2], [1, -1])).all()
