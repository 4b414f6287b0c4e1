"""The private online-to-batch conversion (Zhang, Tran, Cutkosky 2022): in l2, on l_p balls, and pure.

First the reduction (Algorithm 1), its streaming tree noise and the nodes' sensitivity to one record, then its plans.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property, lru_cache
from math import log2, sqrt
from typing import Any

import numpy as np

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.backend.namespace import array_namespace, cast, cast_like, row_norm
from dpsco_bench.errors import Refusal
from dpsco_bench.geometry.norms import dual_exponent, lp_norm
from dpsco_bench.papers.zhang2022.learners import TINY, Learner, LearnerSetting, get_learner, project_ball
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.plan import Plan, Query, make_plan
from dpsco_bench.privacy.records import Nodes
from dpsco_bench.privacy.tree import PureTreeQuery, TreeQuery, block_maxima, largest_path_sum, levels, lowest_bit
from dpsco_bench.problems.base import Trait

Array = Any
NODE = "node"
"""Name of the query that releases the nodes."""
Regulariser = Callable[[int, Array, Array], Array]
NEEDS = (Trait.LIPSCHITZ, (Trait.SMOOTH, Trait.LINEAR_LOSS))
"""No convexity: the theorems ask for it where they bound a risk, and the privacy of the nodes does not."""
VARIANTS = {"printed": ("paper",), "accounted": ("accounted",), "noise_off": ("none",)}
REDUCED: dict[str, Any] = dict(variants=VARIANTS, order_invariant=False, rounds="zhang2022")
REDUCED["parts"] = lambda options: (get_learner(options.get("learner", "ogd_adagrad")).__module__,)
ON_LP_BALLS: dict[str, Any] = dict(needs=(*NEEDS, Trait.LP_BALL), least_norm=1.0, **REDUCED)
MOST_ROUNDS = 1 << 22
"""Most rounds of a plan: what each record costs is added up."""
CONVERSION = "eps > 2 ln(1/delta): the printed conversion does not hold there, the exact formula decides (erratum E1)"


def weights(k: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """``beta_t = t^k`` and ``beta_{1:t}`` for t = 0..n, both of shape ``(n + 1,)``; the first entries are 0."""
    beta = np.arange(n + 1, dtype=np.float64) ** k
    return beta, np.cumsum(beta)


@dataclass(frozen=True)
class NodeUnits:
    """Delta_t of rounds 1..n, from ``r_t = N(w_t - x_{t-1})``.

    Attributes
    ----------
    k : float, exponent of the weights, >= 1
    sensitivity : str
        ``eq6``: ``2(k+1) t^(k-1) (G + H max_{i<=t} r_i)``. ``tight`` and ``path``: the largest ``s_q`` of the node's
        records, ``s_1 = 2G``, ``s_q = 2[(q^k - (q-1)^k) G + (q^(2k)/beta_{1:q}) H r_q]``.
    """

    k: float
    n: int
    lipschitz: float
    smoothness: float
    diameter: float
    sensitivity: str
    radius: str

    @property
    def fixed(self) -> bool:
        """Check that the units do not depend on the run."""
        return self.smoothness == 0.0 or self.radius == "D"

    @cached_property
    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """``a`` and ``b`` of rounds 1..n with ``s_q = a_q + b_q r_q``, each ``(n,)``."""
        beta, total = weights(self.k, self.n)
        slopes = 2.0 * self.smoothness * beta[1:] ** 2 / total[1:]
        slopes[0] = 0.0
        return 2.0 * self.lipschitz * np.diff(beta), slopes

    @cached_property
    def printed(self) -> np.ndarray:
        """``2(k+1) t^(k-1)`` of rounds 1..n, ``(n,)``."""
        return 2.0 * (self.k + 1.0) * np.arange(1, self.n + 1, dtype=np.float64) ** (self.k - 1.0)

    @cached_property
    def fixed_units(self) -> np.ndarray:
        """Delta_t with D for every r_i, ``(n,)``."""
        if self.sensitivity == "eq6":
            return self.printed * (self.lipschitz + self.smoothness * self.diameter)
        a, b = self.parts
        return block_maxima(a + b * self.diameter)

    def shares(self, record: np.ndarray, node: np.ndarray) -> np.ndarray:
        """Least upper bound of ``s_q/Delta_t`` for records q in the blocks of nodes t, whatever the run does.

        In eq. (6) the ratio is a quotient of linear functions of ``r_q``, the other radii being least where they equal
        it, so that it is largest at an end of ``[0, D]``. In the tight units it grows with ``r_q`` while the other
        records' radii are 0.
        """
        a, b = self.parts
        largest = a[record - 1] + b[record - 1] * self.diameter
        if self.fixed:
            return largest / self.fixed_units[node - 1]
        if self.sensitivity == "eq6":
            still = a[record - 1] / (self.printed[node - 1] * self.lipschitz)
            return np.maximum(still, largest / self.fixed_units[node - 1])
        return largest / np.maximum(largest, block_maxima(a)[node - 1])

    def stream(self, order: float) -> Callable[[int, Array], Any]:
        """Map (t, ``w_t - x_{t-1} (R, d)``), round after round, to the unit Delta_t, a number or ``(R, 1)``.

        Radii are in the norm of the order p. Equation (6) takes the largest so far. A tight unit is the largest ``s_q``
        of its block: that of its own record and of its children, of which one is kept for each level.
        """
        if self.fixed:
            units = self.fixed_units.tolist()
            return lambda t, step: units[t - 1]
        (a, b), printed = (part.tolist() for part in self.parts), self.printed.tolist()
        kept: dict[int, Array] = {}

        def unit(t: int, step: Array) -> Array:
            xp, r = array_namespace(step), _length(step, order)
            if self.sensitivity == "eq6":
                kept[0] = xp.maximum(r, kept.get(0, 0.0 * r))
                return printed[t - 1] * (self.lipschitz + self.smoothness * kept[0])
            found, low, own = a[t - 1] + b[t - 1] * r, 1, lowest_bit(t)
            while low < own:
                found = xp.maximum(found, kept[low])
                low *= 2
            kept[own] = found
            return found

        return unit

    def share(self, t: int, step: Array, order: float) -> Any:
        """``s_t`` of a run: what the record of round t itself may change; a number or ``(R, 1)``."""
        (a, b), q = self.parts, t - 1
        return float(a[q]) + float(b[q]) * (self.diameter if self.fixed else _length(step, order))


@lru_cache(maxsize=1024)
def path_cost(units: NodeUnits, nodes: int, power: float) -> float:
    """Largest ``sum_{t in IN(q)} (s_q/Delta_t)^power`` over the records of nodes 1..``nodes``; kept for sweeps."""
    return largest_path_sum(lambda record, node: units.shares(record, node) ** power, nodes)


def _length(step: Array, order: float) -> Array:
    """l_p norms of rows, ``(R, 1)``."""
    return row_norm(step) if order == 2.0 else lp_norm(step, order)


class TreeSum:
    """Noised prefix sums ``g_t + gamma_t``: every node is released once, in units of Delta_t, and kept in one slot.

    ``I_t`` is ``I_{t - low(t)}`` and t, and node t is its own record and the nodes t - 1, t - 2, t - 4, .. of its
    block, the last ones of their levels. So a slot per level is enough: O(d) a round and O(d log n) memory.
    """

    def __init__(self, mechanism: Any) -> None:
        self._release = mechanism.release
        self._slots: dict[int, tuple[Array, Array]] = {}

    def add(self, t: int, value: Array, unit: Any) -> Array:
        """Release the noised sum of records 1..t, ``(R, d)``: record t adds ``value``; Delta_t may be ``(R, 1)``."""
        low, child = lowest_bit(t), 1
        while child < low:
            value = value + self._slots[child][0]
            child *= 2
        noised = unit * self._release(NODE, value / unit, t - 1)
        if t != low:
            noised = noised + self._slots[lowest_bit(t - low)][1]
        self._slots[low] = value, noised
        return noised


def online_to_batch(
    objective: Any, plan: Any, mechanism: Any, learner: Learner, regularisers: Sequence[Regulariser] = ()
) -> Array:
    """Algorithm 1 on iterates ``(R, d)``; returns ``x_n``.

    Each of the ``regularisers``, (t, w_t, x_t) -> ``(R, d)``, is a subgradient that is added to the learner's loss.
    """
    beta, weight = (values.tolist() for values in weights(plan.k, plan.n))
    units, tree, total, x = node_units(plan.schedule), TreeSum(mechanism), 0.0, None
    unit_of = units.stream(plan.p)
    for t in range(1, plan.n + 1):
        w = learner.predict()
        x = w if x is None else x
        step = w - x
        unit = unit_of(t, step)  # known before the round's noise
        previous, x = x, x + step * (beta[t] / weight[t])
        if t == plan.n and not plan.run_last_round:
            break
        difference = gradient_difference(objective, t, x, previous, beta)
        if plan.clip_differences:
            difference = clipped(difference, 0.5 * units.share(t, step, plan.p), dual_exponent(plan.p))
        total, released = total + difference, tree.add(t, difference, unit)
        loss = released
        for regulariser in regularisers:
            loss = loss + regulariser(t, w, x)
        learner.update(loss)
        objective.observe_round(
            t=t, w=w, x=x, gradient_sum=total, released=released, loss=loss, weight=beta[t], learner=learner,
            regularisers=regularisers,
        )  # fmt: skip
        learner.hint(loss)
    return cast_like(x, objective.start)


def loss_regularisers(objective: Any, plan: Any, learner: Learner) -> list[Regulariser]:
    """Collect the terms that problem and learner add to each round's loss: the ridge at x_t, and Lemma 7's."""
    beta = weights(plan.k, plan.n)[0].tolist()
    found: list[Regulariser] = []
    if objective.constants.regularisation > 0:
        found.append(lambda t, w, x: beta[t] * objective.regulariser_gradient(x))
    if learner.regulariser == "strongly_convex":
        half = 0.5 * plan.strong_convexity
        found.append(lambda t, w, x: (half * beta[t]) * (w - x))
    return found


def dp_online_to_batch(objective: Any, plan: Any, mechanism: Any) -> Array:
    """Algorithm 1 with the learner of the plan."""
    learner = get_learner(plan.learner)(learner_setting(objective, plan))
    return online_to_batch(objective, plan, mechanism, learner, loss_regularisers(objective, plan, learner))


def gradient_difference(objective: Any, t: int, x: Array, previous: Array, beta: list[float]) -> Array:
    """``beta_t grad l(x_t, z_t) - beta_{t-1} grad l(x_{t-1}, z_t)`` in float64: both at the same record."""
    if t == 1:
        return beta[1] * cast_like(objective.range_gradient(cast(x, objective.dtype), 0, 1), x)
    now, before = objective.range_gradient_pair(cast(x, objective.dtype), cast(previous, objective.dtype), t - 1, 1)
    return beta[t] * cast_like(now, x) - beta[t - 1] * cast_like(before, x)


def clipped(difference: Array, level: Any, q: float) -> Array:
    """Rows of ``(R, d)`` scaled down to an l_q norm of at most ``level``, a number or ``(R, 1)``; others unchanged."""
    xp, length = array_namespace(difference), lp_norm(difference, q)
    return difference * xp.minimum(xp.ones_like(length), level / xp.maximum(length, xp.full_like(length, TINY)))


def node_units(schedule: Schedule) -> NodeUnits:
    """Find the units in which a plan's nodes are released, by its schedule."""
    return NodeUnits(**{field.name: schedule[field.name] for field in fields(NodeUnits)})


def learner_setting(objective: Any, plan: Any, **further: Any) -> LearnerSetting:
    """Make the learner's setting from the plan; iterates are float64 whatever the data are."""
    r = objective.domain.radius
    return LearnerSetting(
        start=cast(objective.start, objective.xp.float64),
        project=(lambda x: project_ball(x, r)) if plan.p == 2.0 else objective.domain.project,
        radius=r,
        norm=plan.p,
        k=plan.k,
        rounds=plan.n,
        lipschitz=plan.lipschitz,
        strong_convexity=plan.strong_convexity,
        **further,
    )


@dataclass(frozen=True)
class Reduction:
    """Options of a reduction; ``zhang2022.dp_otb`` says what they mean."""

    learner: str
    k: float
    sensitivity: str | None
    radius: str
    rho: float | None
    run_last_round: bool
    clip_differences: bool


def tree_plan(given: Setting, options: Reduction, **further: Any) -> Plan:
    """Plan of a reduction with normal noise; ``further`` named quantities go into its schedule.

    Raises InputError, Refusal for n < 2, k < 1, rho <= 0, an unknown learner or one that is not for this setting, or
    printed noise in other units than those of equation (6).
    """
    rho, units = printed_rho(given, options.rho), planned_units(given, options)
    warnings = (CONVERSION,) * (given.variant == "printed" and rho**2 > given.l * (1 + 1e-12))
    q = dual_exponent(given.constants.norm)
    spread = given.d ** (0.5 - 1.0 / q)
    scale, attained = spread * (sqrt(log2(2 * given.n)) / rho), units.smoothness == 0.0
    query = TreeQuery(**_charged(units, q, options, 2.0), paper_scale=scale, attained=attained, spread=spread)
    return nodes_plan(given, units, query, options, warnings=warnings, rho=rho, **further)


def printed_rho(given: Setting, rho: float | None) -> float:
    """``eps/(2 sqrt l)``, unless given."""
    return given.positive("rho", rho) or given.epsilon / (2.0 * sqrt(given.l))


def planned_units(given: Setting, options: Reduction) -> NodeUnits:
    """Find the units of a plan's nodes, with its sizes and its set checked.

    Refuses p outside (1, 2], as no other ``||.||_p^2`` is strongly convex (erratum E13), and a set that is not the ball
    of the norm of G and H: learners know a ball by its radius alone, so that they would leave another set.
    """
    c, n, k = given.constants, given.n, options.k
    given.require("norm", c.norm, 1.0 < c.norm <= 2.0, "p in (1, 2]")
    own = getattr(c.ball, "p", None) == c.norm
    given.require("domain", c.domain, own, f"the l_p ball of the norm of G and H, p = {c.norm:g}")
    given.require("n", n, 2 <= n <= MOST_ROUNDS, f"an integer from 2 to {MOST_ROUNDS}, one round each")
    given.require("k", k, k >= 1, "a number >= 1")
    chosen = options.sensitivity or ("eq6" if given.variant == "printed" else "tight")
    given.choice("sensitivity", chosen, ("eq6", "tight", "path"))
    radius = given.choice("radius", options.radius, ("adaptive", "D"))
    units = NodeUnits(k, n, c.lipschitz, c.smoothness, c.diameter, chosen, radius)
    if chosen == "path" and not units.fixed:
        reason = "it needs H = 0 or radius = D, so that the noise is known before"
        raise Refusal("sensitivity path", reason, given.source)
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
        **asdict(units),
        learner=options.learner,
        levels=levels(units.n - 1),
        strong_convexity=c.strong_convexity,
        p=c.norm,
        run_last_round=options.run_last_round,
        clip_differences=options.clip_differences,
        **further,
    )


@algorithm(
    "zhang2022.dp_otb",
    source="Zhang, Tran, Cutkosky 2022, Algorithm 1, Theorems 3 and 4",
    needs=(*NEEDS, Trait.L2_BALL),
    **REDUCED,
)
def dp_otb(
    given: Setting,
    *,
    learner: str = "ogd_adagrad",
    k: float = 1.0,
    sensitivity: str | None = None,
    radius: str = "adaptive",
    rho: float | None = None,
    run_last_round: bool = False,
    clip_differences: bool = False,
) -> Plan:
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
    return tree_plan(given, Reduction(learner, k, sensitivity, radius, rho, run_last_round, clip_differences))


dp_otb.run(dp_online_to_batch)


@algorithm(
    "zhang2022.dp_otb_lp",
    source="Zhang, Tran, Cutkosky 2022, Algorithm 1, Theorem 4; the noise for l_p is this project's choice",
    **ON_LP_BALLS,
)
def dp_otb_lp(
    given: Setting,
    *,
    learner: str = "lp_ftrl",
    k: float = 1.0,
    sensitivity: str | None = None,
    radius: str = "adaptive",
    rho: float | None = None,
    run_last_round: bool = False,
    clip_differences: bool = False,
) -> Plan:
    """Online-to-batch with noise ``N(0, d^(1 - 2/q) I)`` on nodes whose sensitivity is in l_q, 1/p + 1/q = 1.

    A vector of l_q norm 1 has an l2 norm of at most ``d^(1/2 - 1/q)``.

    Parameters
    ----------
    given : Setting
        G and H in l_p, on an l_p ball with 1 < p <= 2; n at least 2.
    variant, learner, k, and the other options
        As for ``zhang2022.dp_otb``; a learner for l_p, ``lp_ftrl`` or your own.
    """
    return tree_plan(given, Reduction(learner, k, sensitivity, radius, rho, run_last_round, clip_differences))


dp_otb_lp.run(dp_online_to_batch)


@algorithm("zhang2022.dp_otb_pure", source="Zhang, Tran, Cutkosky 2022, Algorithm 1, Appendix C.2", **ON_LP_BALLS)
def dp_otb_pure(
    given: Setting,
    *,
    learner: str = "ogd_adagrad",
    k: float = 1.0,
    sensitivity: str | None = None,
    radius: str = "adaptive",
    run_last_round: bool = False,
    clip_differences: bool = False,
) -> Plan:
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
    options = Reduction(learner, k, sensitivity, radius, None, run_last_round, clip_differences)
    units, q = planned_units(given, options), dual_exponent(given.constants.norm)
    query = PureTreeQuery(**_charged(units, q, options, 1.0), paper_scale=log2(2 * given.n) / given.epsilon)
    return nodes_plan(given, units, query, options)


dp_otb_pure.run(dp_online_to_batch)
