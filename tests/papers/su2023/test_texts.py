"""The text of every bound against the function that judges, at random cells."""

from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.registry import BOUNDS
from dpsco_bench.problems.base import Constants

NAMES = [name for name in BOUNDS.names() if BOUNDS.module(name).startswith("dpsco_bench.papers.su2023.")]


def contexts(name):
    rng = np.random.default_rng(2023)
    above_two = "thm8" in name or "thm12" in name
    for domain, n, d in (("k_support_ball:4", 500, 16), ("l1_ball", 3000, 40), ("l2_ball", 900, 7)):
        L, M, gauge, distance = rng.uniform(0.3, 3.0, 4)
        p = rng.choice([2.0, 3.0, 8.0] if above_two else [1.01, 1.5, 1.8])
        level = rng.uniform(1.0, 9.0)
        cut = {"truncation": level, "threshold": M + level}
        yield BoundContext(
            n=n, d=d, epsilon=rng.uniform(0.05, 0.9) if n > 500 else 0.01, delta=10.0 ** rng.uniform(-9, -4),
            constants=Constants(
                L, 1.0, diameter=M, domain=domain, norm=p, gauge_convexity=gauge, initial_distance=distance
            ),
            calibration="paper", schedule={"kappa": rng.uniform(1.0, 9.0), "steps": int(rng.integers(2, 90)), **cut},
            scales={"linear term": rng.uniform(1.0, 50.0)},
        )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_text_is_what_judges(as_written, name):
    for context in contexts(name):
        for calibration in ("paper", "accounted", "none"):
            as_written(name, replace(context, calibration=calibration), printed=calibration == "paper")
