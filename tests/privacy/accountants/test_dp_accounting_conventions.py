"""What dp-accounting's numbers mean: its table at sigma = 1, delta = 1e-5, entry by entry."""

import logging
import math

import pytest
from dp_accounting import NeighboringRelation, UnsupportedEventError, calibrate_dp_mechanism
from dp_accounting import dp_event as event
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

from dpsco_bench.privacy.accountants import gaussian, pld

ADD = NeighboringRelation.ADD_OR_REMOVE_ONE
REPLACE = NeighboringRelation.REPLACE_ONE
GAUSSIAN = event.GaussianDpEvent(1.0)
POISSON = event.PoissonSampledDpEvent(0.1, GAUSSIAN)
FIXED_SIZE = event.SampledWithoutReplacementDpEvent(1000, 100, GAUSSIAN)
LAPLACE = event.LaplaceDpEvent(1.0)
NONE = None  # refused by the library


@pytest.fixture(autouse=True)
def quiet():
    # The library warns of Renyi orders whose series did not converge; it leaves them out.
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def library_epsilon(accountant, relation, what, delta=1e-5):
    return accountant(neighboring_relation=relation).compose(what).get_epsilon(delta)


@pytest.mark.parametrize(
    ("what", "expected", "digits"),
    [
        (GAUSSIAN, (4.73, 4.73, 4.38, 10.00), 2),
        (POISSON, (2.13, NONE, 1.68, 1.79), 2),
        (FIXED_SIZE, (NONE, 2.28, NONE, NONE), 2),
        (LAPLACE, (1.003, 1.003, 1.000, NONE), 3),
    ],
    ids=["gaussian", "poisson", "fixed-size", "laplace"],
)
def test_the_table(what, expected, digits):
    columns = [(RdpAccountant, ADD), (RdpAccountant, REPLACE), (PLDAccountant, ADD), (PLDAccountant, REPLACE)]
    for (accountant, relation), value in zip(columns, expected, strict=True):
        if value is NONE:
            with pytest.raises(UnsupportedEventError):
                library_epsilon(accountant, relation, what)
        else:
            assert round(library_epsilon(accountant, relation, what), digits) == value


def test_replace_one_multiplier_is_read_as_sensitivity_by_rdp_and_as_contribution_by_pld():
    assert library_epsilon(PLDAccountant, REPLACE, GAUSSIAN) == pytest.approx(gaussian.gdp_epsilon(2.0, 1e-5), rel=1e-4)
    assert library_epsilon(PLDAccountant, ADD, GAUSSIAN) == pytest.approx(gaussian.gdp_epsilon(1.0, 1e-5), rel=1e-4)
    twice = event.GaussianDpEvent(2.0)
    assert library_epsilon(RdpAccountant, REPLACE, twice) == library_epsilon(RdpAccountant, ADD, twice)
    assert gaussian.gdp_epsilon(1.0, 1e-5) < library_epsilon(RdpAccountant, REPLACE, GAUSSIAN) < 5.0


def test_our_functions_read_contributions_everywhere():
    assert round(pld.poisson_gaussian_epsilon(1.0, 1.0, 1, 1e-5), 2) == 10.00
    assert round(pld.add_remove_epsilon(1.0, 1.0, 1, 1e-5), 2) == 4.38
    assert round(pld.poisson_gaussian_epsilon(1.0, 0.1, 1, 1e-5), 2) == 1.79
    assert round(pld.add_remove_epsilon(1.0, 0.1, 1, 1e-5), 2) == 1.68


def test_fixed_size_sampling_is_not_poisson_sampling():
    def steps(sampled):
        return event.SelfComposedDpEvent(sampled, 1000)

    fixed = event.SampledWithoutReplacementDpEvent(10_000, 100, event.GaussianDpEvent(3.02))
    poisson = event.PoissonSampledDpEvent(0.01, event.GaussianDpEvent(1.66))
    assert library_epsilon(RdpAccountant, REPLACE, steps(fixed), 1e-6) == pytest.approx(1.0, abs=0.01)
    assert library_epsilon(RdpAccountant, ADD, steps(poisson), 1e-6) == pytest.approx(1.0, abs=0.01)


def test_fixed_size_calibration_fails_at_the_default_bracket():
    with pytest.raises(ZeroDivisionError):
        calibrate_dp_mechanism(
            lambda: RdpAccountant(neighboring_relation=REPLACE),
            lambda sigma: event.SampledWithoutReplacementDpEvent(1000, 100, event.GaussianDpEvent(sigma)),
            1.0,
            1e-5,
        )


@pytest.mark.parametrize(
    ("multiplier", "rate", "steps"), [(1.0, 139 / 200_000, 75_000), (2.0, 0.01, 10_000), (0.61, 1 / 4096, 26_894)]
)
def test_our_discretisation_agrees_with_the_library(multiplier, rate, steps):
    what = event.SelfComposedDpEvent(event.PoissonSampledDpEvent(rate, event.GaussianDpEvent(multiplier)), steps)
    for relation, ours in ((REPLACE, pld.poisson_gaussian_epsilon), (ADD, pld.add_remove_epsilon)):
        assert ours(multiplier, rate, steps, 1e-5) == pytest.approx(
            library_epsilon(PLDAccountant, relation, what), rel=2e-3
        )


def test_add_remove_is_below_its_renyi_bound():
    what = event.SelfComposedDpEvent(event.PoissonSampledDpEvent(0.01, event.GaussianDpEvent(1.2)), 1000)
    renyi = library_epsilon(RdpAccountant, ADD, what)
    assert 0.8 * renyi < pld.add_remove_epsilon(1.2, 0.01, 1000, 1e-5) < renyi


def test_coarse_grids_of_the_library_overstate_long_compositions():
    # 2e-3 at N near 5e5 more than doubles epsilon: why the grid here is halved until epsilon stays.
    from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

    loss = from_gaussian_mechanism(
        2.0, value_discretization_interval=2e-3, sampling_prob=1e-3, neighboring_relation=REPLACE
    )
    coarse = loss.self_compose(500_000).get_epsilon_for_delta(1e-5)
    fine = pld.poisson_gaussian_epsilon(2.0, 1e-3, 500_000, 1e-5)
    assert coarse > 1.3 * fine
    assert math.isfinite(coarse)
