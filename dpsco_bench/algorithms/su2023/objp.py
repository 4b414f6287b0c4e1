"""Objective perturbation with an exact minimiser (Su, Zhao, Wang 2023, Algorithm 5)."""

from __future__ import annotations

from math import sqrt

from dpsco_bench.algorithms.registry import algorithm
from dpsco_bench.algorithms.su2023.perturbation import (
    NEEDS,
    euclidean_set,
    hessian_rank,
    perturbation_plan,
    perturbed_minimum,
)
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants

SOURCE = "Su, Zhao, Wang 2023, Algorithm 5, Lemma 5"
EXACT = 1e-18
"""Certificate at which a numerical minimiser stands for the exact one."""
RIDGES = {"corrected": 1.0, "printed": 0.5}


@algorithm("su2023.objp", source=SOURCE, needs=NEEDS)
def plan(
    c: Constants,
    n: int,
    d: int,
    privacy: PrivacySpec,
    *,
    variant: str,
    ridge_rule: str = "corrected",
) -> Plan:
    """Exact minimiser of F + <G, x>/n + lam ||x||^2 over C, without output noise.

    lam = max{L/(sqrt n diam2), r beta/(eps n)}. ``paper``: s1^2 = 32 L^2 l/eps^2. Without a closed form the minimiser
    is solved to a certificate of 1e-18, and that it is exact is a numerical statement.

    Parameters
    ----------
    c, n, d, privacy
        Euclidean problem constants with a bounded symmetric set as domain, number of records, dimension, target
        privacy.
    variant : str
        ``standard``.
    ridge_rule : str
        ``corrected``: r beta/(eps n), as Lemma 5 asks. ``printed``: half of it, as the listing prints (erratum E2).
    """
    C, L, eps = euclidean_set(c, SOURCE), c.lipschitz, privacy.epsilon
    if ridge_rule not in RIDGES:
        raise InputError("ridge_rule", ridge_rule, " or ".join(RIDGES), SOURCE)
    _, r = hessian_rank(c, d)
    lam = max(L / (sqrt(n) * C.euclidean_diameter(d)), RIDGES[ridge_rule] * r * c.smoothness / (eps * n))
    return perturbation_plan(
        c,
        n,
        d,
        privacy,
        ridge=lam,
        convexity=2 * lam + max(c.strong_convexity, c.regularisation),
        accuracy=EXACT,
        linear_scale=sqrt(32 * privacy.log_inverse_delta) * L / eps,
        output_scale=None,
    )


plan.run(perturbed_minimum)
