"""Noisy regularised mirror descent without constraint (Su, Zhao, Wang 2023, Algorithm 3)."""

from __future__ import annotations

from math import log2, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm, choice_option, count_option
from dpsco_bench.backend.namespace import cast_like, float64_zeros
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.mirror import SmoothMirror
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.papers.su2023.algorithms.lp_setting import NORM_RULE, printed_kappa, smooth_norm
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.plan import Plan, make_plan
from dpsco_bench.privacy.queries import GeneralisedGaussianQuery
from dpsco_bench.problems.base import Trait

SOURCE = "Su, Zhao, Wang 2023, Algorithm 3, Theorems 6 and 7"
T_RULES = {"proof": 0.5, "theorem": 1.0}
"""Exponent of k beside n eps in T^(5/2)."""


@algorithm(
    "su2023.nrmd",
    source=SOURCE,
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.UNCONSTRAINED, Trait.UNREGULARISED),
    least_norm=1.0,
)
def plan(given: Setting, *, T_rule: str = "proof", steps: int | None = None) -> Plan:
    """T = (n eps sqrt(k)/sqrt(d l))^(2/5) regularised mirror steps with full gradients, alpha = (4 beta/T) log2(n/T).

    k = min{1/(p-1), 2 ln d}. ``paper``: s^2 = 64 L^2 k T l/(n eps)^2. ``accounted``: with the exact kappa_q.

    Parameters
    ----------
    given : Setting
        Constants in l_p with 1 < p < 2, on the whole space.
    T_rule : str
        ``proof``: sqrt(k) in T, as the proof of Theorem 7 has it. ``theorem``: k, as its statement prints (erratum E6).
    steps : optional
        Replaces T.
    """
    c, n, d = given.constants, given.n, given.d
    choice_option("T_rule", T_rule, T_RULES, SOURCE)
    count_option("steps", steps, SOURCE)
    smooth, k = smooth_norm(c, d, SOURCE), printed_kappa(c.norm, d)
    L, beta, l, eps = c.lipschitz, c.smoothness, given.l, given.epsilon
    T = steps or max(1, round((n * eps * k ** T_RULES[T_rule] / sqrt(d * l)) ** 0.4))
    alpha = 4 * beta / T * log2(n / T)
    if not 0 < alpha <= beta:
        raise InputError(
            "n", n, f"large enough (and T small enough) for 0 < alpha <= beta; alpha = {alpha / beta:.3g} beta", SOURCE
        )
    scale = 8 * L * sqrt(k * T * l) / (n * eps)
    query = GeneralisedGaussianQuery("gradient", 2 * L / n, T, paper_scale=scale, smooth=smooth)
    geometry: Schedule = dict(p=c.norm, norm_rule=NORM_RULE, r=smooth.r, kappa=smooth.kappa)
    return make_plan(query, gradient_evaluations=n * T, n=n, steps=T, alpha=alpha, beta=beta, **geometry)


@plan.run
def nrmd(objective, plan, mechanism):
    """Algorithm 3 on iterates ``(R, d)``; returns their average with weights (1 + alpha/(2 beta))^t."""
    w, alpha, beta, T = objective.start, plan.alpha, plan.beta, plan.steps
    mirror = SmoothMirror(SmoothNorm(plan.p, w.shape[-1], plan.norm_rule))
    z, total, weights = mirror.gradient(w), float64_zeros(w), 0.0
    for t in range(1, T + 1):
        gradient = mechanism.release("gradient", objective.mean_gradient(w), t - 1)
        z = (beta * z - gradient) / (beta + alpha)
        w = mirror.inverse(z)
        weight = (1 + alpha / (2 * beta)) ** (t - T)  # normalised at T, so that nothing overflows
        total, weights = total + weight * w, weights + weight
        objective.observe(w)
    return cast_like(total / weights, w)
