"""Bounds of Gopi, Lee, Liu, Shen, Tian 2022, with their constants.

Bounds are written with S, t and Theta of the schedule: ``t = eps/sqrt(2 Lam)`` and S = G under ``paper``, which gives
what is printed, the proven S and the exact t under ``accounted``. `valid` bounds hold for the schedule that was run
whatever S the losses have (erratum E1).
"""

from __future__ import annotations

import math
from math import e, log, sqrt

from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.registry import bound
from dpsco_bench.geometry.schatten import SchattenBall
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon
from dpsco_bench.privacy.temperature import Temperature


def _schedule(c: BoundContext) -> Temperature:
    return Temperature.of(c.schedule)


def _scale(c: BoundContext) -> float:
    """``S/(G t)``."""
    return c.scales["draw"]


def _unit(c: BoundContext) -> float:
    """``S/(n t)``; under ``paper`` ``G sqrt(2 Lam)/(n eps)``."""
    return _schedule(c).lipschitz * _scale(c) / c.n


def _theta(c: BoundContext) -> float:
    return _schedule(c).theta


@bound("gopi2022.thm3", "2 S sqrt(d Theta)/(n t); printed: G sqrt(8 d Theta Lam)/(n eps)")
def _thm3(c: BoundContext) -> float:
    return 2.0 * _unit(c) * sqrt(c.d * _theta(c))


def _ratio(c: BoundContext) -> float:
    """``S/(2G)`` of the schedule."""
    schedule = _schedule(c)
    return schedule.loss_range / (2.0 * schedule.lipschitz)


def _thm4_statistical(c: BoundContext) -> float:
    """The printed constant is sqrt(8), and so it is for S = 2G; the argument gives ``2 sqrt(S G Theta/n)``."""
    return c.constants.lipschitz * sqrt(8.0 * _theta(c) / c.n) * (sqrt(_ratio(c)) if c.calibration != "paper" else 1.0)


@bound(
    "gopi2022.thm4",
    "2 S sqrt(d Theta)/(n t) + G sqrt(8 Theta/n); accounted: 2 S sqrt(d Theta)/(n t) + 2 sqrt(S G Theta/n)",
)
@bound("gopi2022.thm4_draw", "2 S sqrt(d Theta)/(n t); whole bound: thm4", named_term=_thm3)
@bound(
    "gopi2022.thm4_sampling",
    "G sqrt(8 Theta/n); accounted: 2 sqrt(S G Theta/n); whole bound: thm4",
    named_term=_thm4_statistical,
)
def _thm4(c: BoundContext) -> float:
    return _thm3(c) + _thm4_statistical(c)


@bound("gopi2022.thm4_unsplit", "mu Theta + G S/(n mu) + d/k, S as the schedule has it")
def _thm4_unsplit(c: BoundContext) -> float:
    schedule = _schedule(c)
    k, mu = schedule.at(_scale(c))
    return mu * schedule.theta + schedule.lipschitz * schedule.loss_range / (c.n * mu) + c.d / k


@bound("gopi2022.thm4_valid", "mu Theta + G S_true/(n mu) + d/k")
def _thm4_valid(c: BoundContext) -> float:
    schedule = _schedule(c)
    k, mu = schedule.at(_scale(c))
    return mu * schedule.theta + schedule.lipschitz * c.constants.loss_difference / (c.n * mu) + c.d / k


def columns(c: BoundContext) -> int:
    """Number of columns d2 of matrices, d of vectors."""
    ball = c.constants.ball
    return ball.columns if isinstance(ball, SchattenBall) else c.d


def _draw(c: BoundContext) -> float:
    """``sqrt(d Lam)/(n eps)`` times G; S and t of the schedule."""
    return sqrt(0.5 * c.d) * _unit(c)


def _sampling(c: BoundContext) -> float:
    """``G/sqrt n``."""
    return c.constants.lipschitz / sqrt(c.n)


def _cor2_size(c: BoundContext) -> float:
    return 2.0 * c.constants.diameter / sqrt(c.constants.norm - 1.0)


@bound("gopi2022.cor2_erm", "(2 D/sqrt(p - 1)) sqrt(d/2) S/(n t); printed: (2 G D/sqrt(p - 1)) sqrt(d Lam)/(n eps)")
def _cor2_erm(c: BoundContext) -> float:
    return _cor2_size(c) * _draw(c)


def _cor2_sampling(c: BoundContext) -> float:
    return _cor2_size(c) * _sampling(c)


@bound(
    "gopi2022.cor2_sco",
    "(2 D/sqrt(p - 1)) (sqrt(d/2) S/(n t) + G/sqrt n); printed: (2 G D/sqrt(p - 1)) (sqrt(d Lam)/(n eps) + 1/sqrt n)",
)
@bound(
    "gopi2022.cor2_sco_draw",
    "(2 D/sqrt(p - 1)) sqrt(d/2) S/(n t); whole bound: cor2_sco",
    named_term=_cor2_erm,
)
@bound("gopi2022.cor2_sco_sampling", "(2 D/sqrt(p - 1)) G/sqrt n; whole bound: cor2_sco", named_term=_cor2_sampling)
def _cor2_sco(c: BoundContext) -> float:
    return _cor2_size(c) * (_draw(c) + _sampling(c))


def _cor3_size(c: BoundContext) -> float:
    return 6.0 * c.constants.diameter * sqrt(log(columns(c)))


@bound("gopi2022.cor3_erm", "6 D sqrt(ln d2) sqrt(d/2) S/(n t); printed: 6 G D sqrt(ln d2) sqrt(d Lam)/(n eps)")
def _cor3_erm(c: BoundContext) -> float:
    return _cor3_size(c) * _draw(c)


@bound(
    "gopi2022.cor3_sco",
    "6 D sqrt(ln d2) (sqrt(d/2) S/(n t) + G/sqrt n); printed: 6 G D sqrt(ln d2) (sqrt(d Lam)/(n eps) + 1/sqrt n)",
)
def _cor3_sco(c: BoundContext) -> float:
    return _cor3_size(c) * (_draw(c) + _sampling(c))


def _cor4_size(c: BoundContext) -> float:
    p = c.constants.norm
    return 2.0 * c.constants.diameter * columns(c) ** (0.5 - (0.0 if math.isinf(p) else 1.0 / p))


@bound("gopi2022.cor4_erm", "2 D d2^(1/2 - 1/p) sqrt(d/2) S/(n t); printed: 2 G D d2^(1/2 - 1/p) sqrt(d Lam)/(n eps)")
def _cor4_erm(c: BoundContext) -> float:
    return _cor4_size(c) * _draw(c)


def _cor4_sampling(c: BoundContext) -> float:
    return _cor4_size(c) * _sampling(c)


@bound(
    "gopi2022.cor4_sco",
    "2 D d2^(1/2 - 1/p) (sqrt(d/2) S/(n t) + G/sqrt n); printed: 2 G D d2^(1/2 - 1/p) (sqrt(d Lam)/(n eps) + 1/sqrt n)",
)
@bound(
    "gopi2022.cor4_sco_draw",
    "2 D d2^(1/2 - 1/p) sqrt(d/2) S/(n t); whole bound: cor4_sco",
    named_term=_cor4_erm,
)
@bound("gopi2022.cor4_sco_sampling", "2 D d2^(1/2 - 1/p) G/sqrt n; whole bound: cor4_sco", named_term=_cor4_sampling)
def _cor4_sco(c: BoundContext) -> float:
    return _cor4_size(c) * (_draw(c) + _sampling(c))


@bound("gopi2022.thm5", "d S^2/(n^2 t^2 mu); printed: 2 d G^2 Lam/(n^2 eps^2 mu)")
def _thm5(c: BoundContext) -> float:
    return c.d * _unit(c) ** 2 / _schedule(c).convexity


def _thm6_statistical(c: BoundContext) -> float:
    schedule = _schedule(c)
    return schedule.lipschitz * schedule.loss_range / (c.n * schedule.convexity)


@bound("gopi2022.thm6", "G S/(n mu) + d S^2/(n^2 t^2 mu); printed: (G^2/(n mu)) (1 + 2 d Lam/(n eps^2))")
@bound("gopi2022.thm6_draw", "d S^2/(n^2 t^2 mu); whole bound: thm6", named_term=_thm5)
@bound("gopi2022.thm6_sampling", "G S/(n mu); whole bound: thm6", named_term=_thm6_statistical)
def _thm6(c: BoundContext) -> float:
    return _thm6_statistical(c) + _thm5(c)


@bound("gopi2022.thm6_valid", "G S_true/(n mu) + d/k")
def _thm6_valid(c: BoundContext) -> float:
    return c.constants.lipschitz * c.constants.loss_difference / (c.n * _schedule(c).convexity) + _thm5(c)


@bound("gopi2022.thm2", "gdp_eps(S_true sqrt(k/mu)/n, delta)")
def _thm2(c: BoundContext) -> float:
    parameter = c.constants.loss_difference / (c.constants.lipschitz * _scale(c))
    return gdp_epsilon(parameter, c.delta)


def _temperature_ratio(c: BoundContext) -> float:
    """``k G^2/mu``."""
    k, mu = _schedule(c).at(_scale(c))
    return k * c.constants.lipschitz**2 / mu


def _sampling_power(p: float) -> float:
    """Power of d in the query counts: ``2/p - 1`` for p <= 2, ``1 - 2/p`` for p >= 2."""
    return 2.0 / p - 1.0 if p <= 2 else 1.0 - (0.0 if math.isinf(p) else 2.0 / p)


@bound("gopi2022.prop9", "(k G^2/mu) d^|1 - 2/p|, without log^2")
def _prop9(c: BoundContext) -> float:
    return _temperature_ratio(c) * c.d ** _sampling_power(c.constants.norm)


@bound("gopi2022.prop9_free", "k G^2/mu, without the printed power of d (E7)")
def _prop9_free(c: BoundContext) -> float:
    return _temperature_ratio(c)


@bound(
    "gopi2022.value_queries",
    "n^2 eps^2 d^|1 - 2/p| ln^2(G D d n eps/delta)/ln(1/delta), that is (8), (11) and (14) with constant 1",
)
def _value_queries(c: BoundContext) -> float:
    G, D = c.constants.lipschitz, c.constants.diameter
    factor = log(G * D * c.d * c.n * c.epsilon / c.delta) ** 2
    return (c.n * c.epsilon) ** 2 * c.d ** _sampling_power(c.constants.norm) / log(1.0 / c.delta) * factor


@bound("gopi2022.projected_queries", "4 e T, T steps of the alternating sampler")
def _projected_queries(c: BoundContext) -> float:
    return float(c.schedule["expected_queries"])


@bound("gopi2022.queries_per_call", "4 e")
def _queries_per_call(c: BoundContext) -> float:
    return 4.0 * e


@bound("gopi2022.one", "1")
def _one(c: BoundContext) -> float:
    return 1.0


@bound(
    "gopi2022.lower",
    (
        "G D sqrt(ln d/n) for p = 1; G D/sqrt(n (p - 1)) + G D sqrt(d Lam)/(n eps sqrt(p - 1)) for p < 2; "
        "G D d^(1/2 - 1/p)/sqrt n otherwise, the reference curve of Table 1 with constant 1"
    ),
)
def _lower(c: BoundContext) -> float:
    p, G, D = c.constants.norm, c.constants.lipschitz, c.constants.diameter
    draw = G * D * sqrt(c.d * log(0.5 / c.delta)) / (c.n * c.epsilon)
    if p == 1.0:
        return G * D * sqrt(log(c.d) / c.n)
    if p >= 2.0:
        return G * D * c.d ** (0.5 - (0.0 if math.isinf(p) else 1.0 / p)) / sqrt(c.n)
    return G * D / sqrt(c.n * (p - 1.0)) + draw / sqrt(p - 1.0)


@bound("gopi2022.mirror_descent", "G sqrt(2 Theta/n)")
def _mirror_descent(c: BoundContext) -> float:
    return c.constants.lipschitz * sqrt(2.0 * c.schedule["theta"] / c.n)
