"""Noisy stochastic mirror descent on an l_p ball (Bassily, Guzman, Nandi 2021, Algorithm 2)."""

from __future__ import annotations

from math import floor, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm, choice_option, count_option, positive_option
from dpsco_bench.backend.namespace import cast, cast_like, float64_zeros
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.geometry.mirror import SmoothMirror
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.papers.bassily2021.algorithms.lp_setup import ball_order
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.plan import Plan, at_most, make_plan
from dpsco_bench.privacy.queries import GeneralisedGaussianQuery
from dpsco_bench.privacy.records import Full, WithReplacement
from dpsco_bench.problems.base import Trait

SOURCE = "Bassily, Guzman, Nandi 2021, Algorithm 2, Theorem 10"
LEAK = "T releases are paid as one: the printed noise lacks the factor T (erratum E1)"
DEGENERATE = "degenerate: T = floor((eps n)^2/(16 d kappa_q l)) = 0, one iterate, the start, is returned"


@algorithm(
    "bassily2021.noisy_smd",
    source=SOURCE,
    needs=(Trait.CONVEX, Trait.LIPSCHITZ, Trait.LP_BALL, Trait.UNREGULARISED),
    variants={
        "fullbatch": ("paper", "accounted", "none"),
        "corrected": ("paper", "none"),
        "literal": ("paper", "none"),
    },
    order_invariant=False,
    least_norm=1.0,
    defaults={"paper": "corrected"},
)
def plan(
    given: Setting,
    *,
    norm_rule: str = "best",
    risk: str = "empirical",
    steps: int | None = None,
    batch: int | None = None,
    step: float | None = None,
) -> Plan:
    """Mirror descent with Phi = (kappa_q/2)||x||_s^2: T = (eps n)^2/(16 d kappa_q l), eta = (M/L0) sqrt(kappa_q/(2T)).

    Parameters
    ----------
    given : Setting
        L0 and M in l_p, on an l_p ball with 1 <= p <= 2.
    variant : str
        ``literal``: batches with replacement, sigma^2 = 8 kappa_q L0^2 l/(eps n)^2 as printed, not private.
        ``corrected``: sigma^2 times T, as the proof of the risk needs. ``fullbatch``: the same noise on all records,
        which is proved.
    norm_rule : str
        How the exponent r of the smooth norm is chosen: ``best``, ``q``, ``sec2`` or ``two_ln_d``.
    risk : str
        ``empirical``, or ``population``: everything with eps' = min{eps, sqrt(kappa_q) (d l)^(1/4)/sqrt n}.
    steps, batch, step : optional
        Replace T, m = n sqrt(eps/(4T)) (not for ``fullbatch``) and eta.
    """
    c, n, d = given.constants, given.n, given.d
    p, l, L0 = ball_order(c, 1.0, 2.0, SOURCE), given.l, c.lipschitz
    smooth = SmoothNorm(p, d, norm_rule)
    kappa = smooth.kappa
    epsilon = _working_epsilon(given, kappa * sqrt(d * l) / n, risk)
    planned = floor((epsilon * n) ** 2 / (16 * d * kappa * l))
    T = count_option("steps", steps, SOURCE) or max(1, planned)
    m = _batch_size(given, T, epsilon, batch)
    eta = positive_option("step", step, SOURCE) or c.diameter / L0 * sqrt(kappa / (2 * T))
    schedule: Schedule = dict(
        n=n, steps=T, batch=m, step=eta, p=p, r=smooth.r, kappa=kappa, norm_rule=norm_rule, working_epsilon=epsilon
    )
    warnings = (DEGENERATE,) * (steps is None and planned < 1)
    limit = at_most("epsilon", given.epsilon, 1.0, SOURCE)
    if T == 1:
        return make_plan(gradient_evaluations=0, warnings=warnings, paper_limit=limit, **schedule)
    paid = 1 if given.variant == "literal" else T
    scale = sqrt(8 * kappa * paid * l) * L0 / (epsilon * n)
    query = GeneralisedGaussianQuery(
        "gradient",
        2 * L0 / m,
        T - 1,
        Full() if given.variant == "fullbatch" else WithReplacement(n, m),
        paper_scale=scale,
        smooth=smooth,
    )
    leaks, evaluations = (LEAK,) * (given.variant == "literal"), m * (T - 1)
    return make_plan(
        query, gradient_evaluations=evaluations, leaks=leaks, warnings=warnings, paper_limit=limit, **schedule
    )


@plan.run
def noisy_smd(objective, plan, mechanism):
    """Algorithm 2 on iterates ``(R, d)``; returns the mean of x^1..x^T."""
    x = objective.start
    mirror = SmoothMirror(SmoothNorm(plan.p, x.shape[-1], plan.norm_rule))
    total = float64_zeros(x) + cast(x, objective.xp.float64)
    for t in range(plan.steps - 1):
        gradient = mechanism.release("gradient", _gradient(objective, plan, mechanism, x, t), t)
        x = mirror.step(mirror.gradient(x) - plan.step * gradient, plan.p, objective.domain.radius)
        total = total + x
        objective.observe(x)
    return cast_like(total / plan.steps, x)


def _gradient(objective, plan, mechanism, x, t):
    """Mean gradient of the step's batch: all records where it is as large as the data set and nothing is drawn."""
    if isinstance(plan.query("gradient").records, Full):
        return objective.mean_gradient(x)
    return objective.batch_gradient(x, mechanism.sample("gradient", t))


def _working_epsilon(given: Setting, unit: float, risk: str) -> float:
    """Compute the eps of the schedule; ``unit`` is ``kappa_q sqrt(d l)/n``, the square of the paper's eps'."""
    choice_option("risk", risk, ("empirical", "population"), SOURCE)
    if given.variant != "fullbatch" and given.epsilon > 1:
        raise InputError("epsilon", given.epsilon, "at most 1 for batches with replacement", SOURCE)
    if risk == "population" and given.variant == "fullbatch":
        reason = "an accountant would solve for eps, the theorem runs everything with eps'"
        raise Refusal("risk population with variant fullbatch", reason, SOURCE)
    return given.epsilon if risk == "empirical" else min(given.epsilon, sqrt(unit))


def _batch_size(given: Setting, T: int, epsilon: float, batch: int | None) -> int:
    n = given.n
    if given.variant == "fullbatch":
        if batch is not None:
            raise Refusal("batch with variant fullbatch", "every step looks at all records", SOURCE)
        return n
    return count_option("batch", batch, SOURCE, n) or min(n, max(1, round(n * sqrt(epsilon / (4 * T)))))
