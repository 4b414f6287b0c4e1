"""The bounds of Wang, Ye, Xu 2017, those of its tables, and what their symbols mean."""

from __future__ import annotations

from math import log, sqrt

from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.glossary import Symbol, glossary
from dpsco_bench.claims.bounds.registry import bound
from dpsco_bench.geometry.ball import FeasibleSet
from dpsco_bench.geometry.mirror import ball_geometry


@bound("wang2017.thm4_2", "d G^2 T l / (mu n^2 eps^2)")
def _thm4_2(c: BoundContext) -> float:
    k = c.constants
    return c.d * k.lipschitz**2 * c.schedule["epochs"] / (k.strong_convexity * (c.n * c.privacy_ratio) ** 2)


@bound("wang2017.thm4_2_explicit", "A^T R0 + d sigma^2/(10 L)")
def _thm4_2_explicit(c: BoundContext) -> float:
    noise = c.d * c.scales["inner"] ** 2 / (10 * c.constants.smoothness)
    return c.schedule["contraction"] ** c.schedule["epochs"] * c.start_risk + noise


@bound("wang2017.thm4_2_gradients", "(n + kappa) T")
def _thm4_2_gradients(c: BoundContext) -> float:
    return (c.n + c.constants.condition_number) * c.schedule["epochs"]


@bound("wang2017.thm4_2_gradients_schedule", "(n + 384 kappa) T, from the schedule's m of about 192 kappa")
def _thm4_2_gradients_schedule(c: BoundContext) -> float:
    return (c.n + 384 * c.constants.condition_number) * c.schedule["epochs"]


@bound("wang2017.thm4_4", "G sqrt(d l) / (n eps)")
def _thm4_4(c: BoundContext) -> float:
    return c.constants.lipschitz * sqrt(c.d) / (c.n * c.privacy_ratio)


@bound("wang2017.thm4_4_explicit", "2^-T (R0 (1 + 1/(2m)) + 39 L ||x_0 - x*||^2/(4m)) + d sigma^2/(4 L)")
def _thm4_4_explicit(c: BoundContext) -> float:
    L, T, m = c.constants.smoothness, c.schedule["epochs"], c.schedule["inner_steps"]
    bias = c.start_risk * (1 + 1 / (2 * m)) + 39 * L * c.constants.distance**2 / (4 * m)
    return bias / 2**T + c.d * c.scales["inner"] ** 2 / (4 * L)


@bound("wang2017.thm4_4_gradients", "n L eps / sqrt(d) + n T")
def _thm4_4_gradients(c: BoundContext) -> float:
    return c.n * c.constants.smoothness * c.epsilon / sqrt(c.d) + c.n * c.schedule["epochs"]


@bound("wang2017.thm5_4", "G sqrt(B W l) / (n eps)")
def _thm5_4(c: BoundContext) -> float:
    width = c.schedule["bregman_radius"] * c.schedule["squared_width"]
    return c.constants.lipschitz * sqrt(width) / (c.n * c.privacy_ratio)


@bound("wang2017.thm5_4_explicit", "8 Lc B/(T+1)^2 + sigma^2 W/(2 Lc (T+1)^2) sum_{k=2}^{T+1} k^2")
def _thm5_4_explicit(c: BoundContext) -> float:
    Lc, T = c.schedule["norm_smoothness"], c.schedule["steps"]
    squares = (T + 1) * (T + 2) * (2 * T + 3) / 6 - 1
    noise = c.scales["gradient"] ** 2 * c.schedule["squared_width"] * squares / (2 * Lc)
    return (8 * Lc * c.schedule["bregman_radius"] + noise) / (T + 1) ** 2


@bound("wang2017.thm5_4_gradients", "n T, T = sqrt(Lc sqrt(B) n eps/(G sqrt(W ln(1/delta))))")
def _thm5_4_gradients(c: BoundContext) -> float:
    B, W = c.schedule["bregman_radius"], c.schedule["squared_width"]
    signal = c.n * c.epsilon / (c.constants.lipschitz * sqrt(log(1 / c.delta) * W))
    return c.n * sqrt(c.schedule["norm_smoothness"] * sqrt(B) * signal)


@bound("wang2017.thm6_2", "d G^2 T l / (2 mu n^2 eps^2)")
def _thm6_2(c: BoundContext) -> float:
    k = c.constants
    return c.d * k.lipschitz**2 * c.schedule["steps"] / (2 * k.strong_convexity * (c.n * c.privacy_ratio) ** 2)


@bound("wang2017.thm6_2_explicit", "(1 - mu/(L + lambda))^T R0 + d sigma^2/(2 mu)")
def _thm6_2_explicit(c: BoundContext) -> float:
    k = c.constants
    decay = (1 - k.strong_convexity / k.total_smoothness) ** c.schedule["steps"] * c.start_risk
    return decay + c.d * c.scales["gradient"] ** 2 / (2 * k.strong_convexity)


@bound("wang2017.thm6_3", "2 G sqrt(2 (L + lambda) D0 d l)/(n eps)")
def _thm6_3(c: BoundContext) -> float:
    k = c.constants
    return 2 * k.lipschitz * sqrt(2 * k.total_smoothness * k.initial_gap * c.d) / (c.n * c.privacy_ratio)


@bound("wang2017.thm6_3_explicit", "2 (L + lambda) D0/T + d sigma^2")
def _thm6_3_explicit(c: BoundContext) -> float:
    k = c.constants
    return 2 * k.total_smoothness * k.initial_gap / c.schedule["steps"] + c.d * c.scales["gradient"] ** 2


@bound("wang2017.strongly_convex", "d l / (n eps)^2")
def _strongly_convex(c: BoundContext) -> float:
    return c.d / (c.n * c.privacy_ratio) ** 2


@bound("wang2017.zhang17_convex", "(sqrt(d l) / (n eps))^(2/3)")
def _zhang17_convex(c: BoundContext) -> float:
    return (sqrt(c.d) / (c.n * c.privacy_ratio)) ** (2 / 3)


@bound("wang2017.zhang17_gradients", "n ln(n) (L + lambda)/mu")
def _zhang17_gradients(c: BoundContext) -> float:
    k = c.constants
    return c.n * k.total_smoothness / k.strong_convexity * log(c.n)


@bound("wang2017_tables.pure_strongly_convex", "d / (n eps)^2")
def _pure_strongly_convex(c: BoundContext) -> float:
    return c.d / (c.n * c.epsilon) ** 2


@bound("wang2017_tables.convex", "sqrt(d l) / (n eps)")
def _convex(c: BoundContext) -> float:
    return sqrt(c.d) / (c.n * c.privacy_ratio)


@bound("wang2017_tables.bst14_strongly_convex", "d l ln^2(n) / (n eps)^2")
def _bst14_strongly_convex(c: BoundContext) -> float:
    return c.d * log(c.n) ** 2 / (c.n * c.privacy_ratio) ** 2


@bound("wang2017_tables.bst14_convex", "sqrt(d l) ln^(3/2)(n) / (n eps)")
def _bst14_convex(c: BoundContext) -> float:
    return sqrt(c.d) * log(c.n) ** 1.5 / (c.n * c.privacy_ratio)


@bound("wang2017_tables.bst14_gradients", "n^2")
def _bst14_gradients(c: BoundContext) -> float:
    return float(c.n) ** 2


@bound("wang2017_tables.zhang17_convex_gradients", "n (n eps / sqrt(d l))^(2/3)")
def _zhang17_convex_gradients(c: BoundContext) -> float:
    return c.n * (c.n * c.privacy_ratio / sqrt(c.d)) ** (2 / 3)


@bound("wang2017_tables.zhang17_convex_gradients_printed", "n (n eps / (d sqrt(l)))^(2/3)")
def _zhang17_convex_gradients_printed(c: BoundContext) -> float:
    return c.n * (c.n * c.privacy_ratio / c.d) ** (2 / 3)


@bound("wang2017_tables.md_ttz14", "sqrt(W l) ln(n) / (n eps)")
def _md(c: BoundContext) -> float:
    return sqrt(squared_width(c)) * log(c.n) / (c.n * c.privacy_ratio)


@bound("wang2017_tables.md_ttz14_gradients", "n^3 eps^2 diam^2 / (W ln^2(n/delta))")
def _md_gradients(c: BoundContext) -> float:
    steps = (_ball(c).diameter * c.n * c.epsilon / log(c.n / c.delta)) ** 2 / squared_width(c)
    return c.n * steps


@bound("wang2017_tables.objective_ttz14", "(G_C + lambda diam^2) sqrt(l) / (n eps)")
def _objective_ttz14(c: BoundContext) -> float:
    ball, k = _ball(c), c.constants
    return (width(c) + k.regularisation * ball.diameter**2) / (c.n * c.privacy_ratio)


@bound("wang2017_tables.frank_wolfe_ttz15", "G_C^(2/3) ln^2(n) (sqrt(l) / (n eps))^(2/3)")
def _frank_wolfe(c: BoundContext) -> float:
    return width(c) ** (2 / 3) * log(c.n) ** 2 / (c.n * c.privacy_ratio) ** (2 / 3)


@bound("wang2017_tables.frank_wolfe_ttz15_bare", "(G_C sqrt(l) / (n eps))^(2/3)")
def _frank_wolfe_bare(c: BoundContext) -> float:
    return (width(c) / (c.n * c.privacy_ratio)) ** (2 / 3)


@bound("wang2017_tables.frank_wolfe_ttz15_gradients_printed", "(n eps / G_C)^(2/3)")
def _frank_wolfe_gradients_printed(c: BoundContext) -> float:
    return (c.n * c.epsilon / width(c)) ** (2 / 3)


@bound("wang2017_tables.frank_wolfe_ttz15_gradients", "n (n eps)^(2/3)")
def _frank_wolfe_gradients(c: BoundContext) -> float:
    return c.n * (c.n * c.epsilon) ** (2 / 3)


def _ball(c: BoundContext) -> FeasibleSet:
    ball = c.constants.ball
    assert ball is not None
    return ball


def width(c: BoundContext) -> float:
    return _ball(c).width(c.d)


def squared_width(c: BoundContext) -> float:
    """``E sup_{w in C} <b, w>^2`` of a standard normal b."""
    return ball_geometry(_ball(c)).squared_width(c.d)


glossary(
    "wang2017",
    __name__,
    {
        "G": Symbol("Lipschitz constant of a record's loss", "constants.lipschitz"),
        "L": Symbol("smoothness of a record's loss, without the regulariser", "constants.smoothness"),
        "Lc": Symbol("smoothness in the norm of the feasible set", "schedule.norm_smoothness"),
        "mu": Symbol("strong convexity", "constants.strong_convexity"),
        "lambda": Symbol("weight of the regulariser", "constants.regularisation"),
        "kappa": Symbol("L/mu, the condition number"),
        "D0": Symbol("a-priori bound on the excess risk of the start", "constants.initial_gap"),
        "R0": Symbol("measured excess risk of the start", "start_risk"),
        "||x_0 - x*||": Symbol("distance of the optimum from the start, a bound", "constants.distance"),
        "T": Symbol("epochs of a method that has them, else steps", "schedule.epochs or schedule.steps"),
        "m": Symbol("inner steps of an epoch", "schedule.inner_steps"),
        "A": Symbol("contraction of an epoch", "schedule.contraction"),
        "sigma": Symbol("standard deviation of a step's noise, per coordinate", "scales.inner or scales.gradient"),
        "B": Symbol("bound on the Bregman divergence from the start", "schedule.bregman_radius"),
        "W": Symbol("E sup_{w in C} <b, w>^2 of a standard normal b, C the feasible set", squared_width),
        "G_C": Symbol("E sup_{w in C} <b, w>, the Gaussian width of the feasible set", width),
        "diam": Symbol("diameter of the feasible set in its own norm", "constants.diameter"),
    },
)
