"""Bounds of Su, Zhao, Wang 2023, with constants 1 unless the noise itself enters.

Where a formula is written with l = ln(1/delta), eps/sqrt(l) is the Gaussian-DP parameter under ``accounted``.
"""

from __future__ import annotations

from math import log, log2, sqrt

from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.glossary import Symbol, glossary
from dpsco_bench.claims.bounds.registry import bound
from dpsco_bench.geometry.ball import FeasibleSet


def _set(c: BoundContext) -> FeasibleSet:
    ball = c.constants.ball
    assert ball is not None
    return ball


def width(c: BoundContext) -> float:
    """Gaussian width of the feasible set."""
    return _set(c).width(c.d)


def euclidean_diameter(c: BoundContext) -> float:
    """Of the feasible set."""
    return _set(c).euclidean_diameter(c.d)


def _printed_kappa(c: BoundContext) -> float:
    p = c.constants.norm
    return min(1.0 / (p - 1.0), 2.0 * log(c.d))


def _root(c: BoundContext) -> float:
    """``sqrt(d l)``."""
    return sqrt(c.d * log(1.0 / c.delta))


@bound("su2023.thm2_privacy", "L G sqrt(l)/(eps n)")
def _thm2_privacy(c: BoundContext) -> float:
    return c.constants.lipschitz * width(c) / (c.n * c.privacy_ratio)


@bound("su2023.thm2_sampling", "L diam2/sqrt n")
def _thm2_sampling(c: BoundContext) -> float:
    return c.constants.lipschitz * euclidean_diameter(c) / sqrt(c.n)


@bound("su2023.thm2", "L G sqrt(l)/(eps n) + L diam2/sqrt n")
def _thm2(c: BoundContext) -> float:
    return _thm2_privacy(c) + _thm2_sampling(c)


@bound("su2023.width_noise", "G s1 / n")
def _width_noise(c: BoundContext) -> float:
    return width(c) * c.scales["linear term"] / c.n


@bound("su2023.width_noise_squared", "(G s1 / n)^2")
def _width_noise_squared(c: BoundContext) -> float:
    return _width_noise(c) ** 2


@bound("su2023.interior_law", "d s1^2 / (2 n^2)")
def _interior_law(c: BoundContext) -> float:
    return c.d * (c.scales["linear term"] / c.n) ** 2 / 2.0


@bound("su2023.thm4_privacy", "G^2 L^2 l / (Delta n^2 eps^2)")
def _thm4_privacy(c: BoundContext) -> float:
    k = c.constants
    return (width(c) * k.lipschitz / (c.n * c.privacy_ratio)) ** 2 / k.gauge_convexity


@bound("su2023.thm4_sampling", "L^2 diam2^2 / (Delta n)")
def _thm4_sampling(c: BoundContext) -> float:
    k = c.constants
    return (k.lipschitz * euclidean_diameter(c)) ** 2 / (k.gauge_convexity * c.n)


@bound("su2023.thm4", "G^2 L^2 l / (Delta n^2 eps^2) + L^2 diam2^2 / (Delta n)")
def _thm4(c: BoundContext) -> float:
    return _thm4_privacy(c) + _thm4_sampling(c)


@bound("su2023.thm5_privacy", "G^2 ln(1/delta)/(ln^4(2d) eps^2 n^2)")
def _thm5_privacy(c: BoundContext) -> float:
    return (width(c) / (c.epsilon * c.n)) ** 2 * log(1.0 / c.delta) / log(2.0 * c.d) ** 4


@bound("su2023.thm5", "max{G^2 ln(1/delta)/(ln^4(2d) eps^2 n^2), 1/n}")
def _thm5(c: BoundContext) -> float:
    return max(_thm5_privacy(c), 1.0 / c.n)


@bound("su2023.thm7_bare", "kappa_q^(4/5) (sqrt(d ln(1/delta))/(n eps))^(2/5)")
def _thm7_bare(c: BoundContext) -> float:
    return c.schedule["kappa"] ** 0.8 * (_root(c) / (c.n * c.epsilon)) ** 0.4


@bound("su2023.thm7", "kappa_q^(4/5) (sqrt(d ln(1/delta))/(n eps))^(2/5) log2(n/T)")
def _thm7(c: BoundContext) -> float:
    return _thm7_bare(c) * log2(c.n / c.schedule["steps"])


@bound("su2023.thm7_gradients", "n T, T = (n eps sqrt(k)/sqrt(d ln(1/delta)))^(2/5)")
def _thm7_gradients(c: BoundContext) -> float:
    return c.n * (c.n * c.epsilon * sqrt(_printed_kappa(c)) / _root(c)) ** 0.4


def _thm8_size(c: BoundContext) -> float:
    k = c.constants
    p = k.norm
    distance = c.d ** (1.0 / p - 0.5) * k.distance  # of a flat optimum, in l_p
    return k.lipschitz * c.d ** (1.0 - 2.0 / p) * (distance**2 + 1.0)


@bound("su2023.thm8_sampling", "L d^(1-2/p) (||x*||_p^2 + 1) / sqrt(n)")
def _thm8_sampling(c: BoundContext) -> float:
    return _thm8_size(c) / sqrt(c.n)


@bound("su2023.thm8_privacy", "L d^(1-2/p) (||x*||_p^2 + 1) sqrt(d ln(1/delta))/(eps n)")
def _thm8_privacy(c: BoundContext) -> float:
    return _thm8_size(c) * _root(c) / (c.epsilon * c.n)


@bound("su2023.thm8", "L d^(1-2/p) (||x*||_p^2 + 1) (1/sqrt n + sqrt(d ln(1/delta))/(eps n))")
def _thm8(c: BoundContext) -> float:
    return _thm8_sampling(c) + _thm8_privacy(c)


@bound("su2023.one_pass", "n")
def _one_pass(c: BoundContext) -> float:
    return float(c.n)


@bound("su2023.thm10", "M (k^2 d ln(1/delta))^(1/4)/sqrt(n eps)")
def _thm10(c: BoundContext) -> float:
    return c.constants.diameter * sqrt(_printed_kappa(c) * _root(c) / (c.n * c.epsilon))


def _thm11_printed(c: BoundContext) -> float:
    return (c.constants.diameter**4 * _printed_kappa(c) ** 2 * _root(c) / (c.n * c.epsilon)) ** (1 / 3)


@bound(
    "su2023.thm11",
    "M^(4/3) k^(2/3) (d ln(1/delta))^(1/6)/(n eps)^(1/3); whole bound: thm11_noise",
    named_term=_thm11_printed,
    others="what beta M adds to lambda in the noise",
)
@bound(
    "su2023.thm11_noise",
    "M^(4/3) k^(2/3) (d ln(1/delta))^(1/6)/(n eps)^(1/3) (2 + ((beta M + lambda)/lambda)^2)/3",
)
def _thm11(c: BoundContext) -> float:
    """Inequality (28) at its balance: three equal terms, of which that of the noise has (beta M + lambda)^2."""
    s = c.schedule
    return _thm11_printed(c) * (2.0 + (s["threshold"] / s["truncation"]) ** 2) / 3.0


@bound("su2023.thm12", "d^(3/2-1/p) / sqrt(n) + d^(3/2-1/(2p)) / sqrt(n eps)")
def _thm12(c: BoundContext) -> float:
    p = c.constants.norm
    return c.d ** (1.5 - 1.0 / p) / sqrt(c.n) + c.d ** (1.5 - 0.5 / p) / sqrt(c.n * c.epsilon)


@bound("su2023.stand_in", "d^(3/4) sqrt(l/(eps n)), ours")
def _stand_in(c: BoundContext) -> float:
    return c.d**0.75 * sqrt(c.epsilon / c.n) / c.privacy_ratio


@bound("su2023.stand_in_gradients", "n T, T = max{16, sqrt(n eps)}, ours")
def _stand_in_gradients(c: BoundContext) -> float:
    return c.n * max(16.0, sqrt(c.n * c.epsilon))


@bound("su2023.table1_gradients", "n T, T = n/4")
def _table1_gradients(c: BoundContext) -> float:
    return c.n**2 / 4.0


@bound("su2023.kj16", "sqrt(G / (n eps))")
def _kj16(c: BoundContext) -> float:
    return sqrt(width(c) / (c.n * c.epsilon))


glossary(
    "su2023",
    __name__,
    {
        "L": Symbol("Lipschitz constant in the problem's norm", "constants.lipschitz"),
        "Delta": Symbol("strong convexity with respect to the gauge of the feasible set", "constants.gauge_convexity"),
        "G": Symbol("Gaussian width of the feasible set", width),
        "diam2": Symbol("its Euclidean diameter", euclidean_diameter),
        "M": Symbol("its diameter in its own norm", "constants.diameter"),
        "s1": Symbol("scale of the noise in the linear term", "scales.linear term"),
        "kappa_q": Symbol(
            "the constant that the noise needs: of the smooth norm beside l_q (erratum E5)", "schedule.kappa"
        ),
        "k": Symbol("min{1/(p - 1), 2 ln d}", printed="kappa"),
        "T": Symbol("steps", "schedule.steps"),
        "beta": Symbol("smoothness", "constants.smoothness"),
        "lambda": Symbol("level at which slopes are truncated, less beta M", "schedule.truncation"),
        "||x*||_p": Symbol("d^(1/p - 1/2) ||x_0 - x*||, the l_p distance of a flat optimum from the start"),
        "||x_0 - x*||": Symbol("Euclidean distance of the optimum from the start, a bound", "constants.distance"),
    },
)
