"""Compiled steps against their listings."""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt

from dpsco_bench.bench.fused_pairs import fused_cases
from dpsco_bench.bench.measure import BenchCase, goal
from dpsco_bench.execution.cell import Cell


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
