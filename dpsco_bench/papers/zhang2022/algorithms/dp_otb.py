"""The private online-to-batch conversion as algorithms (Zhang, Tran, Cutkosky 2022): in l2, on l_p balls, and pure."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from math import log2, sqrt
from typing import Any

from dpsco_bench.algorithms.registry import Algorithm, Setting, algorithm
from dpsco_bench.errors import Refusal
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.papers.zhang2022.algorithms.reduction import NODE, NodeUnits, dp_online_to_batch, path_cost
from dpsco_bench.papers.zhang2022.learners import get_learner, learner_parts
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.plan import Plan, Query, make_plan
from dpsco_bench.privacy.records import Nodes
from dpsco_bench.privacy.tree import PureTreeQuery, TreeQuery, levels
from dpsco_bench.problems.base import Trait

NEEDS = (Trait.LIPSCHITZ, (Trait.SMOOTH, Trait.LINEAR_LOSS))
"""No convexity: the theorems ask for it where they bound a risk, and the privacy of the nodes does not."""
VARIANTS = {"printed": ("paper",), "accounted": ("accounted",), "noise_off": ("none",)}


@dataclass(frozen=True)
class Reduction:
    """Options of a reduction, with their defaults; ``zhang2022.dp_otb`` says what they mean."""

    learner: str
    k: float = 1.0
    sensitivity: str | None = None
    radius: str = "adaptive"
    rho: float | None = None
    run_last_round: bool = False
    clip_differences: bool = False


ReductionPlan = Callable[[Setting, Reduction], Plan]


def reduction(
    id: str, source: str, ball: Trait, *, learner: str, least_norm: float = 2.0, without: tuple[str, ...] = ()
) -> Callable[[ReductionPlan], Algorithm]:
    """Register the decorated plan function, of a setting and its options, as a reduction.

    Parameters
    ----------
    learner : str, the default learner
    without : tuple of str, options of `Reduction` that it lacks
    """
    Parameter = inspect.Parameter
    known = inspect.signature(Reduction, eval_str=True).parameters.values()
    options = [option.replace(kind=Parameter.KEYWORD_ONLY) for option in known if option.name not in without]
    options[0] = options[0].replace(default=learner)
    first = Parameter("given", Parameter.POSITIONAL_OR_KEYWORD, annotation=Setting)

    def register(function: ReductionPlan) -> Algorithm:
        def plan(given: Setting, **options: Any) -> Plan:
            return function(given, Reduction(**{"learner": learner, **options}))

        plan.__doc__, plan.__module__ = function.__doc__, function.__module__
        plan.__signature__ = inspect.Signature([first, *options])  # type: ignore[attr-defined]
        entry = algorithm(
            id,
            source=source,
            needs=(*NEEDS, ball),
            variants=VARIANTS,
            order_invariant=False,
            rounds="zhang2022",
            least_norm=least_norm,
            parts=lambda options: learner_parts(options.get("learner", learner)),
        )(plan)
        entry.run(dp_online_to_batch)
        return entry

    return register


MOST_ROUNDS = 1 << 22
"""Most rounds of a plan: what each record costs is added up."""
CONVERSION = "eps > 2 ln(1/delta): the printed conversion does not hold there, the exact formula decides (erratum E1)"


def tree_plan(given: Setting, options: Reduction, **further: Any) -> Plan:
    """Plan of a reduction with normal noise; ``further`` named quantities go into its schedule.

    Raises InputError, Refusal for n < 2, k < 1, rho <= 0, an unknown learner or one that is not for this setting, or
    printed noise in other units than those of equation (6).
    """
    rho, units = printed_rho(given, options.rho), node_units(given, options)
    warnings = (CONVERSION,) * (given.variant == "printed" and rho**2 > given.l * (1 + 1e-12))
    q = dual_exponent(given.constants.norm)
    spread = given.d ** (0.5 - 1.0 / q)
    scale, attained = spread * (sqrt(log2(2 * given.n)) / rho), units.smoothness == 0.0
    query = TreeQuery(**_charged(units, q, options, 2.0), paper_scale=scale, attained=attained, spread=spread)
    return nodes_plan(given, units, query, options, warnings=warnings, rho=rho, **further)


def printed_rho(given: Setting, rho: float | None) -> float:
    """``eps/(2 sqrt l)``, unless given."""
    if rho is None:
        return given.epsilon / (2.0 * sqrt(given.l))
    if not rho > 0:
        raise given.error("rho", rho, "a finite number > 0")
    return rho


def node_units(given: Setting, options: Reduction) -> NodeUnits:
    """Find the units of a plan's nodes, with its sizes and its set checked.

    Refuses p outside (1, 2], as no other ``||.||_p^2`` is strongly convex (erratum E13), and a set that is not the ball
    of the norm of G and H: learners know a ball by its radius alone, so that they would leave another set.
    """
    c, n, k = given.constants, given.n, options.k
    if not 1.0 < c.norm <= 2.0:
        raise given.error("norm", c.norm, "p in (1, 2]")
    if getattr(c.ball, "p", None) != c.norm:
        raise given.error("domain", c.domain, f"the l_p ball of the norm of G and H, p = {c.norm:g}")
    if not 2 <= n <= MOST_ROUNDS:
        raise given.error("n", n, f"an integer from 2 to {MOST_ROUNDS}, one round each")
    if not k >= 1:
        raise given.error("k", k, "a number >= 1")
    chosen = options.sensitivity or ("eq6" if given.variant == "printed" else "tight")
    units = NodeUnits(k, n, c.lipschitz, c.smoothness, c.diameter, chosen, options.radius)
    if given.variant == "printed" and chosen != "eq6":
        reason = "the theorem's noise is that of eq. (6)"
        raise Refusal(f"sensitivity {chosen} with variant printed", reason, given.source)
    return units


def _charged(units: NodeUnits, q: float, options: Reduction, power: float) -> Schedule:
    """Declare for both kinds of nodes who is charged, for what, and what the accounted noise pays for.

    Only nodes 1..n-1 are charged: node n comes too late to influence the output. The accounted noise pays for the
    number of levels; with ``path`` for what the dearest record really costs.
    """
    cost, idle = path_cost(units, units.n - 1, power), int(options.run_last_round)
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


def nodes_plan(given: Setting, units: NodeUnits, query: Query, options: Reduction, **further: Any) -> Plan:
    """Make a plan from its units and its query: one gradient in round 1, two in all others."""
    c, cls = given.constants, get_learner(options.learner)
    cls.check(c.norm, units.k, c.strong_convexity)
    if cls.needs_loss_bound and "loss_bound" not in further:
        reason = "no bound on the losses is known; zhang2022.parameter_free has one"
        raise Refusal(f"learner {options.learner}", reason)
    return make_plan(
        query,
        gradient_evaluations=2 * (units.n - 1 + options.run_last_round) - 1,
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


@reduction(
    "zhang2022.dp_otb",
    "Zhang, Tran, Cutkosky 2022, Algorithm 1, Theorems 3 and 4",
    Trait.L2_BALL,
    learner="ogd_adagrad",
)
def dp_otb(given: Setting, options: Reduction) -> Plan:
    """Weighted gradient differences of one pass, summed under tree noise, drive an online learner; x_n is its average.

    Parameters
    ----------
    given : Setting
        G and H, on a Euclidean ball; n at least 2.
    variant : str
        ``printed``: equation (6) with ``sqrt(log2(2n))/rho``, ``rho = eps/(2 sqrt l)``. ``accounted``: the exact number
        of levels and exact Gaussian-DP. ``noise_off``.
    learner : str
        Any online learner, your own included (`learners.learner`).
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
    return tree_plan(given, options)


@reduction(
    "zhang2022.dp_otb_lp",
    "Zhang, Tran, Cutkosky 2022, Algorithm 1, Theorem 4; the noise for l_p is this project's choice",
    Trait.LP_BALL,
    learner="lp_ftrl",
    least_norm=1.0,
)
def dp_otb_lp(given: Setting, options: Reduction) -> Plan:
    """Online-to-batch with noise ``N(0, d^(1 - 2/q) I)`` on nodes whose sensitivity is in l_q, 1/p + 1/q = 1.

    A vector of l_q norm 1 has an l2 norm of at most ``d^(1/2 - 1/q)``.

    Parameters
    ----------
    given : Setting
        G and H in l_p, on an l_p ball with 1 < p <= 2; n at least 2.
    variant, learner, k, and the other options
        As for ``zhang2022.dp_otb``; a learner for l_p, ``lp_ftrl`` or your own.
    """
    return tree_plan(given, options)


@reduction(
    "zhang2022.dp_otb_pure",
    "Zhang, Tran, Cutkosky 2022, Algorithm 1, Appendix C.2",
    Trait.LP_BALL,
    learner="ogd_adagrad",
    least_norm=1.0,
    without=("rho",),
)
def dp_otb_pure(given: Setting, options: Reduction) -> Plan:
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
    units, q = node_units(given, options), dual_exponent(given.constants.norm)
    query = PureTreeQuery(**_charged(units, q, options, 1.0), paper_scale=log2(2 * given.n) / given.epsilon)
    return nodes_plan(given, units, query, options)
