"""The text of every bound against the function that judges, at random cells."""

from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.registry import BOUNDS
from dpsco_bench.geometry.ball import Ball
from dpsco_bench.geometry.mirror import ball_geometry
from dpsco_bench.problems.base import Constants

NAMES = [name for name in BOUNDS.names() if BOUNDS.module(name).startswith("dpsco_bench.papers.wang2017.")]


def contexts(name):
    rng = np.random.default_rng(2017)
    for domain, n, d in (("l1_ball", 500, 16), ("l2_ball", 3000, 40), ("l1_ball", 800, 3)):
        G, L, mu, regularisation, M, gap, distance = rng.uniform(0.1, 3.0, 7)
        T, m = (int(x) for x in rng.integers(2, 40, 2))
        W = ball_geometry(Ball(domain, 0.5 * M)).squared_width(d)
        epochs = {"epochs": T, "inner_steps": m, "contraction": rng.uniform(0.1, 0.6)}
        steps = {"steps": T, "norm_smoothness": L + 0.3, "bregman_radius": rng.uniform(0.1, 3.0), "squared_width": W}
        yield BoundContext(
            n=n, d=d, epsilon=rng.uniform(0.05, 3.0), delta=10.0 ** rng.uniform(-9, -4),
            constants=Constants(
                G, L, diameter=M, domain=domain, strong_convexity=mu, regularisation=regularisation, initial_gap=gap,
                initial_distance=distance,
            ),
            calibration="paper", schedule=epochs if ".thm4" in name else steps,
            scales={"inner" if ".thm4" in name else "gradient": rng.uniform(0.01, 1.0)},
            start_risk=rng.uniform(0.1, 1.0),
        )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_text_is_what_judges(as_written, name):
    for context in contexts(name):
        for calibration in ("paper", "accounted", "none"):
            as_written(name, replace(context, calibration=calibration), printed=calibration == "paper")
