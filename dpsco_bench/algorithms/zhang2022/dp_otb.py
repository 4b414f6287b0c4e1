"""Differentially private online-to-batch conversion in l2 (Zhang, Tran, Cutkosky 2022, Algorithm 1)."""

from __future__ import annotations

from dpsco_bench.algorithms.registry import algorithm
from dpsco_bench.algorithms.zhang2022.learners.base import learner_parts
from dpsco_bench.algorithms.zhang2022.reduction import dp_online_to_batch
from dpsco_bench.algorithms.zhang2022.schedule import NEEDS, VARIANTS, tree_plan
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants, Trait

SOURCE = "Zhang, Tran, Cutkosky 2022, Algorithm 1, Theorems 3 and 4"
LEARNER = "ogd_adagrad"


@algorithm(
    "zhang2022.dp_otb",
    source=SOURCE,
    needs=(*NEEDS, Trait.L2_BALL),
    variants=VARIANTS,
    order_invariant=False,
    rounds="zhang2022",
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
    """Weighted gradient differences of one pass, summed under tree noise, drive an online learner; x_n is its average.

    Parameters
    ----------
    c, n, d, privacy
        Problem constants (G, H) on a Euclidean ball, number of records (at least 2), dimension, target privacy.
    variant : str
        ``printed``: equation (6) with ``sqrt(log2(2n))/rho``, ``rho = eps/(2 sqrt l)``. ``accounted``: the exact number
        of levels and exact Gaussian-DP. ``noise_off``.
    learner : str
        Any online learner (`learners.base.list_learners`).
    k : float
        Weights ``t^k``, at least 1.
    sensitivity : optional
        ``eq6``, ``tight`` or ``path``; by default ``eq6`` where printed, else ``tight``.
    radius : str
        ``adaptive``, or ``D``: noise that does not depend on the run.
    rho : optional
        Replaces ``eps/(2 sqrt l)`` in the printed noise.
    run_last_round : bool
        Run round n to its end, which cannot change ``x_n``: the theorems count n rounds of regret.
    """
    return tree_plan(
        c, n, d, privacy, SOURCE,
        variant=variant, learner=learner, k=k, sensitivity=sensitivity, radius=radius, rho=rho,
        run_last_round=run_last_round,
    )  # fmt: skip


@plan.run
def dp_otb(objective, plan, mechanism):
    """Algorithm 1 on iterates ``(R, d)``."""
    return dp_online_to_batch(objective, plan, mechanism)
