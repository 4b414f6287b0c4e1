"""G2, G3 and G5: batched noisy SGD against its noise alone, against JAX, and against a run-at-a-time script.

Its gradient is an oracle's, so that the machinery is what is measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import row_norm
from dpsco_bench.bench.measure import AT_LEAST, AT_MOST, BenchCase, Pair, double_precision, goal, import_jax
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.quadratic import DiagQuadratic

Array = Any
Draw = Callable[[int], np.ndarray]
LEAST_BATCH = 8192  # R d from which the goals hold: below it Python's overhead per step is seen
SIZES = ((256, 16), (64, 128), (256, 1024))
JAX_GOALS = {"float32": 1.5, "float64": 3.0}
SCRIPT_GOALS = ((64, 128, 10.0), (256, 128, 10.0), (16, 1024, 5.0), (256, 1024, 5.0))
PASSES = "beside its noise a step is nine passes of NumPy over its arrays, which no cache near the core holds"
SCRIPT = "a step of the script stays in the nearest cache; the passes of a batched one go to the next"
DRAWS, STEPS = 1 << 22, 1024  # noise values of a run, about, and most steps


@dataclass(frozen=True)
class SgdTask:
    """One run of projected noisy SGD on `diag_quadratic`."""

    replicates: int
    d: int
    steps: int
    dtype: str = "float64"
    n: int = 1000
    step: float = 0.1
    scale: float = 0.1  # standard deviation of the noise
    radius: float = 1.0  # of the ball that is projected on

    @property
    def draws(self) -> int:
        """Count the noise values of a whole run."""
        return self.steps * self.replicates * self.d

    def plan(self) -> Plan:
        """Plan one full-data Gaussian query per step."""
        query = GaussianQuery("gradient", 2.0 / self.n, self.steps, paper_scale=self.scale)
        gradients = self.n * self.steps
        return make_plan(query, gradient_evaluations=gradients, steps=self.steps, step=self.step, radius=self.radius)

    def problem(self) -> DiagQuadratic:
        """Make the oracle: curvatures from 1/4 to 1, started on the sphere of radius 1."""
        return DiagQuadratic(self.d)


def batched_run(task: SgdTask) -> Array:
    """Take the projected noisy steps of all replicates at once through `Objective` and `Mechanism`; ``(R, d)``."""
    plan = task.plan()
    objective = Objective(task.problem(), Data(task.n), task.replicates, np, task.dtype)
    mechanism = Mechanism(plan, {"gradient": task.scale}, "bench", 0, 0, task.replicates, np, task.dtype)
    x = objective.start
    for t in range(plan.steps):
        x = x - plan.step * mechanism.release("gradient", objective.mean_gradient(x), t)
        x = x * (plan.radius / np.maximum(row_norm(x), plan.radius))
        objective.observe(x)
    return x


def _jax_run(task: SgdTask) -> Callable[[], Array]:
    """Compile a run to ``(R, d)`` with a key for each replicate and, split from it, each step, as JAX's examples do."""
    jax, problem = import_jax(), task.problem()
    jnp = jax.numpy
    with double_precision(jax, task.dtype):
        curvature, start = (jnp.asarray(values, dtype=task.dtype) for values in (problem.spectrum, problem.start))

        def body(x: Array, key: Array) -> tuple[Array, None]:
            noise = jax.random.normal(key, (task.d,), dtype=task.dtype)
            x = x - task.step * (curvature * x + task.scale * noise)
            norm = jnp.sqrt(jnp.sum(x * x))
            return x * (task.radius / jnp.maximum(norm, task.radius)), None

        def one(key: Array) -> Array:
            return jax.lax.scan(body, start, jax.random.split(key, task.steps))[0]

        keys = jax.random.split(jax.random.key(0), task.replicates)
        run = jax.jit(jax.vmap(one)).lower(keys).compile()
    return lambda: run(keys).block_until_ready()


def draw_only(task: SgdTask, generator: np.random.Generator) -> None:
    """Draw the noise of a whole batched run into one array and do nothing with it."""
    noise = np.empty((task.replicates, task.d))
    for _ in range(task.steps):
        generator.standard_normal(out=noise)


def single_run(task: SgdTask, curvature: np.ndarray, start: np.ndarray, draw: Draw) -> np.ndarray:
    """Run one replicate as a careful script does: no batching, no bookkeeping, the cheapest NumPy calls."""
    x = start
    for t in range(task.steps):
        x = x - task.step * (curvature * x + task.scale * draw(t))
        norm = math.sqrt(x @ x)
        if norm > task.radius:
            x *= task.radius / norm
    return x


def task(replicates: int, d: int, dtype: str = "float64") -> SgdTask:
    """Make a run of about `DRAWS` noise values."""
    return SgdTask(replicates, d, max(2, min(STEPS, DRAWS // (replicates * d))), dtype)


@goal("G2", "batched noisy SGD against drawing its noise alone")
def draw_cases() -> Iterator[BenchCase]:
    """G2: float64 state; the goal holds from ``R d = 8192`` on."""
    for replicates, d in SIZES:
        case, peer = f"noisy SGD, float64, R/d = {replicates}/{d}", "drawing its noise with standard_normal"
        goal, build = 0.6 if replicates * d >= LEAST_BATCH else None, partial(_draw_pair, task(replicates, d))
        yield BenchCase("G2", case, peer, "draw", AT_MOST, goal, build, PASSES)


def _draw_pair(task: SgdTask) -> Pair:
    generator = np.random.default_rng(0)
    return Pair(lambda: batched_run(task), lambda: draw_only(task, generator), task.draws, task.draws)


@goal("G3", "batched noisy SGD against JAX")
def jax_cases() -> Iterator[BenchCase]:
    """G3: both precisions; the compilation is outside the clock."""
    for (replicates, d), (dtype, least) in product(SIZES, JAX_GOALS.items()):
        case, goal = f"noisy SGD, {dtype}, R/d = {replicates}/{d}", least if replicates * d >= LEAST_BATCH else None
        build = partial(_jax_pair, task(replicates, d, dtype))
        yield BenchCase("G3", case, "JAX vmap + scan", "draw", AT_LEAST, goal, build, PASSES)


def _jax_pair(task: SgdTask) -> Pair:
    return Pair(lambda: batched_run(task), _jax_run(task), task.draws, task.draws)


@goal("G5", "batched noisy SGD against a run-at-a-time script")
def script_cases() -> Iterator[BenchCase]:
    """G5: float64; the script runs one replicate, which costs the same whatever their number."""
    for replicates, d, least in SCRIPT_GOALS:
        case, build = f"noisy SGD, float64, R/d = {replicates}/{d}", partial(_script_pair, task(replicates, d))
        yield BenchCase("G5", case, "run-at-a-time script", "draw", AT_LEAST, least, build, SCRIPT)


def _script_pair(task: SgdTask) -> Pair:
    generator, single, problem = np.random.default_rng(0), SgdTask(1, task.d, STEPS), task.problem()

    def draw(step: int) -> np.ndarray:
        return generator.standard_normal(task.d)

    def script() -> np.ndarray:
        return single_run(single, problem.spectrum, problem.start, draw)

    return Pair(lambda: batched_run(task), script, task.draws, single.draws)
