"""G4: one-pass private Frank-Wolfe on single records against JAX."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from dpsco_bench.bench.fused_pairs import TimedRun, fused_cases
from dpsco_bench.bench.measure import AT_LEAST, BenchCase, Pair, double_precision, goal, import_jax
from dpsco_bench.execution.cell import Cell
from dpsco_bench.privacy.plan import Plan

Array = Any
SIZES = ((64, 128, 3.5), (256, 128, 3.5), (64, 1024, 8.0), (256, 1024, 8.0))
"""Replicates, dimension, and how many times as fast as JAX: eight times where few of the noises need be drawn."""
RECORDS = 512
SCALE = 0.01


@dataclass(frozen=True)
class FrankWolfeTask:
    """Algorithm 1 on the logistic loss over the l1 ball, with noise of `SCALE` in its last release."""

    replicates: int
    d: int
    n: int = RECORDS

    @property
    def cell(self) -> Cell:
        on = {"domain": "l1_ball"}
        return Cell("bassily2021.poly_sfw", "logistic_glm", self.n, 1.0, 1e-5, self.d, problem_options=on)

    @cached_property
    def plan(self) -> Plan:
        return self.cell.plan("none", 0)[1]

    @property
    def scales(self) -> np.ndarray:
        """Compute the scales of the Laplace noise of every release, shape ``(N + 1,)``."""
        (query,) = self.plan.queries
        return SCALE * np.asarray(query.factors(0, self.plan.steps + 1))


def jax_run(task: FrankWolfeTask, noise: np.ndarray | None = None) -> Callable[[], Array]:
    """``vmap`` over replicates of ``scan`` over steps, compiled; noise ``(R, N + 1, 2 d)`` replaces its own."""
    jax = import_jax()
    jnp, random, data = jax.numpy, jax.random, task.cell.draw_data(0, 0)
    d, N, eta = task.d, task.plan.steps, task.plan.step
    radius = float(task.cell.problem_entry.feasible_set.radius)
    with double_precision(jax, "float64"):
        features, labels = jnp.asarray(data.features), jnp.asarray(data.labels, dtype="float64")

        def gradients(x: Array, rows: Array, signs: Array) -> Array:
            return (-signs * jax.nn.sigmoid(-signs * (rows @ x)))[..., None] * rows

        def moved(x: Array, estimate: Array, scale: Array, source: Array) -> Array:
            drawn = random.laplace(source, (2 * d,), dtype="float64") if noise is None else source
            scores = radius * jnp.stack([estimate, -estimate], axis=-1).reshape(2 * d)
            chosen = jnp.argmin(scores + scale * drawn)
            entry = jnp.where(chosen % 2 == 0, radius, -radius)
            return ((1 - eta) * x).at[chosen // 2].add(eta * entry)

        def body(
            carry: tuple[Array, Array, Array], given: tuple[Array, ...]
        ) -> tuple[tuple[Array, Array, Array], None]:
            (x, before, estimate), (row, sign, scale, source) = carry, given
            now, last = gradients(x, row, sign), gradients(before, row, sign)
            estimate = (1 - eta) * (estimate + now - last) + eta * now
            return (moved(x, estimate, scale, source), x, estimate), None

        def one(sources: Array) -> Array:
            start = jnp.zeros(d, dtype="float64")
            estimate = gradients(start, features[:N], labels[:N]).mean(axis=0)
            scales = jnp.asarray(task.scales)
            first = (moved(start, estimate, scales[0], sources[0]), start, estimate)
            return jax.lax.scan(body, first, (features[N : 2 * N], labels[N : 2 * N], scales[1:], sources[1:]))[0][0]

        if noise is None:
            keys = random.split(random.key(0), task.replicates)
            sources = jax.vmap(lambda key: random.split(key, N + 1))(keys)
        else:
            sources = jnp.asarray(noise)
        run = jax.jit(jax.vmap(one)).lower(sources).compile()
    return lambda: run(sources).block_until_ready()


@goal("P1_poly_sfw", "one-pass private Frank-Wolfe, compiled, against its reference implementation")
def poly_sfw_cases() -> Iterator[BenchCase]:
    """Logistic regression on the l1 ball, n/2 steps."""

    def cell(d: int, steps: int) -> Cell:
        on = {"domain": "l1_ball"}
        return Cell("bassily2021.poly_sfw", "logistic_glm", 2 * steps, 1.0, 1e-5, d, problem_options=on)

    return fused_cases("P1_poly_sfw", "poly_sfw", cell, scale=0.01, lazy=True)


@goal("G4", "one-pass private Frank-Wolfe against JAX")
def cases() -> Iterator[BenchCase]:
    """G4: records, gradients, noise and steps of whole runs; compilation and the keys of JAX are outside the clock."""
    for replicates, d, least in SIZES:
        yield BenchCase(
            id="G4",
            case=f"poly_sfw, R/d = {replicates}/{d}",
            peer="JAX vmap + scan, float64",
            unit="score",
            sense=AT_LEAST,
            goal=least,
            limit="where scores lie far apart, each of the 2d has its noise drawn",
            build=partial(_pair, FrankWolfeTask(replicates, d)),
        )


def _pair(task: FrankWolfeTask) -> Pair:
    scores = task.replicates * (task.plan.steps + 1) * 2 * task.d
    return Pair(partial(TimedRun(task.cell, task.replicates, SCALE), True), jax_run(task), scores, scores)
