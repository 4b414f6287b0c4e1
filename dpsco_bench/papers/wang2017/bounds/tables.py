"""Bounds of the baselines' rows in Tables 1 to 3 of Wang, Ye, Xu 2017, with constants 1 and the logarithms printed."""

from __future__ import annotations

from math import log, sqrt

from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.registry import bound
from dpsco_bench.geometry.ball import FeasibleSet
from dpsco_bench.geometry.mirror import ball_geometry
from dpsco_bench.geometry.width import gaussian_width


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
    return gaussian_width(_ball(c), c.d)


def squared_width(c: BoundContext) -> float:
    """``E sup_{w in C} <b, w>^2`` of a standard normal b."""
    return ball_geometry(_ball(c)).squared_width(c.d)
