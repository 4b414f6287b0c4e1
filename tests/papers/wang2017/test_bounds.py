import math
from dataclasses import replace

import pytest

from dpsco_bench.claims.bounds import registry
from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.registry import BOUNDS as REGISTRY
from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.problems.base import Constants

BOUNDS = list(REGISTRY.of("wang2017").values())

L10 = math.log(1e5)
CONTEXT = BoundContext(
    n=1000,
    d=10,
    epsilon=1.0,
    delta=1e-5,
    constants=Constants(2.0, 0.25, strong_convexity=0.1, regularisation=0.05),
    calibration="paper",
    schedule={"epochs": 5, "steps": 7, "contraction": 0.49, "inner_steps": 481},
    scales={"inner": 0.3, "gradient": 0.2},
    start_risk=0.5,
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("thm4_2", 10 * 4 * 5 * L10 / (0.1 * 1e6)),
        ("thm4_2_explicit", 0.49**5 * 0.5 + 10 * 0.09 / (10 * 0.25)),
        ("thm6_2", 10 * 4 * 7 * L10 / (2 * 0.1 * 1e6)),
        ("thm6_2_explicit", (1 - 1 / 3) ** 7 * 0.5 + 10 * 0.04 / 0.2),
        ("strongly_convex", 10 * L10 / 1e6),
        ("zhang17_convex", (math.sqrt(10 * L10) / 1000) ** (2 / 3)),
        ("zhang17_gradients", 1000 * 3 * math.log(1000)),
    ],
)
def test_formulas(name, value):
    assert get_bound(f"wang2017.{name}").value(CONTEXT) == pytest.approx(value, rel=1e-12)


def test_accounted_bounds_take_the_gaussian_parameter():
    accounted = replace(CONTEXT, calibration="accounted")
    ratio = get_bound("wang2017.thm6_2").value(accounted) / get_bound("wang2017.thm6_2").value(CONTEXT)
    assert ratio == pytest.approx(1 / (L10 * gdp_mu(1.0, 1e-5) ** 2))


@pytest.mark.parametrize(("parameter", "exponent"), [("n", -2), ("d", 1), ("epsilon", -2)])
@pytest.mark.parametrize("name", ["thm4_2", "thm6_2", "strongly_convex"])
def test_exponents_at_a_fixed_schedule(name, parameter, exponent):
    bound = get_bound(f"wang2017.{name}")
    doubled = replace(CONTEXT, **{parameter: 2 * getattr(CONTEXT, parameter)})
    assert math.log2(bound.value(doubled) / bound.value(CONTEXT)) == pytest.approx(exponent)


def test_names_are_unique_and_every_bound_is_written_out():
    assert len({bound.name for bound in BOUNDS}) == len(BOUNDS)
    assert all(bound.name.startswith("wang2017.") and bound.text for bound in BOUNDS)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (lambda c: -1.0, "^bound mine.b .n = 9, d = 2, epsilon = 1. = -1.0: must be a finite number > 0$"),
        (lambda c: 0, "= 0: must be a finite number > 0"),
        (lambda c: float("nan"), "= nan: must be"),
        (lambda c: "x", "= 'x': must be"),
        (lambda c: None, "= None: must be"),
        (lambda c: [1.0], "= 'a value of type list': must be"),
        (lambda c: 1 / 0, "its formula failed with ZeroDivisionError"),
        (lambda: 1.0, "^bound mine.b = .*: must be a function of one BoundContext"),
    ],
)
def test_a_users_bound_is_a_positive_number(formula, message):
    with pytest.raises(DpscoError, match=message):
        registry.bound("mine.b", "text")(formula)
        get_bound("mine.b").value(replace(CONTEXT, n=9, d=2))


def test_unknown_bounds():
    with pytest.raises(InputError, match="^bound = 'wang2017.thm9': must be a known one, such as wang2017"):
        get_bound("wang2017.thm9")
    with pytest.raises(InputError, match="^bound = 'nobody.thm1': must be a known one, such as "):
        get_bound("nobody.thm1")
