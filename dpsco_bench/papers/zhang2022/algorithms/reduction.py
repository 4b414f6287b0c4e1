"""The online-to-batch reduction (Algorithm 1), its streaming tree noise, and the nodes' sensitivity to one record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, cast, cast_like, row_norm
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.geometry.norms import dual_exponent, lp_norm
from dpsco_bench.papers.zhang2022.learners import TINY, Learner, LearnerSetting, get_learner, project_ball
from dpsco_bench.privacy.tree import block_maxima, largest_path_sum, lowest_bit

Array = Any
SOURCE = "Zhang, Tran, Cutkosky 2022, equation (6) and Theorem 3"
SENSITIVITIES = ("eq6", "tight", "path")
RADII = ("adaptive", "D")


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

    def __post_init__(self) -> None:
        if self.sensitivity not in SENSITIVITIES:
            raise InputError("sensitivity", self.sensitivity, "one of " + ", ".join(SENSITIVITIES), SOURCE)
        if self.radius not in RADII:
            raise InputError("radius", self.radius, "one of " + ", ".join(RADII), SOURCE)
        if self.sensitivity == "path" and not self.fixed:
            raise Refusal("sensitivity path", "it needs H = 0 or radius = D, so that the noise is known before", SOURCE)

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
            return self.fixed_eq6
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
            return np.maximum(still, largest / self.fixed_eq6[node - 1])
        return largest / np.maximum(largest, block_maxima(a)[node - 1])

    @cached_property
    def fixed_eq6(self) -> np.ndarray:
        """Equation (6) with D for every r_i, ``(n,)``."""
        return self.printed * (self.lipschitz + self.smoothness * self.diameter)

    def stream(self, order: float) -> Callable[[int, Array], Any]:
        """Map (t, ``w_t - x_{t-1} (R, d)``), round after round, to the unit Delta_t, a number or ``(R, 1)``.

        Radii are in the norm of the order p.
        """
        if self.fixed:
            units = self.fixed_units.tolist()
            return lambda t, step: units[t - 1]
        made = _printed_stream(self) if self.sensitivity == "eq6" else _tight_stream(self)
        return lambda t, step: made(t, _length(step, order))

    def share(self, t: int, step: Array, order: float) -> Any:
        """``s_t`` of a run: what the record of round t itself may change; a number or ``(R, 1)``."""
        (a, b), q = self.parts, t - 1
        return float(a[q]) + float(b[q]) * (self.diameter if self.fixed else _length(step, order))


@lru_cache(maxsize=1024)
def path_cost(units: NodeUnits, nodes: int, power: float) -> float:
    """Largest ``sum_{t in IN(q)} (s_q/Delta_t)^power`` over the records of nodes 1..``nodes``.

    It is kept, as the cells of a sweep over signals have the same plan.
    """
    return largest_path_sum(lambda record, node: units.shares(record, node) ** power, nodes)


def _length(step: Array, order: float) -> Array:
    """l_p norms of rows, ``(R, 1)``."""
    return row_norm(step) if order == 2.0 else lp_norm(step, order)


def _printed_stream(units: NodeUnits) -> Callable[[int, Array], Array]:
    """Equation (6): the largest radius so far."""
    factors, G, H = units.printed.tolist(), units.lipschitz, units.smoothness
    largest: Any = 0.0

    def unit(t: int, r: Array) -> Array:
        nonlocal largest
        largest = array_namespace(r).maximum(r, largest + 0.0 * r if t == 1 else largest)
        return factors[t - 1] * (G + H * largest)

    return unit


def _tight_stream(units: NodeUnits) -> Callable[[int, Array], Array]:
    """Find the largest ``s_q`` of every block: that of its own record and its children's, one slot per level."""
    a, b = (part.tolist() for part in units.parts)
    slots: dict[int, Array] = {}

    def unit(t: int, r: Array) -> Array:
        found, low, own = a[t - 1] + b[t - 1] * r, 1, lowest_bit(t)
        while low < own:
            found = array_namespace(r).maximum(found, slots[low])
            low *= 2
        slots[own] = found
        return found

    return unit


NODE = "node"
"""Name of the query that releases the nodes."""
Regulariser = Callable[[int, Array, Array], Array]


class TreeSum:
    """Noised prefix sums ``g_t + gamma_t``: every node is released once, in units of Delta_t, and kept in one slot.

    ``I_t`` is ``I_{t - low(t)}`` and t, and node t is its own record and the nodes t - 1, t - 2, t - 4, .. of its
    block, the last ones of their levels. So a slot per level is enough: O(d) a round and O(d log n) memory.
    """

    def __init__(self, mechanism: Any) -> None:
        self._release = mechanism.release
        self._slots: dict[int, tuple[Array, Array]] = {}

    def add(self, t: int, value: Array, unit: Any) -> Array:
        """Release the noised sum of records 1..t.

        Parameters
        ----------
        value : array (R, d), what record t adds
        unit : float or array (R, 1), Delta_t
        """
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
    units, tree, total, x = node_units(plan), TreeSum(mechanism), 0.0, None
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


def node_units(plan: Any) -> NodeUnits:
    """Find the units in which a plan's nodes are released."""
    return NodeUnits(plan.k, plan.n, plan.lipschitz, plan.smoothness, plan.diameter, plan.sensitivity, plan.radius)


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
