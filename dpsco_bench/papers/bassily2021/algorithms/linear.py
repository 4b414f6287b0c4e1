"""Release of one mean gradient, by itself or for linear losses, whose gradient is the same everywhere."""

from __future__ import annotations

from math import inf, isclose, log, sqrt

from dpsco_bench.algorithms.registry import CALIBRATIONS, Setting, algorithm
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.papers.bassily2021.algorithms.descent import ball_order
from dpsco_bench.privacy.plan import GaussianQuery, Plan, Query, make_plan
from dpsco_bench.privacy.queries import GeneralisedGaussianQuery
from dpsco_bench.problems.base import Trait


@algorithm(
    "bassily2021.gg_lmo",
    source="Bassily, Guzman, Nandi 2021, Proposition 8 (mechanism); the method is ours",
    needs=(Trait.CONVEX, Trait.LIPSCHITZ, Trait.LINEAR_LOSS, Trait.LP_BALL),
    variants={"standard": CALIBRATIONS, "literal": ("paper", "none"), "printed_kappa": ("paper", "none")},
    least_norm=1.0,
)
def gg_lmo_plan(given: Setting, *, norm_rule: str = "best") -> Plan:
    """Minimise <g, x> over the l_p ball for one noisy mean gradient g; sigma^2 = 2 kappa_q l s^2/eps^2, s = 2 L0/n.

    Parameters
    ----------
    given : Setting
        On an l_p ball with 1 <= p <= 2.
    variant : str
        ``standard``. ``literal``: the noise with exponent kappa_+ as Section 2 prints it (erratum E3), for p = 1.5 and
        d >= 21, where kappa_+ = kappa_q = 2: normal noise, although the l2 sensitivity is d^(1/6) s. ``printed_kappa``:
        kappa_q = min{1/(p - 1), 2 ln d}, as Theorems 9 and 10 print it, in place of the smooth norm's own (erratum E5).
    norm_rule : str
        How the exponent r of the smooth norm is chosen: ``best``, ``q``, ``sec2`` or ``two_ln_d``.
    """
    c, n, d = given.constants, given.n, given.d
    p, sensitivity = ball_order(given, 1.0, 2.0), 2 * c.lipschitz / n
    smooth = SmoothNorm(p, d, norm_rule)
    release: Query
    if given.variant == "literal":
        given.require("p", p, isclose(p, 1.5), "1.5 for variant literal (erratum E3)")
        given.count("d", d, least=21)  # so that min{q - 1, ln d - 1} is 2; norms differ by up to d^(1/6)
        kappa, scale = 2.0, sqrt(4 * given.l) * sensitivity / given.epsilon
        release = GaussianQuery("gradient", d ** (1 / 6) * sensitivity, 1, paper_scale=scale)
    else:
        kappa = smooth.kappa
        if given.variant == "printed_kappa":
            given.count("d", d, least=2)
            kappa = min(1 / (p - 1) if p > 1 else inf, 2 * log(d))
        scale = sqrt(2 * kappa * given.l) * sensitivity / given.epsilon
        release = GeneralisedGaussianQuery("gradient", sensitivity, 1, paper_scale=scale, smooth=smooth)
    return make_plan(release, gradient_evaluations=n, n=n, p=p, kappa=kappa)


@gg_lmo_plan.run
def gg_lmo(objective, plan, mechanism):
    """Release once, ``(R, d)``; the gradient of a linear loss is the same everywhere."""
    gradient = mechanism.release("gradient", objective.mean_gradient(objective.start))
    x = objective.domain.minimise_linear(gradient)
    objective.observe(x)
    return x


@algorithm(
    "bassily2021.gg_mechanism",
    source="Bassily, Guzman, Nandi 2021, Definition 7 and Proposition 8",
    needs=(Trait.CONVEX, Trait.LIPSCHITZ, Trait.UNCONSTRAINED, Trait.UNREGULARISED),
    least_norm=1.0,
)
def gg_mechanism_plan(given: Setting, *, norm_rule: str = "best") -> Plan:
    """Release one mean gradient with noise GG(0, sigma^2), sigma^2 = 2 kappa_q l s^2/eps^2 and s = 2 L0/n.

    Parameters
    ----------
    given : Setting
        L0 in l_p, 1 <= p <= 2.
    norm_rule
        As for ``bassily2021.gg_lmo``.
    """
    c, n = given.constants, given.n
    smooth, sensitivity = SmoothNorm(c.norm, given.d, norm_rule), 2 * c.lipschitz / n
    scale = sqrt(2 * smooth.kappa * given.l) * sensitivity / given.epsilon
    release = GeneralisedGaussianQuery("release", sensitivity, 1, paper_scale=scale, smooth=smooth)
    return make_plan(release, gradient_evaluations=n, n=n, r=smooth.r, kappa=smooth.kappa)


@gg_mechanism_plan.run
def gg_mechanism(objective, plan, mechanism):
    """Return the start less the noisy gradient there, ``(R, d)``."""
    x = objective.start - mechanism.release("release", objective.mean_gradient(objective.start))
    objective.observe(x)
    return x


@algorithm(
    "bassily2021.sample_minimiser",
    source="closed form; a reference of this project",
    needs=(Trait.LINEAR_LOSS, Trait.LP_BALL),
    variants={"standard": ("none",)},
    least_norm=1.0,
)
def sample_minimiser_plan(given: Setting) -> Plan:
    """Minimise <g, x> over the l_p ball, 1 <= p <= inf, for the exact mean gradient g: not private."""
    n = given.n
    return make_plan(gradient_evaluations=n, unprotected="it is not private: it is an exact function of the data", n=n)


@sample_minimiser_plan.run
def sample_minimiser(objective, plan, mechanism):
    """Look once at all records, ``(R, d)``; the gradient of a linear loss is the same everywhere."""
    x = objective.domain.minimise_linear(objective.mean_gradient(objective.start))
    objective.observe(x)
    return x
