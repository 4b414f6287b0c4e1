"""Every accountant: ranges of arguments, order in delta and in the shift; the solver on any decreasing curve."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_bench.errors import InputError
from dpsco_bench.execution.request import check_run
from dpsco_bench.geometry.norms import SmoothNorm, checked_exponent
from dpsco_bench.geometry.polytope import Polytope
from dpsco_bench.privacy.accountants.allocation import allocation_epsilon, largest_shift
from dpsco_bench.privacy.accountants.fixed_size import batch_epsilon, least_scale
from dpsco_bench.privacy.accountants.gaussian import gdp_delta, gdp_epsilon, gdp_mu
from dpsco_bench.privacy.accountants.generalised import counting_epsilon
from dpsco_bench.privacy.accountants.pld import poisson_gaussian_epsilon, solve_poisson_multiplier
from dpsco_bench.privacy.accountants.single_index import opposed_epsilon, single_index_tests
from dpsco_bench.privacy.accountants.solve import least_noise
from dpsco_bench.privacy.accountants.zcdp import composed_epsilon, zcdp_epsilon, zcdp_rho
from dpsco_bench.privacy.plan import LastIterate, PrivacySpec, Query
from dpsco_bench.privacy.queries import DecayingNoisyMinimumQuery, DrawQuery, Temperature
from dpsco_bench.privacy.records import Disjoint, Poisson, WithoutReplacement, WithReplacement
from dpsco_bench.problems.constants import Constants
from dpsco_bench.rng.streams import stream_key
from dpsco_bench.rng.transforms import shape_table

SCALES = ("first", "later", "start", "floor")


def decaying(*values):
    return DecayingNoisyMinimumQuery("q", 1.0, 3, **dict(zip(("decay", *SCALES), values, strict=True)))


def draw(sampler_status, tau):
    at = Temperature("erm", 9, 2, 1.0, 0.0)
    return DrawQuery("q", 1.0, 1, temperature=at, sampler_status=sampler_status, target_delta=1e-6, tau=tau)


def constants(hessian_rank, norm, loss_class):
    return Constants(1.0, 1.0, hessian_rank=hessian_rank, norm=norm, loss_class=loss_class)


BAD = [0.0, 1.0, -1e-5, math.nan]
DELTA = {"delta": (1e-5, BAD)}
RANGES = {
    allocation_epsilon: {"shift": (1.0, [-1.0]), "batches": (3, [0]), "participation": (0.5, [0.0, 1.1]), **DELTA},
    batch_epsilon: {"shift": (1.0, [-1.0]), "population": (10, [0]), "size": (2, [0, 11]), "steps": (3, [0]), **DELTA},
    least_scale: {
        "epsilon": (1.0, [0.0, math.inf]), **DELTA, "population": (10, [0]), "size": (2, [0, 11]), "steps": (3, [0]),
    },
    opposed_epsilon: {"shift_over_sigma": (1.0, [-1.0]), "steps": (10, [0]), "rate": (0.1, [0.0, 1.1]), **DELTA},
    gdp_mu: {"epsilon": (1.0, [0.0, math.inf, math.nan]), **DELTA},
    gdp_epsilon: {"mu": (1.0, [-1.0, math.nan]), **DELTA},
    gdp_delta: {"mu": (1.0, [-1.0, math.nan]), "epsilon": (1.0, [-1.0])},
    poisson_gaussian_epsilon: {
        "multiplier": (1.0, [-1.0]), "rate": (0.1, [0.0, 1.1]), "steps": (10, [0, 1.5]), **DELTA,
        "gdp_mu": (0.0, [-0.1]),
    },
    composed_epsilon: {"epsilon": (0.1, [-1.0, math.nan]), "steps": (3, [0]), "delta": (1e-5, [-1e-5, 1.0, math.nan])},
    single_index_tests: {"shift_over_sigma": (1.0, [-1.0]), "steps": (10, [0]), "population": (10, [0]), **DELTA},
    zcdp_epsilon: {"rho": (1.0, [-1.0]), **DELTA},
    zcdp_rho: {"epsilon": (1.0, [0.0]), **DELTA},
    counting_epsilon: {"shift": (1.0, [-1.0]), "steps": (1, [0]), "r": (2.0, []), "dimension": (1, [0]), **DELTA},
    LastIterate: {
        "step": (2.0, [2.0 + 1e-9, 0.0, (), (0.5, 2.1), (0.0, 0.5)], (1.0, 2.0)),
        "smoothness": (1.0, [0.0, math.inf, math.nan]),
        "strong_convexity": (0.0, [1.0 + 1e-9, -0.1]), "lipschitz": (1.0, [1.0 + 1e-9, 0.0], 0.1),
        "diameter": (math.inf, [0.0, -1.0], 0.1),
    },
    Query: {
        "name": ("a", ["", 3]), "sensitivity": (np.float64(1.0), [0, -1.0, math.inf, math.nan, True, "1"]),
        "releases": (np.int64(1), [0, 2.5, True]), "records": (Poisson(0.5), [None, "all"]),
        "paper_scale": (0, [-1.0, math.inf, True]), "share": (0.5, [0.0, 1.0, True]),
    },
    PrivacySpec: {"epsilon": (1.0, [0.0, -1.0, math.inf, math.nan, "1", True]), **DELTA},
    draw: {"sampler_status": ("proven_tv", ["proven"]), "tau": (0.1, [0.0])},
    Temperature: {"rule": ("sco", ["sgd"]), **{key: (1, []) for key in ("n", "d", "lipschitz", "loss_range")}},
    constants: {"hessian_rank": (2, [0.5], math.inf), "norm": (1.0, [0.9], math.inf), "loss_class": ("glm", ["odd"])},
    SmoothNorm: {"p": (1.5, [0.9, 2.1, True], 1, 2), "d": (3, [0]), "norm_rule": ("two_ln_d", ["odd"])},
    checked_exponent: {"p": (1, [0.9, True, "2", math.nan], math.inf)},
    Polytope: {"vertices": (np.eye(2), [np.eye(1), np.ones(3), np.full((2, 2), np.inf)], np.ones((2, 1)))},
    stream_key: {"seed": (0, [-1, 2**128], 2**128 - 1), "what": ("a", []), "stream": ("b", [])},
    shape_table: {"r": (1.0, [0.99, math.inf], 50.0)},
    check_run: {
        "calibration": ("none", ["all"]), "replicates": (1, [0, 2**32 + 1], 2**32), "seed": (0, [-1, True, 0.5]),
        "data_set": (0, [-1]),
    },
    Poisson: {"rate": (0.5, [0.0, -0.1, 1.1, math.nan])},
    Disjoint: {"size": (1, [0])},
    WithReplacement: {"population": (10, [0]), "size": (11, [0], 1)},
    WithoutReplacement: {"population": (10, []), "size": (10, [0, 11], 1)},
    decaying: {"decay": (0.99, [0.0, 1.0], 1e-9)} | {key: (1e-9, [0.0, math.inf], 1e9) for key in SCALES},
}  # fmt: skip
"""A value that is taken, those that are refused, and others that are taken."""
CASES = [(call, key, value) for call, keys in RANGES.items() for key, (_, bad, *_) in keys.items() for value in bad]


@pytest.mark.parametrize(("call", "key", "value"), CASES, ids=lambda v: getattr(v, "__name__", str(v)))
def test_arguments_out_of_range_are_named(call, key, value):
    good = {name: kept for name, (kept, *_) in RANGES[call].items()}
    for other in (good[key], *RANGES[call][key][2:]):
        call(*{**good, key: other}.values())
    with pytest.raises(InputError) as error:
        call(*{**good, key: value}.values())
    assert key.removesuffix("_over_sigma") in error.value.key


def batches(replacement):
    """Batches of a fixed size: solver, charge, and their cases."""
    return (
        lambda epsilon, delta, *where: least_scale(epsilon, delta, *where, replacement),
        lambda noise, delta, *where: batch_epsilon(1 / noise, *where, delta, replacement),
        [
            *((1.0, 1e-6, 4096, 128, 512), (16.0, 1e-6, 32_768, 1024, 4096), (1e-3, 1e-6, 64, 2, 8)),
            *((50.0, 1e-6, 64, 2, 8), (1.0, 1e-12, 100, 10, 50), (1.0, 0.5, 10, 9, 3)),
        ],
    )


SOLVERS = {
    "allocation": (
        lambda epsilon, delta, *where: 1 / largest_shift(epsilon, delta, *where),
        lambda noise, delta, *where: allocation_epsilon(1 / noise, *where, delta),
        [
            *((0.00514, 1e-6, 5798, 0.995), (1.0, 1e-6, 9, 0.9), (16.0, 1e-6, 64, 0.99), (0.05, 1e-12, 100, 0.9)),
            *((0.5, 0.3, 7, 0.5), (1e-4, 1e-6, 50, 0.8), (1.0, 1e-5, 1, 0.3)),
        ],
    ),
    "poisson": (
        solve_poisson_multiplier,
        lambda noise, delta, rate, steps, mu: poisson_gaussian_epsilon(noise, rate, steps, delta, mu),
        [
            (0.2, 1e-3, 139 / 200_000, 75_000, math.sqrt(0.3) * gdp_mu(0.2, 1e-3)),
            (1.0, 1e-5, 1 / 131_072, 46_104, 0.0),
            (8.0, 1e-6, 0.1, 1000, math.sqrt(0.5) * gdp_mu(8.0, 1e-6)),
            *((0.01, 1e-5, 0.1, 1000, 0.0), (1.0, 1e-5, 0.9, 1, 0.0)),
        ],
    ),
    "batch": batches(False),
    "batch with replacement": batches(True),
}


@pytest.mark.parametrize(("name", "case"), [(name, case) for name in SOLVERS for case in SOLVERS[name][2]])
def test_solutions_are_safe_and_not_wasteful(name, case):
    """From almost no to all privacy; what the ledger charges later may differ in the last digit."""
    (solve, charge, _), (epsilon, delta, *where) = SOLVERS[name], case
    noise = solve(epsilon, delta, *where)
    assert charge(noise, delta, *where) <= epsilon
    assert charge(noise * (1 - 1e-15), delta, *where) <= epsilon * (1 + 1e-9)
    assert charge(noise / 1.004, delta, *where) > epsilon


FULL = {"gaussian": lambda s, delta: gdp_epsilon(4 * s, delta), "zcdp": lambda s, delta: zcdp_epsilon(8 * s**2, delta)}
SAMPLED = {
    "poisson": lambda s, delta: poisson_gaussian_epsilon(1 / s, 0.1, 4, delta),
    "add or remove": lambda s, delta: poisson_gaussian_epsilon(1 / s, 0.1, 4, delta, replace=False),
    "batch": lambda s, delta: batch_epsilon(2 * s, 10, 1, 4, delta),
    "one index": lambda s, delta: max(single_index_tests(s, 4, 10, delta).values()),
    "allocation": lambda s, delta: allocation_epsilon(2 * s, 4, 0.9, delta),
}
"""Epsilon of four releases, of records that contribute ``s`` standard deviations each, with and without sampling."""


@pytest.mark.parametrize("name", [*FULL, *SAMPLED])
def test_epsilon_falls_with_delta_and_rises_with_the_shift(name):
    """From delta = 1e-12 to 0.9; sampling never costs more than all records, nor a replacement less than a removal."""
    deltas, shifts = (1e-12, 1e-5, 0.1, 0.9), (0.01, 0.3, 1.0)
    found = np.array([[(FULL | SAMPLED)[name](s, delta) for s in shifts] for delta in deltas])
    assert np.isfinite(found).all() and (found >= 0.0).all()
    assert (np.diff(found, axis=0) <= 0.0).all() and (np.diff(found, axis=1) >= 0.0).all()
    assert found[0, 0] > 0.0 and found[-1, 0] == 0.0
    most = np.array([[gdp_epsilon(4 * s, delta) for s in shifts] for delta in deltas])
    assert (found <= most * (1 + 1e-9)).all() if name in SAMPLED else (found >= most * (1 - 1e-9)).all()
    for least, upper in (("one index", "poisson"), ("add or remove", "poisson"), ("poisson", "batch")):
        if name == least:
            above = np.array([[SAMPLED[upper](s, delta) for s in shifts] for delta in deltas])
            assert (found <= above * (1 + 1e-6) + 1e-6).all()


@given(
    power=st.floats(0.5, 30.0),
    target=st.floats(-3.0, 3.0).map(lambda e: 10.0**e),
    start=st.floats(-3.0, 3.0).map(lambda e: 10.0**e),
)
def test_result_is_on_the_safe_side_within_tolerance(power, target, start):
    calls = []

    def epsilon_of(noise):
        calls.append(noise)
        return noise**-power

    noise = least_noise(epsilon_of, target, start, 1e-3)
    assert epsilon_of(noise) <= target
    first = max(1.0, 1.0 / power)  # a first guess is taken by its epsilon: nothing has shown the slope yet
    assert noise <= target ** (-1.0 / power) * (1.0 + 1.1e-3 * first)
    assert len(calls) <= 30


def test_floors_few_evaluations_and_targets_out_of_reach():
    calls = []
    least_noise(lambda noise: calls.append(noise) or math.expm1(noise**-1.3), 1.0, 1.2, 1e-3)
    assert len(calls) <= 5
    assert least_noise(lambda noise: 0.0, 1.0, 3.0, 1e-3, floor=0.01) == 0.01
    with pytest.raises(ArithmeticError, match="not met"):
        least_noise(lambda noise: 2.0, 1.0, 1.0, 1e-3)


@given(st.floats(0.2, 5.0), st.floats(0.05, 20.0))
def test_jumps_zeros_and_infinities_are_bracketed(edge, start):
    def epsilon_of(noise):
        return math.inf if noise < 0.5 * edge else 10.0 if noise < edge else 0.0

    noise = least_noise(epsilon_of, 1.0, start, 1e-3)
    assert edge <= noise <= edge * 1.0011
