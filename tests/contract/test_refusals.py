"""Impossible requests end in one line that names the key, the value and what is allowed."""

import math
from dataclasses import replace
from itertools import product
from typing import get_args

import pytest

from dpsco_bench.algorithms.registry import CALIBRATIONS, get_algorithm
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.cell import Cell
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.problems.base import Constants, Problem, Trait
from dpsco_bench.problems.constants import DOMAIN_TRAITS, need_text

MODULI = {"strong_convexity": 0.1, "regularisation": 0.1, "gauge_convexity": 0.1, "gradient_deviation": 3.0}
CONSTANTS = Constants(1.0, 1.0, diameter=2.0, domain="l2_ball", **MODULI)
PRIVACY = PrivacySpec(1.0, 1e-5)
OWN_CONSTANTS = {
    "su2023.nrmd": {"norm": 1.5},
    "su2023.truncated_batched_md": {"smoothness": 0.1},
    "su2023.shuffled_truncated_md": {"smoothness": 0.1},
    "gopi2022.reg_exp_mech": {"losses": "linear"},
    "gopi2022.exp_mech_sc": {"losses": "quadratic"},
    "gopi2022.cube_exact": {"losses": "linear", "domain": "linf_ball", "norm": math.inf},
    "gopi2022.axis_exact": {"losses": "linear"},
    "gopi2022.lp_exact": {"losses": "linear", "domain": "lp_ball:1.5", "norm": 1.5},
    "gopi2022.radial_exact": {"losses": "norm"},
    "gopi2022.gibbs": {"losses": "linear"},
    "gopi2022.hit_and_run": {"losses": "values"},
    "gopi2022.proximal_sampler": {"losses": "values"},
}
ENOUGH = {"su2023.nrmd": 1 << 20, "zhang2022.bftt19_noisy_sgd": 1 << 12}
"""Numbers of records for a plan, where 24 are too few."""


def legal(entry):
    """Constants with the ball that the algorithm asks for, if it does."""
    asked = {trait for traits in DOMAIN_TRAITS.values() for trait in traits} & set(entry.needs) - {Trait.UNCONSTRAINED}
    fitting = [name for name, traits in DOMAIN_TRAITS.items() if name != "space" and asked <= traits]
    domain = CONSTANTS.domain if CONSTANTS.domain in fitting else fitting[0]
    chosen = {"domain": domain, "norm": 1.0 if domain == "l1_ball" else 2.0}
    return replace(CONSTANTS, **{**chosen, **OWN_CONSTANTS.get(entry.id, {})})


def refused(pattern, function, *arguments, **keywords):
    """The call raises one line that matches; return it."""
    with pytest.raises(DpscoError, match=pattern) as caught:
        function(*arguments, **keywords)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def kinds_of(parameter):
    return get_args(parameter.annotation) or (parameter.annotation,)


def cell(algorithm_id, **keywords):
    settings = dict(algorithm=algorithm_id, problem="ridge_logistic", n=24, d=3, epsilon=1.0, delta=1e-5)
    return Cell(**{**settings, **keywords})


@pytest.mark.parametrize("value", [0, -3, 2.5, "24", True])
def test_number_of_records_and_dimension(algorithm_id, value):
    entry = get_algorithm(algorithm_id)
    for key in ("n", "d"):
        refused(f"^{key} = .*: must be an integer >= 1", cell, algorithm_id, **{key: value})
        sizes = {"n": 24, "d": 3, key: value}.values()
        refused(f"^{key} = ", entry.plan, legal(entry), *sizes, PRIVACY, next(iter(entry.variants)))


def test_variants_and_calibrations(algorithm_id):
    """Undefined combinations are refused, and the default variant of a calibration defines it."""
    entry = get_algorithm(algorithm_id)
    for variant, defined in entry.variants.items():
        for calibration in set(CALIBRATIONS) - set(defined):
            message = refused("refused: only ", cell(algorithm_id, variant=variant).plan, calibration, 0)
            assert algorithm_id in message and variant in message and calibration in message
    refused("^variant = 'best'", cell(algorithm_id, variant="best").plan, "none", 0)
    refused("^calibration = 'free'", cell(algorithm_id).plan, "free", 0)
    plan = entry.plan(legal(entry), ENOUGH.get(algorithm_id, 24), 3, PRIVACY, next(iter(entry.variants)))
    refused("^calibration = 'free'", calibrate, plan, PRIVACY, "free")
    for calibration in CALIBRATIONS:
        defined = [v for v, allowed in entry.variants.items() if calibration in allowed]
        if defined:
            assert entry.variant_for(calibration) in defined
        else:
            refused("no variant defines it", entry.variant_for, calibration)


def test_options_unknown_or_of_the_wrong_type(algorithm_id):
    entry = get_algorithm(algorithm_id)
    arguments = (legal(entry), 24, 3, PRIVACY, next(iter(entry.variants)))
    message = refused("^option = 'stepz'", entry.plan, *arguments, stepz=1)
    assert algorithm_id in message and all(key in message for key in entry.options)
    for key, parameter in entry.options.items():
        wrong = [[1], {"a": 1}, b"x"] + ([True] if bool not in kinds_of(parameter) else [])
        wrong += [] if str in kinds_of(parameter) else ["three"]
        wrong += [2.5] if int in kinds_of(parameter) and float not in kinds_of(parameter) else []
        for value in wrong:
            refused(f"^{key} = .*: must be of type ", entry.plan, *arguments, **{key: value})
        for value in (math.nan, math.inf) if float in kinds_of(parameter) else ():
            refused(f"^{key} = {value}: must be a finite number", entry.plan, *arguments, **{key: value})
        for value, variant in product((0, -2) if int in kinds_of(parameter) else (), entry.variants):
            refused(key, entry.plan, legal(entry), 24, 3, PRIVACY, variant, **{key: value})


def test_problems_without_the_needed_properties(algorithm_id):
    entry = get_algorithm(algorithm_id)

    class Wild(Problem):
        name = "wild"
        own_constants = CONSTANTS

    if entry.needs:
        message = refused("wild", entry.check_problem, Wild(3))
        lacking = [need_text(need) for need in entry.needs if Wild(3).lacks(need)]
        assert algorithm_id in message and all(text in message for text in lacking)


def test_extreme_but_legal_privacy_is_planned(algorithm_id):
    """Neither a traceback nor an unbounded schedule: every plan is made or refused in one line."""
    entry = get_algorithm(algorithm_id)
    for epsilon, delta, variant, n in product((1e-12, 1e6), (1e-300, 1 - 1e-9), entry.variants, (1, 10**12)):
        try:
            plan = entry.plan(legal(entry), n, 3, PrivacySpec(epsilon, delta), variant)
        except InputError as error:
            assert "\n" not in str(error)
        else:
            degenerate = any("degenerate" in text for text in plan.warnings)
            drawn = any(isinstance(query, DrawQuery) for query in plan.queries)  # may need no gradient
            assert plan.gradient_evaluations >= 1 or degenerate or drawn
