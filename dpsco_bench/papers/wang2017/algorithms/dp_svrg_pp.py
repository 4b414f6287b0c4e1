"""DP-SVRG++: variance reduction with doubling epochs for convex losses (Wang, Ye, Xu 2017, Algorithm 2)."""

from __future__ import annotations

from math import ceil, log, log2, sqrt
from typing import Any

import numpy as np

from dpsco_bench.algorithms.registry import Setting, algorithm, positive_option
from dpsco_bench.errors import InputError
from dpsco_bench.papers.wang2017.algorithms.variance_reduction import (
    VARIANTS,
    anchor_gradient,
    check_choices,
    inner_loop,
    linear_output,
    literal_plan,
    output_plan,
    poisson_plan,
    shrinking_powers,
)
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.base import Trait

SOURCE = "Wang, Ye, Xu 2017, Algorithm 2, Theorems 4.3 and 4.4"
MOST_EPOCHS = 200


@algorithm(
    "wang2017.dp_svrg_pp",
    source=SOURCE,
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ),
    variants=VARIANTS,
    order_invariant=False,
    proximal=True,
)
def plan(
    given: Setting,
    *,
    epochs: int | None = None,
    inner_steps: int | None = None,
    batch: int | None = None,
    step: float | None = None,
    noise_constant: float = 1.0,
    charge: str = "query",
) -> Plan:
    """DP-SVRG++ for convex objectives: eta = 1/(13 L), m = L ||x_0 - x*||^2/D0, T = log2(n eps/(G sqrt(d l))).

    Epoch s has 2^s m steps, N = (2^(T+1) - 2) m in all.

    Parameters
    ----------
    given : Setting
        D0 and ||x_0 - x*|| are the declared `initial_gap` and `distance`.
    variant : str
        ``literal``: exact anchor gradient, one uniform record per step. ``poisson``: released anchor, Poisson batches.
    epochs, inner_steps, batch, step : optional
        Replace T, m, the expected batch size b = min(n, ceil(0.5 n eps/sqrt(N l))) (Poisson variant only) and eta.
    noise_constant : float
        c in sigma^2 = c G^2 2^T m ln(2/delta)/(n eps)^2, equation (6).
    charge : str
        As of DP-SVRG.
    """
    c, n, eps = given.constants, given.n, given.epsilon
    check_choices(SOURCE, given, epochs, inner_steps, batch, step, charge)
    positive_option("noise_constant", noise_constant, SOURCE)
    m = inner_steps or max(1, ceil(c.smoothness * c.distance**2 / c.initial_gap))
    gain = log2(n * eps / c.lipschitz) - 0.5 * log2(given.d * given.l)
    T = epochs or max(1, round(gain))
    if T > MOST_EPOCHS:
        raise InputError("epochs", T, f"at most {MOST_EPOCHS}: epochs double in length", SOURCE)
    N = (2 ** (T + 1) - 2) * m
    schedule: Schedule = dict(inner_steps=m, step=step or 1.0 / (13.0 * c.smoothness))
    if given.variant == "literal":
        log_term = log(2.0) + given.l
        scale = sqrt(noise_constant * 2**T * m * log_term) * c.lipschitz / (n * eps)
        limit = 2**T * m / n**2
        outside = (f"Theorem 4.3 asks for eps <= c1 2^T m/n^2, here {limit:.3g} c1 (erratum E1)",)
        if charge == "output":
            return _output_plan(given, T, scale, warnings=(eps > limit) * outside, **schedule)
        return literal_plan(given, T, N, scale, charge, warnings=(eps > limit) * outside, **schedule)
    return poisson_plan(given, T, N, batch, **schedule)


@plan.run
def dp_svrg_pp(objective, plan, mechanism):
    """Algorithm 2 on iterates ``(R, d)``; x runs on from epoch to epoch, and the last snapshot is returned."""
    if plan.queries[0].name == "output":
        return linear_output(objective, plan, mechanism)
    x = snapshot = objective.start
    done = 0
    for s in range(plan.epochs):
        v = anchor_gradient(objective.mean_gradient(snapshot), plan, mechanism, s)
        steps = range(done, done + 2 ** (s + 1) * plan.inner_steps)
        x, snapshot = inner_loop(objective, plan, mechanism, x, snapshot, v, plan.step, steps)
        done = steps.stop
    objective.observe(snapshot)
    return snapshot


def _output_plan(given: Setting, T: int, scale: float, warnings: tuple[str, ...], **schedule: Any) -> Plan:
    """Plan the last epoch's average; earlier noise reaches it through the iterate that the epoch starts at."""
    m, eta = schedule["inner_steps"], schedule["step"]
    last = np.cumsum(shrinking_powers(given, eta, 2**T * m)) / (2**T * m)
    earlier = float(last[-1]) * shrinking_powers(given, eta, (2**T - 2) * m)
    kept = float(earlier[-1] if earlier.size else last[-1])
    weights = np.concatenate([earlier, last])
    return output_plan(given, weights, kept, eta, scale, epochs=T, inner_steps=m, step=eta, warnings=warnings)
