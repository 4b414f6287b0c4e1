"""The exponential mechanism of Gopi, Lee, Liu, Shen, Tian 2022, and what it is held against.

`mechanism` makes an algorithm of a sampler, (target, k, mu, draws) -> one point per row ``(R, d)`` of the density
``exp(-k (F_D + mu r))``: the plan is one draw by it. The modules ``exact`` and ``chains`` hold the samplers.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping

import numpy as np

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.backend.namespace import cast, cast_like, float64_zeros
from dpsco_bench.geometry.mirror import SmoothMirror
from dpsco_bench.geometry.sets import SchattenBall
from dpsco_bench.papers.gopi2022.algorithms.setting import (
    CHAINS,
    NEEDS,
    PAPER,
    SWEEPS,
    VARIANTS,
    checked_setting,
    draw,
    draw_plan,
    regularised,
    sampler_parts,
)
from dpsco_bench.papers.gopi2022.regulariser import NormRegulariser
from dpsco_bench.privacy.plan import Plan, make_plan
from dpsco_bench.privacy.queries import Temperature
from dpsco_bench.problems.base import Trait

Sampler = Callable[..., np.ndarray]
_PARAMETERS = """
Parameters
----------
given, variant, schedule, theta_convention
    As for ``gopi2022.reg_exp_mech``.
"""
_SWEEPS = """sweeps : int
    Length of each chain, of which the second half counts as evidence: rhat, ess and chain_risk are kept beside the
    result, and where quadrature knows the law expected_gap and z_score. Nothing is proven about the distance from the
    target law.
"""


def mechanism(id: str, source: str, variants: Mapping[str, tuple[str, ...]] = VARIANTS) -> Callable[[Sampler], Sampler]:
    """Register one draw by the decorated sampler, with the schedule of Theorem 3 or 4, as an algorithm.

    The id ends with the sampler's name, and its docstring becomes the algorithm's. The source says where the law is
    defined; the variants are those of `registry.algorithm`.
    """

    def register(sampler: Sampler) -> Sampler:
        name = sampler.__name__

        def exact(given: Setting, *, schedule: str = "erm", theta_convention: str = "centred") -> Plan:
            s = checked_setting(given)
            return draw_plan(s, regularised(s, schedule, theta_convention), name)

        def chains(
            given: Setting, *, schedule: str = "erm", theta_convention: str = "centred", sweeps: int = SWEEPS
        ) -> Plan:
            s = checked_setting(given)
            return draw_plan(s, regularised(s, schedule, theta_convention), name, sweeps)

        plan: Callable[..., Plan] = chains if name in CHAINS else exact
        plan.__module__ = sampler.__module__
        plan.__doc__ = f"{inspect.getdoc(sampler)}\n{_PARAMETERS}{_SWEEPS if name in CHAINS else ''}"
        declared = algorithm(id, source=f"{PAPER}, {source}", needs=NEEDS, variants=variants, least_norm=1.0)
        declared(plan).run(draw)
        return sampler

    return register


@algorithm(
    "gopi2022.reg_exp_mech",
    source=f"{PAPER}, Theorems 3 and 4, Corollaries 2 to 5",
    needs=NEEDS,
    variants=VARIANTS,
    least_norm=1.0,
    parts=sampler_parts,
)
def reg_exp_mech(
    given: Setting,
    *,
    schedule: str = "erm",
    sampler: str = "auto",
    theta_convention: str = "centred",
    sweeps: int | None = None,
    accountant: str = "theorem",
) -> Plan:
    """Single draw from exp(-k (F_D + mu r)); erm: k = n t sqrt(d/Theta)/S, mu = S sqrt(d/Theta)/(n t).

    sco: k = sqrt((d + C2)/C1), mu = S^2 k/(n t)^2 with C1 = S^2 Theta/(n t)^2, C2 = G n t^2/S. r is the geometry's:
    ||x||_p^2/(2(p-1)) for 1 < p <= 2, (e^2 ln d/2) ||x||_q^2 with q = 1 + 1/ln d for p = 1, ||x||_2^2/2 for p >= 2; for
    matrices the same on singular values.

    Parameters
    ----------
    given : Setting
        G and S in the norm of the domain, an l_p or Schatten ball; d is the ambient dimension; delta below 1/2.
    variant : str
        ``printed``: S = G and t = eps/sqrt(2 ln(1/(2 delta))), not private (erratum E1). ``replace_one``: the S that
        the problem proves (2G at most) and the exact t.
    schedule : str
        ``erm`` (Theorem 3) or ``sco`` (Theorem 4).
    sampler : str
        ``auto``: an exact one, or a refusal. ``cube_exact``, ``axis_exact``, ``lp_exact``, ``radial_exact``, ``gibbs``
        or ``hit_and_run``: that one, with the status that it has.
    theta_convention : str
        Range of r for a ball of radius R: ``centred`` with R, ``diameter`` with 2R, as the corollaries.
    sweeps : int, optional
        Length of the chains of ``gibbs`` and ``hit_and_run``, 1000 by default.
    accountant : str
        ``theorem``: Theorem 2, an upper bound. ``pairs``: by quadrature of the laws on neighbouring data sets, where
        the theorem leaves the claim open; exact for data sets of two points on an axis (``axis_linear``), from below
        for others, of which ``lp_exact`` compares some in the plane of two coordinates. Of the exact samplers.
    """
    s = checked_setting(given)
    return draw_plan(s, regularised(s, schedule, theta_convention), sampler, sweeps, accountant)


reg_exp_mech.run(draw)


@algorithm(
    "gopi2022.exp_mech_sc",
    source=f"{PAPER}, Theorems 5 and 6",
    needs=(*NEEDS, Trait.STRONGLY_CONVEX),
    variants=VARIANTS,
    least_norm=1.0,
    parts=sampler_parts,
)
def exp_mech_sc(
    given: Setting, *, sampler: str = "auto", sweeps: int | None = None, accountant: str = "theorem"
) -> Plan:
    """Single draw from exp(-k F_D), k = (n t/S)^2 mu, for mu-strongly convex losses.

    Parameters
    ----------
    given : Setting
        G, S and mu in the norm of the domain; delta below 1/2.
    variant
        As for ``gopi2022.reg_exp_mech``.
    sampler : str
        ``auto``: an exact one, or a refusal; ``axis_exact`` (quadratic losses on an l_2 ball), ``radial_exact`` or
        ``hit_and_run``.
    sweeps : int, optional
        Length of the chains of ``hit_and_run``, 1000 by default.
    accountant : str
        ``theorem``: Theorem 2, an upper bound. ``pairs``: by quadrature of the laws on neighbouring data sets, where
        the theorem leaves the claim open; from below, of a pair of data sets on an axis. Of ``axis_exact``.
    """
    s, c = checked_setting(given), given.constants
    if c.strong_convexity <= 0:
        raise s.error("strong_convexity", c.strong_convexity, "> 0")
    largest = 2.0 * c.lipschitz / c.strong_convexity
    if c.diameter > largest * (1.0 + 1e-12):
        raise s.error("diameter", c.diameter, f"at most 2 G/mu = {largest:g}: G and mu contradict it")
    temperature = Temperature("strongly_convex", s.n, s.d, c.lipschitz, s.loss_range, convexity=c.strong_convexity)
    return draw_plan(s, temperature, sampler, sweeps, accountant)


exp_mech_sc.run(draw)


@algorithm(
    "gopi2022.mirror_descent_nonprivate",
    source=f"{PAPER}, Table 1 (non-private rate); textbook step",
    needs=NEEDS,
    variants={"standard": ("none",)},
    order_invariant=False,
    least_norm=1.0,
)
def mirror_descent_plan(given: Setting) -> Plan:
    """Single pass of stochastic mirror descent with mirror map r, step sqrt(2 Theta/(G^2 n)), average iterate.

    Parameters
    ----------
    given : Setting
        G in the norm of the domain, an l_p ball; nothing is private.
    """
    s, c, n = checked_setting(given), given.constants, given.n
    if isinstance(c.ball, SchattenBall):
        raise s.error("domain", c.domain, "an l_p ball")
    theta = s.regulariser.theta(s.radius)
    step = math.sqrt(2.0 * theta / n) / c.lipschitz
    reason = "it is not private: every iterate is an exact function of the data"
    return make_plan(gradient_evaluations=n, unprotected=reason, n=n, p=c.norm, theta=theta, step=step)


@mirror_descent_plan.run
def mirror_descent(objective, plan, mechanism):
    """Mean of the n iterates ``(R, d)`` before each step."""
    x = objective.start
    mirror = SmoothMirror(NormRegulariser(plan.p, x.shape[-1]))
    total = float64_zeros(x)
    for i in range(plan.n):
        total = total + cast(x, objective.xp.float64)
        dual = mirror.gradient(x) - plan.step * objective.range_gradient(x, i, 1)
        x = objective.project(dual) if plan.p > 2 else mirror.step(dual, plan.p, objective.domain.radius)
        objective.observe(x)
    return cast_like(total / plan.n, x)
