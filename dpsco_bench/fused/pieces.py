"""Pieces of compiled loops for one replicate: powers, gradients of records, projections; a device has `row.cuh`.

Powers are vectorised: a library call for each entry would cost more than the rest of a step. Points of balls that one
root gives, a threshold or a multiplier, are those of `geometry.mirror` and `geometry.norms`, with the root of the step
before as first guess.
"""

from __future__ import annotations

import math

import numpy as np

from dpsco_bench.fused.compiled import WIDTH, added, lanes_at, no_lanes, piece, put_lanes, summed, vector_piece
from dpsco_bench.problems.data import CONSTANT, HUBER, LOGISTIC, PSEUDO_HUBER, SQUARED

LN2, LN2_HIGH, LN2_LOW = math.log(2.0), 0.693147180369123816490, 1.90821492927058770002e-10
"""``ln 2``, and its leading 32 bits and the rest (as in fdlibm)."""
ROUND = 6755399441055744.0
"""``1.5 2^52``: what is added to a number of moderate size is rounded to an integer."""
LARGEST_EXPONENT, LEAST_BASE = 700.0, 1e-300
SPACE, L2_BALL, L1_BALL, LINF_BALL, LP_BALL = range(5)
"""Domains on which steps project; `shrink_onto` leaves points alone for the last."""
ITERATIONS = 60
ENOUGH = 1e-12
"""A logarithm as small as that is brought to 0 by one more step of Newton's method, whatever the slope beside it."""
SETTLED = 1e-9
"""Relative change of an entry after which the next one is below rounding: Newton's method is quadratic there."""
NEAR = 1e-8
"""The same where the slope is smooth, so that an error is squared; of a point, which a small slope moves little."""
AT_ONCE = 12
"""Steps of Newton's method on all unknowns at once; five or six are made. After these a bracket is kept."""
LEAST, SMALLEST = 1e-30, 2.2250738585072014e-308


@vector_piece
def logarithm(x):
    """``ln x`` of a normal number x > 0, by the series of ``artanh((m - 1)/(m + 1))``, m in [1/sqrt 2, sqrt 2)."""
    bits = np.float64(x).view(np.int64) - np.int64(0x3FE6A09E667F3BCD)
    exponent = np.int64((bits >> 52) + np.int64(0x4338000000000000)).view(np.float64) - ROUND
    m = np.int64((bits & np.int64(0xFFFFFFFFFFFFF)) + np.int64(0x3FE6A09E667F3BCD)).view(np.float64)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = (1.0 / 19.0) * z + 1.0 / 17.0
    p = p * z + 1.0 / 15.0
    p = p * z + 1.0 / 13.0
    p = p * z + 1.0 / 11.0
    p = p * z + 1.0 / 9.0
    p = p * z + 1.0 / 7.0
    p = p * z + 1.0 / 5.0
    p = p * z + 1.0 / 3.0
    return exponent * LN2 + 2.0 * (s + s * z * p)


@vector_piece
def exponential_tail(r):
    """``(e^r - 1 - r)/r^2`` for r in ``[-ln 2/2, ln 2/2]``, to 1e-16, by its series: parts of it side by side."""
    square = r * r
    fourth = square * square
    a = ((1.0 / 6.0) * r + 0.5) + square * ((1.0 / 120.0) * r + 1.0 / 24.0)
    b = ((1.0 / 5040.0) * r + 1.0 / 720.0) + square * ((1.0 / 362880.0) * r + 1.0 / 40320.0)
    c = ((1.0 / 39916800.0) * r + 1.0 / 3628800.0) + square * ((1.0 / 6227020800.0) * r + 1.0 / 479001600.0)
    return a + fourth * (b + fourth * c)


@vector_piece
def exponential(y):
    """``e^y``; y beyond +-700 counts as that."""
    y = min(max(y, -LARGEST_EXPONENT), LARGEST_EXPONENT)
    shifted = y * (1.0 / LN2) + ROUND
    k = shifted - ROUND
    r = (y - k * LN2_HIGH) - k * LN2_LOW
    p = exponential_tail(r)
    p = p * r + 1.0
    p = p * r + 1.0
    return np.int64(np.float64(p).view(np.int64) + (np.float64(shifted).view(np.int64) << 52)).view(np.float64)


@vector_piece
def exponential_minus_one(y):
    """``e^y - 1`` of y in [0, 700], to 1e-15 relative."""
    shifted = y * (1.0 / LN2) + ROUND
    k = shifted - ROUND
    r = (y - k * LN2_HIGH) - k * LN2_LOW
    q = exponential_tail(r) * r * r + r
    power = np.int64((np.int64(1023) + np.int64(k)) << 52).view(np.float64)
    return power * q + (power - 1.0)


@vector_piece
def cosine_of_turns(v):
    """``cos(2 pi v)`` of v in [0, 1], by its series on a quarter of a turn to either side."""
    half = math.floor(2.0 * v + 0.5)
    x = 2.0 * math.pi * (v - 0.5 * half)
    z = x * x
    p = (-1.0 / 1124000727777607680000.0) * z + 1.0 / 2432902008176640000.0
    p = p * z - 1.0 / 6402373705728000.0
    p = p * z + 1.0 / 20922789888000.0
    p = p * z - 1.0 / 87178291200.0
    p = p * z + 1.0 / 479001600.0
    p = p * z - 1.0 / 3628800.0
    p = p * z + 1.0 / 40320.0
    p = p * z - 1.0 / 720.0
    p = p * z + 1.0 / 24.0
    p = p * z - 0.5
    value = p * z + 1.0
    return value if half != 1.0 else -value


@vector_piece
def half_tanh(y):
    """``tanh(y/2)/2``, to an absolute error of one rounding."""
    return 0.5 - 1.0 / (1.0 + exponential(y))


@vector_piece
def power(x, exponent):
    """``x^exponent`` of a finite x >= 0, to ``1e-16 |exponent ln x|`` relative; 0 for x below 1e-300."""
    found = exponential(exponent * logarithm(x))
    return found if x > LEAST_BASE else 0.0


@vector_piece
def largest_of(x):
    """Find the largest absolute value by its bits: as integers they keep the order, and LLVM vectorises it."""
    found = np.int64(0)
    for j in range(x.size):
        found = max(found, np.int64(np.float64(x[j]).view(np.int64) & np.int64(0x7FFFFFFFFFFFFFFF)))
    return np.int64(found).view(np.float64)


@piece
def lp_length(x, p):
    """``||x||_p``, p in [1, inf)."""
    if p != 2.0:
        return general_length(x, p)
    total = 0.0
    for j in range(x.size):
        total += x[j] * x[j]
    return math.sqrt(total)


@piece
def general_length(x, p):
    """Compute `lp_length` by powers."""
    total, top = 0.0, largest_of(x)
    if top == 0.0:
        return 0.0
    for j in range(x.size):
        total += power(abs(x[j]) / top, p)
    return top * total ** (1.0 / p)


@piece
def square_slope(out, x, exponent, scale):
    """Gradient of ``(scale/2) ||x||_exponent^2``, to out, 0 at 0; returns ``||x||_exponent``."""
    if exponent != 2.0:
        return general_slope(out, x, exponent, scale)
    total = 0.0
    for j in range(x.size):
        out[j] = scale * x[j]
        total += x[j] * x[j]
    return math.sqrt(total)


@piece
def general_slope(out, x, exponent, scale):
    """Compute `square_slope` by powers."""
    top, total = largest_of(x), 0.0
    if top == 0.0:
        out[:] = 0.0
        return 0.0
    for j in range(x.size):
        ratio = abs(x[j]) / top
        found = power(ratio, exponent - 1.0)
        total += found * ratio
        out[j] = math.copysign(found, x[j])
    root = power(total, 1.0 / exponent)
    factor = scale * top * (root * root / total)
    for j in range(x.size):
        out[j] *= factor
    return top * root


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
    """Shrink ``x``, add ``weight x`` to a sum; returns the next record's margin as `margin_in_lanes` has it."""
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
    """Nearest point of the l1 ball to ``x (d,)``, in place: one threshold off all absolute values (Michelot 1986).

    The one that the entries above the last ask for grows until no further entry falls below it: no sorting.
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


@piece
def mirror_point(point, y, work, mirror, ball, guess):
    """``argmax <y, x> - Phi(x)`` over the ball, to point, with ``Phi = (kappa/2) ||.||_s^2``; returns the next guess.

    As `geometry.mirror.SmoothMirror.step`. ``y (d,)`` is overwritten by ``grad Phi(point)``: where the next step
    begins, without its powers; ``work (3, d)`` is scratch, ``mirror`` has s, ``r = s/(s - 1)`` and kappa, ``ball`` p in
    [1, s] and radius, infinite for the whole space; ``guess`` is the root of the step before, or 0.
    """
    s, r, kappa = mirror
    p, radius = ball
    if p == 1.0 and radius < math.inf:
        rest, top = work[0], largest_of(y)
        for j in range(y.size):
            rest[j] = top - abs(y[j])
        height = soft_height(rest, top, r, kappa, radius, guess)
        for j in range(y.size):
            y[j] = math.copysign(max(height - rest[j], 0.0), y[j])
        square_slope(point, y, r, 1.0 / kappa)
        return height
    length = square_slope(point, y, r, 1.0 / kappa) / kappa  # ||point||_s
    if radius < math.inf and p != s:
        length = lp_length(point, p)
    if length > radius:
        if p != s:
            guess = penalised_point(point, y, work, p, s, kappa, radius, guess)
            square_slope(y, point, s, kappa)
            return guess
        shrink = radius / length
        for j in range(point.size):
            point[j] *= shrink
            y[j] *= shrink
    return guess


@piece
def soft_height(deficit, top, p, s, radius, guess):
    """Compute the height left of the largest entry, see `geometry.mirror.shrunk_height`; ``deficit (d,)``."""
    if top == 0.0:
        return top
    level = math.log(radius)
    high = min(top, s * radius)
    low = min(high, s * radius / deficit.size ** (2.0 / p))
    height = top
    for i in range(ITERATIONS):
        counts, first, second = 0.0, 0.0, 0.0
        for j in range(deficit.size):
            ratio = max(height - deficit[j], 0.0) / height
            found = power(ratio, p - 2.0)
            counts += found
            first += found * ratio
            second += found * ratio * ratio
        excess = math.log(height / s) + (2.0 / p - 1.0) * math.log(second) + math.log(first) - level
        if i == 0:
            if excess <= 0.0:
                return top
            height = guess if low < guess < high else high
            continue
        newton = height * math.exp(-excess / ((2.0 - p) * first / second + (p - 1.0) * counts / first))
        if abs(excess) <= ENOUGH:
            return newton
        if excess <= 0.0:
            low = height
        else:
            high = height
        height = newton if low < newton < high else 0.5 * (low + high)
    return height


@piece
def project_lp(x, work, p, radius):
    """Nearest point of ``||u||_p <= radius`` to ``x (d,)``, in place, p in (2, inf); ``work (4, d)`` is scratch."""
    if lp_length(x, p) > radius:
        for j in range(x.size):
            work[3, j] = x[j]
        penalised_point(x, work[3], work, p, 2.0, 1.0, radius, 0.0)


@piece
def penalised_point(point, y, work, p, s, kappa, radius, guess):
    """``argmax <y, x> - (kappa/2) ||x||_s^2`` over ``||x||_p <= radius`` where the free one is outside, to point.

    p in (1, s), or s = 2 and p in (2, inf). Returns the multiplier; see `geometry.norms`, whose names these are.
    """
    d, level, v = y.size, work[0], work[1]
    top = largest_of(y)
    rho = max(kappa * radius / max(top, kappa * radius / d), SMALLEST)
    least = min(p, s) - 1.0
    ratio = (max(p, s) - 1.0) / least
    for j in range(d):
        level[j] = abs(y[j]) / top
    shrunk = d ** (2.0 / s - 1.0 - 1.0 / p)
    low = max(1.0 - rho, LEAST)
    high = max((1.0 - rho * shrunk) * shrunk ** (-(p - 1.0) / (s - 1.0)), 2.0 * low)
    if not low < guess < high:
        guess = low
    mu = jointly(point, v, level, work[2], guess, rho, p, s, least, ratio)
    if mu == 0.0:
        mu = in_bracket(point, v, level, work[2], guess, (low, high), rho, p, s, least, ratio)
    factor = radius / lp_length(point, p)
    for j in range(d):
        point[j] = math.copysign(factor * point[j], y[j])
    return mu


@piece
def in_bracket(u, v, level, bound, mu, limits, rho, p, s, least, ratio):
    """Solve as `jointly` does, one equation within another, between closing limits of mu; u over its largest entry."""
    near, (low, high) = False, limits
    for j in range(v.size):
        v[j] = 1.0
    for _ in range(ITERATIONS):
        roots(v, level, bound, rho if p < s else mu, mu if p < s else rho, ratio)
        excess, slope = log_norm(u, v, mu, rho, p, s, least, ratio)
        if near:
            break
        if excess >= 0.0:
            low = mu
        if excess <= 0.0:
            high = mu
        near = excess * excess <= NEAR * NEAR * abs(slope) or high - low <= ENOUGH * high
        newton = mu - mu * (excess / slope) if slope != 0.0 else low
        inside = min(max(newton, low), high)
        mu = inside if near or inside == newton else math.sqrt(low) * math.sqrt(high)
    return mu


@piece
def jointly(u, v, level, moves, mu, rho, p, s, least, e):
    """Solve `roots` and `log_norm` at once by Newton from bounds of v and a guess; mu, or 0 where it did not settle."""
    outer, inner = (rho, mu) if p < s else (mu, rho)
    for j in range(v.size):
        v[j] = min(power(level[j] / outer, 1.0 / e), level[j] / inner)
    for _ in range(AT_ONCE):
        sum_p = sum_s = by_p = by_s = of_p = of_s = 0.0
        for j in range(v.size):
            ln = logarithm(max(v[j], LEAST_BASE))
            bend, entry = exponential((e - 1.0) * ln), exponential(ln / least)
            below = inner + e * outer * bend
            moved = ((inner + outer * bend) * v[j] - level[j]) / below
            rate = (1.0 if p < s else bend) * v[j] / below
            on_p, on_s = (entry, entry * bend) if p < s else (entry * bend, entry)
            sum_p += on_p * v[j]
            sum_s += on_s * v[j]
            by_p += on_p * moved
            by_s += on_s * moved
            of_p += on_p * rate
            of_s += on_s * rate
            u[j], moves[j] = rate, moved
        if not min(sum_p, sum_s) > 0.0:
            break
        share = 2.0 - s
        excess = math.log(sum_p) / p - share * math.log(sum_s) / s
        residual = by_p / sum_p - share * by_s / sum_s
        step = (least * excess - residual) / (of_p / sum_p - share * of_s / sum_s)
        new = max(mu + step, 0.1 * mu)
        largest = abs(new - mu) - SETTLED * new
        for j in range(v.size):
            moved = max(v[j] - moves[j] - u[j] * (new - mu), 0.1 * v[j])
            largest = max(largest, abs(moved - v[j]) - SETTLED * moved)
            v[j] = moved
        mu = new
        outer, inner = (rho, mu) if p < s else (mu, rho)
        if largest <= 0.0:
            for j in range(v.size):
                u[j] = power(v[j], 1.0 / least)
            return mu
    return 0.0


@piece
def roots(v, level, bound, outer, inner, e):
    """Solve ``outer v^e + inner v = level`` for all entries, from ``v (d,)``, by Newton's method; bound is scratch."""
    for j in range(v.size):
        bound[j] = min(power(level[j] / outer, 1.0 / e), level[j] / inner)
        v[j] = min(v[j], bound[j])
    for _ in range(ITERATIONS):
        moved = 0.0
        for j in range(v.size):
            steep = outer * power(v[j], e - 1.0)
            new = min((level[j] + (e - 1.0) * steep * v[j]) / (inner + e * steep), bound[j])
            moved += 1.0 if abs(new - v[j]) > SETTLED * new else 0.0
            v[j] = bound[j] = new
        if moved == 0.0:
            break


@piece
def log_norm(u, v, mu, rho, p, s, least, ratio):
    """``ln(||u||_p/||u||_s^(2 - s))`` and its slope in ``ln mu``; ``u = v^(1/least)`` over its largest is written."""
    top = largest_of(v)
    size = top ** (1.0 / least)
    on_p, on_s = mu * size ** (p - 1.0), rho * size ** (s - 1.0)
    sum_p, sum_s, slope_p, slope_s = 0.0, 0.0, 0.0, 0.0
    for j in range(v.size):
        small = v[j] / top
        large = power(small, ratio)
        entry = small if least == 1.0 else power(small, 1.0 / least)
        by_p = small if p < s else large
        by_s = large if p < s else small
        penalty, smooth = on_p * by_p, on_s * by_s
        below = (p - 1.0) * penalty + (s - 1.0) * smooth
        rate = -penalty / below if below > 0.0 else 0.0
        u[j] = entry
        sum_p += by_p * entry
        sum_s += by_s * entry
        slope_p += by_p * entry * rate
        slope_s += by_s * entry * rate
    share = 2.0 - s
    excess = math.log(sum_p) / p - share * math.log(sum_s) / s + (1.0 - share) * math.log(size)
    return excess, slope_p / sum_p - share * slope_s / sum_s
