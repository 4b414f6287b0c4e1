"""What dp-accounting's numbers mean: its table at sigma = 1, delta = 1e-5, entry by entry."""

import logging

import pytest
from dp_accounting import NeighboringRelation, UnsupportedEventError
from dp_accounting import dp_event as event
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

from dpsco_bench.privacy.accountants import pld

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


@pytest.mark.parametrize(
    ("multiplier", "rate", "steps"), [(1.0, 139 / 200_000, 75_000), (2.0, 0.01, 10_000), (0.61, 1 / 4096, 26_894)]
)
def test_our_discretisation_agrees_with_the_library(multiplier, rate, steps):
    what = event.SelfComposedDpEvent(event.PoissonSampledDpEvent(rate, event.GaussianDpEvent(multiplier)), steps)
    for relation, ours in ((REPLACE, pld.poisson_gaussian_epsilon), (ADD, pld.add_remove_epsilon)):
        assert ours(multiplier, rate, steps, 1e-5) == pytest.approx(
            library_epsilon(PLDAccountant, relation, what), rel=2e-3
        )
