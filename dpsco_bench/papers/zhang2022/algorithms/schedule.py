"""Schedules of this paper's reductions: checks, the units of the nodes, the tree's query."""

from __future__ import annotations

from math import log2, sqrt
from typing import Any

from dpsco_bench.algorithms.registry import Setting
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.papers.zhang2022.algorithms.options import Reduction
from dpsco_bench.papers.zhang2022.algorithms.reduction import NODE
from dpsco_bench.papers.zhang2022.algorithms.sensitivity import NodeUnits
from dpsco_bench.papers.zhang2022.learners.base import get_learner
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.plan import Plan, Query, make_plan
from dpsco_bench.privacy.records import Nodes
from dpsco_bench.privacy.tree import PureTreeQuery, TreeQuery, levels
from dpsco_bench.problems.base import Constants

MOST_ROUNDS = 1 << 22
"""Most rounds of a plan: what each record costs is added up."""
CONVERSION = "eps > 2 ln(1/delta): the printed conversion does not hold there, the exact formula decides (erratum E1)"


def tree_plan(given: Setting, options: Reduction, source: str, **further: Any) -> Plan:
    """Plan of a reduction with normal noise; ``further`` named quantities go into its schedule.

    Raises InputError, Refusal for n < 2, k < 1, rho <= 0, an unknown learner or one that is not for this setting, or
    printed noise in other units than those of equation (6).
    """
    c, rho = given.constants, printed_rho(given, options.rho, source)
    warnings = (CONVERSION,) * (given.variant == "printed" and rho**2 > given.l * (1 + 1e-12))
    units = node_units(given, options, source)
    query = normal_nodes(units, c.norm, given.d, options, sqrt(log2(2 * given.n)) / rho)
    return nodes_plan(units, query, c, options, warnings=warnings, rho=rho, **further)


def printed_rho(given: Setting, rho: float | None, source: str) -> float:
    """``eps/(2 sqrt l)``, unless given."""
    if rho is None:
        return given.epsilon / (2.0 * sqrt(given.l))
    if not rho > 0:
        raise InputError("rho", rho, "a finite number > 0", source)
    return rho


def node_units(given: Setting, options: Reduction, source: str) -> NodeUnits:
    """Find the units of a plan's nodes, with its sizes checked."""
    c, n, k = given.constants, given.n, options.k
    check_ball(c, source)
    chosen = options.sensitivity or ("eq6" if given.variant == "printed" else "tight")
    if not 2 <= n <= MOST_ROUNDS:
        raise InputError("n", n, f"an integer from 2 to {MOST_ROUNDS}, one round each", source)
    if not k >= 1:
        raise InputError("k", k, "a number >= 1", source)
    units = NodeUnits(k, n, c.lipschitz, c.smoothness, c.diameter, chosen, options.radius)
    if given.variant == "printed" and chosen != "eq6":
        raise Refusal(f"sensitivity {chosen} with variant printed", "the theorem's noise is that of eq. (6)", source)
    return units


def normal_nodes(units: NodeUnits, p: float, d: int, options: Reduction, unit_scale: float) -> TreeQuery:
    """Declare the query of nodes with normal noise; ``unit_scale`` is the printed noise for spread 1."""
    q = dual_exponent(p)
    spread = d ** (0.5 - 1.0 / q)
    return TreeQuery(
        **_charged(units, q, options, 2.0),
        paper_scale=spread * unit_scale,
        attained=units.smoothness == 0.0,
        spread=spread,
    )


def pure_nodes(units: NodeUnits, p: float, options: Reduction, unit_scale: float) -> PureTreeQuery:
    """Declare the query of nodes with noise of density ``~ exp(-||x||_q)``; ``unit_scale`` is the printed noise."""
    return PureTreeQuery(**_charged(units, dual_exponent(p), options, 1.0), paper_scale=unit_scale)


def _charged(units: NodeUnits, q: float, options: Reduction, power: float) -> Schedule:
    """Declare for both kinds of nodes who is charged, for what, and what the accounted noise pays for.

    Only nodes 1..n-1 are charged: node n comes too late to influence the output. The accounted noise pays for the
    number of levels; with ``path`` for what the dearest record really costs.
    """
    cost, idle = units.path_cost(units.n - 1, power), int(options.run_last_round)
    return dict(
        name=NODE,
        sensitivity=1.0,
        releases=units.n - 1 + idle,
        records=Nodes(units.n - 1),
        path_cost=cost,
        paid_cost=cost if units.sensitivity == "path" else max(cost, levels(units.n - 1)),
        order=q,
        idle=idle,
        enforced=options.clip_differences,
    )


def check_norm(c: Constants, source: str) -> None:
    """Refuse p outside (1, 2]: no other ``||.||_p^2`` is strongly convex (erratum E13)."""
    if not 1.0 < c.norm <= 2.0:
        raise InputError("norm", c.norm, "p in (1, 2]", source)


def check_ball(c: Constants, source: str) -> None:
    """Refuse a set that is not the ball of the norm of G and H, such as an l1 ball with Euclidean constants.

    The learners' leaders and projections know a ball by its radius alone, so that they would leave another set.
    """
    if getattr(c.ball, "p", None) != c.norm:
        raise InputError("domain", c.domain, f"the l_p ball of the norm of G and H, p = {c.norm:g}", source)


def nodes_plan(
    units: NodeUnits, query: Query, c: Constants, options: Reduction, warnings: tuple[str, ...] = (), **further: Any
) -> Plan:
    """Make a plan from its units and its query: one gradient in round 1, two in all others."""
    cls = get_learner(options.learner)
    cls.check(c.norm, units.k, c.strong_convexity)
    if cls.needs_loss_bound and "loss_bound" not in further:
        reason = "no bound on the losses is known; zhang2022.parameter_free has one"
        raise Refusal(f"learner {options.learner}", reason)
    return make_plan(
        query,
        gradient_evaluations=2 * (units.n - 1 + options.run_last_round) - 1,
        warnings=warnings,
        n=units.n,
        k=units.k,
        learner=options.learner,
        sensitivity=units.sensitivity,
        radius=units.radius,
        levels=levels(units.n - 1),
        lipschitz=units.lipschitz,
        smoothness=units.smoothness,
        diameter=units.diameter,
        strong_convexity=c.strong_convexity,
        p=c.norm,
        run_last_round=options.run_last_round,
        clip_differences=options.clip_differences,
        **further,
    )
