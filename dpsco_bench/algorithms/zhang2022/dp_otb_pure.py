"""Online-to-batch conversion with pure differential privacy (Zhang, Tran, Cutkosky 2022, Appendix C.2)."""

from __future__ import annotations

from math import log2

from dpsco_bench.algorithms.registry import algorithm
from dpsco_bench.algorithms.zhang2022.learners.base import learner_parts
from dpsco_bench.algorithms.zhang2022.reduction import NODE, dp_online_to_batch
from dpsco_bench.algorithms.zhang2022.schedule import NEEDS, VARIANTS, check_norm, node_units, nodes_plan, paid_cost
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.privacy.plan import Nodes, Plan
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.privacy.tree import PureTreeQuery
from dpsco_bench.problems.base import Constants, Trait

SOURCE = "Zhang, Tran, Cutkosky 2022, Algorithm 1, Appendix C.2"
LEARNER = "ogd_adagrad"


@algorithm(
    "zhang2022.dp_otb_pure",
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
    run_last_round: bool = False,
) -> Plan:
    """The reduction with noise of density ``~ exp(-||x||_q)``, ``sigma = U Delta_t/eps``: delta plays no part.

    ``printed`` has log2(2n) for U and Delta_t of equation (6). "Correspondingly" in the paper must mean the factor U,
    not its root (erratum E10).

    Parameters
    ----------
    c, n, d, privacy
        Problem constants (G, H in l_p) on an l_p ball, 1 < p <= 2, number of records (at least 2), dimension, target
        privacy.
    variant, learner, k, sensitivity, radius, run_last_round
        As for ``zhang2022.dp_otb``; learners for l2 need p = 2, ``lp_ftrl`` is for all p.
    """
    check_norm(c, SOURCE)
    units = node_units(c, n, k, sensitivity, radius, variant, SOURCE)
    cost = units.path_cost(n - 1, 1.0)
    query = PureTreeQuery(
        NODE,
        1.0,
        n - 1 + run_last_round,
        Nodes(n - 1),
        paper_scale=log2(2 * n) / privacy.epsilon,
        path_cost=cost,
        paid_cost=paid_cost(units, cost),
        order=dual_exponent(c.norm),
        idle=int(run_last_round),
    )
    return nodes_plan(units, query, c, learner=learner, run_last_round=run_last_round)


@plan.run
def dp_otb_pure(objective, plan, mechanism):
    """Algorithm 1 on iterates ``(R, d)``."""
    return dp_online_to_batch(objective, plan, mechanism)
