"""The Barzilai-Borwein step for SVRG (Tan, Ma, Dai, Qian 2016), from released or exact full gradients."""

from __future__ import annotations

from typing import Any

from dpsco_bench.backend.namespace import array_namespace
from dpsco_bench.privacy.plan import Plan

Array = Any


def barzilai_borwein_step(move: Array, change: Array, step: Array, plan: Plan) -> Array:
    """``||ds||^2 / (m |<ds, dg>|)`` per replicate.

    Returns (R, 1).

    Parameters
    ----------
    move, change : array (R, d), differences of the last two snapshots and of their full gradients, regulariser included
    step : float or array (R, 1), previous step, kept where ``<ds, dg> = 0``
    plan : Plan
        With exact anchors the step is as published; with released ones noise can flip the sign of ``<ds, dg>`` or make
        it tiny, hence the absolute value and the clipping to ``[1/(m(L+lambda)), 5/(m lambda)]``.
    """
    xp = array_namespace(move)
    square = xp.sum(move * move, axis=-1, keepdims=True)
    product = plan.inner_steps * xp.abs(xp.sum(move * change, axis=-1, keepdims=True))
    known = product > 0
    candidate = square / xp.where(known, product, xp.ones_like(product))
    if not plan.exact_anchor:
        low, high = plan.bb_range
        candidate = xp.minimum(xp.maximum(candidate, xp.full_like(candidate, low)), xp.full_like(candidate, high))
    return xp.where(known, candidate, xp.zeros_like(candidate) + step)
