"""Rows of compiled steps against their listings and against their noise; no time is asserted."""

from dpsco_bench.bench.fused_pairs import NOISE, SIZES, WIDE
from dpsco_bench.bench.measure import GOALS


def test_methods_that_draw_noise_in_each_step_are_set_against_it():
    """The wide sizes of each, under the name of the row against the listing."""
    for id in ("P1_noisy_sgd", "P1_dp_svrg", "P1_poly_sfw", "P1_wang2017", "P1_zhang2022"):
        cases = [case.case for case in GOALS.get(id).cases()]
        noisy = [case for case in cases if case.endswith(NOISE)]
        assert len(noisy) % sum(size[1] >= WIDE for size in SIZES) == 0 and noisy
        assert {case.removesuffix(NOISE) for case in noisy} <= set(cases)
