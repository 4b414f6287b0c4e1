"""The generalised Gaussian mechanism by itself (Bassily, Guzman, Nandi 2021, Definition 7 and Proposition 8)."""

from __future__ import annotations

from math import sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.privacy.plan import Plan, make_plan
from dpsco_bench.privacy.queries import GeneralisedGaussianQuery
from dpsco_bench.problems.base import Trait

SOURCE = "Bassily, Guzman, Nandi 2021, Definition 7 and Proposition 8"


@algorithm(
    "bassily2021.gg_mechanism",
    source=SOURCE,
    needs=(Trait.CONVEX, Trait.LIPSCHITZ, Trait.UNCONSTRAINED, Trait.UNREGULARISED),
    least_norm=1.0,
)
def plan(given: Setting, *, norm_rule: str = "best") -> Plan:
    """Release one mean gradient with noise GG(0, sigma^2), sigma^2 = 2 kappa_q l s^2/eps^2 and s = 2 L0/n.

    Parameters
    ----------
    given : Setting
        L0 in l_p, 1 <= p <= 2.
    norm_rule : str
        How the exponent r of the smooth norm is chosen: ``best``, ``q``, ``sec2`` or ``two_ln_d``.
    """
    c, n, d = given.constants, given.n, given.d
    smooth = SmoothNorm(c.norm, d, norm_rule)
    sensitivity = 2 * c.lipschitz / n
    scale = sqrt(2 * smooth.kappa * given.l) * sensitivity / given.epsilon
    release = GeneralisedGaussianQuery("release", sensitivity, 1, paper_scale=scale, smooth=smooth)
    return make_plan(release, gradient_evaluations=n, n=n, r=smooth.r, kappa=smooth.kappa)


@plan.run
def gg_mechanism(objective, plan, mechanism):
    """Return the start less the noisy gradient there, ``(R, d)``."""
    x = objective.start - mechanism.release("release", objective.mean_gradient(objective.start))
    objective.observe(x)
    return x
