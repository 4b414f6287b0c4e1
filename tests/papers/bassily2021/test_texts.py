"""The text of every bound against the function that judges, at random cells."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.registry import BOUNDS
from dpsco_bench.problems.base import Constants

NAMES = [name for name in BOUNDS.names() if BOUNDS.module(name).startswith("dpsco_bench.papers.bassily2021.")]
ABOVE_TWO = ("prop13", "lower_p_above_2")


CELLS = [(400, 9, 1.7), (1000, 64, 0.3), (20_000, 300, 0.9)]
EDGES = {
    "thm9": [(10**4, 10**6, 1000.0)],
    "thm10_sco": [(400, 60, 0.01)],
    "thm15": [(400, 60, 0.01)],
    "lower_p_above_2": [(30, 500, 1.0)],
    "noisy_smd_rate": [(50, 900, 0.1)],
    "noisy_smd_gradients": [(20, 40, 10.0)],
    "noisy_sgd_minibatch_gradients": [(20, 40, 10.0), (50, 9, 0.001)],
}
"""n, d, epsilon of cells where another term of a min or max counts."""


def contexts(name):
    rng = np.random.default_rng(2021)
    for n, d, epsilon in [*CELLS, *EDGES.get(name.partition(".")[2], [])]:
        p = rng.choice([2.0, 3.0, 7.5, math.inf] if any(part in name for part in ABOVE_TWO) else [1.1, 1.4, 1.9])
        p = math.inf if n == 30 else p
        L0, L1, M, release = rng.uniform(0.3, 3.0, 4)
        kappa = 2.0 if n == 20 else rng.uniform(1.0, 4.0)
        yield BoundContext(
            n=n, d=d, epsilon=epsilon, delta=1e-6 if n == 20 else 10.0 ** rng.uniform(-9, -4),
            constants=Constants(L0, L1, diameter=M, domain=f"lp_ball:{p}", norm=p), calibration="paper",
            schedule={"kappa": kappa, "vertices": 2 * d, "steps": 2 if n == 20 else int(rng.integers(2, 10**4))},
            scales={"vertex": rng.uniform(0.01, 1.0), "release": release},
        )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_text_is_what_judges(as_written, name):
    for context in contexts(name):
        for calibration in ("paper", "accounted", "none"):
            as_written(name, replace(context, calibration=calibration), printed=calibration == "paper")
