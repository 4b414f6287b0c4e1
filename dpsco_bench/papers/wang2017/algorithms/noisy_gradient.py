"""Noisy full gradients: the query of equations (9) and (11), its constant, and one noisy step."""

from __future__ import annotations

from math import sqrt
from typing import Any

from dpsco_bench.algorithms.registry import Setting
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.plan import GaussianQuery

Array = Any


def gradient_query(given: Setting, T: int, noise_constant: float | str, source: str) -> GaussianQuery:
    """T releases of the mean gradient: sensitivity 2G/n, ``sigma^2 = c G^2 T l/(n eps)^2`` as printed."""
    G, n = given.constants.lipschitz, given.n
    scale = sqrt(noise_constant_value(given, noise_constant, source) * T * given.l) * G / (n * given.epsilon)
    return GaussianQuery("gradient", 2 * G / n, T, paper_scale=scale)


def noise_constant_value(given: Setting, value: float | str, source: str) -> float:
    """Read the constant c: a number > 0, or ``renyi`` for ``8 + 4 eps/l``, from the proof's constants (erratum E8).

    Raises InputError for anything else.
    """
    if value == "renyi":
        return 8.0 + 4.0 * given.epsilon / given.l
    if isinstance(value, str) or value <= 0:
        raise InputError("noise_constant", value, "a number > 0 or renyi", source)
    return float(value)


def checked_step(step: float | None, smoothness: float, source: str) -> float:
    """Eta: 1/L, or a smaller one as given. Raises InputError outside (0, 1/L]."""
    eta = 1.0 / smoothness if step is None else step
    if not 0 < eta <= (1 + 1e-12) / smoothness:
        raise InputError("step", eta, f"in (0, 1/L] with 1/L = {1 / smoothness:.6g}", source)
    return eta


def noisy_step(objective: Any, plan: Any, mechanism: Any, x: Array, t: int) -> Array:
    """``x - eta (grad F(x) + N(0, sigma^2 I))`` on iterates ``(R, d)``; the regulariser's gradient needs no noise."""
    gradient = mechanism.release("gradient", objective.mean_gradient(x), t) + objective.regulariser_gradient(x)
    return x - plan.step * gradient
