"""Objective perturbation over a convex set (Talwar, Thakurta, Zhang 2014), a "[28]" of Wang, Ye, Xu's Table 3."""

from __future__ import annotations

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.papers.wang2017.algorithms import objective_perturbation_kst12 as kst12
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.base import Trait

SOURCE = "Talwar, Thakurta, Zhang 2014, as row [28] of Wang, Ye, Xu 2017, Table 3 (constants from memory, unverified)"


@algorithm(
    "wang2017.objective_perturbation_ttz14",
    source=SOURCE,
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.GENERALISED_LINEAR, Trait.L2_BALL),
)
def plan(given: Setting) -> Plan:
    """Minimiser over the domain C of the objective of Kifer, Smith and Thakurta, with the same noise."""
    return kst12.plan.plan_function(given)


plan.run(kst12.objective_perturbation)
