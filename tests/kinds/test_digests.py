"""What a claim's verdicts depend on: the kinds of its own parts, and nothing that draws."""

from pathlib import Path

import pytest

from dpsco_bench.analysis.judge import judge_modules
from dpsco_bench.claims.bounds.registry import bound_modules
from dpsco_bench.claims.kinds import KINDS
from dpsco_bench.claims.model import Claim, Part
from dpsco_bench.claims.plan import ClaimEntry
from dpsco_bench.execution.digest import closure
from dpsco_bench.kinds.rate import RatePart

FOLDER = Path(__file__).parents[2] / "dpsco_bench" / "kinds"


@pytest.mark.parametrize("name", KINDS.names())
def test_a_kind_reaches_no_other_kind_and_nothing_that_draws(name):
    claim = Claim("a.b", "t", "s", "s", [Part("p", name, ["paper"])])
    reached = closure(judge_modules(ClaimEntry.of(claim, ())))
    assert [module for module in reached if module.startswith("dpsco_bench.kinds.")] == [f"dpsco_bench.kinds.{name}"]
    assert not [module for module in reached if module.startswith("dpsco_bench.report")]


def test_a_bound_depends_on_what_its_symbols_mean():
    part = RatePart("p", "rate", ["paper"], bound="bassily2021.thm4", tolerance=0.1, axis="ln K")
    assert bound_modules("bassily2021_law.thm4") == {"dpsco_bench.papers.bassily2021.bounds"}
    assert "dpsco_bench.papers.bassily2021.bounds" in judge_modules(
        ClaimEntry.of(Claim("a.b", "t", "s", "s", [part]), ())
    )
