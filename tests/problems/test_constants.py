"""Constants and options of problems: overrides, sets by name, values out of range."""

from __future__ import annotations

import math

import pytest

from dpsco_bench.cli.describe import describe
from dpsco_bench.errors import InputError
from dpsco_bench.execution.cell import Cell
from dpsco_bench.problems.base import Constants, Problem, Trait, option
from dpsco_bench.problems.constants import domain_traits
from dpsco_bench.problems.registry import get_problem, list_problems, problem, problem_class

OWN = Constants(1.0, 0.25, strong_convexity=0.1, regularisation=0.1, initial_gap=0.1)


def test_constants_by_key_and_by_domain():
    """No strong convexity is above the smoothness."""
    assert OWN.override(strong_convexity=OWN.total_smoothness).status == "nominal"
    for changes in ({"strong_convexity": 0.36}, {"smoothness": 1e-9, "regularisation": 0.0}):
        with pytest.raises(InputError, match="strong_convexity"):
            OWN.override(**changes)
    assert Constants(1.0, 0.0, strong_convexity=0.1).smoothness == 0  # none is declared: nothing to compare with
    entry = get_problem("ridge_logistic", 5, constants={"smoothness": 1.0, "initial_gap": 1.0})
    assert entry.constants.condition_number == 10 and entry.constants.status == "global"
    with pytest.raises(InputError, match="problem constant = 'mu'"):
        get_problem("ridge_logistic", 5, constants={"mu": 1.0})
    assert OWN.ball is None
    ball = Constants(1.0, 1.0, diameter=3.0, domain="l1_ball")
    assert (ball.ball.name, ball.ball.radius) == ("l1_ball", 1.5)
    assert ball.override(diameter=4.0).status == "global" and ball.override(diameter=2.0).status == "nominal"
    for given, changes in ((OWN, {"diameter": 2.0}), (ball, {"diameter": 0.0}), (ball, {"domain": "space"})):
        with pytest.raises(InputError, match="diameter|domain"):
            given.override(**changes)


WIDE = Constants(1.0, 1.0, gauge_convexity=0.1, gradient_deviation=1.0)
"""Gradients of two records differ by at most 2."""
CLAIMS = [
    (OWN, "lipschitz", 0.5, 2.0),
    (OWN, "smoothness", 0.2, 1.0),
    (OWN, "strong_convexity", 0.2, 0.05),
    (OWN, "regularisation", 0.2, None),
    (OWN, "initial_gap", None, 1e-3),
    (WIDE, "norm", 1.5, None),
    (WIDE, "gauge_convexity", 0.2, 0.05),
    (WIDE, "gradient_deviation", 0.5, 2.0),
    (WIDE, "gradient_range", 1.0, 3.0),
    (WIDE, "loss_range", 1.0, 3.0),
    (WIDE, "hessian_rank", 0, None),
]
"""A value that claims more than is proved, and one that does not."""


@pytest.mark.parametrize(("own", "key", "more", "less"), CLAIMS)
def test_an_override_that_claims_more_than_is_proved_is_nominal(own, key, more, less):
    for value, status in ((more, "nominal"), (less, "global")):
        if value is not None:
            new = own.override(**{key: value})
            assert (new.status, getattr(new, key)) == (status, value)
    assert OWN.override().status == OWN.override(initial_gap=10.0, smoothness=1.0).status == "global"
    assert OWN.override(lipschitz=2.0, strong_convexity=0.2).status == "nominal" and WIDE.gradient_difference == 2.0


OF_L1 = {Trait.BALL, Trait.L1_BALL, Trait.LP_BALL, Trait.POLYTOPE}
SETS = [
    ("l1_ball", "l1_ball", OF_L1),
    ("lp_ball:1", "l1_ball", OF_L1),
    ("lp_ball:2.0", "l2_ball", {Trait.BALL, Trait.L2_BALL, Trait.LP_BALL}),
    ("lp_ball:1.5", "lp_ball:1.5", {Trait.LP_BALL}),
    ("lp_ball:inf", "linf_ball", {Trait.LP_BALL}),
    *((name, name, set()) for name in ("k_support_ball:2", "group_ball:2", "subspace_ball:2")),
]


@pytest.mark.parametrize(("domain", "name", "traits"), SETS)
def test_sets_by_name(domain, name, traits):
    constants = Constants(1.0, 1.0, diameter=6.0, domain=domain)
    assert constants.domain == constants.ball.name == name and constants.ball.radius == 3.0
    assert domain_traits(constants.domain) == traits | {Trait.SYMMETRIC_SET}


def test_a_member_of_a_family_has_constants_of_its_own():
    found, families = 0, [c for c in map(problem_class, list_problems()) if c.at is not Problem.at]
    for cls in (family for family in families if not family.needs_data_root):
        known, fresh = cls(), cls()
        assert known.constants == fresh.constants
        for place in ((64, 0.5, 1e-4), (8192, 4.0, 1e-6)):
            assert known.at(*place).constants == fresh.at(*place).constants
            found += known.at(*place).constants != known.constants
    assert found > 0


class Base(Problem):
    name = "base"
    own_constants = Constants(1.0, 1.0)
    least_dimension = 2
    ridge: float = option(0.1, "lambda", within="(0, inf)", source="Theorem 1")
    rule_name: str = option("best", "how", choices=("best", "last"), key="rule")
    size: int | None = option(None, "k", within="[1, 8]")
    p: float = option("inf", "norm", within="[1, inf]")
    places: str = option("data", "folder")
    flag = option(False, "whether")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("ridge", value) for value in (0, True, None, math.nan, "inf")),
        *(("rule", value) for value in ("first", ["best"])),
        *(("size", value) for value in (9, 2.5)),
        *(("p", 0.5), ("places", 3), ("flag", 1), ("d", 1)),
    ],
)
def test_values_out_of_range_name_their_key(key, value):
    with pytest.raises(InputError, match=f"^{key} = "):
        Base(**{key: value})


def test_ones_own_option_reaches_cells_and_show():
    @problem
    class Hill(Problem):
        """A hill."""

        name, summary, source = "hill", "a hill", "the test"
        own_constants = Constants(1.0, 1.0)
        height: float = option(2.0, "metres above the sea", within="(0, inf)")

    assert problem_class("hill") is Hill and get_problem("hill", 3, height=1).height == 1.0
    given = "wang2017.dp_gd_pl", "hill", 64, 1.0, 1e-5
    keys = [Cell(*given, problem_options=own).data_key() for own in ({}, {"height": 2}, {"height": 3})]
    assert keys[0] == keys[1] and '"height":3.0' in keys[2]
    (shown,) = describe("hill")["options"]
    assert (shown["name"], shown["default"], shown["meaning"]) == ("height", 2.0, "metres above the sea")
