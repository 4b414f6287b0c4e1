"""Bounds of Wang, Ye, Xu 2017 (constants 1 unless a name ends in ``explicit``)."""

from __future__ import annotations

from math import log, sqrt

from dpsco_bench.claims.bounds.context import Bound, BoundContext


def _thm4_2(c: BoundContext) -> float:
    k = c.constants
    return c.d * k.lipschitz**2 * c.schedule["epochs"] / (k.strong_convexity * (c.n * c.privacy_ratio) ** 2)


def _thm4_2_explicit(c: BoundContext) -> float:
    noise = c.d * c.scales["inner"] ** 2 / (10 * c.constants.smoothness)
    return c.schedule["contraction"] ** c.schedule["epochs"] * c.start_risk + noise


def _thm4_2_gradients(c: BoundContext) -> float:
    return (c.n + c.constants.condition_number) * c.schedule["epochs"]


def _thm4_2_gradients_schedule(c: BoundContext) -> float:
    return (c.n + 384 * c.constants.condition_number) * c.schedule["epochs"]


def _thm6_2(c: BoundContext) -> float:
    k = c.constants
    return c.d * k.lipschitz**2 * c.schedule["steps"] / (2 * k.strong_convexity * (c.n * c.privacy_ratio) ** 2)


def _thm6_2_explicit(c: BoundContext) -> float:
    k = c.constants
    decay = (1 - k.strong_convexity / k.total_smoothness) ** c.schedule["steps"] * c.start_risk
    return decay + c.d * c.scales["gradient"] ** 2 / (2 * k.strong_convexity)


def _strongly_convex(c: BoundContext) -> float:
    return c.d / (c.n * c.privacy_ratio) ** 2


def _zhang17_convex(c: BoundContext) -> float:
    return (sqrt(c.d) / (c.n * c.privacy_ratio)) ** (2 / 3)


def _zhang17_gradients(c: BoundContext) -> float:
    k = c.constants
    return c.n * k.total_smoothness / k.strong_convexity * log(c.n)


BOUNDS = (
    Bound("wang2017.thm4_2", "d G^2 T l / (mu n^2 eps^2)", _thm4_2),
    Bound("wang2017.thm4_2_explicit", "A^T D0 + d sigma^2 / (10 L)", _thm4_2_explicit),
    Bound("wang2017.thm4_2_gradients", "(n + kappa) T", _thm4_2_gradients),
    Bound(
        "wang2017.thm4_2_gradients_schedule",
        "(n + 384 kappa) T, from the schedule's m of about 192 kappa",
        _thm4_2_gradients_schedule,
    ),
    Bound("wang2017.thm6_2", "d G^2 T l / (2 mu n^2 eps^2)", _thm6_2),
    Bound("wang2017.thm6_2_explicit", "(1 - 1/kappa)^T D0 + d sigma^2 / (2 mu)", _thm6_2_explicit),
    Bound("wang2017.strongly_convex", "d l / (n eps)^2", _strongly_convex),
    Bound("wang2017.zhang17_convex", "(sqrt(d l) / (n eps))^(2/3)", _zhang17_convex),
    Bound("wang2017.zhang17_gradients", "n kappa ln(n)", _zhang17_gradients),
)
