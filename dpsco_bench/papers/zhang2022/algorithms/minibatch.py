"""Setup of this paper's mini-batch baselines."""

from __future__ import annotations

from typing import Any

from dpsco_bench.backend.namespace import cast_like, float64_zeros
from dpsco_bench.errors import InputError, checked_count
from dpsco_bench.problems.base import Trait

NEEDS = (Trait.CONVEX, Trait.LIPSCHITZ, Trait.UNREGULARISED, Trait.L2_BALL)


def checked_steps(steps: int | None, planned: int, rule: str, source: str) -> int:
    """Return the number of steps: as given, else as planned. Raises InputError below one."""
    if steps is not None:
        return checked_count("steps", steps)
    if planned < 1:
        raise InputError("steps", planned, f"at least 1; the schedule takes the integer part of {rule}", source)
    return planned


def projected_sgd(objective: Any, plan: Any, mechanism: Any, step: float) -> Any:
    """Projected steps of one size on noisy batch gradients, on iterates ``(R, d)``; returns the mean of x^1..x^J."""
    x = objective.start
    total = float64_zeros(x)
    for t in range(plan.steps):
        total = total + x
        gradient = objective.batch_gradient(x, mechanism.sample("gradient", t))
        x = objective.project(x - step * mechanism.release("gradient", gradient, t))
        objective.observe(x)
    return cast_like(total / plan.steps, x)
