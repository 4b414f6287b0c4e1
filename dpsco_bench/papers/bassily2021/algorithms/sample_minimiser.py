"""The sample's minimiser of linear losses in closed form: what is lost without privacy, at every epsilon the same."""

from __future__ import annotations

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.privacy.plan import Plan, make_plan
from dpsco_bench.problems.base import Trait


@algorithm(
    "bassily2021.sample_minimiser",
    source="closed form; a reference of this project",
    needs=(Trait.LINEAR_LOSS, Trait.LP_BALL),
    variants={"standard": ("none",)},
    least_norm=1.0,
)
def plan(given: Setting) -> Plan:
    """Minimise <g, x> over the l_p ball, 1 <= p <= inf, for the exact mean gradient g: not private."""
    n = given.n
    return make_plan(gradient_evaluations=n, unprotected="it is not private: it is an exact function of the data", n=n)


@plan.run
def sample_minimiser(objective, plan, mechanism):
    """Look once at all records, ``(R, d)``; the gradient of a linear loss is the same everywhere."""
    x = objective.domain.minimise_linear(objective.mean_gradient(objective.start))
    objective.observe(x)
    return x
