"""Bounds of Wang, Ye, Xu 2017 and of its tables, and the symbols in them.

A name is that of its theorem: ``thm4_2`` is Theorem 4.2. Those of ``explicit`` keep all constants of the proof.
"""

from __future__ import annotations

from dpsco_bench.claims.bounds.registry import Symbol, paper_bounds
from dpsco_bench.geometry.mirror import ball_geometry

SYMBOLS = {
    "G": Symbol("Lipschitz constant of a record's loss", "constants.lipschitz"),
    "L": Symbol("smoothness of a record's loss, without the regulariser", "constants.smoothness"),
    "Lc": Symbol("smoothness in the norm of the feasible set", "schedule.norm_smoothness"),
    "mu": Symbol("strong convexity", "constants.strong_convexity"),
    "lambda": Symbol("weight of the regulariser", "constants.regularisation"),
    "kappa": Symbol("L/mu, the condition number"),
    "D0": Symbol("a-priori bound on the excess risk of the start", "constants.initial_gap"),
    "R0": Symbol("measured excess risk of the start", "start_risk"),
    "||x_0 - x*||": Symbol("distance of the optimum from the start, a bound", "constants.distance"),
    "T": Symbol("epochs of a method that has them, else steps", "schedule.epochs or schedule.steps"),
    "m": Symbol("inner steps of an epoch", "schedule.inner_steps"),
    "A": Symbol("contraction of an epoch", "schedule.contraction"),
    "sigma": Symbol("standard deviation of a step's noise, per coordinate", "scales.inner or scales.gradient"),
    "B": Symbol("bound on the Bregman divergence from the start", "schedule.bregman_radius"),
    "B_opt": Symbol("Bregman divergence of the minimiser from the start", "extras.minimiser_divergence", "B"),
    "W": Symbol(
        "E sup_{w in C} <b, w>^2 of a standard normal b, C the feasible set",
        lambda c: ball_geometry(c.ball).squared_width(c.d),
    ),
    "G_C": Symbol("E sup_{w in C} <b, w>, the Gaussian width of the feasible set", lambda c: c.ball.width(c.d)),
    "diam": Symbol("diameter of the feasible set in its own norm", "constants.diameter"),
}
THEOREMS = {
    "thm4_2": "d G^2 T l / (mu n^2 eps^2)",
    "thm4_2_explicit": "A^T R0 + d sigma^2/(10 L)",
    "thm4_2_gradients": "(n + kappa) T",
    "thm4_2_gradients_schedule": "(n + 384 kappa) T, from the schedule's m of about 192 kappa",
    "thm4_4": "G sqrt(d l) / (n eps)",
    "thm4_4_explicit": "2^-T (R0 (1 + 1/(2m)) + 39 L ||x_0 - x*||^2/(4m)) + d sigma^2/(4 L)",
    "thm4_4_gradients": "n L eps / sqrt(d) + n T",
    "thm5_4": "G sqrt(B W l) / (n eps)",
    "thm5_4_explicit": "8 Lc B/(T+1)^2 + sigma^2 W/(2 Lc (T+1)^2) sum_{k=2}^{T+1} k^2",
    "thm5_4_minimiser": "G sqrt(B_opt W l) / (n eps)",
    "thm5_4_explicit_minimiser": "8 Lc B_opt/(T+1)^2 + sigma^2 W/(2 Lc (T+1)^2) sum_{k=2}^{T+1} k^2",
    "thm5_4_gradients": "n T, T = sqrt(Lc sqrt(B) n eps/(G sqrt(W ln(1/delta))))",
    "thm6_2": "d G^2 T l / (2 mu n^2 eps^2)",
    "thm6_2_explicit": "(1 - mu/(L + lambda))^T R0 + d sigma^2/(2 mu)",
    "thm6_3": "2 G sqrt(2 (L + lambda) D0 d l)/(n eps)",
    "thm6_3_explicit": "2 (L + lambda) D0/T + d sigma^2",
    # Table 1 and 2: the least risk of a strongly convex loss, and output perturbation (Zhang et al. 2017)
    "strongly_convex": "d l / (n eps)^2",
    "zhang17_convex": "(sqrt(d l) / (n eps))^(2/3)",
    "zhang17_gradients": "n ln(n) (L + lambda)/mu",
}
TABLES = {
    # Tables 1 and 2
    "pure_strongly_convex": "d / (n eps)^2",
    "convex": "sqrt(d l) / (n eps)",
    "bst14_strongly_convex": "d l ln^2(n) / (n eps)^2",
    "bst14_convex": "sqrt(d l) ln^(3/2)(n) / (n eps)",
    "bst14_gradients": "n^2",
    "zhang17_convex_gradients": "n (n eps / sqrt(d l))^(2/3)",
    "zhang17_convex_gradients_printed": "n (n eps / (d sqrt(l)))^(2/3)",
    "zhang17_nonconvex": "sqrt(d l) ln(n) / (n eps)",
    "n_log_n": "n ln(n)",
    "lower_strongly_convex": "min(1, d/(n eps)^2)",
    "lower_convex": "min(1, sqrt(d)/(n eps))",
    # Table 3
    "md_ttz14": "sqrt(W l) ln(n) / (n eps)",
    "md_ttz14_gradients": "n^3 eps^2 diam^2 / (W ln^2(n/delta))",
    "objective_ttz14": "(G_C + lambda diam^2) sqrt(l) / (n eps)",
    "frank_wolfe_ttz15": "G_C^(2/3) ln^2(n) (sqrt(l) / (n eps))^(2/3)",
    "frank_wolfe_ttz15_bare": "(G_C sqrt(l) / (n eps))^(2/3)",
    "frank_wolfe_ttz15_gradients_printed": "(n eps / G_C)^(2/3)",
    "frank_wolfe_ttz15_gradients": "n (n eps)^(2/3)",
}
paper_bounds("wang2017", THEOREMS, SYMBOLS)
paper_bounds("wang2017_tables", TABLES)
