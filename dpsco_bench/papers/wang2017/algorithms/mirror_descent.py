"""Noisy methods on a ball: DP-AccMD (Wang, Ye, Xu 2017, Algorithm 3), mirror descent and Frank-Wolfe of its Table 3."""

from __future__ import annotations

from math import log, sqrt

from dpsco_bench.algorithms.registry import CALIBRATIONS, Setting, algorithm
from dpsco_bench.algorithms.shared import averaged_steps, mirror_descent_plan
from dpsco_bench.backend.namespace import array_namespace, cast
from dpsco_bench.geometry.mirror import ball_geometry
from dpsco_bench.papers.wang2017.algorithms.gradient_descent import gradient_query, noise_constant_value
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.plan import NoisyMinimumQuery, Plan, make_plan
from dpsco_bench.problems.base import Trait

EXACT_STEP = "y is computed from the exact gradient (erratum E6)"
NO_NOISE = "the printed listing uses its noise nowhere (erratum E6)"


@algorithm(
    "wang2017.dp_accmd",
    source="Wang, Ye, Xu 2017, Algorithm 3, Theorems 5.3 and 5.4",
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.BALL, Trait.UNREGULARISED),
    variants={"acsa": CALIBRATIONS, "noisy_y": CALIBRATIONS, "proof": ("paper", "none"), "literal": ("paper", "none")},
    defaults={"paper": "proof"},
)
def dp_accmd_plan(
    given: Setting,
    *,
    steps: int | None = None,
    noise_constant: float | str = 1.0,
    norm_smoothness: str = "diameter",
    horizon: str = "literal",
) -> Plan:
    """Accelerated mirror descent: alpha = (k+2)/(4 Lc), T = sqrt(K Lc sqrt(B) n eps/(G sqrt(l W))).

    Lc is the smoothness in the Minkowski norm of C, B bounds the Bregman divergence of the optimum from the start, and
    W = E sup_{w in C} <b, w>^2.

    Parameters
    ----------
    given : Setting
        On a ball.
    variant : str
        How y is updated. ``acsa``: ``r z + (1-r) y``. ``noisy_y``: from the released gradient. ``proof``: from the
        exact gradient, as analysed, which is not private. ``literal``: as printed, without any noise.
    steps : int
        Replace T.
    noise_constant : float or str
        c in sigma^2 = c G^2 T l/(n eps)^2, equation (9); ``renyi`` is c = 8 + 4 eps/l (erratum E8).
    norm_smoothness : str
        ``diameter``: Lc = L diameter^2, as printed. ``radius``: Lc = L radius^2, four times smaller and also valid.
    horizon : str
        ``literal``: K = 1. ``optimal``: K = sqrt(48/c), which minimises the bound. c is that of the noise in force:
        4 eps^2/(mu^2 l), mu the Gaussian-DP parameter of (eps, delta), under accounted noise.
    """
    c, n, d, ball = given.constants, given.n, given.d, given.ball
    B, W = ball_geometry(ball).bregman_radius(d), ball_geometry(ball).squared_width(d)
    lengths = dict(diameter=ball.diameter, radius=ball.radius)
    Lc = c.smoothness * lengths[given.choice("norm_smoothness", norm_smoothness, lengths)] ** 2
    constant = noise_constant_value(given, noise_constant)
    if given.calibration == "accounted":
        constant = least_noise_constant(given.epsilon, given.delta)
    horizons = dict(literal=1.0, optimal=sqrt(48.0 / constant))
    K = horizons[given.choice("horizon", horizon, horizons)]
    gain = n * given.epsilon / (c.lipschitz * sqrt(given.l * W))
    T = given.count("steps", steps) or max(1, round(sqrt(K * Lc * sqrt(B) * gain)))
    schedule: Schedule = dict(n=n, steps=T, norm_smoothness=Lc, bregman_radius=B, squared_width=W, y_step=given.variant)
    if given.variant == "literal":
        return make_plan(gradient_evaluations=n * T, unprotected=NO_NOISE, **schedule)
    exact = (EXACT_STEP,) if given.variant == "proof" else ()
    shown: Schedule = {"leaks": exact} if T > 1 else {"unprotected": " ".join(exact)}  # y_1 holds no noise at all
    return make_plan(gradient_query(given, T, noise_constant), gradient_evaluations=n * T, **shown, **schedule)


def least_noise_constant(epsilon: float, delta: float) -> float:
    """Compute the constant of the least noise, ``4 eps^2/(mu^2 l)``, that makes T releases (eps, delta)-private."""
    return 4.0 * epsilon**2 / (gdp_mu(epsilon, delta) ** 2 * log(1.0 / delta))


@dp_accmd_plan.run
def dp_accmd(objective, plan, mechanism):
    """Algorithm 3 on iterates ``(R, d)``; returns the last y."""
    Lc, geometry = plan.norm_smoothness, ball_geometry(objective.domain)
    y = z = objective.start
    for k in range(plan.steps):
        alpha, r = (k + 2) / (4 * Lc), 2 / (k + 2)
        x = r * z + (1 - r) * y
        exact = objective.mean_gradient(x)
        g = exact if plan.y_step == "literal" else mechanism.release("gradient", exact, k)
        z = geometry.bregman_step(z, alpha * g)
        if plan.y_step == "acsa":
            y = r * z + (1 - r) * y
        elif plan.y_step == "noisy_y":
            y = geometry.norm_step(x, g, Lc)
        else:
            y = geometry.norm_step(x, exact, Lc / 2)
        objective.observe(y)
    return y


@algorithm(
    "wang2017.noisy_md_ttz14",
    source="Talwar, Thakurta, Zhang 2014, as row [28] of Wang, Ye, Xu 2017, Table 3 (constants from memory, "
    "unverified)",
    needs=(Trait.CONVEX, Trait.LIPSCHITZ, Trait.BALL),
)
def noisy_md_plan(given: Setting, *, steps: int | None = None, most_steps: int | None = None) -> Plan:
    """Mirror descent with noisy full gradients: T = diam^2 n^2 eps^2/(W ln^2(n/delta)), average of the iterates.

    Step sqrt(2B/(T (G^2 diam^2 + sigma^2 W))) with sigma the noise in force; B bounds the Bregman divergence from the
    centre and W = E sup_{w in C} <b, w>^2. ``paper``: sigma^2 = 32 G^2 T ln^2(n/delta)/(n eps)^2.

    Parameters
    ----------
    given : Setting
        On a ball.
    steps, most_steps : optional
        Replace T; cap it.
    """
    return mirror_descent_plan(given, steps, most_steps)


noisy_md_plan.run(averaged_steps)


@algorithm(
    "wang2017.frank_wolfe_ttz15",
    source="Talwar, Thakurta, Zhang 2015, as row [29] of Wang, Ye, Xu 2017, Table 3 (constants from memory, "
    "unverified)",
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.L1_BALL),
)
def plan(given: Setting, *, steps: int | None = None) -> Plan:
    """Frank-Wolfe steps 2/(t+2) to the vertex of least noisy score <s, grad F>: T = (n eps/L1)^(2/3), T - 1 releases.

    L1 = sup||grad f||_inf <= G. ``paper``: Laplace scale L1 R sqrt(8 T l)/(n eps). ``accounted``: a score changes by up
    to 2 L1 R/n, so a release is 4 L1 R/(n scale)-differentially private; optimal composition of pure privacy.

    Parameters
    ----------
    given : Setting
        On an l1 ball.
    steps : optional
        Replaces T, at least 2.
    """
    c, n = given.constants, given.n
    given.choice("domain", c.domain, ("l1_ball",))
    slope, R, ne = c.lipschitz, given.ball.radius, n * given.epsilon
    T = given.count("steps", steps, least=2) or max(2, round((ne / slope) ** (2 / 3)))
    scale = slope * R * sqrt(8 * T * given.l) / ne
    vertex = NoisyMinimumQuery("vertex", 2 * slope * R / n, T - 1, paper_scale=scale)
    return make_plan(vertex, gradient_evaluations=n * (T - 1), n=n, steps=T, radius=R)


@plan.run
def frank_wolfe(objective, plan, mechanism):
    """Step from ``(R, d)`` towards vertices ``+R e_1, -R e_1, +R e_2, ...``; return the last iterate."""
    x = objective.start
    xp, d = array_namespace(x), x.shape[-1]
    vertices = xp.arange(2 * d)
    for t in range(1, plan.steps):
        scores = plan.radius * objective.full_gradient(x)
        scores = xp.reshape(xp.stack([scores, -scores], axis=-1), (-1, 2 * d))
        chosen = mechanism.release("vertex", scores, t - 1)
        picked = cast(vertices[None, :] == chosen[:, None], x.dtype)
        vertex = plan.radius * (picked[:, 0::2] - picked[:, 1::2])
        x = x + 2 / (t + 2) * (vertex - x)
        objective.observe(x)
    return x
