"""Bounds of Su, Zhao, Wang 2023, with constants 1 unless the noise itself enters, and the symbols in them.

A name is that of its theorem: ``thm2`` is Theorem 2. ``width_noise`` and ``interior_law`` are the laws of its linear
term.
"""

from __future__ import annotations

from dpsco_bench.claims.bounds.registry import Symbol, bound, paper_bounds

SYMBOLS = {
    "L": Symbol("Lipschitz constant in the problem's norm", "constants.lipschitz"),
    "Delta": Symbol("strong convexity with respect to the gauge of the feasible set", "constants.gauge_convexity"),
    "G": Symbol("Gaussian width of the feasible set", lambda c: c.ball.width(c.d)),
    "diam2": Symbol("its Euclidean diameter", lambda c: c.ball.euclidean_diameter(c.d)),
    "M": Symbol("its diameter in its own norm", "constants.diameter"),
    "s1": Symbol("scale of the noise in the linear term", "scales.linear term"),
    "s2": Symbol("scale of the noise on the minimiser", "scales.output"),
    "ridge": Symbol("weight of the squared norm", "schedule.ridge", printed="lambda"),
    "k": Symbol("min{1/(p - 1), 2 ln d}", printed="kappa"),
    "T": Symbol("steps", "schedule.steps"),
    "beta": Symbol("smoothness", "constants.smoothness"),
    "lambda": Symbol("level at which slopes are truncated, less beta M", "schedule.truncation"),
    "||x*||_p": Symbol("d^(1/p - 1/2) ||x_0 - x*||, the l_p distance of a flat optimum from the start"),
    "||x_0 - x*||": Symbol("Euclidean distance of the optimum from the start, a bound", "constants.distance"),
}
THEOREMS = {
    "thm2_privacy": "L G sqrt(l)/(eps n)",
    "thm2_sampling": "L diam2/sqrt n",
    "thm2": "L G sqrt(l)/(eps n) + L diam2/sqrt n",
    "width_noise": "G s1 / n",
    "lemma6": "2 G s1/n + ridge diam2^2/4",
    "remark1": "2 G s2",
    "unprojected": "d s2^2",
    "width_noise_squared": "(G s1 / n)^2",
    "interior_law": "d s1^2 / (2 n^2)",
    "thm4_privacy": "G^2 L^2 l / (Delta n^2 eps^2)",
    "thm4_sampling": "L^2 diam2^2 / (Delta n)",
    "thm4": "G^2 L^2 l / (Delta n^2 eps^2) + L^2 diam2^2 / (Delta n)",
    "thm5_privacy": "G^2 ln(1/delta)/(ln^4(2d) eps^2 n^2)",
    "thm5": "max{G^2 ln(1/delta)/(ln^4(2d) eps^2 n^2), 1/n}",
    "thm7_bare": "k^(4/5) (sqrt(d ln(1/delta))/(n eps))^(2/5)",
    "thm7": "k^(4/5) (sqrt(d ln(1/delta))/(n eps))^(2/5) log2(n/T)",
    "thm7_gradients": "n T, T = (n eps sqrt(k)/sqrt(d ln(1/delta)))^(2/5)",
    "thm8_sampling": "L d^(1-2/p) (||x*||_p^2 + 1) / sqrt(n)",
    "thm8_privacy": "L d^(1-2/p) (||x*||_p^2 + 1) sqrt(d ln(1/delta))/(eps n)",
    "thm8": "L d^(1-2/p) (||x*||_p^2 + 1) (1/sqrt n + sqrt(d ln(1/delta))/(eps n))",
    "one_pass": "n",
    "thm10": "M (k^2 d ln(1/delta))^(1/4)/sqrt(n eps)",
    # (28) at its balance: three equal terms, of which that of the noise has (beta M + lambda)^2
    "thm11_noise": "M^(4/3) k^(2/3) (d ln(1/delta))^(1/6)/(n eps)^(1/3) (2 + ((beta M + lambda)/lambda)^2)/3",
    "thm10_high": "4 M (k^2 d ln(1/delta))^(1/4) ln 20/sqrt(n eps)",
    "thm11_high": "2 M^(4/3) k^(2/3) (d ln(1/delta))^(1/6) ln 20/(n eps)^(1/3)",
    "thm12": "d^(3/2-1/p) / sqrt(n) + d^(3/2-1/(2p)) / sqrt(n eps)",
    # Table 1, and stand-ins of ours for the methods that it cites
    "stand_in": "d^(3/4) sqrt(l/(eps n)), ours",
    "stand_in_gradients": "n T, T = max{16, sqrt(n eps)}, ours",
    "table1_gradients": "n T, T = n/4",
    "kj16": "sqrt(G / (n eps))",
}
paper_bounds("su2023", THEOREMS, SYMBOLS)
bound(
    "su2023.thm11",
    "M^(4/3) k^(2/3) (d ln(1/delta))^(1/6)/(n eps)^(1/3); whole bound: thm11_noise",
    others="what beta M adds to lambda in the noise",
)
