from dataclasses import dataclass, field

import numpy as np
import pytest

from dpsco_bench.analysis.certified import gated, settled
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
    found = gated(verdict, "risk", [chain(1.0, 1e4), chain(rhat, ess)])
    assert (found is verdict) == good
    if not good:
        assert found.verdict == "inconclusive" and "not certified" in found.reason
    assert gated(verdict, "queries_per_call", [chain(rhat, ess)]) is verdict


def test_chains_that_never_moved_are_not_certified():
    assert "not certified" in settled([Cell({"chain_risk": np.ones((1, 4))})])
