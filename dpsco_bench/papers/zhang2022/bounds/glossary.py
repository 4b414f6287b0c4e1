"""Symbols in the texts of the bounds of Zhang, Tran, Cutkosky 2022."""

from __future__ import annotations

from dpsco_bench.claims.bounds.glossary import Symbol, glossary
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.papers.zhang2022.bounds.moments import noise_moment
from dpsco_bench.papers.zhang2022.bounds.theorems import ADAPTIVE, OPTIMISTIC, rho_of

_INNER = "(sigma_G^2/t + 2V (G + D H)^2 L2^2/(rho t)^2)"

glossary(
    "zhang2022",
    __name__,
    {
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
        "F": Symbol("1 + ln n for k = 1; 1 for k >= 2"),
        "rho": Symbol(
            "parameter of the noise: the schedule's, the Gaussian-DP parameter of (eps, delta) under `accounted`, "
            "infinite with noise off",
            rho_of,
        ),
        "learner": Symbol("the online learner", "schedule.learner"),
        "c": Symbol(
            "constant of its regret bound: sqrt 2 of ogd_adagrad, 1/4 + 2 sqrt 2 of ftrl_adagrad, lp_ftrl and "
            "optimistic_ftrl, 1/2 + 2 sqrt 2 of optimistic_omd",
            lambda c: {**ADAPTIVE, **OPTIMISTIC}[c.schedule["learner"]],
        ),
        "Reg": Symbol("regret against x* on the released sums, sum_t <g_t + gamma_t, w_t - x*>", "extras.regret"),
        "Reg_mu": Symbol("the same on the regularised losses", "extras.regularised_regret"),
        "Reg_10": Symbol("Reg and the regularisers at w_t and x*", "extras.theorem10"),
        "Reg_A": Symbol(
            "sum_{t=1}^{n} t^(2k) [4G^2 + mu^2 D^2 + 16 (k+1)^2/lambda " + _INNER + "]/(mu sum_{s=1}^{t} s^k)"
            " for learner = osd; c sqrt 3 (k+1) D (G + D H) (1 + 4 sqrt(V/lambda) L2/rho) n^(k - 1/2)"
            " for learner = optimistic_omd or optimistic_ftrl;"
            " c D sqrt(sum_{t=1}^{n} 3 t^(2k) [G^2 + 4 (k+1)^2/lambda " + _INNER + "])/sqrt(min{p, 2} - 1) otherwise,"
            " at least E Reg by the learner's bound and the moments"
        ),
        "||x*||": Symbol("distance of the optimum from the anchor, a bound", "constants.initial_distance"),
        "A": Symbol("8 sqrt 2 C2d, from the statistical error", "schedule.A"),
        "A'": Symbol("8 sqrt d C2p, from the noise", "schedule.A_noise"),
        "Phi": Symbol("sqrt(ln(20 d n ln(2 kappa_pf n)/delta_f)), kappa_pf = 1 + D H/G", "schedule.Phi"),
    },
)
