"""The project's noisy SGD as the benchmark runs it: an oracle gradient, so that the machinery is what is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import row_norm
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.quadratic import DiagQuadratic

Array = Any


@dataclass(frozen=True)
class SgdTask:
    """One run of projected noisy SGD on `diag_quadratic`.

    Attributes
    ----------
    replicates, d, steps : int, R, d, T
    step, scale, radius : float, step size, noise standard deviation, radius of the ball projected on
    """

    replicates: int
    d: int
    steps: int
    dtype: str = "float64"
    n: int = 1000
    step: float = 0.1
    scale: float = 0.1
    radius: float = 1.0

    @property
    def draws(self) -> int:
        """Noise values of a whole run."""
        return self.steps * self.replicates * self.d

    def plan(self) -> Plan:
        """One full-data Gaussian query per step."""
        return make_plan(
            GaussianQuery("gradient", 2.0 / self.n, self.steps, paper_scale=self.scale),
            gradient_evaluations=self.n * self.steps,
            steps=self.steps,
            step=self.step,
            radius=self.radius,
        )

    def problem(self) -> DiagQuadratic:
        """The oracle: curvatures from 1/4 to 1, started on the sphere of radius 1."""
        return DiagQuadratic(self.d)


def batched_run(task: SgdTask) -> Array:
    """Run all replicates at once through `Objective` and `Mechanism`; returns ``(R, d)``."""
    plan = task.plan()
    objective = Objective(task.problem(), Data(task.n), task.replicates, np, task.dtype)
    mechanism = Mechanism(plan, {"gradient": task.scale}, "bench", 0, 0, task.replicates, np, task.dtype)
    return noisy_sgd(objective, plan, mechanism)


def noisy_sgd(objective: Objective, plan: Plan, mechanism: Mechanism) -> Array:
    """Projected noisy gradient steps on iterates ``(R, d)``; returns the last iterate."""
    x = objective.start
    for t in range(plan.steps):
        gradient = mechanism.release("gradient", objective.mean_gradient(x), t)
        x = project(x - plan.step * gradient, plan.radius)
        objective.observe(x)
    return x


def project(x: Array, radius: float) -> Array:
    """Euclidean projection of the rows on the ball around the origin."""
    return x * (radius / np.maximum(row_norm(x), radius))
