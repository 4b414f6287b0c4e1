from __future__ import annotations

import math
from dataclasses import replace

import pytest

from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.cli.options import parse_keys, parse_value
from dpsco_bench.cli.output import Heading, bounded, constants_text, labelled, number, table
from dpsco_bench.cli.sweeps import _flat
from dpsco_bench.cli.verdict_table import verdict_table
from dpsco_bench.errors import InputError
from dpsco_bench.execution.summary import HeldOut, HeldOutBeside
from dpsco_bench.problems.base import Constants

COLUMNS = (
    Heading("name", "name", shrink=8),
    Heading("note", "note", shrink=6),
    Heading("value", "value", numeric=True),
)


def test_numbers_are_right_aligned_and_text_left():
    lines = table(COLUMNS, [{"name": "a", "note": "x", "value": 1.0}, {"name": "bb", "value": 123456.0}]).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[2].startswith("a ") and lines[2].endswith("    1")
    assert lines[3].endswith("1.235e+05")


def test_a_wide_table_is_cut_from_the_last_column_that_may_shrink():
    rows = [{"name": "n" * 60, "note": "m" * 60, "value": 1.0}]
    lines = table(COLUMNS, rows, width=80).splitlines()
    assert max(map(len, lines)) == 80
    assert "n" * 60 in lines[2] and "m..." in lines[2]


def test_a_column_cut_in_the_middle_keeps_apart_what_differs_at_the_end():
    columns = (Heading("part", "part", shrink=12, middle=True),)
    rows = [{"part": f"ridge_logistic-{axis}"} for axis in ("n", "d", "epsilon", "kappa")]
    shown = table(columns, rows, width=12).splitlines()[2:]
    assert len(set(shown)) == 4 and all(len(line) == 12 and line.startswith("ridg...") for line in shown)


def test_a_table_that_cannot_shrink_keeps_its_columns():
    rows = [{"value": "1" * 120}]
    assert "1" * 120 in table(COLUMNS, rows, width=50)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "-"), (math.nan, "-"), (math.inf, "inf"), (3, "3"), (0.123456, "0.1235"), (True, "True"), ("x", "x")],
)
def test_number(value, shown):
    assert number(value) == shown


@pytest.mark.parametrize(
    ("value", "kind", "shown"),
    [(2.0, "lower", ">= 2"), (2.0, "upper", "<= 2"), (2.0, "exact", "2"), (math.nan, "lower", "-")],
)
def test_bounded(value, kind, shown):
    assert bounded(value, kind) == shown


def test_labelled_continues_under_the_text():
    lines = labelled("label", "word " * 40, 10).splitlines()
    assert lines[0].startswith("label     word") and all(line.startswith(" " * 10) for line in lines[1:])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-3", -3),
        ("+3", 3),
        (".1", 0.1),
        ("1e-5", 1e-5),
        ("true", True),
        ("False", False),
        ("null", None),
        ("renyi", "renyi"),
        ("", ""),
        ("9" * 30, int("9" * 30)),
        ("1_000", 1000),
        ("1e4", 10000),
        ("1.", 1),
        ("-2.5E+3", -2500),
        ("a=b", "a=b"),
        ("inf", float("inf")),
        ("1e999", float("inf")),
    ],
)
def test_values_are_read_as_written(text, value):
    parsed = parse_value(text)
    assert parsed == value and type(parsed) is type(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e4", 1e4),
        ("none", "none"),
        ("'a=b.csv'", "a=b.csv"),
        ('"données 1.csv"', "données 1.csv"),
        ("[1,x]", [1, "x"]),
    ],
)
def test_keys_are_read_by_hydras_grammar(text, value):
    assert parse_keys([f"key={text}"]) == {"key": value}


@pytest.mark.parametrize("value", ["a=b.csv", "données.csv", "a#1.csv", "~/a.csv", "a(1).csv"])
def test_a_text_that_needs_quotes_is_shown_with_them(value):
    with pytest.raises(InputError) as caught:
        parse_keys([f"path={value}"])
    hint = f"'path=\"{value}\"'"
    assert str(caught.value).endswith(hint) and parse_keys([hint[1:-1]]) == {"path": value}


@pytest.mark.parametrize("argument", ["n=1,2", "+n=1", "~n"])
def test_a_verb_that_sweeps_nothing_takes_one_value(argument):
    with pytest.raises(InputError, match="n"):
        parse_keys([argument])


def row(verdict, kind="rate", part="p", **more):
    return Verdict(verdict, kind, id="a.b", part=part, calibration="paper", **more)


def test_what_helps_skipped_rows_stands_below_the_table_once():
    help = "data absent: `dpsco data covertype --root /a/long/path/to/some/folder`"
    skipped = [row(f"skipped: {help}", reason=help, part=part) for part in "pq"]
    text = verdict_table([skipped[0], row("match", slope=-1.0), skipped[1], row("skipped: no GPU", reason="no GPU")])
    assert text.count("`dpsco data covertype --root /a/long/path/to/some/folder`") == 1
    lines = text.splitlines()
    assert lines[-1] == help
    assert lines[2].split() == ["a.b", "p", "paper", "skipped:", "data", "absent"] and "..." not in text
    assert lines[-2] == "4 verdicts: 3 skipped; 1 match"


def test_controls_stand_beside_the_stated_slope():
    shown = verdict_table([row("holds", kind="control", slope=0.01, claimed_exponent=0.0, worst_ratio=1.2)])
    assert shown.splitlines()[2].split()[-2:] == ["0.01", "0.00"]


def test_constants_that_a_problem_does_not_have_are_left_out():
    constants = Constants(lipschitz=1.0, smoothness=0.0)
    assert constants_text(constants) == "lipschitz 1, initial_gap 1"
    changed = replace(constants, norm=math.inf, hessian_rank=1.0)
    assert constants_text(changed) == "lipschitz 1, initial_gap 1, norm inf, hessian_rank 1"


def test_a_sweep_has_a_column_for_each_held_out_number_and_what_it_is_held_against():
    own, trivial, best = HeldOut(0.5, 0.7), HeldOut(0.7, 0.5), HeldOut(0.4, 0.8)
    assert _flat(HeldOutBeside(own, trivial, best)) == {
        **{"loss": 0.5, "accuracy": 0.7, "trivial.loss": 0.7, "trivial.accuracy": 0.5},
        **{"without_privacy.loss": 0.4, "without_privacy.accuracy": 0.8},
    }
