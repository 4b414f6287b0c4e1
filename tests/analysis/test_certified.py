from dataclasses import dataclass, field

import numpy as np
import pytest

from dpsco_bench.analysis.certified import gated, settled, uncertified, unchecked
from dpsco_bench.analysis.verdict import Verdict


@dataclass
class Cell:
    extras: dict = field(default_factory=dict)


def chain(rhat, ess):
    return Cell({name: np.full((1, 4), v) for name, v in (("rhat", rhat), ("ess", ess), ("chain_risk", 1.0))})


def test_cells_without_chains_pass():
    assert settled([Cell(), Cell({"value_queries": np.ones((1, 4))})]) == ""


@pytest.mark.parametrize(("rhat", "ess", "good"), [(1.01, 400.0, True), (1.011, 1e4, False), (1.0, 399.0, False)])
def test_the_gate(rhat, ess, good):
    verdict = Verdict("match", "rate", "slopes agree")
    reason = settled([chain(1.0, 1e4), chain(rhat, ess)])
    found = gated(verdict, True, reason)
    assert (found is verdict) == good == (not uncertified(found))
    if not good:
        assert found.verdict == "inconclusive" and "not certified" in found.reason


def test_what_is_only_shown_keeps_its_word_and_says_it():
    verdict = gated(Verdict("shown", "shown", ""), False, settled([chain(2.0, 3.0)]))
    assert verdict.verdict == "shown" and "R-hat up to 2.000" in verdict.notes[0] and uncertified(verdict)


def test_the_code_of_the_chains_is_checked_where_the_law_is_known():
    assert unchecked("check", Verdict("holds", "law", "")) == ""
    assert "check, where the law is known, is fails" in unchecked("check", Verdict("fails", "law", ""))
    assert "is not measured" in unchecked("check", None)
    assert "no cell of their code path has a known law" in unchecked("", None)


def test_chains_that_never_moved_are_not_certified():
    assert "not certified" in settled([Cell({"chain_risk": np.ones((1, 4))})])
