"""Bounds of Bassily, Guzman, Nandi 2021 (constants 1 unless a name ends in ``explicit``).

Where a formula is written with l = ln(1/delta), eps/sqrt(l) is the Gaussian-DP parameter under ``accounted``.
"""

from __future__ import annotations

from math import e, isqrt, log, sqrt

from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.glossary import Symbol, glossary
from dpsco_bench.claims.bounds.registry import bound
from dpsco_bench.papers.bassily2021.bounds.law import largest_excess


def _vertices(c: BoundContext) -> float:
    """K of Algorithm 1."""
    return float(c.schedule["vertices"])


@bound("bassily2021.thm4", "M (L1 M + L0) ln K ln(n/ln K) sqrt(l) / (eps sqrt n)")
def _thm4(c: BoundContext) -> float:
    k, K = c.constants, _vertices(c)
    slope = k.diameter * (k.smoothness * k.diameter + k.lipschitz)
    return slope * log(K) * log(c.n / log(K)) / (c.privacy_ratio * sqrt(c.n))


@bound("bassily2021.thm4_nonprivate", "L0 M ln(n/ln K) sqrt(ln K / n)")
def _thm4_nonprivate(c: BoundContext) -> float:
    k, K = c.constants, _vertices(c)
    return k.lipschitz * k.diameter * log(c.n / log(K)) * sqrt(log(K) / c.n)


@bound(
    "bassily2021.thm4_explicit",
    (
        "L0 M sqrt(ln K/n) + 2e L0 M A (ln K/n + ln^1.5 K sqrt(l)/(eps n)) "
        "+ 8 M (L1 M + L0) A (e sqrt(ln K/n) + (ln K/eps) sqrt(l/n)) + L1 M^2 A/(2n), A = ln(n/ln K)"
    ),
)
def _thm4_explicit(c: BoundContext) -> float:
    k, n, logK = c.constants, c.n, log(_vertices(c))
    L0, L1, M, A, noise = k.lipschitz, k.smoothness, k.diameter, log(n / logK), 1 / c.privacy_ratio
    start = L0 * M * sqrt(logK / n)
    first_batch = 2 * e * L0 * M * A * (logK / n + logK**1.5 * noise / n)
    later = 8 * M * (L1 * M + L0) * A * (e * sqrt(logK / n) + logK * noise / sqrt(n))
    return start + first_batch + later + L1 * M**2 * A / (2 * n)


@bound("bassily2021.gg_moment", "d sigma^2")
def _gg_moment(c: BoundContext) -> float:
    return c.d * c.scales["release"] ** 2


@bound("bassily2021.thm10_erm", "L0 M kappa_q sqrt(d l)/(eps n)")
def _thm10_erm(c: BoundContext) -> float:
    k = c.constants
    return k.lipschitz * k.diameter * c.schedule["kappa"] * sqrt(c.d) / (c.privacy_ratio * c.n)


@bound("bassily2021.thm10_erm_explicit", "5 sqrt(2) L0 M kappa_q sqrt(d l)/(eps n)")
def _thm10_erm_explicit(c: BoundContext) -> float:
    return 5 * sqrt(2) * _thm10_erm(c)


@bound(
    "bassily2021.thm10_sco",
    "L0 M max{sqrt(kappa_q) (d ln(1/delta))^(1/4)/sqrt n, kappa_q sqrt(d ln(1/delta))/(eps n)}",
)
def _thm10_sco(c: BoundContext) -> float:
    k, root = c.constants, sqrt(c.d * log(1 / c.delta))
    kappa = c.schedule["kappa"]
    generalisation = sqrt(kappa * root / c.n)
    return k.lipschitz * k.diameter * max(generalisation, kappa * root / (c.epsilon * c.n))


@bound("bassily2021.thm12_statistical", "L0 M / sqrt n")
def _thm12_statistical(c: BoundContext) -> float:
    return c.constants.lipschitz * c.constants.diameter / sqrt(c.n)


def _thm12_private(c: BoundContext) -> float:
    k = c.constants
    drift = k.smoothness * k.diameter**2 * log(c.n)
    return 16 * c.schedule["kappa"] * drift * sqrt(c.d) / (c.privacy_ratio * c.n**0.75)


def _thm12_named_statistical(c: BoundContext) -> float:
    return (1 + 8 * sqrt(c.schedule["kappa"])) * _thm12_statistical(c)


@bound(
    "bassily2021.thm12_private",
    "16 kappa_q L1 M^2 ln n sqrt(d l)/(eps n^0.75); whole bound: thm12_explicit",
    named_term=_thm12_private,
)
@bound(
    "bassily2021.thm12_crossover",
    "L0 M (1 + 8 sqrt kappa_q)/sqrt n; whole bound: thm12_explicit",
    named_term=_thm12_named_statistical,
)
@bound(
    "bassily2021.thm12_explicit",
    (
        "L0 M (1 + 8 sqrt kappa_q)/sqrt n + 16 kappa_q L0 M sqrt(d l)/(eps n) + 4 kappa_q L1 M^2 ln n/sqrt n "
        "+ 16 kappa_q L1 M^2 ln n sqrt(d l)/(eps n^0.75) + L1 M^2 ln n/(4 sqrt n)"
    ),
)
def _thm12_explicit(c: BoundContext) -> float:
    k, kappa = c.constants, c.schedule["kappa"]
    reach, drift = k.lipschitz * k.diameter, k.smoothness * k.diameter**2 * log(c.n)
    first_batch = reach * (1 + 8 * sqrt(kappa)) / sqrt(c.n)
    first_noise = 16 * kappa * reach * sqrt(c.d) / (c.privacy_ratio * c.n)
    return first_batch + first_noise + (4 * kappa + 0.25) * drift / sqrt(c.n) + _thm12_private(c)


def mirror_descent_term(c: BoundContext) -> float:
    """The first term of Theorem 9, that of Theorem 10 where it counts."""
    root = sqrt(c.d * log(1 / c.delta))
    return c.constants.lipschitz * c.constants.diameter * sqrt(c.schedule["kappa"] * root / c.n)


def frank_wolfe_term(c: BoundContext) -> float:
    """The second term of Theorem 9, that of Theorem 12 with constants 1."""
    k, kappa, n = c.constants, c.schedule["kappa"], c.n
    root, reach = sqrt(c.d * log(1 / c.delta)), k.lipschitz * k.diameter
    drift = k.smoothness * k.diameter**2 * log(n)
    return (kappa * reach + drift) / sqrt(n) + kappa * drift * root / (c.epsilon * n**0.75)


@bound(
    "bassily2021.thm9",
    (
        "min{L0 M sqrt(kappa_q) (d ln(1/delta))^(1/4)/sqrt n, (kappa_q L0 M + L1 M^2 ln n)/sqrt n "
        "+ kappa_q L1 M^2 ln n sqrt(d ln(1/delta))/(eps n^0.75)}"
    ),
)
def _thm9(c: BoundContext) -> float:
    return min(mirror_descent_term(c), frank_wolfe_term(c))


@bound("bassily2021.prop13_statistical", "L0 M d^(1/2 - 1/p) / sqrt n")
def _prop13_statistical(c: BoundContext) -> float:
    k = c.constants
    return k.lipschitz * k.diameter * c.d ** (0.5 - 1 / k.norm) / sqrt(c.n)


def _prop13_private(c: BoundContext) -> float:
    k = c.constants
    return k.lipschitz * k.diameter * c.d ** (1 - 1 / k.norm) / (c.privacy_ratio * c.n)


@bound(
    "bassily2021.prop13_private",
    "L0 M d^(1 - 1/p) sqrt(l)/(eps n); whole bound: prop13",
    named_term=_prop13_private,
)
@bound(
    "bassily2021.prop13_sampling",
    "L0 M d^(1/2 - 1/p)/sqrt n; whole bound: prop13",
    named_term=_prop13_statistical,
)
@bound("bassily2021.prop13", "L0 M (d^(1/2 - 1/p)/sqrt n + d^(1 - 1/p) sqrt(l)/(eps n))")
def _prop13(c: BoundContext) -> float:
    return _prop13_statistical(c) + _prop13_private(c)


@bound("bassily2021.thm15", "max{1/sqrt n, (p - 1) sqrt d/(eps n)}, up to logarithms")
def _thm15(c: BoundContext) -> float:
    return max(1 / sqrt(c.n), (c.constants.norm - 1) * sqrt(c.d) / (c.epsilon * c.n))


@bound("bassily2021.thm19", "(p - 1) sqrt(d l) / (eps n)")
def _thm19(c: BoundContext) -> float:
    return (c.constants.norm - 1) * sqrt(c.d) / (c.privacy_ratio * c.n)


@bound("bassily2021.poly_sfw_gradients", "3 floor(n/2)")
def _poly_sfw_gradients(c: BoundContext) -> float:
    return 3 * (c.n // 2)


_SMD_STEPS = "T = max{1, floor((eps n)^2/(16 d kappa_q ln(1/delta)))}"


def _noisy_smd_steps(c: BoundContext) -> int:
    return max(1, int((c.epsilon * c.n) ** 2 / (16 * c.d * c.schedule["kappa"] * log(1 / c.delta))))


@bound("bassily2021.noisy_smd_gradients", f"m (T - 1), m = min{{n, max{{1, round(n sqrt(eps/(4 T)))}}}}, {_SMD_STEPS}")
def _noisy_smd_gradients(c: BoundContext) -> float:
    T = _noisy_smd_steps(c)
    return min(c.n, max(1, round(c.n * sqrt(c.epsilon / (4 * T))))) * (T - 1)


@bound("bassily2021.noisy_smd_fullbatch_gradients", f"n (T - 1), {_SMD_STEPS}")
def _noisy_smd_fullbatch_gradients(c: BoundContext) -> float:
    return c.n * (_noisy_smd_steps(c) - 1)


@bound("bassily2021.noisy_sfw_gradients", "floor(n/2) + 2 floor(sqrt(n)/2) floor(sqrt n)")
def _noisy_sfw_gradients(c: BoundContext) -> float:
    return c.n // 2 + 2 * (isqrt(c.n) // 2) * isqrt(c.n)


@bound("bassily2021.noisy_sgd_gradients", "n^2")
def _noisy_sgd_gradients(c: BoundContext) -> float:
    return c.n**2


@bound("bassily2021.noisy_sgd_minibatch_gradients", "m T, m = min{n, max{1, round(n sqrt(eps/(4 T)))}}")
def _noisy_sgd_minibatch_gradients(c: BoundContext) -> float:
    T = c.schedule["steps"]
    return T * min(c.n, max(1, round(c.n * sqrt(c.epsilon / (4 * T)))))


@bound("bassily2021.one_pass", "1.5 n")
def _one_pass(c: BoundContext) -> float:
    return 1.5 * c.n


@bound("bassily2021.noisy_smd_rate", f"n sqrt(eps T)/2, {_SMD_STEPS}")
def _noisy_smd_rate(c: BoundContext) -> float:
    return 0.5 * c.n * sqrt(c.epsilon * _noisy_smd_steps(c))


glossary(
    "bassily2021",
    __name__,
    {
        "L0": Symbol("Lipschitz constant in the problem's norm", "constants.lipschitz"),
        "L1": Symbol("smoothness in the problem's norm", "constants.smoothness"),
        "M": Symbol("diameter of the feasible set in the problem's norm", "constants.diameter"),
        "K": Symbol("vertices of the polytope", "schedule.vertices"),
        "kappa_q": Symbol(
            "constant of the smooth norm beside l_q, the provable one (erratum E5)", "schedule.kappa", printed="kappa"
        ),
        "T": Symbol("steps", "schedule.steps"),
        "sigma": Symbol("scale of the released noise", "scales.release"),
        "b_N": Symbol("scale of the Laplace noise on the vertices' scores", "scales.vertex"),
        "h_K": Symbol(
            "sup_u u (1 - P_+ + P_-), P_+ and P_- the chances that the scores -u + Lap(1) and u + Lap(1) win among K",
            lambda c: largest_excess(int(c.schedule["vertices"])),
        ),
    },
)
