"""docs/choosing.md shows what is printed, and `choose` does what it says."""

import re
import shlex
from pathlib import Path

import pytest

from dpsco_bench.leaderboard import choose as choice
from tests.marks import rest_at_night

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "choosing.md").read_text()
SHOWN = re.findall(
    r"```console\n\$ python -m dpsco_bench (choose .*?)\n(.*?)```", PAGE + (ROOT / "README.md").read_text(), re.DOTALL
)
POINT = ("choose", "problem=logistic_glm", "domain=l2_ball", "n=150", "d=3", "replicates=4")


def without_seconds(text):
    """What is printed, less the CPU seconds at the end of a table's line."""
    last = r"(proven|only|shown|seconds|---)( +\S+)? +\S+$"
    return [re.sub(last, r"\1\2", line.rstrip()) for line in text.splitlines()]


@pytest.fixture(autouse=True)
def busy_machine(monkeypatch):
    monkeypatch.setattr(choice, "SLACK", 1000.0)


@pytest.mark.parametrize("case", rest_at_night(SHOWN, 0))
def test_what_the_page_and_the_readme_show_is_what_is_printed(dpsco, examples, case):
    command, shown = case
    printed = without_seconds(dpsco(*shlex.split(command)).said)
    for piece in shown.split("...\n"):
        lines = without_seconds(piece)
        assert any(printed[start : start + len(lines)] == lines for start in range(len(printed))), piece


def test_json_and_files(dpsco):
    found = dpsco(*POINT, "--limit", "2", "--out", "mine/rows.parquet", "--json").rows
    assert {"point", "risk_kind", "methods", "refused", "trivial", "without_privacy", "lower_bound"} <= set(found)
    keys = {"method", "algorithm", "variant", "risk", "ci", "tied", "gradient_evaluations", "seconds", "epsilon_real"}
    assert keys | {"epsilon_real_kind", "privacy_status", "held_out"} <= set(found["methods"][0])
    assert {"method", "reason"} <= set(found["refused"][0])
    assert {"value", "source", "kind"} == set(found["lower_bound"])
    first = [Path(found[name]).read_bytes() for name in ("rows", "figure")]
    assert dpsco(*POINT, "--limit", "2", "--out", "mine/rows.parquet").code == 0
    assert [Path(found[name]).read_bytes() for name in ("rows", "figure")] == first
