"""Approximate objective perturbation for strongly convex losses (Su, Zhao, Wang 2023, Algorithm 2)."""

from __future__ import annotations

from math import log, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.errors import InputError
from dpsco_bench.papers.su2023.algorithms.perturbation import (
    NEEDS,
    euclidean_set,
    has_closed_form,
    hessian_rank,
    perturbation_plan,
    perturbed_minimum,
)
from dpsco_bench.privacy.plan import Plan

SOURCE = "Su, Zhao, Wang 2023, Algorithm 2, Theorems 3 and 4"


@algorithm("su2023.app_objp_sc", source=SOURCE, needs=NEEDS)
def plan(given: Setting, *, output_noise: bool | None = None) -> Plan:
    """Algorithm 1 with lam = max{r beta/(eps n) - m_l/2, 0}, for losses Delta-strongly convex in the gauge of C.

    m_l = Delta/diam2^2, or the declared Euclidean modulus where that is larger (erratum E4), and alpha = min{L^2
    diam2^2/(Delta n^2), L^4 diam2^6 eps^2/(Delta^3 n^4 G^2 l)}. ``paper``: s1 as in Algorithm 1, s2^2 = 64 alpha
    ln(2.5/delta) diam2^2/(Delta eps^2). ``accounted``: as in Algorithm 1 with m = 2 lam + m_l.

    Parameters
    ----------
    given : Setting
        Euclidean constants with Delta = `gauge_convexity` > 0, on a bounded symmetric set.
    output_noise : bool
        Whether H is added; by default where the minimiser has no closed form.
    """
    c, n, d = given.constants, given.n, given.d
    C, L, l, eps = euclidean_set(c, SOURCE), c.lipschitz, given.l, given.epsilon
    Delta = c.gauge_convexity
    if Delta <= 0:
        raise InputError("gauge_convexity", Delta, "> 0: the modulus of every record in the gauge of the set", SOURCE)
    diam2, width = C.euclidean_diameter(d), C.width(d)
    _, r = hessian_rank(c, d)
    m_l = max(Delta / diam2**2, c.strong_convexity)
    lam = max(r * c.smoothness / (eps * n) - m_l / 2, 0.0)
    alpha = min(
        (L * diam2) ** 2 / (Delta * n**2),
        L**4 * diam2**6 * eps**2 / (Delta**3 * n**4 * width**2 * l),
    )
    least = max((L * diam2 / Delta) ** 2, (diam2 * r * c.smoothness / (L * eps)) ** 2)
    factor = log(2.5) + l
    noisy = not has_closed_form(c) if output_noise is None else output_noise
    return perturbation_plan(
        given,
        ridge=lam,
        convexity=2 * lam + m_l,
        accuracy=alpha,
        linear_scale=sqrt(128 * factor) * L / eps,
        output_scale=sqrt(64 * alpha * factor / Delta) * diam2 / eps if noisy else None,
        warnings=(f"outside_theorem: Theorem 4 asks for n >= {least:.4g}",) * (n < least),
    )


plan.run(perturbed_minimum)
