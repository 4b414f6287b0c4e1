"""Bounds of Zhang, Tran, Cutkosky 2022, with all their constants, and the symbols in them.

A name is that of its theorem; ``a_priori`` puts the learner's own regret bound in place of the measured one. rho is
that of the noise: the printed one, the exact Gaussian-DP parameter under the accounted calibration, infinite with noise
off. Reg and what else a run measures comes from the observer of rounds. The noise of nodes is known by the second
moment of normal noise in a dual norm.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, expm1, gamma, inf, lgamma, log, pi, sqrt

import numpy as np

from dpsco_bench.claims.bounds.registry import BoundContext, Symbol, bound, paper_bounds
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.papers.zhang2022.algorithms.reduction import NODE, node_units
from dpsco_bench.papers.zhang2022.observers import PLACES
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.tree import prefix_nodes


def _rho(c: BoundContext) -> float:
    if c.calibration == "none":
        return inf
    return gdp_mu(c.epsilon, c.delta) if c.calibration == "accounted" else float(c.schedule.get("rho", inf))


INNER = "(sigma_G^2/t + 2V (G + D H)^2 L2^2/(rho t)^2)"
MOMENT = f"t^(2k) [G^2 + 4 (k+1)^2/lambda {INNER}]"
REGULARISED = f"t^(2k) [4G^2 + mu^2 D^2 + 16 (k+1)^2/lambda {INNER}]"
SYMBOLS = {
    "k": Symbol("power of the weights", "schedule.k"),
    "G": Symbol("Lipschitz constant in the problem's norm", "constants.lipschitz"),
    "H": Symbol("smoothness in the problem's norm", "constants.smoothness"),
    "D": Symbol("diameter of the feasible set in the problem's norm", "constants.diameter"),
    "mu": Symbol("strong convexity", "constants.strong_convexity"),
    "sigma_G": Symbol(
        "deviation of a record's gradient; sigma_H is 0 on all instances", "constants.gradient_deviation"
    ),
    "lambda": Symbol("2 (min{p, 2} - 1), modulus of the squared norm"),
    "V": Symbol(
        "E ||zeta||_q^2 of the noise zeta ~ N(0, d^(1 - 2/q) I), 1/p + 1/q = 1: d for p = 2, at most d/(p - 1)",
        lambda c: noise_moment(dual_exponent(c.constants.norm), c.d),
    ),
    "L2": Symbol("log2(2n)"),
    # erratum E6: what sum t^(k-2) is at most, over n^(k-1)
    "F": Symbol("1 + ln n for k = 1; 1 for k >= 2"),
    "rho": Symbol(
        "parameter of the noise: the schedule's, the Gaussian-DP parameter of (eps, delta) under `accounted`, "
        "infinite with noise off",
        _rho,
    ),
    "learner": Symbol("the online learner", "schedule.learner"),
    "c": Symbol(
        "sqrt 2 for learner = ogd_adagrad; 1/4 + 2 sqrt 2 for learner = ftrl_adagrad or lp_ftrl or optimistic_ftrl; "
        "1/2 + 2 sqrt 2 for learner = optimistic_omd, constant of its regret bound"
    ),
    "Reg": Symbol("regret against x* on the released sums, sum_t <g_t + gamma_t, w_t - x*>", "extras.regret"),
    "Reg_mu": Symbol("the same on the regularised losses", "extras.regularised_regret"),
    "Reg_10": Symbol("Reg and the regularisers at w_t and x*", "extras.theorem10"),
    "Reg_A": Symbol(
        f"sum_{{t=1}}^{{n}} {REGULARISED}/(mu sum_{{s=1}}^{{t}} s^k) for learner = osd;"
        " c sqrt 3 (k+1) D (G + D H) (1 + 4 sqrt(V/lambda) L2/rho) n^(k - 1/2)"
        " for learner = optimistic_omd or optimistic_ftrl;"
        f" c D sqrt(sum_{{t=1}}^{{n}} 3 {MOMENT})/sqrt(min{{p, 2}} - 1) otherwise,"
        " at least E Reg by the learner's bound and the moments"
    ),
    "||x*||": Symbol("distance of the optimum from the anchor, a bound", "constants.initial_distance"),
    "A": Symbol("8 sqrt 2 C2d, from the statistical error", "schedule.A"),
    "A'": Symbol("8 sqrt d C2p, from the noise", "schedule.A_noise"),
    "Phi": Symbol("sqrt(ln(20 d n ln(2 kappa_pf n)/delta_f)), kappa_pf = 1 + D H/G", "schedule.Phi"),
}
THEOREMS = {
    "thm4_a_priori": "(k+1) Reg_A/n^(k+1) + 2 (k+1)^2 D/sqrt(lambda) [sigma_G/sqrt n + sqrt(2V) (G + D H) L2/(rho n)]",
    "thm4_statistical": "2 (k+1)^2 D sigma_G/sqrt(lambda n)",
    "thm4_private": "2 (k+1)^2 D sqrt(2V/lambda) (G + D H) L2/(rho n)",
    "thm4_both": "2 (k+1)^2 D/sqrt(lambda) [sigma_G/sqrt n + sqrt(2V) (G + D H) L2/(rho n)]",
    "remark5": "2 (k+1)^2 D/sqrt(lambda) [(sigma_G + D H)/sqrt n + sqrt(2V) (G + D H) L2/(rho n)], sigma_H = H",
    "thm6": "c sqrt 3 (k+1)^2 D (G + D H) (1 + 4 sqrt(V/lambda) L2/rho) n^(-3/2)",
    "thm6_rate": "sqrt 3 (k+1)^2 D (G + D H) (1 + 4 sqrt(V/lambda) L2/rho) n^(-3/2)",
    "thm8_a_priori": "(k+1) Reg_A/n^(k+1) + 16 (k+1)^3/(lambda mu) [sigma_G^2/n + 2V (G + D H)^2 L2^2/(rho n)^2]",
    "thm8_statistical": "16 (k+1)^3/(lambda mu) sigma_G^2/n",
    "thm8_private": "16 (k+1)^3/(lambda mu) 2V (G + D H)^2 L2^2/(rho n)^2",
    "thm8_one_log": "16 (k+1)^3/(lambda mu) 2V (G + D H)^2 L2/(rho n)^2, thm8_private with L2 in place of L2^2",
    "pure": "2 (k+1)^2 D sqrt(2 d (d+1)/lambda) (G + D H) L2^1.5/(eps n)",
    "thm10": "4 Reg_10/n^4, Reg_10: Reg + sum_t xi_t (||w_t|| + ||x*||) + nu_t (||w_t||^2 + ||x*||^2), measured",
    # thm11_explicit over ||x*||: up to a constant, the least signal that the regulariser lets through
    "thm11_threshold": "8 A (G + 28 ||x*|| H) Phi/sqrt n + 8 A' (G + D H) Phi L2/(rho n)",
    "thm11_explicit": "8 A ||x*|| (G + 28 ||x*|| H) Phi/sqrt n + 8 A' ||x*|| (G + D H) Phi L2/(rho n)",
    "thm11": (
        "4 Reg_mu/n^4 + 8 A ||x*|| (G + 28 ||x*|| H) Phi/sqrt n + 8 A' ||x*|| (G + D H) Phi L2/(rho n), Reg_mu measured"
    ),
    # lemmas by name, for linear losses: what the martingale of a round adds up to, and the noise of one node
    "lemma13": "(2/lambda) sum_{s=1}^{t} (s^k - (s-1)^k)^2 sigma_G^2, t = floor(n/2)",
    "lemma16": "2 V L2 (2 (k+1) t^(k-1) (G + D H)/rho)^2 log2(2 t)/lambda, t = floor(n/2)",
    "definition5": "d (d+1) sigma_t^2, sigma_t = log2(2n) 2 (k+1) t^(k-1) (G + D H)/eps, t = floor(n/2)",
    # of the introduction and its comparison with Bassily, Feldman, Talwar, Thakurta 2019
    "optimal": "1/sqrt n + sqrt(d l)/(eps n)",
    "gradients": "2n - 3",
    "bftt19_gradients": "n sqrt(eps J)/2, J = min{n/8, (eps n)^2/(32 d ln(1/delta))}",
    "one_pass": "n",
    "dp_sgd_gradients": "n^2/256",
    # s/bsum_n of the largest strength 1: the exact excess, where the first step reaches the optimum
    "regret_law": "1/sum_{t=1}^{n} t^k",
    "one": "1",
}
MOMENTS = {
    # (4), (7), and the moments beside Theorems 4 and 8
    "statistical": ("4 (k+1)^2 sigma_G^2 t^(2k-1)/lambda", ", (4)"),
    "noise": ("8 (k+1)^2 V (G + D H)^2 L2^2 t^(2k-2)/(lambda rho^2)", ", (7)"),
    "moment": (f"3 {MOMENT}", ""),
    "regularised": (REGULARISED, ""),
}
AT_ROUNDS = {
    f"{name}_{place}": f"{text}, t = {t}{source}"
    for place, (t, _) in PLACES.items()
    for name, (text, source) in MOMENTS.items()
}
paper_bounds("zhang2022", THEOREMS | AT_ROUNDS, SYMBOLS)
bound("zhang2022.zero", "0", may_vanish=True)

SUMMANDS = "n G D 2^-52"
"""Rounding of a measured regret, a sum of n summands of up to G D: without noise both sides may be 0 but for it."""
bound(
    "zhang2022.thm4",
    "(k+1) Reg/n^(k+1) + 2 (k+1)^2 D/sqrt(lambda) [sigma_G/sqrt n + sqrt(2V) (G + D H) L2/(rho n)], Reg measured",
    rounding=SUMMANDS,
)
for _name, _factor in (("thm8", ""), ("thm8_e6", "F ")):
    bound(
        f"zhang2022.{_name}",
        f"(k+1) Reg_mu/n^(k+1) + 16 (k+1)^3/(lambda mu) [sigma_G^2/n + {_factor}2V (G + D H)^2 L2^2/(rho n)^2], "
        "Reg_mu measured",
        rounding=SUMMANDS,
    )

# Two kinds of bounds no text can say. Sums over inner products of a run's rounds: only the run has them, and notes the
# sum. And the noise of a path of the tree: which nodes make up the prefix 1..t is read off the binary digits of t.
bound("zhang2022.learner", "the learner's own pathwise bound, measured", source="extras.learner_bound")
bound("zhang2022.theorem1", "Reg + sum_t <beta_t grad L(x_t) - g_t - gamma_t, w_t - x*>", source="extras.theorem1")
bound(
    "zhang2022.lemma7",
    "Reg_mu + sum_t <beta_t grad L(x_t) - g_t - gamma_t, w_t - x*> - (beta_t mu/8) ||w_t - x*||^2",
    source="extras.lemma7",
)


for _place, (_t, _round_of) in PLACES.items():
    bound(
        f"zhang2022.expected_noise_{_place}",
        f"E ||gamma_t||_*^2 by the scales of the nodes, t = {_t}",
        source=lambda c, round_of=_round_of: path_moment(c, round_of(c.n)),  # type: ignore[misc]
        may_vanish=True,
    )


STEP, TAIL = 0.35, 34.0
"""Step of the trapezoidal rule in the logarithm of an integration variable, and minus the logarithm of what is cut."""


@lru_cache(maxsize=256)
def second_moment(q: float, d: int) -> float:
    """``E ||g||_q^2`` of a standard normal vector g in R^d, for q >= 2 that is finite.

    With ``S = sum |g_i|^q`` and a = 2/q < 1, ``E S^a = a/Gamma(1 - a) int_0^inf (1 - E exp(-s S)) s^(-a-1) ds``, and
    the expectation is the d-th power of that of one coordinate. The trapezoidal rule in ln s converges exponentially;
    where s is small the integrand is a power of s, so that its sum is a geometric series.
    """
    if q == 2.0:
        return float(d)
    a = 2.0 / q
    first, second = (lgamma(0.5 * (j * q + 1.0)) + 0.5 * j * q * log(2.0) - 0.5 * log(pi) for j in (1, 2))
    least = -TAIL - max(0.0, second - first) - log(d)
    u = np.arange(least, TAIL / a, STEP)
    whole = -np.expm1(d * _log_laplace(q, u))
    power = exp(first + log(d) + (1.0 - a) * (least - STEP)) / -expm1(-(1.0 - a) * STEP)
    return float(a / gamma(1.0 - a) * STEP * (power + np.sum(whole * np.exp(-a * u))))


def _log_laplace(q: float, u: np.ndarray) -> np.ndarray:
    """``ln E exp(-e^u |g|^q)`` of one standard normal g, shape ``(u,)``."""
    v = np.arange(-TAIL, 4.0, STEP / q)
    density = 2.0 / sqrt(2.0 * pi) * np.exp(v - 0.5 * np.exp(2.0 * v)) * STEP / q
    lost = np.array([np.sum(-np.expm1(-np.exp(np.minimum(one + q * v, 700.0))) * density) for one in u])
    return np.log1p(-np.minimum(lost, 1.0 - 1e-16))


def noise_moment(q: float, d: int) -> float:
    """V: ``E ||zeta||_q^2`` of ``zeta ~ N(0, d^(1 - 2/q) I)``; at most ``d (q - 1)``, and d for q = 2."""
    return float(d) ** (1.0 - 2.0 / q) * second_moment(q, d)


def path_moment(c: BoundContext, t: int) -> float:
    """``E ||gamma_t||_q^2`` of the noise that a cell adds to the sum of the records 1..t, its own scales given.

    The nodes of I_t are independent normals, so that their sum is one. Known before the run where units are fixed.
    """
    units = node_units(c.schedule)
    if not units.fixed:
        raise InputError("radius", units.radius, "D, or a linear loss: else the noise depends on the run")
    sizes = units.fixed_units[np.array(prefix_nodes(t)) - 1]
    variance = float(c.scales[NODE]) ** 2 * float(np.sum(sizes**2))
    return variance * second_moment(dual_exponent(c.constants.norm), c.d)
