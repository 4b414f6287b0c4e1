"""Whatever one's own code is made of counts with it: also what it keeps in its module under a name."""

import pytest

from dpsco_bench.claims.bounds.registry import BOUNDS
from dpsco_bench.execution.homes import own_homes
from dpsco_bench.execution.plugins import load_plugins

FIRST = """from dpsco_bench import bound


@bound("mine.base_of_rate", "1/n")
def base(c):
    return 1 / c.n
"""
SECOND = """from dpsco_bench import bound
from dpsco_bench.claims.bounds.registry import get_bound

base = get_bound("mine.base_of_rate")


@bound("mine.rate_of_base", "2/n")
def rate(c):
    return {}
"""


@pytest.mark.parametrize("used", ["2 * base.value(c)", "sum(base.value(c) for _ in range(2))"])
def test_a_bound_that_a_module_keeps_is_counted(tmp_path, used):
    """An edit of the file that registers it judges anew."""
    files = [tmp_path / "first.py", tmp_path / "second.py"]
    for file, text in zip(files, (FIRST, SECOND.format(used)), strict=True):
        file.write_text(text)
    load_plugins(files)
    assert own_homes(BOUNDS, ["mine.rate_of_base"]) == {
        BOUNDS.module(f"mine.{name}") for name in ("base_of_rate", "rate_of_base")
    }
    assert own_homes(BOUNDS, ["mine.base_of_rate"]) == {BOUNDS.module("mine.base_of_rate")}
