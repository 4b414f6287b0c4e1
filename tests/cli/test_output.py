import math

import pytest

from dpsco_bench.cli.console import parse_keys, parse_value
from dpsco_bench.errors import InputError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("3", 3), (".1", 0.1), ("1e-5", 1e-5), ("1e4", 10000), ("-2.5E+3", -2500), ("1_000", 1000)),
        *(("true", True), ("null", None), ("renyi", "renyi"), ("", ""), ("a=b", "a=b"), ("inf", math.inf)),
        ("9" * 30, int("9" * 30)),
    ],
)
def test_values_are_read_as_written(text, value):
    parsed = parse_value(text)
    assert parsed == value and type(parsed) is type(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1e4", 1e4), ("none", "none"), ("'a=b.csv'", "a=b.csv"), ("données.csv", "données.csv"), ("[1,x]", [1, "x"])],
)
def test_keys_are_read_by_hydras_grammar(text, value):
    assert parse_keys([f"key={text}"]) == {"key": value}


@pytest.mark.parametrize("value", ["a=b.csv", "a#1.csv", "~/a.csv", "a(1).csv"])
def test_a_text_that_needs_quotes_is_shown_with_them(value):
    with pytest.raises(InputError) as caught:
        parse_keys([f"path={value}"])
    hint = f"'path=\"{value}\"'"
    assert str(caught.value).endswith(hint) and parse_keys([hint[1:-1]]) == {"path": value}
