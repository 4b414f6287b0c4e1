import pytest

from dpsco_bench.cli.console import Heading, parse_keys, parse_value, table
from dpsco_bench.errors import InputError

COLUMNS = (
    Heading("name", "name", shrink=8),
    Heading("note", "note", shrink=6),
    Heading("value", "value", numeric=True),
)


def test_a_wide_table_is_cut_from_the_last_column_that_may_shrink():
    rows = [{"name": "n" * 60, "note": "m" * 60, "value": 1.0}]
    lines = table(COLUMNS, rows, width=80).splitlines()
    assert max(map(len, lines)) == 80
    assert "n" * 60 in lines[2] and "m..." in lines[2]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        (".1", 0.1),
        ("1e-5", 1e-5),
        ("true", True),
        ("null", None),
        ("renyi", "renyi"),
        ("", ""),
        ("9" * 30, int("9" * 30)),
        ("1_000", 1000),
        ("1e4", 10000),
        ("-2.5E+3", -2500),
        ("a=b", "a=b"),
        ("inf", float("inf")),
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
        ("données.csv", "données.csv"),
        ("[1,x]", [1, "x"]),
    ],
)
def test_keys_are_read_by_hydras_grammar(text, value):
    assert parse_keys([f"key={text}"]) == {"key": value}


@pytest.mark.parametrize("value", ["a=b.csv", "a#1.csv", "~/a.csv", "a(1).csv"])
def test_a_text_that_needs_quotes_is_shown_with_them(value):
    with pytest.raises(InputError) as caught:
        parse_keys([f"path={value}"])
    hint = f"'path=\"{value}\"'"
    assert str(caught.value).endswith(hint) and parse_keys([hint[1:-1]]) == {"path": value}
