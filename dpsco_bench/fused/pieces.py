"""Pieces that several methods share, for one replicate: gradients of records and projections.

For a device `row.cuh` has them.
"""

from __future__ import annotations

import math

from dpsco_bench.fused.compiled import piece, vector_piece
from dpsco_bench.fused.lanes import WIDTH, added, lanes_at, no_lanes, put_lanes, summed
from dpsco_bench.fused.powers import half_tanh
from dpsco_bench.problems.data import CONSTANT, HUBER, LOGISTIC, PSEUDO_HUBER, SQUARED

SPACE, L2_BALL, L1_BALL, LINF_BALL, LP_BALL = range(5)
"""Domains on which steps project; `shrink_onto` leaves points alone for the last."""


@piece
def slope(kind, a, b, margin, label):
    """``l'(m, y)`` as `problems.data` lists them."""
    if kind == LOGISTIC:
        sign = a * label
        return 0.5 * sign + half_tanh(margin + b * sign)
    if kind == SQUARED:
        return margin - label
    if kind == PSEUDO_HUBER:
        return (margin - label) / math.sqrt((margin - label) ** 2 + a * a)
    if kind == HUBER:
        return min(1.0, max(-1.0, a * (margin - label)))
    return a


@piece
def margin_of(x, features, i):
    """``<a_i, x>``."""
    margin = 0.0
    for j in range(x.size):
        margin += features[i, j] * x[j]
    return margin


@piece
def record_weight(x, features, labels, i, kind, a, b):
    """``l'(<a_i, x>, y_i)``."""
    return slope(kind, a, b, margin_of(x, features, i) if kind != CONSTANT else 0.0, labels[i])


@piece
def shrink_onto(x, square, domain, radius):
    """Find the factor that brings ``x (d,)``, of that squared length, to the nearest point of a domain.

    On domains other than the l2 ball x is projected in place, and the number is 1.
    """
    if domain == L2_BALL and square > radius * radius:
        return radius / math.sqrt(square)
    if domain == LINF_BALL:
        for j in range(x.size):
            x[j] = min(radius, max(-radius, x[j]))
    elif domain == L1_BALL:
        project_l1(x, radius)
    return 1.0


@piece
def scale_by(x, factor):
    for j in range(x.size):
        x[j] *= factor


@vector_piece
def margin_in_lanes(x, features, i):
    """``<a_i, x>``, its terms in the order of `finish`."""
    whole, margins, margin = x.size - x.size % WIDTH, no_lanes(), 0.0
    for j in range(0, whole, WIDTH):
        margins = added(margins, lanes_at(x, j), lanes_at(features, (i, j)))
    for j in range(whole, x.size):
        margin += x[j] * features[i, j]
    return margin + summed(margins)


@vector_piece
def finish(x, total, shrink, weight, features, following):
    """Shrink ``x`` and add ``weight x`` to a sum of iterates; returns the margin of the record that follows.

    It is the one of `margin_in_lanes`, bit by bit: a tile begins with that.
    """
    whole, margins, margin = x.size - x.size % WIDTH, no_lanes(), 0.0
    for j in range(0, whole, WIDTH):
        moved = added(no_lanes(), shrink, lanes_at(x, j))
        put_lanes(x, j, moved)
        put_lanes(total, j, added(lanes_at(total, j), weight, moved))
        margins = added(margins, moved, lanes_at(features, (following, j)))
    for j in range(whole, x.size):
        x[j] = shrink * x[j]
        total[j] += weight * x[j]
        margin += x[j] * features[following, j]
    return margin + summed(margins)


@piece
def project_l1(x, radius):
    """Nearest point of the l1 ball to ``x (d,)``, in place: one threshold off all absolute values.

    The threshold that the entries above the last one ask for grows until no further entry falls below it (Michelot
    1986): few rounds, and no sorting.
    """
    above, kept, threshold = 0.0, 0, 0.0
    for j in range(x.size):
        above += abs(x[j])
    if above <= radius:
        return
    kept_before = x.size + 1
    kept = x.size
    while kept < kept_before:
        threshold = (above - radius) / kept
        kept_before, kept, above = kept, 0, 0.0
        for j in range(x.size):
            if abs(x[j]) > threshold:
                above += abs(x[j])
                kept += 1
    for j in range(x.size):
        x[j] = math.copysign(max(abs(x[j]) - threshold, 0.0), x[j])
