"""Differentially private online-to-batch conversion in l2 (Zhang, Tran, Cutkosky 2022, Algorithm 1)."""

from __future__ import annotations

from dpsco_bench.algorithms.registry import Setting
from dpsco_bench.papers.zhang2022.algorithms.options import Reduction, reduction
from dpsco_bench.papers.zhang2022.algorithms.schedule import tree_plan
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.base import Trait

SOURCE = "Zhang, Tran, Cutkosky 2022, Algorithm 1, Theorems 3 and 4"


@reduction("zhang2022.dp_otb", SOURCE, Trait.L2_BALL, learner="ogd_adagrad")
def plan(given: Setting, options: Reduction) -> Plan:
    """Weighted gradient differences of one pass, summed under tree noise, drive an online learner; x_n is its average.

    Parameters
    ----------
    given : Setting
        G and H, on a Euclidean ball; n at least 2.
    variant : str
        ``printed``: equation (6) with ``sqrt(log2(2n))/rho``, ``rho = eps/(2 sqrt l)``. ``accounted``: the exact number
        of levels and exact Gaussian-DP. ``noise_off``.
    learner : str
        Any online learner, your own included (`learners.base.learner`).
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
    clip_differences : bool
        Clip every weighted gradient difference to ``s_t/2`` in the dual norm, half of what a record may change: the
        sensitivity then holds for all data, also where G and H are only declared. True constants leave nothing to clip;
        where something is clipped, Theorem 4 does not speak of the run.
    """
    return tree_plan(given, options, SOURCE)
