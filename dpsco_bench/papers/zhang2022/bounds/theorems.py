"""Bounds of Zhang, Tran, Cutkosky 2022, with all their constants; see `zhang2022_theory`.

rho is that of the noise: the printed one, the exact Gaussian-DP parameter under the accounted calibration, infinite
with noise off. Reg and what else a run measures comes from the observer of rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log, log2, sqrt
from sys import float_info

from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.registry import bound
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.papers.zhang2022.bounds.moments import noise_moment, path_moment
from dpsco_bench.papers.zhang2022.bounds.theory import Terms
from dpsco_bench.privacy.accountants.gaussian import gdp_mu

ADAPTIVE = {"ogd_adagrad": sqrt(2.0), "ftrl_adagrad": 0.25 + 2.0 * sqrt(2.0), "lp_ftrl": 0.25 + 2.0 * sqrt(2.0)}
"""c of learners with regret ``c D sqrt(Q_n)`` (lp_ftrl: over ``sqrt(p - 1)``)."""
OPTIMISTIC = {"optimistic_omd": 0.5 + 2.0 * sqrt(2.0), "optimistic_ftrl": 0.25 + 2.0 * sqrt(2.0)}
"""c of learners with regret ``c D sqrt(E_n)``."""
ROUNDS: dict[str, Callable[[int], int]] = {
    "quarter": lambda n: n // 4,
    "half": lambda n: n // 2,
    "last": lambda n: n - 1,
}
"""Rounds at which moments are kept."""


def at_least_rounding(value: float, terms: Terms) -> float:
    """A bound with a measured regret, which is known to the rounding of its n summands, each of up to G D.

    Without any noise both sides may be 0 but for that.
    """
    return max(value, terms.n * float_info.epsilon * terms.G * terms.D)


def rho_of(c: BoundContext) -> float:
    """Rho of the noise that was used."""
    if c.calibration == "none":
        return inf
    return gdp_mu(c.epsilon, c.delta) if c.calibration == "accounted" else float(c.schedule.get("rho", inf))


def terms_of(c: BoundContext) -> Terms:
    """The constants of a cell; all instances have sigma_H = 0, their Hessians being the same for all records."""
    k = c.constants
    return Terms(
        n=c.n,
        k=float(c.schedule["k"]),
        G=k.lipschitz,
        H=k.smoothness,
        D=k.diameter,
        lam=2.0 * (min(k.norm, 2.0) - 1.0),
        V=noise_moment(dual_exponent(k.norm), c.d),
        rho=rho_of(c),
        sigma_g=k.gradient_deviation,
        mu=k.strong_convexity,
    )


def a_priori_regret(c: BoundContext) -> float:
    """Bound on the expected regret from the learner's pathwise bound and the moments that the paper proves."""
    terms, learner = terms_of(c), str(c.schedule["learner"])
    if learner == "osd":
        return terms.strongly_convex_regret
    if learner in OPTIMISTIC:
        return terms.thm6_regret(OPTIMISTIC[learner])
    if learner in ADAPTIVE:
        return terms.adaptive_regret(ADAPTIVE[learner]) / sqrt(min(c.constants.norm, 2.0) - 1.0)
    raise InputError("learner", learner, "one with a declared regret bound")


@bound(
    "zhang2022.thm4",
    "(k+1) Reg/n^(k+1) + 2 (k+1)^2 D/sqrt(lambda) [sigma_G/sqrt n + sqrt(2V) (G + D H) L2/(rho n)], Reg measured",
    extras=("regret",),
)
def _thm4(c: BoundContext) -> float:
    terms = terms_of(c)
    return at_least_rounding(terms.thm4(c.extra("regret")), terms)


@bound(
    "zhang2022.thm4_a_priori",
    "(k+1) Reg_A/n^(k+1) + 2 (k+1)^2 D/sqrt(lambda) [sigma_G/sqrt n + sqrt(2V) (G + D H) L2/(rho n)]",
)
def _thm4_a_priori(c: BoundContext) -> float:
    return terms_of(c).thm4(a_priori_regret(c))


@bound("zhang2022.thm6", "c sqrt 3 (k+1)^2 D (G + D H) (1 + 4 sqrt(V/lambda) L2/rho) n^(-3/2)")
def _thm6(c: BoundContext) -> float:
    return OPTIMISTIC[str(c.schedule["learner"])] * terms_of(c).thm6


@bound(
    "zhang2022.thm8",
    "(k+1) Reg_mu/n^(k+1) + 16 (k+1)^3/(lambda mu) [sigma_G^2/n + F 2V (G + D H)^2 L2^2/(rho n)^2], Reg_mu measured",
    extras=("regularised_regret",),
)
def _thm8(c: BoundContext) -> float:
    terms = terms_of(c)
    return at_least_rounding(terms.thm8(c.extra("regularised_regret")), terms)


@bound(
    "zhang2022.thm8_a_priori",
    "(k+1) Reg_A/n^(k+1) + 16 (k+1)^3/(lambda mu) [sigma_G^2/n + F 2V (G + D H)^2 L2^2/(rho n)^2]",
)
def _thm8_a_priori(c: BoundContext) -> float:
    return terms_of(c).thm8(a_priori_regret(c))


@bound(
    "zhang2022.thm8_one_log",
    "16 (k+1)^3/(lambda mu) 2V (G + D H)^2 L2/(rho n)^2, thm8_private with L2 in place of L2^2 F",
)
def _thm8_one_log(c: BoundContext) -> float:
    terms = terms_of(c)
    return terms.thm8_private / (terms.levels * terms.log_factor)


@bound("zhang2022.pure", "2 (k+1)^2 D sqrt(2 d (d+1)/lambda) (G + D H) L2^1.5/(eps n)")
def _pure(c: BoundContext) -> float:
    terms = terms_of(c)
    spread = sqrt(2.0 * c.d * (c.d + 1.0) / terms.lam)
    size = 2.0 * (terms.k + 1) ** 2 * terms.D * spread * terms.steepness
    return size * log2(2 * c.n) ** 1.5 / (c.epsilon * c.n)


@bound(
    "zhang2022.thm10",
    "4 Reg_10/n^4, Reg_10: Reg + sum_t xi_t (||w_t|| + ||x*||) + nu_t (||w_t||^2 + ||x*||^2), measured",
    extras=("theorem10",),
)
def _thm10(c: BoundContext) -> float:
    return 4.0 * c.extra("theorem10") / float(c.n) ** 4


@bound("zhang2022.thm11_threshold", "8 A (G + 28 ||x*|| H) Phi/sqrt n + 8 A' (G + D H) Phi L2/(rho n)")
def _thm11_threshold(c: BoundContext) -> float:
    """`thm11_explicit` over ``||x*||``: up to a constant, the least signal that the regulariser lets through.

    Norms are distances from the anchor; the schedule's ``private`` is ``A' (G + DH) Phi L2/rho``.
    """
    k, s, distance = c.constants, c.schedule, c.constants.initial_distance
    noisefree = s["A"] * (k.lipschitz + 28.0 * distance * k.smoothness) * s["Phi"] / sqrt(c.n)
    return 8.0 * (noisefree + s["private"] / c.n)


@bound("zhang2022.thm11_explicit", "8 A ||x*|| (G + 28 ||x*|| H) Phi/sqrt n + 8 A' ||x*|| (G + D H) Phi L2/(rho n)")
def _thm11_explicit(c: BoundContext) -> float:
    return c.constants.initial_distance * _thm11_threshold(c)


@bound(
    "zhang2022.thm11",
    "4 Reg_mu/n^4 + 8 A ||x*|| (G + 28 ||x*|| H) Phi/sqrt n + 8 A' ||x*|| (G + D H) Phi L2/(rho n), Reg_mu measured",
    extras=("regularised_regret",),
)
def _thm11(c: BoundContext) -> float:
    return 4.0 * c.extra("regularised_regret") / float(c.n) ** 4 + _thm11_explicit(c)


@bound("zhang2022.optimal", "1/sqrt n + sqrt(d l)/(eps n)")
def _optimal(c: BoundContext) -> float:
    return 1.0 / sqrt(c.n) + sqrt(c.d) / (c.privacy_ratio * c.n)


@bound("zhang2022.gradients", "2n - 3")
def _gradients(c: BoundContext) -> float:
    return 2.0 * c.n - 3.0


@bound("zhang2022.bftt19_gradients", "n sqrt(eps J)/2, J = min{n/8, (eps n)^2/(32 d ln(1/delta))}")
def _bftt19_gradients(c: BoundContext) -> float:
    steps = min(c.n / 8.0, (c.epsilon * c.n) ** 2 / (32.0 * c.d * log(1.0 / c.delta)))
    return 0.5 * c.n * sqrt(c.epsilon * steps)


@bound("zhang2022.regret_law", "1/sum_{t=1}^{n} t^k")
def _regret_law(c: BoundContext) -> float:
    """``s/bsum_n`` of the largest strength 1: the exact excess, where the first step reaches the optimum."""
    return 1.0 / sum(t ** float(c.schedule["k"]) for t in range(1, c.n + 1))


def _at_round(
    value: Callable[[Terms, float], float], round_of: Callable[[int], int]
) -> Callable[[BoundContext], float]:
    return lambda c: float(value(terms_of(c), float(round_of(c.n))))


PLACES = {"quarter": "floor(n/4)", "half": "floor(n/2)", "last": "n - 1"}
MOMENTS: tuple[tuple[str, str, Callable[[Terms, float], float]], ...] = (
    ("moment", "3 t^(2k) [G^2 + 4 (k+1)^2/lambda (sigma_G^2/t + 2V (G + D H)^2 L2^2/(rho t)^2)]", Terms.moment),
    ("statistical", "4 (k+1)^2 sigma_G^2 t^(2k-1)/lambda", Terms.statistical_error),
    ("noise", "8 (k+1)^2 V (G + D H)^2 L2^2 t^(2k-2)/(lambda rho^2)", Terms.noise),
    (
        "regularised",
        "t^(2k) [4G^2 + mu^2 D^2 + 16 (k+1)^2/lambda (sigma_G^2/t + 2V (G + D H)^2 L2^2/(rho t)^2)]",
        Terms.regularised_moment,
    ),
)
SOURCES = {"statistical": ", (4)", "noise": ", (7)"}
for _name, _round_of in ROUNDS.items():
    for _kind, _text, _value in MOMENTS:
        _whole = f"{_text}, t = {PLACES[_name]}{SOURCES.get(_kind, '')}"
        bound(f"zhang2022.{_kind}_{_name}", _whole)(_at_round(_value, _round_of))


def _path_at(round_of: Callable[[int], int]) -> Callable[[BoundContext], float]:
    return lambda c: path_moment(c, round_of(c.n))


for _name, _round_of in ROUNDS.items():
    _whole = f"E ||gamma_t||_*^2 by the scales of the nodes, t = {PLACES[_name]}"
    bound(f"zhang2022.expected_noise_{_name}", _whole, may_vanish=True)(_path_at(_round_of))


@bound("zhang2022.thm4_statistical", "2 (k+1)^2 D sigma_G/sqrt(lambda n)")
def _thm4_statistical(c: BoundContext) -> float:
    return terms_of(c).thm4_statistical


@bound("zhang2022.thm4_private", "2 (k+1)^2 D sqrt(2V/lambda) (G + D H) L2/(rho n)")
def _thm4_private(c: BoundContext) -> float:
    return terms_of(c).thm4_private


@bound("zhang2022.thm6_rate", "sqrt 3 (k+1)^2 D (G + D H) (1 + 4 sqrt(V/lambda) L2/rho) n^(-3/2)")
def _thm6_rate(c: BoundContext) -> float:
    return terms_of(c).thm6


@bound("zhang2022.thm8_statistical", "16 (k+1)^3/(lambda mu) sigma_G^2/n")
def _thm8_statistical(c: BoundContext) -> float:
    return terms_of(c).thm8_statistical


@bound("zhang2022.thm8_private", "16 (k+1)^3/(lambda mu) F 2V (G + D H)^2 L2^2/(rho n)^2")
def _thm8_private(c: BoundContext) -> float:
    return terms_of(c).thm8_private


@bound("zhang2022.one_pass", "n")
def _one_pass(c: BoundContext) -> float:
    return float(c.n)


@bound("zhang2022.dp_sgd_gradients", "n^2/256")
def _dp_sgd_gradients(c: BoundContext) -> float:
    return c.n**2 / 256.0


@bound("zhang2022.one", "1")
def _one(c: BoundContext) -> float:
    return 1.0


@bound("zhang2022.zero", "0", may_vanish=True)
def _zero(c: BoundContext) -> float:
    return 0.0


@bound("zhang2022.learner", "the learner's own pathwise bound, measured", extras=("learner_bound",))
def _learner(c: BoundContext) -> float:
    return c.extra("learner_bound")


@bound("zhang2022.theorem1", "Reg + sum_t <beta_t grad L(x_t) - g_t - gamma_t, w_t - x*>", extras=("theorem1",))
def _theorem1(c: BoundContext) -> float:
    return c.extra("theorem1")


@bound(
    "zhang2022.lemma7",
    "Reg_mu + sum_t <beta_t grad L(x_t) - g_t - gamma_t, w_t - x*> - (beta_t mu/8) ||w_t - x*||^2",
    extras=("lemma7",),
)
def _lemma7(c: BoundContext) -> float:
    return c.extra("lemma7")
