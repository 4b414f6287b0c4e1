"""The private online-to-batch loop: all replicates at once against a script that runs one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.bench.fused_pairs import CellOf, other_methods
from dpsco_bench.bench.measure import AT_LEAST, BenchCase, Pair, goal
from dpsco_bench.execution.cell import Cell
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants, Problem, Trait
from dpsco_bench.problems.objective import Objective

Array = Any
SIZES = ((24, 8), (256, 16), (64, 128))
"""Rows (replicates times signals) and dimension; the first is that of the bound checks."""
ROUNDS = 256
SCALE = 3.0


class LinearRecords(Problem):
    """``<z_t, x>`` on the unit ball with the same records for all replicates: next to no work of its own."""

    name = "linear_records"
    traits = frozenset({Trait.CONVEX, Trait.LIPSCHITZ, Trait.LINEAR_LOSS})

    @property
    def own_constants(self) -> Constants:
        return Constants(1.0, 0.0, diameter=2.0, domain="l2_ball")

    def range_gradient(self, x: Array, data: Any, first: int, count: int) -> Array:
        return np.broadcast_to(data.records[first], x.shape)

    def range_gradient_pair(self, x: Array, other: Array, data: Any, first: int, count: int) -> tuple[Array, Array]:
        gradient = self.range_gradient(x, data, first, count)
        return gradient, gradient


@goal("online_to_batch", "private online-to-batch rounds against a script")
def cases() -> Iterator[BenchCase]:
    """Shown, without a goal: OGD with AdaGrad steps, weights t, noise on every node."""
    for rows, d in SIZES:
        yield BenchCase(
            id="online_to_batch",
            case=f"dp_otb, rows/d = {rows}/{d}",
            peer="run-at-a-time script",
            unit="round of a row",
            sense=AT_LEAST,
            goal=None,
            build=partial(_pair, rows, d),
        )


def _pair(rows: int, d: int) -> Pair:
    records = np.random.default_rng(1).standard_normal((ROUNDS, d))
    records /= np.linalg.norm(records, axis=1, keepdims=True)
    generator = np.random.default_rng(0)
    return Pair(
        lambda: batched_run(records, rows),
        lambda: single_run(records, lambda: SCALE * generator.standard_normal(d)),
        rows * (ROUNDS - 1),
        ROUNDS - 1,
    )


def batched_run(records: Array, rows: int, scale: float = SCALE) -> Array:
    """Run all rows at once through `Objective` and `Mechanism`; returns ``(rows, d)``."""
    n, d = records.shape
    problem, entry = LinearRecords(d), get_algorithm("zhang2022.dp_otb")
    plan = entry.plan(problem.constants, n, d, PrivacySpec(1.0, 1e-6), "accounted")
    objective = Objective(problem, SimpleNamespace(n=n, records=records), rows)
    assert entry.run_function is not None
    return entry.run_function(objective, plan, Mechanism(plan, {"node": scale}, "bench", 0, 0, rows))


def single_run(records: Array, noise: Any) -> Array:
    """Algorithm 1 as one would write it for one run, streaming tree included; returns ``(d,)``."""
    n, d = records.shape
    w, x, total, squares, weight = np.zeros(d), np.zeros(d), np.zeros(d), 0.0, 0.0
    slots: dict[int, Array] = {}
    for t in range(1, n + 1):
        weight += t
        x = x + (w - x) * (t / weight)
        if t == n:
            break
        low = t & -t
        total = total + records[t - 1]
        gamma = 2.0 * noise()
        if t != low:
            rest = t - low
            gamma = gamma + slots[rest & -rest]
        slots[low] = gamma
        g = total + gamma
        squares += g @ g
        w = w - np.sqrt(2.0 / squares) * g
        length = np.sqrt(w @ w)
        if length > 1.0:
            w = w / length
    return x


@goal("P1_zhang2022", "compiled methods of zhang2022 against their listings, by the run")
def other_cases() -> Iterator[BenchCase]:
    """Logistic regression on the l2 ball, or the cube in l_inf: as many records as steps where a pass is made."""

    def batches(id: str, **options: int) -> CellOf:
        return lambda d, steps: Cell(id, "logistic_glm", 1024, 1.0, 1e-5, d, options={"steps": steps, **options})

    def one_pass(id: str, problem: str = "logistic_glm") -> CellOf:
        return lambda d, steps: Cell(id, problem, steps, 1.0, 1e-5, d)

    return other_methods(
        "P1_zhang2022",
        {
            "DP-SGD": batches("zhang2022.dp_sgd", batch=1),
            "noisy SGD of BFTT19": batches("zhang2022.bftt19_noisy_sgd"),
            "phased SGD of FKT20": one_pass("zhang2022.fkt20_phased_sgd"),
            "DP-OTB": one_pass("zhang2022.dp_otb"),
            "DP-OTB in l_inf": one_pass("zhang2022.dp_otb_lp", "cube_iid"),
            "DP-OTB, pure": one_pass("zhang2022.dp_otb_pure"),
            "parameter-free": one_pass("zhang2022.parameter_free"),
        },
        limits={
            "noisy SGD of BFTT19": "a step reads each record of its batch twice: for its slope, and to add it",
            "DP-OTB": "a round has two margins, two lengths and a tree's sums, in several passes over its numbers",
            "DP-OTB in l_inf": "a round takes three powers of each number, and its records are drawn besides",
            "DP-OTB, pure": "a third to two thirds of a run draws the radii of its noise, by the same array calls",
            "parameter-free": "beside the schedule, Python in both, a round makes several passes over its numbers",
        },
        noisy=["DP-SGD", "noisy SGD of BFTT19", "DP-OTB", "DP-OTB in l_inf", "DP-OTB, pure", "parameter-free"],
    )
