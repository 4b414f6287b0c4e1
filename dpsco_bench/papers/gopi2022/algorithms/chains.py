"""Samplers by Markov chains, each an algorithm of its own; the alternating sampler has a proof on the cube."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.papers.gopi2022.algorithms.mechanism import (
    EVALUATED,
    NEEDS,
    PAPER,
    Target,
    checked_setting,
    draw,
    fitting,
    mechanism,
    plan_of,
    regularised,
)
from dpsco_bench.papers.gopi2022.samplers.chains import (
    LARGEST_CLIP,
    ProximalRate,
    ProximalSampler,
    gibbs_chains,
    regularised_gaussian,
    sample_hit_and_run,
    step_size,
)
from dpsco_bench.papers.gopi2022.samplers.lp import sample_lp
from dpsco_bench.papers.gopi2022.samplers.truncated import gaussian_on_ball
from dpsco_bench.plain import Options
from dpsco_bench.privacy.accountants.gaussian import total_delta
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.constants import Trait
from dpsco_bench.samplers.draws import KeyedDraws
from dpsco_bench.samplers.evidence import ChainTrace


@mechanism("gopi2022.gibbs", "Corollaries 2 to 4")
def gibbs(target: Target, k: float, mu: float, draws: KeyedDraws, *, sweeps: int) -> np.ndarray:
    """Run one chain per replicate, coordinate by coordinate with a move along the ray, for any p in [1, inf].

    For linear losses on an l_p ball.
    """
    watch, r = ChainTrace(sweeps, target.excess), target.regulariser
    slope, c = k * target.mean_slope, k * mu * r.coefficient
    xp, ball = target.objective.xp, target.ball
    x = gibbs_chains(xp, draws, slope, c, r.q, ball.p, ball.radius, sweeps, watch)
    target.info.extras |= watch.evidence()
    return x


@mechanism("gopi2022.hit_and_run", "Corollaries 2 to 5", EVALUATED)
def hit_and_run(target: Target, k: float, mu: float, draws: KeyedDraws, *, sweeps: int) -> np.ndarray:
    """Run one chain per replicate from the centre along random lines, on any l_p or Schatten ball.

    Each density costs n value queries, none for linear losses. For losses that can be evaluated.
    """
    watch = ChainTrace(sweeps, target.excess)
    outer, start = 0.5 * target.ball.euclidean_diameter(target.d), np.zeros((target.rows, target.d))
    x = sample_hit_and_run(draws, partial(target.log_density, k, mu), start, outer, sweeps, watch)
    target.info.extras |= watch.evidence()
    return x


@algorithm(
    "gopi2022.proximal_sampler",
    source=f"{PAPER}, Propositions 8 and 9",
    needs=(*NEEDS, Trait.RECORD_LOSSES),
    variants=EVALUATED,
    least_norm=1.0,
)
def proximal_sampler_plan(
    given: Setting,
    *,
    schedule: str = "erm",
    theta_convention: str = "centred",
    sweeps: int | None = None,
    delta_in: float | None = None,
    start: str = "law",
) -> Plan:
    """T steps of the alternating sampler, which asks for values of single losses only: within tau of the target law.

    eta = 1/(16 k^2 G2^2 ln(2/delta_in)), T = ceil(ln(KL0/(2 tau_mix^2))/(2 ln(1 + eta k mu))), KL0 = k G D,
    delta_in = (tau_clip/T)^2/e, tau_mix = tau_clip = tau/2; 4e T value queries are expected. G2 is the Lipschitz
    constant in l_2, G d^(1/p - 1/2) for p < 2 and G otherwise.

    Parameters
    ----------
    given, variant, schedule, theta_convention
        As for ``gopi2022.reg_exp_mech``; an l_p ball. With the theorem's T, t is taken at delta/2, and tau is delta/2
        for ``printed`` (which proves no epsilon, erratum E3) and delta/(2 (1 + e^eps)) for ``replace_one``.
    sweeps, delta_in : optional
        In place of T and its delta_in, the chance that one difference exceeds 1/2 (at most 0.05). With less of T
        or more of delta_in, nothing is proven.
    start : str
        ``law``: a draw of exp(-k mu r). ``corner``: a far corner of the domain, from which it is noted how many steps
        and queries the mean takes to settle; nothing is proven.

    Notes
    -----
    The distance is that of `samplers.chains.ProximalRate`, whose derivation is there, for data of the declared
    domain and real arithmetic. It needs ``KL_0 <= k (max F - min F) <= k G D`` (a start from exp(-psi)), G2 as
    Lipschitz constant in l_2 and r 1-strongly convex in l_2 (no l_p norm with p <= 2 is below that of l_2), a convex
    F, and draws of ``exp(-psi)`` times a Gaussian that are exact: on the cube they are inverted; on other balls they
    are rejected with a limit of attempts, and the chance to reach it has no bound here. So only the cube is ever
    proven, other balls are ``target_law_only``.
    A round is accepted with probability ``1/2 - sqrt(e delta_in)/4`` at least, so that the oracle gives up after 512
    rounds, without an output, with a chance below 0.6^512.
    """
    s, c = checked_setting(given), given.constants
    fitting("proximal_sampler", s)
    temperature = regularised(s, schedule, theta_convention)
    tau = 0.5 * s.delta * (1.0 if s.variant == "printed" else float(expit(-s.epsilon)))
    at_corner = s.choice("start", start, ("law", "corner")) == "corner"
    t, G = s.parameter(0.5 * s.delta), c.lipschitz  # at the law that leaves half of delta to tau
    k, mu = temperature.at(s.loss_range / (G * t))
    chains = ProximalRate(k, mu, euclidean_lipschitz(G, c.norm, s.d), k * G * c.diameter)
    steps = s.count("sweeps", sweeps) or chains.steps(tau)
    inner = chains.clip(tau, steps) if delta_in is None else delta_in
    if not 0.0 < inner <= LARGEST_CLIP:
        raise s.error("delta_in", inner, f"in (0, {LARGEST_CLIP}], where the clip's error is bounded")
    exact_oracle = math.isinf(c.norm)  # elsewhere the Gaussian is rejected, and may be capped
    close = chains.distance(steps, inner) <= tau * (1.0 + 1e-12)
    proven = exact_oracle and not at_corner and close
    query = s.query(temperature, "proven_tv" if proven else "target_law_only", tau)
    warnings: tuple[str, ...] = ()
    if proven and s.variant == "printed":
        reached = total_delta(c.loss_difference / s.loss_range * t, s.epsilon, tau)
        warnings = (f"with tau = delta/2 the claimed epsilon has delta = {reached:.3g} (errata E1 and E3)",)
    told: Options = dict(expected_queries=4.0 * math.e * steps, sweeps=steps, delta_in=inner, corner=at_corner)
    return plan_of(s, query, "proximal_sampler", warnings, **told)


def euclidean_lipschitz(lipschitz: float, p: float, d: int) -> float:
    """G2 of losses that are G-Lipschitz in l_p."""
    return lipschitz * d ** max(0.0, 1.0 / p - 0.5)


def proximal_sampler(
    target: Target,
    k: float,
    mu: float,
    draws: KeyedDraws,
    *,
    sweeps: int,
    delta_in: float,
    corner: bool = False,
    chains: Any = ProximalSampler,
) -> np.ndarray:
    """Run the alternating sampler from a draw of ``exp(-psi)``, or from a corner to see how it relaxes.

    ``chains`` makes what runs, of `ProximalSampler`'s arguments.
    """
    watch, ball, r, d = ChainTrace(sweeps, target.excess), target.ball, target.regulariser, target.d
    euclidean, c = r.q == 2.0, k * mu * r.coefficient  # then psi is part of a Gaussian

    def gaussian(name: str, step: int, mean: np.ndarray, sd: float, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if euclidean:
            return gaussian_on_ball(draws, name, step, mean, sd, ball.p, ball.radius, rows)
        return regularised_gaussian(draws, name, step, mean, sd, c, r.q, ball.p, ball.radius, rows)

    centre, capped = np.zeros((target.rows, d)), np.arange(0)
    if corner:
        watch(start := centre - ball.radius * d ** (-1.0 / ball.p))
    elif euclidean:
        start, capped = gaussian("start", 0, centre, 1.0 / math.sqrt(k * mu), np.arange(target.rows))
    else:
        start = ball.radius * sample_lp(draws, centre, c * ball.radius**2, r.q, ball.p)
    eta = step_size(k, euclidean_lipschitz(target.objective.constants.lipschitz, ball.p, d), delta_in)
    sampler = chains(draws, gaussian, target.differences, target.objective.n, k, k * mu if euclidean else 0.0, eta)
    x = sampler.run(start, sweeps, watch)
    target.queries += sampler.queries
    sampler.capped[capped] = True
    target.info.demoted = sampler.capped
    target.info.extras["queries_per_call"] = per_call = sampler.queries / sampler.calls
    if corner:
        steps = watch.relaxation(target.mean_excess(k, mu))
        target.info.extras |= {"relaxation_steps": steps, "relaxation_queries": steps * per_call.mean()}
    target.info.extras |= watch.evidence()
    return x


proximal_sampler_plan.run(draw)
