"""Bounds of Wang, Ye, Xu 2017 (constants 1 unless a name ends in ``explicit``)."""

from __future__ import annotations

from math import log, sqrt

from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.registry import bound


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
