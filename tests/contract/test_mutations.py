"""The contract has teeth: less noise, more releases and understated sensitivities are seen in every method."""

from dataclasses import replace

import pytest

from dpsco_bench.audit.search import search
from dpsco_bench.errors import DpscoError
from dpsco_bench.privacy.calibrate import charge
from dpsco_bench.privacy.records import Disjoint, Full, Nodes, RandomAllocation


def test_less_noise_and_one_more_release_than_charged_are_caught(charged_case):
    halved = {name: 0.5 * scale for name, scale in charged_case.scales.items()}
    assert charge(charged_case.plan, halved, 1e-5).epsilon > 1.2 * charged_case.calibrated.charge.epsilon

    def overcounted(query):
        """One release more, and no longer on a block of its own: more blocks would be free."""
        records = Full() if isinstance(query.records, Disjoint | RandomAllocation) else query.records
        return replace(query, releases=query.releases + 1, records=records)

    if any(isinstance(query.records, Nodes) for query in charged_case.plan.queries):
        with pytest.raises(DpscoError, match="releases of .*: must be the number of nodes"):  # they are counted
            tuple(map(overcounted, charged_case.plan.queries))
        return
    more = tuple(map(overcounted, charged_case.plan.queries))
    longer = charge(replace(charged_case.plan, queries=more), charged_case.scales, 1e-5)
    assert longer.epsilon > charged_case.calibrated.charge.epsilon


CAUGHT = 0.85
"""A sensitivity understated by this factor, or a smaller one, is caught on problems with sharp records."""
CAUGHT_LATER = {
    # Hessians of convex losses differ by at most L1, not by 2 L1, and a short run moves by half of what it may
    "bassily2021.noisy_sfw": 0.24,
    # scores on a centred ball change half as much as on any set of the same diameter
    "bassily2021.poly_sfw": 0.48,
    # gradients of least squares in the unit ball differ by .65 of what the constants allow
    "su2023.pda_dpmd": 0.64,
    # a record moves the average of n_i + 1 points, and the last phase has n_i = 1
    "su2023.phased_dp_sgd": 0.49,
    # the same phases, on losses whose gradients differ by half of 2 G: steps too long for the sharp records
    "zhang2022.fkt20_phased_sgd": 0.27,
    # equation (6) is at least twice what the first record does
    **{f"zhang2022.{name}-printed": 0.4 for name in ("dp_otb", "dp_otb_lp", "dp_otb_pure", "parameter_free")},
}
"""Algorithms, or variants, of which the search finds less: the largest factor that is still caught."""
PLACES = dict.fromkeys(("su2023.phased_dp_sgd", "zhang2022.fkt20_phased_sgd"), (0, 12, 18, 21))
"""Records at which the search looks, where not every one enters every query: one of each phase."""


def test_an_understated_sensitivity_is_caught(sharp_law_case):
    case = sharp_law_case
    places = PLACES.get(case.algorithm.id, (0, case.n // 2, case.n - 1))
    seen = search(case.subject, places, neighbours=8, rounds=2, everywhere=False)
    assert max(seen.ratios.values()) <= 1 + 1e-9 and seen.leak == 0 and not seen.misplaced
    name = case.algorithm.id
    factor = CAUGHT_LATER.get(f"{name}-{case.variant}", CAUGHT_LATER.get(name, CAUGHT))
    assert min(seen.ratios.values()) > factor
