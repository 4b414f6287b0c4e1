"""Descent on l_p balls (Bassily, Guzman, Nandi 2021): mirror steps for p <= 2, projected ones for p >= 2."""

from __future__ import annotations

from math import floor, inf, isclose, sqrt
from typing import Any

from dpsco_bench.algorithms.registry import CALIBRATIONS, Setting, algorithm
from dpsco_bench.algorithms.shared import average, projected_sgd
from dpsco_bench.backend.namespace import cast, cast_like, float64_zeros
from dpsco_bench.errors import Refusal, checked_count
from dpsco_bench.geometry.mirror import SmoothMirror
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.plan import GaussianQuery, Plan, at_most, make_plan
from dpsco_bench.privacy.queries import GeneralisedGaussianQuery
from dpsco_bench.privacy.records import Full, SingleIndex, WithReplacement
from dpsco_bench.problems.base import Trait

NEEDS = (Trait.CONVEX, Trait.LIPSCHITZ, Trait.LP_BALL, Trait.UNREGULARISED)
LEAK = "T releases are paid as one: the printed noise lacks the factor T (erratum E1)"
DEGENERATE = "degenerate: T = floor((eps n)^2/(16 d kappa_q l)) = 0, one iterate, the start, is returned"


def ball_order(given: Setting, low: float, high: float) -> float:
    """Read p in [low, high] of an l_p ball whose norm is that of the losses. Raises InputError for anything else."""
    c = given.constants
    p: Any = getattr(c.ball, "p", None)
    given.require("domain", c.domain, p is not None, "an l_p ball")
    given.require("norm", c.norm, isclose(p, c.norm), f"{p:g}, the norm of the ball {c.domain}")
    given.require("p", p, low <= p <= high, f"in [{low:g}, {high:g}]")
    return p


def batch_size(n: int, T: int, epsilon: float) -> int:
    """``m = n sqrt(eps/(4T))``, from 1 to n."""
    return min(n, max(1, round(n * sqrt(epsilon / (4 * T)))))


@algorithm(
    "bassily2021.noisy_smd",
    source="Bassily, Guzman, Nandi 2021, Algorithm 2, Theorem 10",
    needs=NEEDS,
    variants={"fullbatch": CALIBRATIONS, "corrected": ("paper", "none"), "literal": ("paper", "none")},
    order_invariant=False,
    least_norm=1.0,
    defaults={"paper": "corrected"},
)
def noisy_smd_plan(
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
    c, n, d, full = given.constants, given.n, given.d, given.variant == "fullbatch"
    p, l, L0 = ball_order(given, 1.0, 2.0), given.l, c.lipschitz
    smooth = SmoothNorm(p, d, norm_rule)
    kappa = smooth.kappa
    given.choice("risk", risk, ("empirical", "population"))
    given.require("epsilon", given.epsilon, full or given.epsilon <= 1, "at most 1 for batches with replacement")
    if risk == "population" and full:
        reason = "an accountant would solve for eps, the theorem runs everything with eps'"
        raise Refusal("risk population with variant fullbatch", reason, given.source)
    epsilon = given.epsilon if risk == "empirical" else min(given.epsilon, sqrt(kappa * sqrt(d * l) / n))
    planned = floor((epsilon * n) ** 2 / (16 * d * kappa * l))
    T = given.count("steps", steps) or max(1, planned)
    if full and batch is not None:
        raise Refusal("batch with variant fullbatch", "every step looks at all records", given.source)
    m = n if full else given.count("batch", batch, n) or batch_size(n, T, epsilon)
    eta = given.positive("step", step) or c.diameter / L0 * sqrt(kappa / (2 * T))
    norm: Schedule = dict(p=p, r=smooth.r, kappa=kappa, norm_rule=norm_rule, working_epsilon=epsilon)
    schedule: Schedule = dict(n=n, steps=T, batch=m, step=eta, **norm)
    warnings = (DEGENERATE,) * (steps is None and planned < 1)
    limit = at_most("epsilon", given.epsilon, 1.0, given.source)
    if T == 1:
        return make_plan(gradient_evaluations=0, warnings=warnings, paper_limit=limit, **schedule)
    paid = 1 if given.variant == "literal" else T
    scale, records = sqrt(8 * kappa * paid * l) * L0 / (epsilon * n), Full() if full else WithReplacement(n, m)
    query = GeneralisedGaussianQuery("gradient", 2 * L0 / m, T - 1, records, paper_scale=scale, smooth=smooth)
    told: Schedule = dict(leaks=(LEAK,) * (given.variant == "literal"), warnings=warnings, paper_limit=limit)
    return make_plan(query, gradient_evaluations=m * (T - 1), **told, **schedule)


@noisy_smd_plan.run
def noisy_smd(objective, plan, mechanism):
    """Algorithm 2 on iterates ``(R, d)``; returns the mean of x^1..x^T."""
    x = objective.start
    mirror = SmoothMirror(SmoothNorm(plan.p, x.shape[-1], plan.norm_rule))
    total = float64_zeros(x) + cast(x, objective.xp.float64)
    for t in range(plan.steps - 1):
        if isinstance(plan.query("gradient").records, Full):
            gradient = objective.mean_gradient(x)
        else:
            gradient = objective.batch_gradient(x, mechanism.sample("gradient", t))
        dual = mirror.gradient(x) - plan.step * mechanism.release("gradient", gradient, t)
        x = mirror.step(dual, plan.p, objective.domain.radius)
        total = total + x
        objective.observe(x)
    return cast_like(total / plan.steps, x)


@algorithm(
    "bassily2021.noisy_sgd",
    source="Bassily, Guzman, Nandi 2021, Proposition 13; Bassily, Feldman, Guzman, Talwar 2020, Algorithm 2 "
    "(constants from memory, unverified)",
    needs=NEEDS,
    order_invariant=False,
)
def noisy_sgd_plan(
    given: Setting, *, steps: int | None = None, step: float | None = None, extent: str = "diameter"
) -> Plan:
    """T = n^2 projected steps on one record each, sigma^2 = 8 L2^2 l/eps^2, eta = R2/(L2 n max{sqrt n, sqrt(d l)/eps}).

    A loss that is Lipschitz in l_p with p >= 2 is so in l2; R2 = d^(1/2-1/p) M is the Euclidean diameter.

    Parameters
    ----------
    given : Setting
        L0 and M in l_p, on an l_p ball with 2 <= p <= inf.
    steps : optional
        T, at least n for the theorem's rate: then batches of m = n sqrt(eps/(4T)) records with replacement,
        sigma^2 = 8 T L2^2 l/(n eps)^2 and eta = (R2/(L2 sqrt T))/sqrt(max{1, T/n + d sigma^2/L2^2}).
    step : optional
        Replaces eta.
    extent : str
        ``diameter``: R2 as above. ``radius``: half of it.
    """
    c, n, d = given.constants, given.n, given.d
    p, l, eps, L2 = ball_order(given, 2.0, inf), given.l, given.epsilon, c.lipschitz
    share = {"diameter": 1.0, "radius": 0.5}[given.choice("extent", extent, ("diameter", "radius"))]
    R2 = d ** (0.5 - 1 / p) * c.diameter * share
    T = given.count("steps", steps) or n * n
    if steps is None:
        m, scale = 1, sqrt(8 * l) * L2 / eps
        eta = R2 / (L2 * n * max(sqrt(n), sqrt(d * l) / eps))
    else:
        m, scale = batch_size(n, T, eps), sqrt(8 * T * l) * L2 / (n * eps)
        eta = R2 / (L2 * sqrt(T)) / sqrt(max(1.0, T / n + d * scale**2 / L2**2))
    eta = given.positive("step", step) or eta
    records = SingleIndex(n) if m == 1 else WithReplacement(n, m)
    query = GaussianQuery("gradient", 2 * L2 / m, T, records, paper_scale=scale)
    few = (f"T = {T} is below n: the optimisation error hides the statistical one",) * (n > T)
    return make_plan(query, gradient_evaluations=m * T, warnings=few, n=n, steps=T, batch=m, step=eta)


noisy_sgd_plan.run(projected_sgd)


@algorithm(
    "bassily2021.projected_gd",
    source="full-batch form of Bassily, Guzman, Nandi 2021, Proposition 13; a baseline of this project",
    needs=NEEDS,
    variants={"standard": ("accounted", "none")},
)
def projected_gd_plan(given: Setting, *, steps: int = 64, step: float | None = None) -> Plan:
    """T steps ``R2/sqrt(T (L2^2 + d s^2))`` on the mean gradient plus normals of the accounted deviation s.

    A loss that is Lipschitz in l_p with p >= 2 is so in l2; R2 = d^(1/2-1/p) M is the Euclidean diameter.

    Parameters
    ----------
    given : Setting
        L0 and M in l_p, on an l_p ball with 2 <= p <= inf.
    steps : int
        T.
    step : optional
        Replaces the size of the steps.
    """
    c, p, T = given.constants, ball_order(given, 2.0, inf), checked_count("steps", steps)
    eta, diameter = given.positive("step", step) or 0.0, given.d ** (0.5 - 1 / p) * c.diameter
    query = GaussianQuery("gradient", 2 * c.lipschitz / given.n, T)
    return make_plan(query, gradient_evaluations=given.n * T, steps=T, step=eta, lipschitz=c.lipschitz, extent=diameter)


@projected_gd_plan.run
def projected_gd(objective, plan, mechanism):
    """Projected steps on iterates ``(R, d)``; returns the mean of the iterates after each step."""
    variance = plan.lipschitz**2 + objective.start.shape[-1] * mechanism.scales["gradient"] ** 2
    size = plan.step or plan.extent / sqrt(plan.steps * variance)

    def step(x, t):
        return objective.project(x - size * mechanism.release("gradient", objective.mean_gradient(x), t))

    return average(objective, objective.start, plan.steps, step)
