"""What a claim's verdicts depend on: the kinds of its own parts, and nothing that draws."""

from pathlib import Path

import pytest

from dpsco_bench.analysis.judge import judge_modules
from dpsco_bench.claims.bounds.registry import bound_modules
from dpsco_bench.claims.kinds import KINDS, all_kinds
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


def test_no_other_module_names_kinds_in_comparisons():
    names = {kind.name for kind in all_kinds()}
    for path in FOLDER.parent.rglob("*.py"):
        if path.parent == FOLDER:
            continue
        for line in path.read_text().splitlines():
            if "kind" in line and any(f'"{name}"' in line for name in names):
                assert "kind ==" not in line and "kind in" not in line and '["kind"]' not in line, f"{path}: {line}"
