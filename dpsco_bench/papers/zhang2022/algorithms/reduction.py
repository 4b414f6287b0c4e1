"""The online-to-batch reduction and its streaming tree noise (Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dpsco_bench.backend.namespace import array_namespace, cast, cast_like
from dpsco_bench.geometry.norms import dual_exponent, lp_norm
from dpsco_bench.papers.zhang2022.algorithms.sensitivity import NodeUnits, weights
from dpsco_bench.papers.zhang2022.learners.base import TINY, Learner, LearnerSetting, get_learner, project_ball
from dpsco_bench.privacy.tree import lowest_bit

Array = Any
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
    units, tree = node_units(plan), TreeSum(mechanism)
    unit_of, share_of = units.stream(plan.p), units.shares_stream(plan.p) if plan.clip_differences else None
    total, x = 0.0, None
    for t in range(1, plan.n + 1):
        w = learner.predict()
        x = w if x is None else x
        step = w - x
        unit = unit_of(t, step)  # known before the round's noise
        share = share_of(t, step) if share_of else None
        previous, x = x, x + step * (beta[t] / weight[t])
        if t == plan.n and not plan.run_last_round:
            break
        difference = gradient_difference(objective, t, x, previous, beta)
        if share is not None:
            difference = clipped(difference, 0.5 * share, dual_exponent(plan.p))
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
        return beta[1] * _wide(objective.range_gradient(_narrow(x, objective), 0, 1), x)
    now, before = objective.range_gradient_pair(_narrow(x, objective), _narrow(previous, objective), t - 1, 1)
    return beta[t] * _wide(now, x) - beta[t - 1] * _wide(before, x)


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


def _narrow(x: Array, objective: Any) -> Array:
    """Cast a point to the objective's dtype."""
    return x if x.dtype == objective.dtype else cast(x, objective.dtype)


def _wide(gradient: Array, x: Array) -> Array:
    """Cast a gradient to the dtype of the iterates."""
    return gradient if gradient.dtype == x.dtype else cast_like(gradient, x)
