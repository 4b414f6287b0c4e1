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
    keys = [
        Cell("wang2017.dp_gd_pl", "hill", 64, 1.0, 1e-5, problem_options=o).data_key()
        for o in ({}, {"height": 2}, {"height": 3})
    ]
    assert keys[0] == keys[1] and '"height":3.0' in keys[2]
    (shown,) = describe("hill")["options"]
    assert (shown["name"], shown["default"], shown["meaning"]) == ("height", 2.0, "metres above the sea")
