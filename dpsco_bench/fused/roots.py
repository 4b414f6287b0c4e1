"""Points of balls that one root gives, for one replicate in a compiled loop: a threshold, or a multiplier.

What `geometry.mirror` and `geometry.norms` do for all replicates, with the root of the step before as first guess.
"""

from __future__ import annotations

import math

from dpsco_bench.fused.compiled import called, piece
from dpsco_bench.fused.pieces import LEAST_BASE, exponential, largest_of, logarithm, lp_length, power, square_slope

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


@called
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


@called
def project_lp(x, work, p, radius):
    """Nearest point of ``||u||_p <= radius`` to ``x (d,)``, in place, p in (2, inf); ``work (4, d)`` is scratch."""
    if lp_length(x, p) > radius:
        for j in range(x.size):
            work[3, j] = x[j]
        penalised_point(x, work[3], work, p, 2.0, 1.0, radius, 0.0)


@called
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


@called
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


@called
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


@called
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


@called
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
