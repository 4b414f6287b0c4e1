"""The samplers of sections 2.3 to 2.6 of the chapter, as they draw from a `target.Target`; one point per row."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dpsco_bench.algorithms.gopi2022.target import Target
from dpsco_bench.errors import Refusal
from dpsco_bench.problems.regularised_law import RegularisedLaw
from dpsco_bench.samplers.axis import sample_axis, towards
from dpsco_bench.samplers.cone import cone_lp
from dpsco_bench.samplers.evidence import ChainTrace
from dpsco_bench.samplers.gibbs import sample_gibbs
from dpsco_bench.samplers.hit_and_run import sample_hit_and_run
from dpsco_bench.samplers.keyed import KeyedDraws
from dpsco_bench.samplers.proximal import ProximalSampler, step_size
from dpsco_bench.samplers.radial import sample_radius
from dpsco_bench.samplers.truncated import gaussian_on_ball, truncated_normal

Array = np.ndarray
MOST_ATTEMPTS = 1000
"""Of a Gaussian on a ball; a draw that needs more is capped."""


def cube_exact(target: Target, k: float, mu: float, draws: KeyedDraws) -> Array:
    """Independent normals ``N(sbar_j/mu, 1/(k mu))`` truncated to the cube."""
    u = draws.uniform("cube", 0, target.d)
    return truncated_normal(u, target.mean_slope() / mu, 1.0 / math.sqrt(k * mu), target.ball.radius)


def axis_exact(target: Target, k: float, mu: float, draws: KeyedDraws) -> Array:
    """``exp(kap x_1 - c ||x||_p^2)`` on the unit ball, times R, turned towards the mean slope where p = 2."""
    slope, radius = target.mean_slope(), target.ball.radius
    coefficient = mu * target.regulariser.coefficient if target.regulariser is not None else 0.0
    if target.losses == "quadratic":
        coefficient += 0.5 * target.own.strong_convexity
    c = k * coefficient * radius**2
    if target.ball.p == 2.0:
        return radius * towards(_axis(target, k * radius * np.linalg.norm(slope, axis=1), c, draws), slope)
    if np.any(slope[:, 1:] != 0.0):
        reason = "the mean record does not lie on the first axis"
        raise Refusal(f"axis_exact on {target.objective.problem.name}", reason, "chapter gopi2022, section 2.3")
    return radius * _axis(target, k * radius * slope[:, 0], c, draws)


def _axis(target: Target, kap: Array, c: float, draws: KeyedDraws) -> Array:
    return sample_axis(draws, target.ball.p, target.d, kap, c)


def radial_exact(target: Target, k: float, mu: float, draws: KeyedDraws) -> Array:
    """Radius of density ``rho^(d-1) exp(-A rho - B rho^2)``, direction of the cone measure.

    Where r is in another norm, directions and radii are drawn for its least value on the sphere and accepted with the
    ratio of the densities.
    """
    target.require_centred_data()
    c, regulariser, ball = target.own, target.regulariser, target.ball
    if regulariser is None:
        slope = c.lipschitz - c.strong_convexity * ball.radius
        return _radial(target, draws, "", k * slope, 0.5 * k * c.strong_convexity)
    weight, A = k * mu * regulariser.coefficient, k * c.lipschitz
    if regulariser.q == ball.p:
        return _radial(target, draws, "", A, weight)
    least = min(1.0, target.d ** (2.0 / regulariser.q - 2.0 / ball.p))
    points, todo = np.empty((draws.rows, target.d)), np.ones(draws.rows, dtype=bool)
    for attempt in range(MOST_ATTEMPTS):
        x = _radial(target, draws, f"{attempt}/", A, weight * least)
        spare = weight * (regulariser.norm(x) ** 2 - least * ball.norm(x)[:, 0] ** 2)
        accepted = todo & (np.log(draws.uniform(f"{attempt}/norm", 0, 1)[:, 0]) <= -spare)
        points[accepted], todo = x[accepted], todo & ~accepted
        if not todo.any():
            return points
    raise Refusal(f"radial_exact at k = {k:g}", f"r is in another norm: nothing accepted in {MOST_ATTEMPTS} rounds")


def _radial(target: Target, draws: KeyedDraws, prefix: str, A: float, B: float) -> Array:
    named = KeyedDraws(lambda name: draws.stream(prefix + name), draws.first_replicate, draws.replicates, draws.copies)
    rho = sample_radius(named, target.d, A, B, target.ball.radius)
    return rho[:, None] * cone_lp(named, "cone", 0, target.ball.p, target.d)


def gibbs(target: Target, k: float, mu: float, draws: KeyedDraws, *, sweeps: int) -> Array:
    """Chains on the ball, a coordinate at a time with a move along the ray; notes their evidence."""
    trace, r = ChainTrace(sweeps), target.regulariser
    assert r is not None
    slope, c = k * target.mean_slope(), k * mu * r.coefficient
    ball = target.ball
    x = sample_gibbs(draws, slope, c, r.q, ball.p, ball.radius, sweeps, partial(_watch, target, trace))
    note_evidence(target, trace)
    return x


def hit_and_run(target: Target, k: float, mu: float, draws: KeyedDraws, *, sweeps: int) -> Array:
    """Chains from the centre along random lines; notes their evidence."""
    trace = ChainTrace(sweeps)
    outer, start = 0.5 * target.ball.euclidean_diameter(target.d), np.zeros((target.rows, target.d))
    density = target.log_density(k, mu)
    x = sample_hit_and_run(draws, density, start, outer, sweeps, partial(_watch, target, trace))
    note_evidence(target, trace)
    return x


def proximal_sampler(
    target: Target, k: float, mu: float, draws: KeyedDraws, *, sweeps: int, delta_in: float, corner: bool = False
) -> Array:
    """The alternating sampler from a draw of ``exp(-psi)``, or from a corner to see how it relaxes."""
    trace, ball = ChainTrace(sweeps), target.ball

    def gaussian(name: str, step: int, mean: Array, sd: float, rows: Array) -> tuple[Array, Array]:
        return gaussian_on_ball(draws, name, step, mean, sd, ball.p, ball.radius, MOST_ATTEMPTS, rows)

    centre, everyone = np.zeros((target.rows, target.d)), np.arange(target.rows)
    start, capped = gaussian("start", 0, centre, 1.0 / math.sqrt(k * mu), everyone)
    if corner:
        start = np.full_like(start, -ball.radius * target.d ** (-1.0 / ball.p))
    eta = step_size(k, target.objective.constants.lipschitz, delta_in)
    sampler = ProximalSampler(draws, gaussian, target.differences, target.objective.n, k, k * mu, eta)
    if corner:
        _watch(target, trace, start)
    x = sampler.run(start, sweeps, partial(_watch, target, trace))
    target.queries += sampler.queries
    target.objective.demote(capped | sampler.capped)
    per_call = sampler.queries / sampler.calls
    target.objective.note("queries_per_call", per_call)
    if corner:
        problem = target.objective.problem
        settled = problem.mean_excess(k, mu) if isinstance(problem, RegularisedLaw) else None
        steps = trace.relaxation(settled)
        target.objective.note("relaxation_steps", steps)
        target.objective.note("relaxation_queries", steps * per_call.mean())
    note_evidence(target, trace)
    return x


def _watch(target: Target, trace: ChainTrace, x: Array) -> None:
    if trace.due:
        trace.add(target.excess(x))
    else:
        trace.skip()


def note_evidence(target: Target, trace: ChainTrace) -> None:
    """Keep R-hat, effective sample size and the mean excess risk of each chain beside the result."""
    for name, values in trace.evidence().items():
        target.objective.note(name, values)


SAMPLERS: dict[str, Callable[..., Any]] = {
    "cube_exact": cube_exact,
    "axis_exact": axis_exact,
    "radial_exact": radial_exact,
    "gibbs": gibbs,
    "hit_and_run": hit_and_run,
    "proximal_sampler": proximal_sampler,
}
"""By name; those that run chains take ``sweeps``."""
