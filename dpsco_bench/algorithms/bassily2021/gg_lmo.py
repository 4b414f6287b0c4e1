"""The linear minimiser of a noisy mean gradient, for linear losses: the baseline of Bassily, Guzman, Nandi 2021.

One generalised Gaussian release (Definition 7, Proposition 8), then post-processing.
"""

from __future__ import annotations

from math import sqrt

from dpsco_bench.algorithms.bassily2021.lp_setup import ball_order
from dpsco_bench.algorithms.registry import algorithm
from dpsco_bench.geometry.smooth_norm import SmoothNorm
from dpsco_bench.privacy.plan import Plan, make_plan
from dpsco_bench.privacy.queries import GeneralisedGaussianQuery
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants, Trait

SOURCE = "Bassily, Guzman, Nandi 2021, Proposition 8 (mechanism); the method is ours"


@algorithm("bassily2021.gg_lmo", source=SOURCE, needs=(Trait.CONVEX, Trait.LIPSCHITZ, Trait.LINEAR_LOSS, Trait.LP_BALL))
def plan(c: Constants, n: int, d: int, privacy: PrivacySpec, *, variant: str, norm_rule: str = "best") -> Plan:
    """Minimise <g, x> over the l_p ball for one noisy mean gradient g; sigma^2 = 2 kappa l s^2/eps^2, s = 2 L0/n.

    Parameters
    ----------
    c, n, d, privacy
        Problem constants with an l_p ball, 1 <= p <= 2, as domain, number of records, dimension, target privacy.
    variant : str
        ``standard``.
    norm_rule : str
        How the exponent r of the smooth norm is chosen: ``best``, ``q``, ``sec2`` or ``su2023``.
    """
    p = ball_order(c, 1.0, 2.0, SOURCE)
    smooth = SmoothNorm(p, d, norm_rule)
    sensitivity = 2 * c.lipschitz / n
    scale = sqrt(2 * smooth.kappa * privacy.log_inverse_delta) * sensitivity / privacy.epsilon
    release = GeneralisedGaussianQuery("gradient", sensitivity, 1, paper_scale=scale, smooth=smooth)
    return make_plan(release, gradient_evaluations=n, n=n, p=p, r=smooth.r, kappa=smooth.kappa)


@plan.run
def gg_lmo(objective, plan, mechanism):
    """One release, ``(R, d)``; the gradient of a linear loss is the same everywhere."""
    gradient = mechanism.release("gradient", objective.mean_gradient(objective.start))
    x = objective.domain.minimise_linear(gradient)
    objective.observe(x)
    return x
