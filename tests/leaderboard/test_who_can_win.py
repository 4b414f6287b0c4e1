"""Who can win a board: methods of proven privacy that were not searched; and what a search is measured on."""

from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.leaderboard.standings import Ran, best_search
from dpsco_bench.privacy.ledger import SEVERITY


def run(status="proven", setting=None, halves=(1.0, 1.0)):
    """A run whose first eight replicates have one risk and whose last eight another."""
    risks = np.repeat(np.array(halves), 8)[None, None, :]
    calibrated = SimpleNamespace(privacy_status=status)
    entry = SimpleNamespace(algorithm="a.b", options={"setting": setting})
    return Ran("i", f"m{setting}", setting, 0, SimpleNamespace(risks=risks, calibrated=calibrated, entry=entry))


@pytest.mark.parametrize("status", SEVERITY)
def test_only_what_is_proven_and_not_searched_can_win(status):
    assert run(status).ranked == (status == "proven")
    assert not run(status, setting=0).ranked


def test_a_search_chooses_on_one_half_and_is_measured_on_the_other():
    found = best_search([run(setting=0, halves=(1.0, 9.0)), run(setting=1, halves=(2.0, 3.0)), run(halves=(0.1, 0.1))])
    assert (found.method, found.risk, found.settings) == ("m0", 9.0, 2)


@pytest.mark.parametrize("status", [status for status in SEVERITY if status != "proven"])
def test_a_setting_without_a_proof_is_not_searched(status):
    found = best_search([run(status, 0, (0.1, 0.1)), run("proven", 1, (2.0, 3.0))])
    assert (found.method, found.settings) == ("m1", 1)
    assert best_search([run(status, 0)]) is None
