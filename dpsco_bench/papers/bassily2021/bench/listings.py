"""One-pass private Frank-Wolfe against a naive loop over one run, and compiled steps against their listings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from math import isqrt
from typing import Any

import numpy as np

from dpsco_bench.bench.fused_pairs import fused_cases
from dpsco_bench.bench.measure import AT_LEAST, BenchCase, Pair, goal
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import run_block

SIZES = ((64, 128), (64, 1024))
"""Replicates and dimension."""
RECORDS = 512
NAIVE_RECORDS = 2048
EPSILON, DELTA = 8.0, 1e-6


@goal("poly_sfw", "one-pass private Frank-Wolfe against a naive loop")
def cases() -> Iterator[BenchCase]:
    """List records, gradients, noise and steps of whole runs on ``needle_l1``; a unit is a score of a vertex."""
    for replicates, d in SIZES:
        yield BenchCase(
            id="poly_sfw",
            case=f"poly_sfw on the l1 ball, R/d = {replicates}/{d}",
            peer="naive loop over the steps of one run",
            unit="score",
            sense=AT_LEAST,
            goal=None,
            build=partial(_pair, replicates, d),
        )


def _pair(replicates: int, d: int) -> Pair:
    cell = _cell(RECORDS, d)
    _, plan = cell.plan("paper", 0)
    scales = {q.name: float(q.paper_scale or 0.0) for q in plan.queries}
    generator, single = np.random.default_rng(0), _cell(NAIVE_RECORDS, d)

    def batched() -> Any:
        return run_block(cell, plan, scales, cell.draw_data(0, 0), root_seed=0, replicates=replicates)

    releases, naive_releases = RECORDS // 2 + 1, NAIVE_RECORDS // 2 + 1
    return Pair(batched, lambda: naive_run(single, generator), replicates * releases * 2 * d, naive_releases * 2 * d)


def _cell(n: int, d: int) -> Cell:
    return Cell("bassily2021.poly_sfw", "needle_l1", n, EPSILON, DELTA, d)


def naive_run(cell: Cell, generator: np.random.Generator) -> np.ndarray:
    """Run once as the listing reads, step by step with the plainest NumPy calls."""
    problem, plan = cell.problem_entry, cell.plan("paper", 0)[1]
    (query,) = plan.queries
    d, N, eta = problem.dimension, plan.steps, plan.step
    chances = 0.5 + 0.5 * problem.means[0]  # type: ignore[attr-defined]
    scales = float(query.paper_scale or 0.0) * np.asarray(query.factors(0, N + 1))

    def records(count: int) -> np.ndarray:
        return np.where(generator.random((count, d)) < chances, 1.0, -1.0)

    x, estimate = np.zeros(d), -records(N).mean(axis=0)
    for t in range(N + 1):
        if t > 0:
            estimate = (1 - eta) * estimate - eta * records(1)[0]
        scores = np.concatenate([estimate, -estimate]) + generator.laplace(0.0, scales[t], 2 * d)
        chosen = int(scores.argmin())
        x = (1 - eta) * x
        x[chosen % d] += eta if chosen < d else -eta
    assert math.isfinite(float(x.sum()))
    return x


@goal("P1_noisy_sgd", "noisy SGD of Proposition 13, compiled, against its listing")
def noisy_sgd_cases() -> Iterator[BenchCase]:
    """Logistic regression on the l2 ball, n^2 steps."""

    def cell(d: int, steps: int) -> Cell:
        return Cell("bassily2021.noisy_sgd", "logistic_glm", n=isqrt(steps), epsilon=1.0, delta=1e-5, d=d)

    return fused_cases("P1_noisy_sgd", "noisy SGD", cell)


@goal("P1_poly_sfw", "one-pass private Frank-Wolfe, compiled, against its listing")
def poly_sfw_cases() -> Iterator[BenchCase]:
    """Logistic regression on the l1 ball, n/2 steps."""

    def cell(d: int, steps: int) -> Cell:
        on = {"domain": "l1_ball"}
        return Cell("bassily2021.poly_sfw", "logistic_glm", 2 * steps, 1.0, 1e-5, d, problem_options=on)

    return fused_cases("P1_poly_sfw", "poly_sfw", cell, scale=0.01, lazy=True)
