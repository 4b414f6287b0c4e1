"""Online-to-batch conversion with pure differential privacy (Zhang, Tran, Cutkosky 2022, Appendix C.2)."""

from __future__ import annotations

from math import log2

from dpsco_bench.algorithms.registry import Setting
from dpsco_bench.papers.zhang2022.algorithms.options import Reduction, reduction
from dpsco_bench.papers.zhang2022.algorithms.schedule import check_norm, node_units, nodes_plan, pure_nodes
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.base import Trait

SOURCE = "Zhang, Tran, Cutkosky 2022, Algorithm 1, Appendix C.2"


@reduction("zhang2022.dp_otb_pure", SOURCE, Trait.LP_BALL, learner="ogd_adagrad", least_norm=1.0, without=("rho",))
def plan(given: Setting, options: Reduction) -> Plan:
    """Online-to-batch with noise of density ``~ exp(-||x||_q)``, ``sigma = U Delta_t/eps``: delta plays no part.

    ``printed`` has log2(2n) for U and Delta_t of equation (6). "Correspondingly" in the paper must mean the factor U,
    not its root (erratum E10).

    Parameters
    ----------
    given : Setting
        G and H in l_p, on an l_p ball with 1 < p <= 2; n at least 2.
    variant, learner, k, and the other options
        As for ``zhang2022.dp_otb``, without rho; learners for l2 need p = 2, ``lp_ftrl`` is for all p.
    """
    c = given.constants
    check_norm(c, SOURCE)
    units = node_units(given, options, SOURCE)
    query = pure_nodes(units, c.norm, options, log2(2 * given.n) / given.epsilon)
    return nodes_plan(units, query, c, options)
