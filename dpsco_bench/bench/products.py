"""G6, P8, P10: mean gradients against their matrix products and two replicates', projections against plain NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from dpsco_bench.bench.measure import AT_LEAST, AT_MOST, BenchCase, NotMeasurable, Pair, goal
from dpsco_bench.fused.compiled import available
from dpsco_bench.fused.gradients import mean_gradient, one_pass
from dpsco_bench.geometry.norms import project_l2
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.glm import RidgeLogistic
from dpsco_bench.problems.objective import Objective
from dpsco_bench.rng.streams import Stream, stream_key

GOAL = 0.8
SIZES = ((64, 4096, 128), (256, 16384, 128), (64, 4096, 512))
"""Replicates, records, dimension."""


@goal("G6", "full-batch gradients against their matrix products")
def cases() -> Iterator[BenchCase]:
    """Yield the full-batch gradient of `ridge_logistic` in float64."""
    for replicates, n, d in SIZES:
        case, build = f"mean gradient, float64, R/n/d = {replicates}/{n}/{d}", partial(_pair, replicates, n, d)
        limit = "between the products all margins go through tanh, in a pass of its own"
        yield BenchCase("G6", case, "its two matrix products", "margin", AT_LEAST, GOAL, build, limit)


def _pair(replicates: int, n: int, d: int) -> Pair:
    problem = RidgeLogistic(d)
    data = problem.draw(n, lambda name: Stream(stream_key(0, "bench", name)))
    objective = Objective(problem, data, replicates)
    x = np.random.default_rng(0).standard_normal((replicates, d))
    products = Products(x, data, problem.slope(x @ data.features.T, data.labels))
    work = replicates * n
    return Pair(lambda: objective.mean_gradient(x), products, work, work)


PART = (200_000, 54)
"""Records and dimension of a part of Figures 1 and 2: Covertype."""
ALONE = 2
PART_ROWS = (2, 8, 24)
"""Replicates of a step: those of the listing, those of a cell of Figure 2, and of one of Figure 1 in profile full.

Cells stacked on the axis of replicates would have as many. None are stacked.
"""


@goal("P8", "full-batch steps of Figures 1 and 2 against cells one after the other at R = 2")
def part_cases() -> Iterator[BenchCase]:
    """Yield the mean gradient of DP-GD against the reference's with two replicates; time of one replicate."""
    for rows in PART_ROWS:
        case = f"mean gradient of DP-GD, R/n/d = {rows}/{PART[0]}/{PART[1]}"
        peer = f"its listing, R = {ALONE}" if rows == ALONE else f"listing: a step of {rows} against steps of {ALONE}"
        yield BenchCase("P8", case, peer, "margin", AT_LEAST, None, partial(_part_pair, rows))


def _part_pair(rows: int) -> Pair:
    if not available():
        raise NotMeasurable("Numba is missing or switched off: the listing runs")
    problem, (n, d) = RidgeLogistic(PART[1]), PART
    data = problem.draw(n, lambda name: Stream(stream_key(0, "bench", name)))
    x = np.random.default_rng(0).standard_normal((rows, d))
    ours, alone = Objective(problem, data, rows), Objective(problem, data, ALONE)

    def gradient() -> Any:
        return mean_gradient(ours, x) if one_pass(ours) else ours.mean_gradient(x)

    return Pair(gradient, lambda: alone.mean_gradient(x[:ALONE]), rows * n, ALONE * n)


class Products:
    """Both products of a gradient, into arrays that are there already; the slopes between them are given."""

    def __init__(self, x: Any, data: Data, slopes: Any) -> None:
        self.x, self.features, self.slopes = x, data.features, slopes
        self.margins, self.gradient = np.empty_like(slopes), np.empty_like(x)

    def __call__(self) -> None:
        np.matmul(self.x, self.features.T, out=self.margins)
        np.matmul(self.slopes, self.features, out=self.gradient)


BALL_SIZES = ((12, 8), (64, 128), (512, 128))
BALL_GOAL = 1.5
RADIUS = 1.0


def careless(x: np.ndarray) -> np.ndarray:
    """Shrink what lies outside; squares may overflow and vanish."""
    length = np.sqrt(np.einsum("ij,ij->i", x, x))
    return x * (RADIUS / np.maximum(length, RADIUS))[:, None]


@goal("P10", "the projection on an l2 ball against four calls of NumPy")
def projection_cases() -> Iterator[BenchCase]:
    """P10: rows inside and outside the ball, float64."""
    for replicates, d in BALL_SIZES:
        case, peer = f"project_l2, R/d = {replicates}/{d}", "einsum, sqrt, maximum, product"
        limit = "of an array so small the calls are seen, and one more asks whether squares may overflow"
        yield BenchCase("P10", case, peer, "entry", AT_MOST, BALL_GOAL, partial(_ball_pair, replicates, d), limit)


def _ball_pair(replicates: int, d: int) -> Pair:
    lengths = np.geomspace(0.1, 10.0, replicates)[:, None]
    x = np.random.default_rng(0).standard_normal((replicates, d)) * lengths / d**0.5
    return Pair(lambda: project_l2(x, RADIUS), lambda: careless(x), x.size, x.size)
