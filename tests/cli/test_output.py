from __future__ import annotations

import math

import pytest

from dpsco_bench.cli.options import parse_keys, parse_value
from dpsco_bench.cli.output import Column, bounded, labelled, number, table

COLUMNS = (Column("name", "name", shrink=8), Column("note", "note", shrink=6), Column("value", "value", numeric=True))


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
        ("1_000", "1_000"),
        ("1.", 1.0),
        ("-2.5E+3", -2500.0),
        ("inf", float("inf")),
        ("1e999", float("inf")),
    ],
)
def test_values_are_read_as_written(text, value):
    parsed = parse_value(text)
    assert parsed == value and type(parsed) is type(value)


def test_an_equals_sign_may_be_part_of_a_value():
    assert parse_keys(["root=a=b"]) == {"root": "a=b"}
