"""Objective perturbation with an exact minimiser (Su, Zhao, Wang 2023, Algorithm 5)."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm, choice_option
from dpsco_bench.errors import InputError
from dpsco_bench.papers.su2023.algorithms.perturbation import (
    NEEDS,
    euclidean_set,
    hessian_rank,
    perturbation_plan,
    perturbed_minimum,
)
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.privacy.queries import PerturbedObjectiveQuery

SOURCE = "Su, Zhao, Wang 2023, Algorithm 5, Lemma 5"
EXACT = 1e-18
"""Certificate at which a numerical minimiser stands for the exact one."""
RIDGES = {"corrected": 1.0, "printed": 0.5}
PROOFS = ("own", "lemma5")
LEMMA5 = "charged as Lemma 5 argues, with the tail of a fixed plane: not proved for this loss (erratum E1)"


@algorithm("su2023.objp", source=SOURCE, needs=NEEDS)
def plan(given: Setting, *, ridge_rule: str = "corrected", proof: str = "own") -> Plan:
    """Exact minimiser of F + <G, x>/n + lam ||x||^2 over C, without output noise.

    lam = max{L/(sqrt n diam2), r beta/(eps n)}. ``paper``: s1^2 = 32 L^2 l/eps^2. Without a closed form the minimiser
    is solved to a certificate of 1e-18, and that it is exact is a numerical statement.

    Parameters
    ----------
    given : Setting
        Euclidean constants, on a bounded symmetric set.
    ridge_rule : str
        ``corrected``: r beta/(eps n), as Lemma 5 asks. ``printed``: half of it, as the listing prints (erratum E2).
    proof : str
        What charges the release: ``own``, this package's bound for the class of the loss, or ``lemma5``, the
        paper's estimates at full rank, with ``ridge_rule=printed`` (see `_as_lemma5_argues`).
    """
    c, n, d = given.constants, given.n, given.d
    C, L, eps = euclidean_set(c, SOURCE), c.lipschitz, given.epsilon
    choice_option("ridge_rule", ridge_rule, RIDGES, SOURCE)
    choice_option("proof", proof, PROOFS, SOURCE)
    _, r = hessian_rank(c, d)
    lam = max(L / (sqrt(n) * C.euclidean_diameter(d)), RIDGES[ridge_rule] * r * c.smoothness / (eps * n))
    result = perturbation_plan(
        given,
        ridge=lam,
        convexity=2 * lam + max(c.strong_convexity, c.regularisation),
        accuracy=EXACT,
        linear_scale=sqrt(32 * given.l) * L / eps,
        output_scale=None,
    )
    return result if proof == "own" else _as_lemma5_argues(result, given, ridge_rule)


def _as_lemma5_argues(result: Plan, given: Setting, ridge_rule: str) -> Plan:
    """Charge the plan by Lemma 5's own estimates at full rank: eps for the determinants, two degrees for the noise.

    With half of lambda, ``rank ln(1 + beta/(2 n lambda))`` is below ``rank eps/r = eps``. The tail of chi_2 holds where
    gradient differences stay in a plane, which a Hessian of full rank rules out: this is an upper bound by the paper's
    argument alone. It is above eps whatever the noise, so that it proves nothing and nothing is calibrated by it.
    Raises InputError for another ridge, whose bound could look like a proof, or a loss of lower rank, which has a
    proof.
    """
    c, d, eps = given.constants, given.d, given.epsilon
    if ridge_rule != "printed":
        raise InputError("ridge_rule", ridge_rule, "printed, with proof=lemma5", SOURCE)
    if hessian_rank(c, d)[0] < d or c.loss_class != "any":
        raise InputError("hessian_rank", c.hessian_rank, f"at least d = {d}, with proof=lemma5", SOURCE)
    (linear,) = result.queries
    assert isinstance(linear, PerturbedObjectiveQuery)
    charged = replace(linear, log_jacobian=eps, dimension=min(2, d))
    schedule = {**result.schedule, "log_jacobian": eps}
    return replace(result, queries=(charged,), schedule=schedule, warnings=(LEMMA5,))


plan.run(perturbed_minimum)
