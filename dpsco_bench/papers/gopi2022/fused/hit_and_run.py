"""Hit-and-run chains with compiled steps, where the losses are linear, quadratic or the norm of the ball itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpsco_bench.errors import NumericalFailure
from dpsco_bench.fused.compiled import compiled, exact_piece
from dpsco_bench.fused.powers import largest_of, lp_length
from dpsco_bench.fused.registry import fused
from dpsco_bench.geometry.ball import Ball, LpBall
from dpsco_bench.geometry.schatten import SchattenBall
from dpsco_bench.papers.gopi2022.algorithms.chains import ChainWatch
from dpsco_bench.papers.gopi2022.algorithms.setting import LINEAR, drawn_by
from dpsco_bench.papers.gopi2022.algorithms.target import Target
from dpsco_bench.papers.gopi2022.fused.laws import fill_uniform, standard_normal
from dpsco_bench.papers.gopi2022.fused.runs import run_sweeps, words
from dpsco_bench.papers.gopi2022.problems.radial import NormPlusQuadratic, RadialNorm
from dpsco_bench.papers.gopi2022.problems.schatten import SchattenRadial
from dpsco_bench.papers.gopi2022.samplers.hit_and_run import MOST_SHRINKS
from dpsco_bench.samplers.keyed import KeyedDraws

NORMS = (RadialNorm.risk, SchattenRadial.risk)
"""Risks that are the norm of the ball, and with `NormPlusQuadratic` half a square beside it."""
TURNS, ORTHOGONAL = 40, 1e-15
"""Most passes over the pairs of columns, and the cosine of columns that are orthogonal: each pass squares it."""


@exact_piece
def singular_values(values, x, columns, work):
    """Of a matrix ``x (d,)`` with so many columns, to values, in any order, by Jacobi rotations of its columns.

    ``work (d,)`` is scratch.
    """
    rows = x.size // columns
    for i in range(rows):
        for j in range(columns):
            work[j * rows + i] = x[i * columns + j]
    for _ in range(TURNS):
        turned = False
        for p in range(columns - 1):
            for q in range(p + 1, columns):
                first, second, both = 0.0, 0.0, 0.0
                for i in range(rows):
                    a, b = work[p * rows + i], work[q * rows + i]
                    first, second, both = first + a * a, second + b * b, both + a * b
                if abs(both) <= ORTHOGONAL * math.sqrt(first * second):
                    continue
                turned = True
                zeta = (second - first) / (2.0 * both)
                tangent = math.copysign(1.0, zeta) / (abs(zeta) + math.sqrt(1.0 + zeta * zeta))
                cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
                for i in range(rows):
                    a, b = work[p * rows + i], work[q * rows + i]
                    work[p * rows + i] = cosine * (a - tangent * b)
                    work[q * rows + i] = cosine * (b + tangent * a)
        if not turned:
            break
    for j in range(columns):
        values[j] = lp_length(work[j * rows : (j + 1) * rows], 2.0)


@exact_piece
def length_of(x, p):
    """``||x||_p``, p in [1, inf]."""
    return largest_of(x) if p == math.inf else lp_length(x, p)


@exact_piece
def log_density(x, values, work, slope, law):
    """``-k (F + weight ||x||_q^2)`` at ``x (d,)``, F without a constant; -inf outside the ball.

    ``values`` has room for what norms are taken of, ``work`` for a matrix.
    """
    p, radius, columns, k, weight, q, convexity, norm = law
    if columns > 0:
        singular_values(values, x, columns, work)
    else:
        for j in range(x.size):
            values[j] = x[j]
    length = length_of(values, p)
    if not length <= radius:
        return -math.inf
    risk, square = norm * length, 0.0
    for j in range(slope.size):
        risk -= slope[j] * x[j]
    if convexity > 0.0:
        for j in range(x.size):
            square += x[j] * x[j]
        risk += 0.5 * convexity * square
    if weight > 0.0:
        other = length if q == p else length_of(values, q)
        risk += weight * other * other
    return -k * risk


@compiled
def hit_and_run_steps(states, x, known, inside, slopes, law, outer, first, addresses, keys):
    """Steps ``first ..`` of all chains, to ``states (steps, rows, d)``, from ``x (rows, d)``, which is moved.

    Parameters
    ----------
    known : array (rows,), log densities of x; NaN before the first step
    inside : array (rows,), how many points of the ball were evaluated; added to
    slopes : array (rows, d), or (rows, 0) for losses without a linear part
    law : tuple, see `log_density`
    addresses, keys : tuples, first replicate and their number; streams of directions, levels and candidates

    Returns
    -------
    int : a step at which no candidate was accepted, -1 where there is none
    """
    rows, d = x.shape
    u, direction, point, pair = np.empty(d + 1), np.empty(d), np.empty(d), np.empty(2)
    values, work = np.empty(max(law[2], d)), np.empty(d)
    if law[2] > 0:
        values = values[: law[2]]
    for row in range(rows):
        replicate, value = addresses[0] + row % addresses[1], known[row]
        if math.isnan(value):
            value = log_density(x[row], values, work, slopes[row], law)
            inside[row] += 1
        for s in range(len(states)):
            fill_uniform(u, 0, d, keys[0], first + s, replicate)
            for j in range(d):
                direction[j] = standard_normal(u[j])
            size = lp_length(direction, 2.0)
            fill_uniform(pair, 0, 1, keys[1], first + s, replicate)
            level, low, high = value + math.log(pair[0]), -2.0 * outer, 2.0 * outer
            for attempt in range(MOST_SHRINKS):
                if attempt % 2 == 0:
                    fill_uniform(pair, attempt, 2, keys[2], first + s, replicate)
                at = low + (high - low) * pair[attempt % 2]
                for j in range(d):
                    point[j] = x[row, j] + at * (direction[j] / size)
                found = log_density(point, values, work, slopes[row], law)
                inside[row] += found > -math.inf
                if found >= level:
                    break
                if at < 0.0:
                    low = at
                else:
                    high = at
            else:
                return first + s
            value = found
            for j in range(d):
                x[row, j] = point[j]
                states[s, row, j] = point[j]
        known[row] = value
    return -1


def hit_and_run(target: Target, k: float, mu: float, draws: KeyedDraws, *, sweeps: int) -> np.ndarray:
    """As the sampler of this name."""
    watch, x = ChainWatch(target, sweeps), np.zeros((target.rows, target.d))
    norm, convexity = risk_of(target.objective, target.losses) or (0.0, 0.0)
    outer = 0.5 * target.ball.euclidean_diameter(target.d)
    ball, r = target.ball, target.regulariser
    columns = ball.columns if isinstance(ball, SchattenBall) else 0
    weight, q = (mu * r.coefficient, r.q) if r is not None else (0.0, 2.0)
    law = (float(ball.p), float(ball.radius), columns, float(k), float(weight), float(q), convexity, norm)
    slopes = np.ascontiguousarray(target.mean_slope()) if norm == 0.0 else np.empty((target.rows, 0))
    known, inside = np.full(target.rows, math.nan), np.zeros(target.rows, dtype=np.int64)
    place = (draws.first_replicate, draws.replicates)
    keys = tuple(words(draws, name) for name in ("direction", "level", "candidate"))

    def advance(first: int, states: np.ndarray) -> None:
        failed = hit_and_run_steps(states, x, known, inside, slopes, law, outer, first, place, keys)
        if failed >= 0:
            raise NumericalFailure(f"hit_and_run: no point of the slice in {MOST_SHRINKS} candidates at step {failed}")

    last = run_sweeps(watch, x, sweeps, advance)
    if target.losses not in LINEAR:
        target.queries += target.objective.n * inside
    watch.note_evidence()
    return last


def risk_of(objective: Any, losses: str) -> tuple[float, float] | None:
    """What of the ball's norm and of half the squared l_2 norm is in F, besides a linear part; None where it is not so.

    Those that have the norm have no linear part.
    """
    problem, ball = objective.problem, objective.domain
    if losses in LINEAR:
        return 0.0, 0.0
    if losses == "quadratic":
        return 0.0, float(problem.own_constants.strong_convexity)
    risk = type(problem).risk
    if risk in NORMS and problem.p == ball.p and getattr(problem, "columns", 0) == getattr(ball, "columns", 0):
        return 1.0, 0.0
    if risk is NormPlusQuadratic.risk and ball.p == 2.0:
        return 1.0, float(problem.convexity)
    return None


def _known(objective: Any, plan: Any, mechanism: Any) -> bool:
    """Whether the density is of a kind that the loop has."""
    ball = objective.domain
    return isinstance(ball, Ball | LpBall | SchattenBall) and risk_of(objective, plan.losses) is not None


@fused("gopi2022.hit_and_run", supports=_known, form=False)
def run(objective: Any, plan: Any, mechanism: Any) -> Any:
    """As the listing."""
    return drawn_by(hit_and_run, objective, plan, mechanism)
