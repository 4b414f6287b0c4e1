"""Gibbs chains with compiled sweeps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpsco_bench.fused.compiled import compiled, exact_piece
from dpsco_bench.fused.powers import lp_length, power
from dpsco_bench.fused.registry import fused
from dpsco_bench.papers.gopi2022.algorithms.chains import ChainWatch
from dpsco_bench.papers.gopi2022.algorithms.setting import drawn_by
from dpsco_bench.papers.gopi2022.algorithms.target import Target
from dpsco_bench.papers.gopi2022.fused.laws import fill_uniform, truncated_exponential, truncated_normal
from dpsco_bench.papers.gopi2022.fused.runs import run_sweeps, words
from dpsco_bench.papers.gopi2022.samplers.gibbs import SHRINKS
from dpsco_bench.samplers.keyed import KeyedDraws

MOST_CHAINS = 256
"""On a core. From there on the listing's vector calls over all chains are faster than chain by chain."""


@exact_piece
def fill_powers(powers, x, p):
    """``|x_j|^p``, to powers, and their sum; nothing for infinite p."""
    total = 0.0
    if p < math.inf:
        for j in range(x.size):
            powers[j] = power(abs(x[j]), p)
            total += powers[j]
    return total


@exact_piece
def room(total, own, p, radius):
    """Largest ``|x_j|`` for a norm of at most radius, the other coordinates given."""
    return radius if p == math.inf else power(max(power(radius, p) - (total - own), 0.0), 1.0 / p)


@exact_piece
def replaced(powers, j, total, value, p):
    """The sum of powers after a coordinate is put in place of another."""
    if p == math.inf:
        return total
    before = powers[j]
    powers[j] = power(abs(value), p)
    return max(total - before, 0.0) + powers[j]


@exact_piece
def sweep_coordinates(x, v, u, law, ball_powers, norm_powers):
    """As `samplers.gibbs`: every coordinate from its conditional law, in place."""
    c, q, p, radius = law
    d = x.size
    norm = fill_powers(norm_powers, x, q)
    ball = fill_powers(ball_powers, x, p) if p != q or q == 2.0 else 0.0
    for j in range(d):
        if q == 2.0:
            reach = room(ball, ball_powers[j], p, radius)
            x[j] = truncated_normal(u[j], v[j] / (2.0 * c), math.sqrt(0.5 / c), reach)
        else:
            level = math.sqrt(power(norm, 2.0 / q) - math.log(u[d + j]) / c)
            if p == q:  # the same sum bounds both
                reach = room(norm, norm_powers[j], q, min(radius, level))
            else:
                reach = min(room(ball, ball_powers[j], p, radius), room(norm, norm_powers[j], q, level))
            x[j] = truncated_exponential(u[j], v[j], reach)
            norm = replaced(norm_powers, j, norm, x[j], q)
        if p != q or q == 2.0:
            ball = replaced(ball_powers, j, ball, x[j], p)


@exact_piece
def scale_of(x, v, log_u, law, pair, key, sweep, replicate):
    """Factor of the move ``x <- s x``, by slice sampling with shrinkage from s = 1."""
    c, q, p, radius = law
    slope = 0.0
    for j in range(x.size):
        slope += v[j] * x[j]
    curvature = c * lp_length(x, q) ** 2
    length = 0.0
    if p == math.inf:
        for j in range(x.size):
            length = max(length, abs(x[j]))
    else:
        length = lp_length(x, p)
    if length == 0.0:
        return 1.0
    most = radius / length
    low, high, level = 0.0, most, slope - curvature + log_u
    for attempt in range(SHRINKS):
        if attempt % 2 == 0:
            fill_uniform(pair, attempt, 2, key, sweep, replicate)
        at = low + (high - low) * pair[attempt % 2]
        if (x.size - 1) * math.log(at) + at * slope - at * at * curvature >= level:
            return min(at, most)
        if at < 1.0:
            low = at
        else:
            high = at
    return min(1.0, most)


@compiled
def gibbs_sweeps(states, x, tilts, law, first, addresses, keys):
    """Sweeps ``first ..`` of all chains, to ``states (sweeps, rows, d)``, from ``x (rows, d)``, which is moved.

    ``law`` has curvature, its norm, p and radius; ``keys`` the streams of coordinates and of scales.
    """
    rows, d = x.shape
    u, pair, ball_powers, norm_powers = np.empty(2 * d + 2), np.empty(2), np.zeros(d), np.zeros(d)
    for row in range(rows):
        replicate = addresses[0] + row % addresses[1]
        for s in range(len(states)):
            fill_uniform(u, 0, 2 * d + 1, keys[0], first + s, replicate)
            sweep_coordinates(x[row], tilts[row], u, law, ball_powers, norm_powers)
            factor = scale_of(x[row], tilts[row], math.log(u[2 * d]), law, pair, keys[1], first + s, replicate)
            for j in range(d):
                x[row, j] *= factor
                states[s, row, j] = x[row, j]


def gibbs(target: Target, k: float, mu: float, draws: KeyedDraws, *, sweeps: int) -> np.ndarray:
    """As the sampler of this name."""
    watch, r, x = ChainWatch(target, sweeps), target.regulariser, np.zeros((target.rows, target.d))
    assert r is not None
    tilts = np.ascontiguousarray(k * target.mean_slope())
    law = (float(k * mu * r.coefficient), float(r.q), float(target.ball.p), float(target.ball.radius))
    place, keys = (draws.first_replicate, draws.replicates), (words(draws, "gibbs"), words(draws, "scale"))

    def advance(first: int, states: np.ndarray) -> None:
        gibbs_sweeps(states, x, tilts, law, first, place, keys)

    last = run_sweeps(watch, x, sweeps, advance)
    watch.note_evidence()
    return last


def few_chains(objective: Any, plan: Any, mechanism: Any) -> bool:
    """Whether compiled sweeps win; on a card they always do."""
    return not isinstance(objective.start, np.ndarray) or len(objective.start) < MOST_CHAINS


@fused("gopi2022.gibbs", supports=few_chains, form=False)
def run(objective: Any, plan: Any, mechanism: Any) -> Any:
    """As the listing."""
    return drawn_by(gibbs, objective, plan, mechanism)
