"""What a claim's verdicts depend on: the kinds of its own parts, and nothing that draws."""

import subprocess
import sys

import pytest

from dpsco_bench.analysis.judge import DRAWING, judge_digest, judge_modules
from dpsco_bench.claims.bounds.registry import bound_modules
from dpsco_bench.claims.kinds import KINDS
from dpsco_bench.claims.model import Claim, Part
from dpsco_bench.claims.plan import ClaimEntry
from dpsco_bench.execution.digest import closure, code_digest
from dpsco_bench.kinds.rate import RatePart
from dpsco_bench.registry import modules_in


def entry_of(part):
    return ClaimEntry.of(Claim("a.b", "t", "s", "s", [part]), ())


@pytest.mark.parametrize("name", KINDS.names())
def test_a_kind_reaches_no_other_kind_and_nothing_that_draws(name):
    entry, drawing = entry_of(Part("p", name, ["paper"])), frozenset(modules_in(f"dpsco_bench.{DRAWING}"))
    reached = closure(frozenset(judge_modules(entry)), drawing)
    assert [module for module in reached if module.startswith("dpsco_bench.kinds.")] == [f"dpsco_bench.kinds.{name}"]
    assert not [module for module in reached if module.startswith(("dpsco_bench.report", "dpsco_bench.leaderboard"))]
    assert judge_digest(entry) == code_digest(reached, without=drawing)


def test_what_judges_loads_no_figures():
    code = "import sys; from dpsco_bench.claims.kinds import KINDS; KINDS.load(); "
    code += "sys.exit('dpsco_bench.report' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_bound_depends_on_what_its_symbols_mean():
    part = RatePart("p", "rate", ["paper"], bound="bassily2021.thm4", tolerance=0.1, axis="ln K")
    assert bound_modules("bassily2021_law.thm4") == {"dpsco_bench.papers.bassily2021.bounds"}
    assert "dpsco_bench.papers.bassily2021.bounds" in judge_modules(entry_of(part))
