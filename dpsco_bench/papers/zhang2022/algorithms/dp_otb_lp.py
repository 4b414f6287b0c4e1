"""Differentially private online-to-batch conversion on l_p balls, 1 < p <= 2 (Zhang, Tran, Cutkosky 2022)."""

from __future__ import annotations

from dpsco_bench.algorithms.registry import Setting
from dpsco_bench.papers.zhang2022.algorithms.options import Reduction, reduction
from dpsco_bench.papers.zhang2022.algorithms.schedule import check_norm, tree_plan
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.base import Trait

SOURCE = "Zhang, Tran, Cutkosky 2022, Algorithm 1, Theorem 4; the noise for l_p is this project's choice"


@reduction("zhang2022.dp_otb_lp", SOURCE, Trait.LP_BALL, learner="lp_ftrl", least_norm=1.0)
def plan(given: Setting, options: Reduction) -> Plan:
    """Online-to-batch with noise ``N(0, d^(1 - 2/q) I)`` on nodes whose sensitivity is in l_q, 1/p + 1/q = 1.

    A vector of l_q norm 1 has an l2 norm of at most ``d^(1/2 - 1/q)``.

    Parameters
    ----------
    given : Setting
        G and H in l_p, on an l_p ball with 1 < p <= 2; n at least 2.
    variant, learner, k, and the other options
        As for ``zhang2022.dp_otb``; a learner for l_p, ``lp_ftrl`` or your own.
    """
    check_norm(given.constants, SOURCE)
    return tree_plan(given, options, SOURCE)
