"""Arguments out of range are refused by their names, whatever the accountant."""

import math

import pytest

from dpsco_bench.errors import InputError
from dpsco_bench.privacy.accountants.allocation import allocation_epsilon
from dpsco_bench.privacy.accountants.fixed_size import batch_epsilon
from dpsco_bench.privacy.accountants.gaussian import gdp_delta, gdp_epsilon, gdp_mu
from dpsco_bench.privacy.accountants.pld import add_remove_epsilon, poisson_gaussian_epsilon
from dpsco_bench.privacy.accountants.pure import composed_epsilon
from dpsco_bench.privacy.accountants.single_index import single_index_epsilon
from dpsco_bench.privacy.records import Disjoint, Poisson, WithReplacement
from dpsco_bench.privacy.spec import PrivacySpec

BAD = [0.0, 1.0, -1e-5, math.nan]
DELTA = {"delta": (1e-5, BAD)}
POISSON = {
    "multiplier": (1.0, [-1.0]), "rate": (0.1, [0.0, 1.1]), "steps": (10, [0, 1.5]), **DELTA,
    "gdp_mu": (0.0, [-0.1]),
}  # fmt: skip
RANGES = {
    allocation_epsilon: {"shift": (1.0, [-1.0]), "batches": (3, [0]), "participation": (0.5, [0.0, 1.1]), **DELTA},
    batch_epsilon: {"shift": (1.0, [-1.0]), "population": (10, [0]), "size": (2, [0, 11]), "steps": (3, [0]), **DELTA},
    gdp_mu: {"epsilon": (1.0, [0.0, math.inf, math.nan]), **DELTA},
    gdp_epsilon: {"mu": (1.0, [-1.0, math.nan]), **DELTA},
    gdp_delta: {"mu": (1.0, [-1.0, math.nan]), "epsilon": (1.0, [-1.0])},
    poisson_gaussian_epsilon: POISSON,
    add_remove_epsilon: POISSON,
    composed_epsilon: {"epsilon": (0.1, [-1.0, math.nan]), "steps": (3, [0]), "delta": (1e-5, [-1e-5, 1.0, math.nan])},
    single_index_epsilon: {"shift_over_sigma": (1.0, [-1.0]), "steps": (10, [0]), "population": (10, [0]), **DELTA},
    PrivacySpec: {"epsilon": (1.0, [0.0, -1.0, math.inf, math.nan, "1", True]), **DELTA},
    Poisson: {"rate": (0.5, [0.0, -0.1, 1.1, math.nan])},
    Disjoint: {"size": (1, [0])},
    WithReplacement: {"population": (10, [0]), "size": (3, [0])},
}  # fmt: skip
CASES = [(call, key, value) for call, keys in RANGES.items() for key, (_, bad) in keys.items() for value in bad]


@pytest.mark.parametrize(("call", "key", "value"), CASES, ids=lambda v: getattr(v, "__name__", str(v)))
def test_arguments_out_of_range_are_named(call, key, value):
    good = {name: kept for name, (kept, _) in RANGES[call].items()}
    call(*good.values())
    with pytest.raises(InputError) as error:
        call(*{**good, key: value}.values())
    assert key.removesuffix("_over_sigma") in error.value.key
