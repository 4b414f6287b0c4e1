"""Bounds of Bassily, Guzman, Nandi 2021, and the symbols in them.

A name is that of its theorem; constants are 1 unless it ends in ``explicit``. ``lower_`` are lower bounds of Table 1.
"""

from __future__ import annotations

import math

from dpsco_bench.claims.bounds.registry import Symbol, paper_bounds
from dpsco_bench.papers.bassily2021.laws import largest_excess, largest_excess_without_noise

SYMBOLS = {
    "L0": Symbol("Lipschitz constant in the problem's norm", "constants.lipschitz"),
    "L1": Symbol("smoothness in the problem's norm", "constants.smoothness"),
    "M": Symbol("diameter of the feasible set in the problem's norm", "constants.diameter"),
    "K": Symbol("vertices of the polytope", "schedule.vertices"),
    "kappa_q": Symbol(
        "constant of the smooth norm beside l_q, the provable one (erratum E5)", "schedule.kappa", printed="kappa"
    ),
    "T": Symbol("steps", "schedule.steps"),
    "eta": Symbol("length of a step", "schedule.step"),
    "g_d": Symbol("Gamma((d + 1)/2)/Gamma(d/2)", lambda c: math.exp(math.lgamma((c.d + 1) / 2) - math.lgamma(c.d / 2))),
    "h_nd": Symbol(
        "largest excess over signals of Algorithm 1 without noise, on one good coordinate",
        lambda c: largest_excess_without_noise(c.n, c.d),
    ),
    "alpha": Symbol("excess risk of the output", "extras.alpha"),
    "||z||_q": Symbol("l_q norm of the mean record", "extras.mean_norm"),
    "sigma": Symbol("scale of the released noise", "scales.release"),
    "b_N": Symbol("scale of the Laplace noise on the vertices' scores", "scales.vertex"),
    "h_K": Symbol(
        "sup_u u (1 - P_+ + P_-), P_+ and P_- the chances that the scores -u + Lap(1) and u + Lap(1) win among K",
        lambda c: largest_excess(int(c.schedule["vertices"])),
    ),
}
MIRROR_DESCENT = "L0 M sqrt(kappa_q) (d ln(1/delta))^(1/4)/sqrt n"
"""The first term of Theorem 9, that of Theorem 10 where it counts."""
FRANK_WOLFE = "(kappa_q L0 M + L1 M^2 ln n)/sqrt n + kappa_q L1 M^2 ln n sqrt(d ln(1/delta))/(eps n^0.75)"
"""The second term of Theorem 9, that of Theorem 12 with constants 1."""
SMD_STEPS = "T = max{1, floor((eps n)^2/(16 d kappa_q ln(1/delta)))}"
THEOREMS = {
    "thm4": "M (L1 M + L0) ln K ln(n/ln K) sqrt(l) / (eps sqrt n)",
    "thm4_nonprivate": "L0 M ln(n/ln K) sqrt(ln K / n)",
    "thm4_explicit": (
        "L0 M sqrt(ln K/n) + 2e L0 M A (ln K/n + ln^1.5 K sqrt(l)/(eps n)) "
        "+ 8 M (L1 M + L0) A (e sqrt(ln K/n) + (ln K/eps) sqrt(l/n)) + L1 M^2 A/(2n), A = ln(n/ln K)"
    ),
    "gg_moment": "d sigma^2",
    "gg_moment1": "sqrt(2) sigma g_d",
    "gg_moment4": "d (d + 2) sigma^4",
    "lemma6_first": "2e L0 sqrt(2 ln K/n)",
    "lemma6": "2e L0 sqrt(2 ln K/n) (1 - eta)^T + 4 eta sqrt(T ln K) (L1 M + L0)",
    "lemma17_first": "4 L0 sqrt(kappa_q/n) + 8 kappa_q L0 sqrt(d l)/(eps n)",
    "lemma17": (
        "4 L0 sqrt(kappa_q/n) + 4 kappa_q L1 M eta sqrt(T)/n^0.25 + 8 kappa_q sqrt(d l)/eps (L0/n + L1 M eta sqrt(T/n))"
    ),
    "claim20": "sqrt(8 alpha/((p - 1) ||z||_q))",
    "thm10_erm": "L0 M kappa_q sqrt(d l)/(eps n)",
    "thm10_erm_explicit": "5 sqrt(2) L0 M kappa_q sqrt(d l)/(eps n)",
    "thm10_sco": "L0 M max{sqrt(kappa_q) (d ln(1/delta))^(1/4)/sqrt n, kappa_q sqrt(d ln(1/delta))/(eps n)}",
    "thm12_statistical": "L0 M / sqrt n",
    "thm12_explicit": (
        "L0 M (1 + 8 sqrt kappa_q)/sqrt n + 16 kappa_q L0 M sqrt(d l)/(eps n) + 4 kappa_q L1 M^2 ln n/sqrt n "
        "+ 16 kappa_q L1 M^2 ln n sqrt(d l)/(eps n^0.75) + L1 M^2 ln n/(4 sqrt n)"
    ),
    "thm12_crossover": "L0 M (1 + 8 sqrt kappa_q)/sqrt n; whole bound: thm12_explicit",
    "thm12_private": "16 kappa_q L1 M^2 ln n sqrt(d l)/(eps n^0.75); whole bound: thm12_explicit",
    "thm12_printed": FRANK_WOLFE,
    "thm12_first": "16 kappa_q L0 M sqrt(d l)/(eps n); whole bound: thm12_explicit",
    "thm9": f"min{{{MIRROR_DESCENT}, {FRANK_WOLFE}}}",
    "prop13_statistical": "L0 M d^(1/2 - 1/p) / sqrt n",
    "prop13": "L0 M (d^(1/2 - 1/p)/sqrt n + d^(1 - 1/p) sqrt(l)/(eps n))",
    "prop13_sampling": "L0 M d^(1/2 - 1/p)/sqrt n; whole bound: prop13",
    "prop13_private": "L0 M d^(1 - 1/p) sqrt(l)/(eps n); whole bound: prop13",
    "thm15": "max{1/sqrt n, (p - 1) sqrt d/(eps n)}, up to logarithms",
    "thm19": "(p - 1) sqrt(d l) / (eps n)",
    # gradients that Algorithms 1 to 3 evaluate, and those of the methods that the introduction compares with
    "poly_sfw_gradients": "3 floor(n/2)",
    "noisy_smd_gradients": f"m (T - 1), m = min{{n, max{{1, round(n sqrt(eps/(4 T)))}}}}, {SMD_STEPS}",
    "noisy_smd_fullbatch_gradients": f"n (T - 1), {SMD_STEPS}",
    "noisy_sfw_gradients": "floor(n/2) + 2 floor(sqrt(n)/2) floor(sqrt n)",
    "noisy_sgd_gradients": "n^2",
    "noisy_sgd_minibatch_gradients": "m T, m = min{n, max{1, round(n sqrt(eps/(4 T)))}}",
    "one_pass": "1.5 n",
    "noisy_smd_rate": f"n sqrt(eps T)/2, {SMD_STEPS}",
}
LAWS = {
    "thm4": "b_N h_K, the noise-dominated law",  # of noisy Frank-Wolfe on one good coordinate (ours)
    "thm4_nonprivate": "h_nd, the law of normal estimates",
    "lower_table1": (
        "sqrt(ln d/n) for p = 1; max{1/sqrt n, (p - 1) sqrt d/(eps n)} for p <= 2; "
        "min{d^(1/2 - 1/p)/sqrt n, n^(-1/p)} for p > 2"
    ),
    "lower_p1": "sqrt(ln d / n)",
    "lower_p_above_2": "min{d^(1/2 - 1/p)/sqrt n, n^(-1/p)}",
}
paper_bounds("bassily2021", THEOREMS, SYMBOLS)
paper_bounds("bassily2021_law", LAWS)
