"""Options of problems: declared once, changed or fixed below, checked by type and range, shown with their meaning."""

from __future__ import annotations

import math

import pytest

from dpsco_bench.cli.describe import describe
from dpsco_bench.errors import InputError
from dpsco_bench.execution.cell import Cell
from dpsco_bench.problems.base import Constants, Problem, option
from dpsco_bench.problems.registry import get_problem, problem, problem_class


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
    ("options", "message"),
    [
        ({"ridge": 0}, r"^ridge = 0: must be a finite number > 0 \(Theorem 1\)$"),
        ({"ridge": True}, "^ridge = True"),
        ({"ridge": None}, "^ridge = None"),
        ({"ridge": math.nan}, "^ridge = nan"),
        ({"ridge": "inf"}, "^ridge = 'inf'"),
        ({"rule": "first"}, "^rule = 'first': must be one of best, last$"),
        ({"rule": ["best"]}, "^rule = "),
        ({"size": 9}, "^size = 9: must be an integer from 1 to 8$"),
        ({"size": 2.5}, "^size = 2.5: must be an integer"),
        ({"p": 0.5}, "^p = 0.5: must be a number >= 1, or inf$"),
        ({"places": 3}, "^places = 3: must be text$"),
        ({"flag": 1}, "^flag = 1: must be true or false$"),
        ({"d": 1}, r"^d = 1: must be an integer >= 2 \(base\)$"),
    ],
)
def test_values_out_of_range_name_their_key(options, message):
    with pytest.raises(InputError, match=message):
        Base(**options)


def test_ones_own_option_reaches_cells_and_show():
    @problem
    class Hill(Problem):
        """A hill."""

        name, summary, source = "hill", "a hill", "the test"
        own_constants = Constants(1.0, 1.0)
        height: float = option(2.0, "metres above the sea", within="(0, inf)")

    assert problem_class("hill") is Hill and get_problem("hill", 3, height=1).height == 1.0
    keys = [
        Cell("wang2017.dp_gd_pl", "hill", 64, 1.0, 1e-5, problem_options=o).data_key()
        for o in ({}, {"height": 2}, {"height": 3})
    ]
    assert keys[0] == keys[1] and '"height":3.0' in keys[2]
    (shown,) = describe("hill")["options"]
    assert shown == {
        "name": "height",
        "type": "float",
        "default": 2.0,
        "meaning": "metres above the sea",
        "allowed": "a finite number > 0",
    }
