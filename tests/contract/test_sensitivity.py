"""Declared sensitivities against an adversarial search over neighbours, transcripts and records."""

from dataclasses import replace

import pytest

from .cases import NOISY, SEARCHABLE, SHARP
from .checks import ROUNDING
from .search import search

TEETH = 0.2
"""The search finds more than this fraction of every declared sensitivity, whatever the problem: it is not idle."""
LITTLE_CURVATURE = (
    "a difference of gradients at two points, far below 4 G where the losses are nearly linear in the ball"
)
IDLE = {
    ("wang2017.dp_svrg_pp", "logistic_glm"): (0.08, LITTLE_CURVATURE),
    ("wang2017.dp_svrg_pp", "public_quadratic"): (0.19, LITTLE_CURVATURE),
    ("zhang2022.parameter_free", "public_quadratic"): (0.19, LITTLE_CURVATURE),
}
"""Where less is found, by algorithm and problem: how much, and why."""
CAUGHT = 0.85
"""A sensitivity understated by this factor, or a smaller one, is caught on every problem with sharp records."""
CAUGHT_LATER = {
    "bassily2021.noisy_sfw": (
        0.24,
        "Hessians of convex losses differ by at most L1, not by 2 L1, and a short run moves by half of what it may",
    ),
    "bassily2021.poly_sfw": (0.48, "scores on a centred ball change half as much as on any set of the same diameter"),
    "su2023.pda_dpmd": (0.64, "gradients of least squares in the unit ball differ by .65 of what the constants allow"),
    "su2023.phased_dp_sgd": (0.49, "a record moves the average of n_i + 1 points, and the last phase has n_i = 1"),
    "zhang2022.fkt20_phased_sgd": (
        0.27,
        "the same phases, on losses whose gradients differ by half of 2 G: steps too long for the sharp records",
    ),
    **{
        f"zhang2022.{name}-printed": (0.4, "equation (6) is at least twice what the first record does")
        for name in ("dp_otb", "dp_otb_lp", "dp_otb_pure", "parameter_free")
    },
    "su2023.shuffled_truncated_md": (0.75, "the search knows the level of truncation only roughly"),
    "su2023.truncated_batched_md": (0.75, "the search knows the level of truncation only roughly"),
}
"""Algorithms, or variants, of which the search finds less: the largest factor that is still caught, and why."""

UNSEARCHED = {
    "gopi2022.radial_exact": "it draws for one data set and not for its neighbours, and is never called proven",
    "zhang2022.bftt19_noisy_sgd": "its sensitivity is declared for a record that the batch holds once",
}
"""Algorithms without a search, and why."""


def test_no_neighbour_changes_a_released_value_by_more_than_declared(searchable_case):
    """Nor the output under a forced transcript; and an understated sensitivity would have been caught."""
    case, found = searchable_case, search(searchable_case)
    assert max(found.ratios.values()) <= 1 + ROUNDING, "no change exceeds the declared sensitivity"
    assert found.leak == 0, "given the released values the output does not depend on the data"
    least, _ = IDLE.get((case.algorithm.id, case.problem.name), (TEETH, ""))
    assert min(found.ratios.values()) > least, "the search is not idle"
    name = case.algorithm.id
    factor, _ = CAUGHT_LATER.get(f"{name}-{case.variant}", CAUGHT_LATER.get(name, (CAUGHT, "")))
    if any(case is sharp for sharp in SHARP):
        assert min(found.ratios.values()) > factor, "each declared sensitivity times the factor is exceeded"


def test_every_algorithm_whose_plan_says_all_is_searched():
    """Those with a plan that leaks nothing, and on at least one problem with neighbours."""
    complete = {c.algorithm.id for c in NOISY if not (c.plan.leaks or c.plan.unprotected)} - set(UNSEARCHED)
    assert complete == {c.algorithm.id for c in SHARP} == {c.algorithm.id for c in SEARCHABLE}
    assert {name.partition("-")[0] for name in CAUGHT_LATER} <= complete


def test_the_search_measures_in_units_of_what_is_declared():
    """On a plan that declares half of one sensitivity it finds twice as much of it, and the same of the others."""
    case = next(c for c in SHARP if len(c.plan.queries) > 1)
    honest = search(case).ratios
    name = min(honest)
    halved = (replace(q, sensitivity=0.5 * q.sensitivity) if q.name == name else q for q in case.plan.queries)
    mutant = case.altered(plan=replace(case.plan, queries=tuple(halved)))
    assert search(mutant).ratios == pytest.approx({**honest, name: 2 * honest[name]})
