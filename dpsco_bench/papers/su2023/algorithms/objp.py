"""Objective perturbation with an exact minimiser (Su, Zhao, Wang 2023, Algorithm 5)."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

from dpsco_bench.algorithms.registry import algorithm
from dpsco_bench.errors import InputError
from dpsco_bench.papers.su2023.algorithms.perturbation import (
    NEEDS,
    euclidean_set,
    hessian_rank,
    loss_class,
    perturbation_plan,
    perturbed_minimum,
)
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.privacy.queries import PerturbedObjectiveQuery
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants

SOURCE = "Su, Zhao, Wang 2023, Algorithm 5, Lemma 5"
EXACT = 1e-18
"""Certificate at which a numerical minimiser stands for the exact one."""
RIDGES = {"corrected": 1.0, "printed": 0.5}
PROOFS = ("own", "lemma5")
LEMMA5 = "charged as Lemma 5 argues, with the tail of a fixed plane: not proved for this loss (erratum E1)"


@algorithm("su2023.objp", source=SOURCE, needs=NEEDS)
def plan(
    c: Constants,
    n: int,
    d: int,
    privacy: PrivacySpec,
    *,
    variant: str,
    ridge_rule: str = "corrected",
    proof: str = "own",
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
    proof : str
        What charges the release: ``own``, this package's bound for the class of the loss, or ``lemma5``, the
        paper's estimates at full rank, with ``ridge_rule=printed`` (see `_as_lemma5_argues`).
    """
    C, L, eps = euclidean_set(c, SOURCE), c.lipschitz, privacy.epsilon
    if ridge_rule not in RIDGES:
        raise InputError("ridge_rule", ridge_rule, " or ".join(RIDGES), SOURCE)
    if proof not in PROOFS:
        raise InputError("proof", proof, " or ".join(PROOFS), SOURCE)
    _, r = hessian_rank(c, d)
    lam = max(L / (sqrt(n) * C.euclidean_diameter(d)), RIDGES[ridge_rule] * r * c.smoothness / (eps * n))
    result = perturbation_plan(
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
    return result if proof == "own" else _as_lemma5_argues(result, c, d, ridge_rule, eps)


def _as_lemma5_argues(result: Plan, c: Constants, d: int, ridge_rule: str, epsilon: float) -> Plan:
    """The plan charged by Lemma 5's own estimates at full rank: eps for the determinants, two degrees for the noise.

    With half of lambda, ``rank ln(1 + beta/(2 n lambda))`` is below ``rank eps/r = eps``. The tail of chi_2 holds where
    gradient differences stay in a plane, which a Hessian of full rank rules out: this is an upper bound by the paper's
    argument alone. It is above eps whatever the noise, so that it proves nothing and nothing is calibrated by it.

    Raises
    ------
    InputError
        For another ridge, whose bound could look like a proof, or a loss of lower rank, which has a proof.
    """
    if ridge_rule != "printed":
        raise InputError("ridge_rule", ridge_rule, "printed, with proof=lemma5", SOURCE)
    if hessian_rank(c, d)[0] < d or loss_class(c) != "any":
        raise InputError("hessian_rank", c.hessian_rank, f"at least d = {d}, with proof=lemma5", SOURCE)
    (linear,) = result.queries
    assert isinstance(linear, PerturbedObjectiveQuery)
    charged = replace(linear, log_jacobian=epsilon, dimension=min(2, d))
    schedule = {**result.schedule, "log_jacobian": epsilon}
    return replace(result, queries=(charged,), schedule=schedule, warnings=(LEMMA5,))


plan.run(perturbed_minimum)
