"""Differentially private online-to-batch conversion on l_p balls, 1 < p <= 2 (Zhang, Tran, Cutkosky 2022)."""

from __future__ import annotations

from dpsco_bench.algorithms.registry import algorithm
from dpsco_bench.algorithms.zhang2022.learners.base import learner_parts
from dpsco_bench.algorithms.zhang2022.reduction import dp_online_to_batch
from dpsco_bench.algorithms.zhang2022.schedule import NEEDS, VARIANTS, check_norm, tree_plan
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants, Trait

SOURCE = "Zhang, Tran, Cutkosky 2022, Algorithm 1, Theorem 4; the noise for l_p is this project's choice"
LEARNER = "lp_ftrl"


@algorithm(
    "zhang2022.dp_otb_lp",
    source=SOURCE,
    needs=(*NEEDS, Trait.LP_BALL),
    variants=VARIANTS,
    order_invariant=False,
    rounds="zhang2022",
    least_norm=1.0,
    parts=lambda options: learner_parts(options.get("learner", LEARNER)),
)
def plan(
    c: Constants,
    n: int,
    d: int,
    privacy: PrivacySpec,
    *,
    variant: str,
    learner: str = LEARNER,
    k: float = 1.0,
    sensitivity: str | None = None,
    radius: str = "adaptive",
    rho: float | None = None,
    run_last_round: bool = False,
) -> Plan:
    """The reduction with noise ``N(0, d^(1 - 2/q) I)`` on nodes whose sensitivity is in l_q, 1/p + 1/q = 1.

    A vector of l_q norm 1 has an l2 norm of at most ``d^(1/2 - 1/q)``.

    Parameters
    ----------
    c, n, d, privacy
        Problem constants (G, H in l_p) on an l_p ball, 1 < p <= 2, number of records (at least 2), dimension, target
        privacy.
    variant, learner, k, sensitivity, radius, rho, run_last_round
        As for ``zhang2022.dp_otb``.
    """
    check_norm(c, SOURCE)
    return tree_plan(
        c, n, d, privacy, SOURCE,
        variant=variant, learner=learner, k=k, sensitivity=sensitivity, radius=radius, rho=rho,
        run_last_round=run_last_round,
    )  # fmt: skip


@plan.run
def dp_otb_lp(objective, plan, mechanism):
    """Algorithm 1 on iterates ``(R, d)``."""
    return dp_online_to_batch(objective, plan, mechanism)
