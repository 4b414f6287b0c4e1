"""Lack of fit has its level under a power law, and finds a bend."""

import numpy as np
import pytest

from dpsco_bench.analysis.rates import LackOfFit, lack_of_fit, local_slopes
from dpsco_bench.analysis.sharing import Replicates, Sharing
from dpsco_bench.analysis.slopes import fit_rate
from tests.marks import rest_at_night

N = 2.0 ** np.arange(8, 14)


def fitted(risks, errors=None):
    return fit_rate(N[: len(risks)], risks, ("t",), numerical_errors=errors, resamples=10)


@pytest.mark.parametrize("replicates", rest_at_night([4, 64], 0))
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


def common(source, shape, curve, own):
    """Replicates with heavy noise in common and some of each cell's own, of mean 1."""
    shared = source.lognormal(-0.5, 1.0, shape)
    return [m * shared * source.gamma(own**-2, own**2, shape) for m in curve]


def with_sharing(risks, sharing, curve):
    return lack_of_fit(fitted(risks), curve, Replicates(risks, [None] * len(risks), sharing))


@pytest.mark.parametrize("shape", [8, 64, (6, 4), (12, 1)])
def test_a_bend_is_found_under_common_random_numbers(shape):
    """Noise that all cells have in common hides no bend, of any kind of replicates; their own errors do not see it."""
    source, x = np.random.default_rng(3), np.log(N[:5] / 1024)
    curve = np.exp(-0.2 * x**2) / N[:5]
    for _ in range(20):
        risks = common(source, shape, curve, 0.02)
        lack = with_sharing(risks, Sharing.everything(5), 1 / N[:5])
        assert lack.bent and lack.largest > 0.15
        assert with_sharing(risks, Sharing.everything(5), curve).largest < 0.15
        assert not lack_of_fit(fitted(risks), 1 / N[:5]).bent


@pytest.mark.parametrize("shape", rest_at_night([4, 16, (6, 4)], 2))
@pytest.mark.parametrize("own", rest_at_night([0.25, 1.0], 1))
def test_level_under_common_random_numbers(shape, own):
    source, cells = np.random.default_rng(4), N[:5]
    found = [with_sharing(common(source, shape, 1 / cells, own), Sharing.everything(5), 1 / cells) for _ in range(1000)]
    assert np.mean([lack.p_value < 0.05 for lack in found]) < 0.06
    assert np.mean([lack.p_value < 1e-3 for lack in found]) < 0.003


def test_cells_that_share_nothing_are_judged_by_their_own_errors():
    risks = common(np.random.default_rng(5), 8, 1 / N, 0.3)
    assert with_sharing(risks, Sharing.nothing(6), 1 / N) == lack_of_fit(fitted(risks), 1 / N)


def test_an_exact_scale_invariance_is_a_power_law_and_an_exact_bend_is_bent():
    shared = np.random.default_rng(6).lognormal(size=8)
    for curve, bent in ((1 / N, False), (np.where(N < 1500, 1.0, 1500 / N), True)):
        lack = with_sharing([m * shared for m in curve], Sharing.everything(6), 1 / N)
        assert lack.bent == bent and (bent or lack.p_value > 0.99)


@pytest.mark.parametrize(("p", "largest", "bent"), [(1e-4, 0.2, True), (1e-4, 0.14, False), (0.01, 0.5, False)])
def test_both_conditions_are_needed(p, largest, bent):
    assert LackOfFit(p, largest).bent == bent


def test_two_cells_are_always_a_power_law():
    assert lack_of_fit(fitted([[1.0, 2.0], [5.0, 6.0]]), np.ones(2)).p_value == 1.0


def test_local_slopes_are_in_the_order_of_the_parameter():
    np.testing.assert_allclose(local_slopes([4, 1, 2], [8, 1, 4]), [2, 1])
    assert np.isnan(local_slopes([1, 2], [1, -1])).all()
