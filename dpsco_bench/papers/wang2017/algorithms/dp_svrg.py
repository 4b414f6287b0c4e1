"""DP-SVRG: variance-reduced proximal gradient steps with Gaussian noise (Wang, Ye, Xu 2017, Algorithm 1)."""

from __future__ import annotations

from math import ceil, floor, inf, log2, sqrt

import numpy as np

from dpsco_bench.algorithms.registry import Setting, algorithm, choice_option
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.papers.wang2017.algorithms.barzilai_borwein import barzilai_borwein_step
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
    svrg_noise_constant,
)
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.base import Constants, Trait

SOURCE = "Wang, Ye, Xu 2017, Algorithm 1, Theorems 4.1 and 4.2"
BB_LEAK = "the step size comes from exact full gradients"


@algorithm(
    "wang2017.dp_svrg",
    source=SOURCE,
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.STRONGLY_CONVEX),
    variants=VARIANTS,
    order_invariant=False,
    proximal=True,
)
def plan(
    given: Setting,
    *,
    theta: float | None = None,
    inner_bound: str = "printed",
    epochs: int | None = None,
    inner_steps: int | None = None,
    batch: int | None = None,
    step: float | None = None,
    step_rule: str = "constant",
    noise_constant: float | str = 1.0,
    charge: str = "query",
) -> Plan:
    """DP-SVRG for strongly convex objectives: theta = eta L, m from inequality (4), T = log2 of the risk to gain.

    Parameters
    ----------
    given : Setting
        mu > 0.
    variant : str
        ``literal``: exact anchor gradient, one uniform record per step. ``poisson``: released anchor, Poisson batches.
    theta : float
        eta L, in (0, 1/24) for the printed bound (default 1/48), (0, 1/12) for the corrected one (default 1/24).
    inner_bound : str
        ``printed`` or ``corrected`` (independent noise halves the variance constant; erratum E4).
    epochs, inner_steps, batch, step : optional
        Replace T, m, the expected batch size b = min(n, ceil(0.5 n eps/sqrt(N l))) (Poisson variant only) and eta.
    step_rule : str
        ``constant`` or ``bb`` (Barzilai-Borwein from the second epoch on; Tan et al. 2016).
    noise_constant : float or str
        c in sigma^2 = c G^2 N l/(n eps)^2, equation (3); ``advanced`` is 576 ln(2.5 N/delta), from the constants of
        Remark 4.1's proof.
    charge : str
        Of the literal variant: ``query`` answers the sum of each step; ``parts`` its two parts, with two thirds and one
        third of the variance; ``output`` is the law of what is returned on linear losses, a single normal.
    """
    c, n, l, eps = given.constants, given.n, given.l, given.epsilon
    theta, variance = _check_theta(theta, inner_bound)
    check_choices(SOURCE, given, epochs, inner_steps, batch, step, charge)
    _check_step_rule(given, step_rule)
    m = inner_steps or _inner_steps(c.condition_number, theta, variance)
    gain = log2(c.strong_convexity * c.initial_gap / (given.d * c.lipschitz**2 * l)) + 2 * log2(n * eps)
    T = epochs or max(1, ceil(gain))
    N, eta = T * m, step or theta / c.smoothness
    schedule: Schedule = dict(
        inner_steps=m,
        step=eta,
        contraction=_rate(c, eta * c.smoothness, variance, m),
        bb=step_rule == "bb",
        bb_range=(1.0 / (m * c.total_smoothness), 5.0 / (m * max(c.regularisation, 1e-300))),
    )
    if given.variant == "literal":
        constant = svrg_noise_constant(given, noise_constant, N, SOURCE)
        scale = sqrt(constant * N * l) * c.lipschitz / (n * eps)
        limit = N / n**2
        outside = (f"Theorem 4.1 asks for eps <= c1 T m/n^2, here {limit:.3g} c1 (erratum E1)",)
        leaks, warnings = (step_rule == "bb") * (BB_LEAK,), (eps > limit) * outside
        if charge == "output":
            if step_rule == "bb":
                raise Refusal("charge = output with step_rule bb", "its steps are random", SOURCE)
            return _output_plan(given, T, m, eta, scale, warnings)
        return literal_plan(given, T, N, scale, charge, leaks=leaks, warnings=warnings, **schedule)
    return poisson_plan(given, T, N, batch, **schedule)


@plan.run
def dp_svrg(objective, plan, mechanism):
    """Algorithm 1 on iterates ``(R, d)``; every epoch starts at its snapshot, and the last snapshot is returned."""
    if plan.queries[0].name == "output":
        return linear_output(objective, plan, mechanism)
    snapshot, step, previous = objective.start, plan.step, None
    for s in range(plan.epochs):
        v = anchor_gradient(objective.mean_gradient(snapshot), plan, mechanism, s)
        if plan.bb:
            full = v + objective.regulariser_gradient(snapshot)
            if previous is not None:
                step = barzilai_borwein_step(snapshot - previous[0], full - previous[1], step, plan)
            previous = snapshot, full
        steps = range(s * plan.inner_steps, (s + 1) * plan.inner_steps)
        _, snapshot = inner_loop(objective, plan, mechanism, snapshot, snapshot, v, step, steps)
    objective.observe(snapshot)
    return snapshot


def _output_plan(given: Setting, T: int, m: int, eta: float, scale: float, warnings: tuple[str, ...]) -> Plan:
    """Plan the output: an epoch returns ``a x - eta sum_j w_j (v + u_j)``, w_j and a means over its steps."""
    left = np.cumsum(shrinking_powers(given, eta, m)) / m
    a = float(left[-1])
    weights = np.outer(a ** np.arange(T), left).ravel()
    return output_plan(given, weights, a**T, eta, scale, epochs=T, inner_steps=m, step=eta, warnings=warnings)


def _check_theta(theta: float | None, inner_bound: str) -> tuple[float, float]:
    """Return theta and the variance constant of inequality (4): 8 as printed, 4 with independent noise."""
    choice_option("inner_bound", inner_bound, ("printed", "corrected"), SOURCE)
    variance, default = (8.0, 1 / 48) if inner_bound == "printed" else (4.0, 1 / 24)
    theta = default if theta is None else theta
    limit = 1.0 / (3.0 * variance)
    if not 0 < theta < limit:
        raise InputError(
            "theta", theta, f"in (0, 1/{3 * variance:.0f}), or inequality (4) has no m", f"{SOURCE}, erratum E4"
        )
    return theta, variance


def _check_step_rule(given: Setting, step_rule: str) -> None:
    c = given.constants
    if c.strong_convexity <= 0:
        raise InputError("strong_convexity", c.strong_convexity, "> 0", SOURCE)
    choice_option("step_rule", step_rule, ("constant", "bb"), SOURCE)
    if step_rule == "bb" and given.variant == "poisson" and c.regularisation <= 0:
        raise InputError(
            "regularisation", c.regularisation, "> 0 for the clipped private step", "Tan et al. 2016, step rule"
        )


def _inner_steps(kappa: float, theta: float, variance: float) -> int:
    """Smallest integer m with A < 1/2 in inequality (4)."""
    bound = (kappa / theta + variance * theta) / (0.5 * (1 - variance * theta) - variance * theta)
    return floor(bound) + 1


def _rate(c: Constants, theta: float, variance: float, m: int) -> float:
    """Contraction factor A of one epoch, inequality (4); infinite where a given step makes it void."""
    shrink = 1 - variance * theta
    if shrink <= 0:
        return inf
    return c.condition_number / (theta * shrink * m) + variance * theta * (m + 1) / (m * shrink)
