from dataclasses import dataclass, field

import numpy as np
import pytest

from dpsco_bench.analysis.judge import gated, settled, uncertified, unchecked
from dpsco_bench.analysis.verdict import Verdict


@dataclass
class Cell:
    extras: dict = field(default_factory=dict)


def chain(rhat, ess):
    return Cell({name: np.full((1, 4), v) for name, v in (("rhat", rhat), ("ess", ess), ("chain_risk", 1.0))})


def test_cells_without_chains_pass():
    assert settled([Cell(), Cell({"value_queries": np.ones((1, 4))})]) == ""
    assert "not certified" in settled([Cell({"chain_risk": np.ones((1, 4))})]), "they never moved"
    verdict = gated(Verdict("shown", "shown", ""), False, settled([chain(2.0, 3.0)]))
    assert verdict.verdict == "shown" and "R-hat up to 2.000" in verdict.notes[0] and uncertified(verdict)


@pytest.mark.parametrize(("rhat", "ess", "good"), [(1.01, 400.0, True), (1.011, 1e4, False), (1.0, 399.0, False)])
def test_the_gate(rhat, ess, good):
    verdict = Verdict("match", "rate", "slopes agree")
    reason = settled([chain(1.0, 1e4), chain(rhat, ess)])
    found = gated(verdict, True, reason)
    assert (found is verdict) == good == (not uncertified(found))
    if not good:
        assert found.verdict == "inconclusive" and "not certified" in found.reason


NUMBERS = {"slope": -1.0, "ci": (-1.1, -0.9), "worst_ratio": 2.0, "worst_cell": 1, "ratio": {"end": 0.5}}


@pytest.mark.parametrize("of_the_law", [True, False])
def test_no_slope_and_no_ratio_is_made_of_chains_that_are_not_certified(of_the_law):
    verdict = Verdict("shown", "shown", "x", mean=(1.0, 2.0), stderr=(0.1, 0.1), **NUMBERS)
    row = gated(verdict, of_the_law, "not certified: x").to_json()
    assert [row[name] for name in ("slope", "ci", "worst_ratio")] == [None, [None, None], None]
    assert "ratio" not in row and "worst_cell" not in row
    assert row["mean"] == [1.0, 2.0]


def test_the_code_of_the_chains_is_checked_where_the_law_is_known():
    assert unchecked("check", Verdict("holds", "law", "")) == ""
    assert "is violated" in unchecked("check", Verdict("violated", "law", ""))
    assert "is not measured" in unchecked("check", None) and unchecked("", None)
