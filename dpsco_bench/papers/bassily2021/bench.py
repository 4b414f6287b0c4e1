"""Noisy SGD on single records, as others would write it: C (plain, vectorised), JAX, PyTorch, NumPy one run at a time.

All run Proposition 13's steps on the same logistic losses from the origin and return the mean of the iterates; each
draws indices and noise with its own generator. The tests give them the same indices and noise. G4: one-pass private
Frank-Wolfe on single records against JAX.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from dpsco_bench.bench.fused_pairs import STEP, TimedRun, fused_cases
from dpsco_bench.bench.measure import (
    AT_LEAST,
    BenchCase,
    Pair,
    double_precision,
    goal,
    import_jax,
    import_torch,
    library,
    pointer,
)
from dpsco_bench.execution.cell import Cell
from dpsco_bench.privacy.plan import Plan

Array = Any
SIZES = ((12, 8), (64, 8), (64, 128), (512, 128))
"""Replicates and dimension."""
RECORDS, MOST_VALUES = 64, 1 << 22
JAX_GOAL = 3.0
CHAIN = "a step waits for the margin of its record, its slope and its length, one after the other"
SOURCE = Path(__file__).with_suffix(".c")


@dataclass(frozen=True)
class SampledSgdTask:
    """A task of all: R, d and T, number of records, step size, and the noise's standard deviation."""

    replicates: int
    d: int
    steps: int
    n: int = RECORDS
    step: float = 0.05
    scale: float = 0.3
    dtype: str = "float64"

    @property
    def cell(self) -> Cell:
        options = {"steps": self.steps, "step": self.step}
        return Cell(
            "bassily2021.noisy_sgd", "logistic_glm", self.n, 4.0 * self.steps / self.n**2, 1e-5, self.d, options=options
        )

    @cached_property
    def radius(self) -> float:
        return float(self.cell.problem_entry.feasible_set.radius)

    @cached_property
    def records(self) -> tuple[np.ndarray, np.ndarray]:
        """Features ``(n, d)`` and labels ``(n,)``."""
        data = self.cell.draw_data(0, 0)
        return np.ascontiguousarray(data.features), np.asarray(data.labels, dtype=np.float64)


def c_run(
    task: SampledSgdTask, indices: np.ndarray | None = None, noise: np.ndarray | None = None, wide: bool = False
) -> Callable[[], np.ndarray]:
    """Call the loop in C; indices ``(T,)`` and noise ``(R, T, d)`` replace its own, which is vectorised if ``wide``."""
    run, (features, labels) = library(SOURCE).noisy_sgd, task.records
    out, work = np.empty((task.replicates, task.d)), np.empty(2 * task.d)
    shape = (task.n, task.d, task.replicates, task.steps)
    arguments = [
        *map(pointer, (features, labels)),
        *map(ctypes.c_int64, shape),
        *map(ctypes.c_double, (task.step, task.scale, task.radius)),
        ctypes.c_uint64(1),
        ctypes.c_int64(wide),
        *map(pointer, (indices, noise, work, out)),
    ]
    kept = (features, labels, indices, noise, work)  # while the pointers are used

    def call() -> np.ndarray:
        assert kept
        run(*arguments)
        return out

    return call


def script_run(task: SampledSgdTask, indices: np.ndarray | None = None, noise: np.ndarray | None = None) -> np.ndarray:
    """One replicate in NumPy, with the cheapest calls; noise ``(T, d)``."""
    generator, (features, labels) = np.random.default_rng(0), task.records
    chosen = generator.integers(task.n, size=task.steps) if indices is None else indices
    x, total = np.zeros(task.d), np.zeros(task.d)
    for t, i in enumerate(chosen):
        drawn = generator.standard_normal(task.d) if noise is None else noise[t]
        row, label = features[i], labels[i]
        slope = -label / (1.0 + math.exp(label * (row @ x)))
        x = x - task.step * (slope * row + task.scale * drawn)
        length = math.sqrt(x @ x)
        if length > task.radius:
            x *= task.radius / length
        if t + 1 < task.steps:
            total += x
    return total / task.steps


def jax_run(
    task: SampledSgdTask, indices: np.ndarray | None = None, noise: np.ndarray | None = None
) -> Callable[[], Array]:
    """``vmap`` over replicates of ``scan`` over steps, compiled."""
    jax = import_jax()
    jnp, random = jax.numpy, jax.random
    with double_precision(jax, task.dtype):
        features, labels = (jnp.asarray(part, dtype=task.dtype) for part in task.records)

        def body(carry: tuple[Array, Array], source: tuple[Array, Array]) -> tuple[tuple[Array, Array], None]:
            (x, total), (i, drawn) = carry, source
            drawn = random.normal(drawn, (task.d,), dtype=task.dtype) if noise is None else drawn
            row, label = features[i], labels[i]
            slope = -label * jax.nn.sigmoid(-label * (row @ x))
            total = total + x
            x = x - task.step * (slope * row + task.scale * drawn)
            x = x * (task.radius / jnp.maximum(jnp.sqrt(jnp.sum(x * x)), task.radius))
            return (x, total), None

        def one(sources: tuple[Array, Array]) -> Array:
            origin = jnp.zeros(task.d, dtype=task.dtype)
            return jax.lax.scan(body, (origin, origin), sources)[0][1] / task.steps

        def drawing(key: Array) -> Array:
            first, second = random.split(key)
            return one((random.randint(first, (task.steps,), 0, task.n), random.split(second, task.steps)))

        if noise is not None:
            rows = jnp.asarray(noise, dtype=task.dtype)
            given = (jnp.tile(jnp.asarray(indices), (task.replicates, 1)), rows)
            run = jax.jit(jax.vmap(one)).lower(given).compile()
            return lambda: run(given).block_until_ready()
        keys = random.split(random.key(0), task.replicates)
        run = jax.jit(jax.vmap(drawing)).lower(keys).compile()
    return lambda: run(keys).block_until_ready()


def torch_run(
    task: SampledSgdTask, indices: np.ndarray | None = None, noise: np.ndarray | None = None
) -> Callable[[], Array]:
    """Batched tensors ``(R, d)``, a loop over steps."""
    torch = import_torch()
    kind = getattr(torch, task.dtype)
    features, labels = (torch.asarray(part, dtype=kind) for part in task.records)
    generator = torch.Generator().manual_seed(0)

    def run() -> Array:
        x = torch.zeros((task.replicates, task.d), dtype=kind)
        total = torch.zeros_like(x)
        for t in range(task.steps):
            if noise is None:
                i = torch.randint(task.n, (task.replicates,), generator=generator)
                drawn = torch.randn(x.shape, dtype=kind, generator=generator)
            else:
                assert indices is not None
                i = torch.full((task.replicates,), int(indices[t]))
                drawn = torch.asarray(noise[:, t], dtype=kind)
            rows, signs = features[i], labels[i]
            total += x
            slopes = -signs * torch.sigmoid(-signs * (rows * x).sum(1))
            x = x - task.step * (slopes[:, None] * rows + task.scale * drawn)
            lengths = torch.linalg.vector_norm(x, dim=1, keepdim=True)
            x = x * (task.radius / torch.clamp(lengths, min=task.radius))
        return total / task.steps

    return run


JAX, ONE_BY_ONE = "JAX vmap + scan, float64", "NumPy, one run at a time"
PEERS: dict[str, tuple[Callable[[SampledSgdTask], Callable[[], Array]], str]] = {
    "plain C loop": (c_run, "float64"),
    "vectorised C loop": (partial(c_run, wide=True), "float64"),
    JAX: (jax_run, "float64"),
    "JAX vmap + scan, float32": (jax_run, "float32"),
    "PyTorch, float64": (torch_run, "float64"),
    ONE_BY_ONE: (lambda task: partial(script_run, task), "float64"),
}


@goal("P1_noisy_sgd", "noisy SGD of Proposition 13, compiled, against its reference implementation")
def noisy_sgd_cases() -> Iterator[BenchCase]:
    """Logistic regression on the l2 ball, n^2 steps."""

    def cell(d: int, steps: int) -> Cell:
        return Cell("bassily2021.noisy_sgd", "logistic_glm", n=math.isqrt(steps), epsilon=1.0, delta=1e-5, d=d)

    return fused_cases("P1_noisy_sgd", {"noisy SGD": cell}, noisy=["noisy SGD"], unit=STEP)


@goal("P1_peers", "noisy SGD on single records against C, JAX, PyTorch and NumPy one run at a time")
def cases() -> Iterator[BenchCase]:
    """Set the goal against JAX in float64; ours is float64 everywhere."""
    for replicates, d in SIZES:
        steps = max(64, min(4096, MOST_VALUES // (replicates * d)))
        case = f"noisy SGD, R/d = {replicates}/{d}"
        for peer, (make, dtype) in PEERS.items():
            task, runs = SampledSgdTask(replicates, d, steps, dtype=dtype), 1 if peer == ONE_BY_ONE else replicates
            least, build = JAX_GOAL if peer == JAX else None, partial(_pair, task, make, runs)
            yield BenchCase("P1_peers", case, peer, "step of a replicate", AT_LEAST, least, build, CHAIN)


def _pair(task: SampledSgdTask, make: Callable[[SampledSgdTask], Callable[[], Array]], runs: int) -> Pair:
    """Pair our run with a peer's, which makes that many runs."""
    ours, peer = partial(TimedRun(task.cell, task.replicates, task.scale), True), make(task)
    return Pair(ours, peer, task.replicates * task.steps, runs * task.steps)


FRANK_WOLFE_SIZES = ((64, 128, 3.5), (256, 128, 3.5), (64, 1024, 8.0), (256, 1024, 8.0))
"""Replicates, dimension, and how many times as fast as JAX: eight times where few of the noises need be drawn."""
SCALE = 0.01


@dataclass(frozen=True)
class FrankWolfeTask:
    """Algorithm 1 on the logistic loss over the l1 ball, with noise of `SCALE` in its last release."""

    replicates: int
    d: int
    n: int = 512

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


def jax_frank_wolfe(task: FrankWolfeTask) -> Callable[[], Array]:
    """``vmap`` over replicates of ``scan`` over steps, compiled."""
    jax = import_jax()
    jnp, random, data = jax.numpy, jax.random, task.cell.draw_data(0, 0)
    d, N, eta = task.d, task.plan.steps, task.plan.step
    radius = float(task.cell.problem_entry.feasible_set.radius)
    with double_precision(jax, "float64"):
        features, labels = jnp.asarray(data.features), jnp.asarray(data.labels, dtype="float64")

        def gradients(x: Array, rows: Array, signs: Array) -> Array:
            return (-signs * jax.nn.sigmoid(-signs * (rows @ x)))[..., None] * rows

        def moved(x: Array, estimate: Array, scale: Array, key: Array) -> Array:
            drawn = random.laplace(key, (2 * d,), dtype="float64")
            scores = radius * jnp.stack([estimate, -estimate], axis=-1).reshape(2 * d)
            chosen = jnp.argmin(scores + scale * drawn)
            entry = jnp.where(chosen % 2 == 0, radius, -radius)
            return ((1 - eta) * x).at[chosen // 2].add(eta * entry)

        def body(
            carry: tuple[Array, Array, Array], given: tuple[Array, ...]
        ) -> tuple[tuple[Array, Array, Array], None]:
            (x, before, estimate), (row, sign, scale, key) = carry, given
            now, last = gradients(x, row, sign), gradients(before, row, sign)
            estimate = (1 - eta) * (estimate + now - last) + eta * now
            return (moved(x, estimate, scale, key), x, estimate), None

        def one(keys: Array) -> Array:
            start = jnp.zeros(d, dtype="float64")
            estimate = gradients(start, features[:N], labels[:N]).mean(axis=0)
            scales = jnp.asarray(task.scales)
            first = (moved(start, estimate, scales[0], keys[0]), start, estimate)
            return jax.lax.scan(body, first, (features[N : 2 * N], labels[N : 2 * N], scales[1:], keys[1:]))[0][0]

        keys = jax.vmap(lambda key: random.split(key, N + 1))(random.split(random.key(0), task.replicates))
        run = jax.jit(jax.vmap(one)).lower(keys).compile()
    return lambda: run(keys).block_until_ready()


@goal("P1_poly_sfw", "one-pass private Frank-Wolfe, compiled, against its reference implementation")
def poly_sfw_cases() -> Iterator[BenchCase]:
    """Logistic regression on the l1 ball, n/2 steps."""

    def cell(d: int, steps: int) -> Cell:
        on = {"domain": "l1_ball"}
        return Cell("bassily2021.poly_sfw", "logistic_glm", 2 * steps, 1.0, 1e-5, d, problem_options=on)

    return fused_cases("P1_poly_sfw", {"poly_sfw": cell}, noisy=["poly_sfw"], scale=0.01, unit=STEP, lazy=True)


@goal("G4", "one-pass private Frank-Wolfe against JAX")
def frank_wolfe_cases() -> Iterator[BenchCase]:
    """G4: records, gradients, noise and steps of whole runs; compilation and the keys of JAX are outside the clock."""
    for replicates, d, least in FRANK_WOLFE_SIZES:
        case, build = f"poly_sfw, R/d = {replicates}/{d}", partial(_frank_wolfe_pair, FrankWolfeTask(replicates, d))
        limit = "where scores lie far apart, each of the 2d has its noise drawn"
        yield BenchCase("G4", case, JAX, "score", AT_LEAST, least, build, limit)


def _frank_wolfe_pair(task: FrankWolfeTask) -> Pair:
    scores = task.replicates * (task.plan.steps + 1) * 2 * task.d
    return Pair(partial(TimedRun(task.cell, task.replicates, SCALE), True), jax_frank_wolfe(task), scores, scores)
