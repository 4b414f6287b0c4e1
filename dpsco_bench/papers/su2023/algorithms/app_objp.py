"""Approximate objective perturbation over a convex set (Su, Zhao, Wang 2023, Algorithm 1)."""

from __future__ import annotations

from math import log, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.papers.su2023.algorithms.perturbation import (
    NEEDS,
    euclidean_set,
    has_closed_form,
    hessian_rank,
    perturbation_plan,
    perturbed_minimum,
)
from dpsco_bench.privacy.plan import Plan

SOURCE = "Su, Zhao, Wang 2023, Algorithm 1, Theorems 1 and 2"


@algorithm("su2023.app_objp", source=SOURCE, needs=NEEDS)
def plan(given: Setting, *, output_noise: bool | None = None) -> Plan:
    """Minimise F + <G, x>/n + lam ||x||^2 over C up to alpha, add H and project.

    lam = max{L/(sqrt n diam2), r beta/(eps n)} and alpha = min{L diam2/n^1.5, eps^2 L diam2^3/(G^2 l n^2.5)} with G the
    Gaussian width, and r = min(d, 2 rank) of the Hessian's part that depends on the data. ``paper``: s1^2 = 128 L^2
    ln(2.5/delta)/eps^2 and s2^2 = 64 alpha ln(2.5/delta)/(lam eps^2). ``accounted``: by the class of the loss, see
    `privacy.composition.shifts`.

    Parameters
    ----------
    given : Setting
        Euclidean constants, on a bounded symmetric set.
    output_noise : bool
        Whether H is added; by default where the minimiser has no closed form.
    """
    c, n, d = given.constants, given.n, given.d
    C, L, l, eps = euclidean_set(c, SOURCE), c.lipschitz, given.l, given.epsilon
    diam2, width = C.euclidean_diameter(d), C.width(d)
    _, r = hessian_rank(c, d)
    lam = max(L / (sqrt(n) * diam2), r * c.smoothness / (eps * n))
    alpha = min(L * diam2 / n**1.5, eps**2 * L * diam2**3 / (width**2 * l * n**2.5))
    least = (r * c.smoothness * diam2 / (eps * L)) ** 2
    outside = f"outside_theorem: lam = r beta/(eps n), Theorem 2 asks for n >= {least:.4g}"
    factor = log(2.5) + l
    noisy = not has_closed_form(c) if output_noise is None else output_noise
    return perturbation_plan(
        given,
        ridge=lam,
        convexity=2 * lam + max(c.strong_convexity, c.regularisation),
        accuracy=alpha,
        linear_scale=sqrt(128 * factor) * L / eps,
        output_scale=sqrt(64 * alpha * factor / lam) / eps if noisy else None,
        warnings=(outside,) * (lam > L / (sqrt(n) * diam2)),
    )


plan.run(perturbed_minimum)
