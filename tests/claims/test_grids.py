from pathlib import Path

import pytest

from dpsco_bench.claims.files import read_shipped
from dpsco_bench.claims.model import PROFILES, expanded, numbers, spread, to_the_cap
from dpsco_bench.errors import InputError


def test_all_combinations_the_last_fastest():
    grid = {"ci": {"n": [10, 100], "problem.p": [1.5, 2.0, 1.2]}, "full": {"n": [5], "problem.p": [2.0]}}
    found = expanded(grid, "x")
    assert found["sweep"] == {"parameter": "cell", "values": {"ci": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "full": [1.0]}}
    assert found["along"]["n"] == {"ci": [10, 10, 10, 100, 100, 100], "full": [5]}
    assert found["along"]["problem.p"]["ci"] == [1.5, 2.0, 1.2, 1.5, 2.0, 1.2]
    assert spread({"sweep": {"parameter": "n", "values": [1, 2]}, "replicates": {"ci": 2, "full": 3}}, "x") == {
        "sweep": {"parameter": "n", "values": {"ci": [1, 2], "full": [1, 2]}},
        "replicates": {"ci": 2, "full": 3},
    }
    assert expanded({"n": [1], "d": "2 .. 4 x2"}, "x")["along"]["d"] == {"ci": [2, 4], "full": [2, 4]}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1024 .. 8192 x2", [1024, 2048, 4096, 8192]),
        ("0.1 .. 0.0125 x0.5", [0.1, 0.05, 0.025, 0.0125]),
        ("1.0..100 x10", [1.0, 10.0, 100.0]),
        ("0.5 .. 4.0 in 7", [0.5, 0.707107, 1.0, 1.414214, 2.0, 2.828427, 4.0]),
    ],
)
def test_a_geometric_list_is_a_text(text, values):
    assert numbers(text, "x") == values and [type(v) for v in numbers(text, "x")] == [type(v) for v in values]


@pytest.mark.parametrize(
    ("text", "grid"), [("0.5 .. cap x2", (0.5, 2.0)), ("0 .. cap x2", None), ("2 .. cap x0.5", None), (3, None)]
)
def test_a_grid_up_to_the_cap(text, grid):
    assert to_the_cap(text) == grid


@pytest.mark.parametrize(
    "text",
    ["", "many", "1 .. 8", "1 .. 9 x2", "8 .. 1 x2", "1 .. 8 x1", "-1 .. 8 x2", "1 .. 8 in 1", "1 .. 2 x1.0000001"],
)
def test_no_geometric_list(text):
    with pytest.raises(InputError, match="^x = "):
        numbers(text, "x")


def test_what_profiles_share_is_said_once():
    short = {
        "sweep": {"parameter": "n", "values": {"smoke": [10, 20], "ci+full": "10 .. 40 x2"}},
        "along": {"problem.ridge": {"smoke": [1, 2], "ci+full": [1, 2, 3]}},
        "fixed": {"d": {"smoke": 2, "ci+full": 3}, "epsilon": 1.0},
        "signals": [0.5, 1],
        "replicates": 4,
        "only": [10],
    }
    assert spread(short, "x") == {
        "sweep": {"parameter": "n", "values": {"smoke": [10, 20], "ci": [10, 20, 40], "full": [10, 20, 40]}},
        "along": {"problem.ridge": {"smoke": [1, 2], "ci": [1, 2, 3], "full": [1, 2, 3]}},
        "fixed": {"d": {"smoke": 2, "ci": 3, "full": 3}, "epsilon": 1.0},
        "signals": {"smoke": [0.5, 1], "ci": [0.5, 1], "full": [0.5, 1]},
        "replicates": {"smoke": 4, "ci": 4, "full": 4},
        "only": {"smoke": [10], "ci": [10], "full": [10]},
    }
    assert spread(spread(short, "x"), "x") == spread(short, "x"), "the long form is the same grammar"


def said_twice(node, place=""):
    """Places of a file where profiles have equal values and each has its own."""
    if isinstance(node, list):
        node = dict(enumerate(node))
    if not isinstance(node, dict):
        return []
    names = [profile for key in node for profile in str(key).split("+")]
    values = list(node.values())
    twice = bool(set(names) <= set(PROFILES) and any(value in values[:i] for i, value in enumerate(values)))
    return [place] * twice + [found for key, value in node.items() for found in said_twice(value, f"{place}/{key}")]


def test_no_file_says_for_each_profile_what_they_share():
    root = Path(__file__).resolve().parents[2]
    files = [*root.glob("conf/**/*.yaml"), *root.glob("examples/**/*.yaml")]
    found = {str(path.relative_to(root)): said_twice(read_shipped(path)) for path in files}
    assert len(files) > 150 and not {path: places for path, places in found.items() if places}
    assert said_twice({"a": [{"ci": 1, "full": 2}, {"ci": [1], "full": [1]}]}) == ["/a/1"]
    assert said_twice({"smoke": 2, "ci": 1, "full": 2}) == [""] and not said_twice({"smoke+full": 2, "ci": 1})
