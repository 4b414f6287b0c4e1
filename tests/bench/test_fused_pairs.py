"""Rows of compiled steps against their listings and against their noise; no time is asserted."""

import pytest

from dpsco_bench.bench.fused_pairs import NOISE, NOISE_GOAL, SIZES, WIDE, without_room
from dpsco_bench.bench.measure import GOALS


def rows(listing, noise, met=False, goal=NOISE_GOAL):
    common = {"id": "P1_noisy_sgd", "limit": "calls"}
    return [
        {**common, "case": "noisy SGD", "goal": 8.0, "met": met, "peer_ns": listing},
        {**common, "case": "noisy SGD" + NOISE, "goal": goal, "met": True, "peer_ns": noise},
    ]


@pytest.mark.parametrize(
    ("listing", "noise", "met", "goal", "has_room"),
    [
        (800.0, 101.0, False, NOISE_GOAL, False),
        (800.0, 99.0, False, NOISE_GOAL, True),
        (800.0, 101.0, True, NOISE_GOAL, True),
        (800.0, 101.0, False, None, True),  # noise that steps leave out is not their work
        (None, 101.0, False, NOISE_GOAL, True),
        (800.0, None, False, NOISE_GOAL, True),
    ],
)
def test_a_goal_below_the_noise_says_so(listing, noise, met, goal, has_room):
    given = rows(listing, noise, met, goal)
    first, second = without_room(given)
    assert second == given[1]
    if has_room:
        assert first == given[0]
    else:
        assert first["limit"] == "the goal leaves 100 ns, and its noise alone, which the listing draws too, takes 101"


def test_methods_that_draw_noise_in_each_step_are_set_against_it():
    """The wide sizes of each, under the name of the row against the listing."""
    for id in ("P1_noisy_sgd", "P1_dp_svrg", "P1_poly_sfw", "P1_wang2017", "P1_zhang2022"):
        cases = [case.case for case in GOALS.get(id).cases()]
        noisy = [case for case in cases if case.endswith(NOISE)]
        assert len(noisy) % sum(size[1] >= WIDE for size in SIZES) == 0 and noisy
        assert {case.removesuffix(NOISE) for case in noisy} <= set(cases)
