"""Every bound at one point, as a number that is written out and that no change of its text can take along."""

import csv
import math
from dataclasses import replace
from pathlib import Path

import pytest

from dpsco_bench.claims.bounds.registry import BOUNDS, BoundContext, get_bound
from dpsco_bench.privacy.queries import Temperature
from dpsco_bench.problems.base import Constants

VALUES = Path(__file__).with_name("bound_values.csv")
SHIPPED = [name for name in BOUNDS.names() if BOUNDS.module(name).startswith("dpsco_bench.")]
N, D, EPSILON, DELTA = 1000, 12, 0.7, 1e-6
SCHEDULE = {
    # of all papers: steps, epochs and what else a formula reads
    **{"steps": 90, "epochs": 6, "inner_steps": 40, "contraction": 0.4, "kappa": 1.75, "vertices": 24},
    **{"norm_smoothness": 1.3, "bregman_radius": 0.8, "theta": 0.9, "sweeps": 30},
    **{"k": 2.0, "learner": "ogd_adagrad", "rho": 0.6, "A": 11.0, "A_noise": 27.0, "Phi": 5.5},
    **{"n": N, "lipschitz": 1.4, "smoothness": 0.0, "diameter": 1.6, "sensitivity": "eq6", "radius": "D", "p": 2.0},
    **{"truncation": 2.6, "step": 0.02, "ridge": 0.15},
}
SCALES = {name: 0.3 for name in ("inner", "gradient", "vertex", "release", "linear term", "draw", "node", "output")}
EXTRAS = {"regret": 40.0, "regularised_regret": 35.0, "theorem10": 3.5, "theorem1": 2.5, "lemma7": 1.5}
EXTRAS |= {"learner_bound": 4.5, "minimiser_divergence": 0.02, "alpha": 0.02, "mean_norm": 0.4}
CONSTANTS = Constants(
    1.4, 0.6, diameter=1.6, domain="l2_ball", norm=2.0, strong_convexity=0.2, regularisation=0.05, initial_gap=0.5,
    initial_distance=0.7, gauge_convexity=0.3, gradient_deviation=0.9, loss_range=2.1,
)  # fmt: skip
LEARNERS = {"thm6": "optimistic_omd", "thm8": "osd"}


def context(name: str) -> BoundContext:
    """The point of a bound: one for all, but for the exponent, the set and the learner that its theorem asks for."""
    paper, _, formula = name.partition(".")
    exponent, domain = 2.0, "l2_ball"
    if paper.startswith("bassily2021"):
        exponent = 4.0 if "prop13" in formula or "above_2" in formula else 1.5
        domain = f"lp_ball:{exponent:g}"
    if paper.startswith("su2023"):
        exponent, domain = (3.0 if "thm8" in formula or "thm12" in formula else 1.5), "l1_ball"
    if paper.startswith("gopi2022"):
        exponent = {"cor3": 1.0, "cor4": 4.0}.get(formula[:4], 1.5)
        domain = f"schatten_ball:{exponent}:3" if "cor3" in formula or "cor4" in formula else f"lp_ball:{exponent}"
    if "p_below_2" in formula:
        exponent = 1.5
    constants = replace(CONSTANTS, norm=exponent, domain=domain)
    rule = "strongly_convex" if "thm5" in formula or "thm6" in formula else "erm"
    learner = next((learner for part, learner in LEARNERS.items() if part in formula), "ogd_adagrad")
    law = Temperature(rule, N, D, 1.4, 2.1, 0.9, 0.2).entries if paper.startswith("gopi2022") else {}
    return BoundContext(
        N, D, EPSILON, DELTA, constants, "paper", {**SCHEDULE, **law, "learner": learner}, SCALES, 0.45, EXTRAS
    )


def written() -> dict[str, tuple[float, float]]:
    with VALUES.open(encoding="utf-8", newline="") as file:
        return {row["bound"]: (float(row["printed"]), float(row["accounted"])) for row in csv.DictReader(file)}


def test_every_bound_is_written_out():
    assert list(written()) == sorted(SHIPPED)


@pytest.mark.parametrize("paper", sorted({name.partition(".")[0] for name in SHIPPED}))
def test_a_bound_is_the_number_that_is_written_out(paper):
    for name, values in written().items():
        if name.startswith(f"{paper}."):
            found = [get_bound(name).value(replace(context(name), calibration=c)) for c in ("paper", "accounted")]
            assert found == pytest.approx(values, rel=1e-9), name
            assert all(map(math.isfinite, values)) and min(values) >= 0
