"""Bounds of Gopi, Lee, Liu, Shen, Tian 2022, with their constants, and the symbols in them.

A name is that of its theorem, corollary or proposition. Bounds are written with S, t and Theta of the schedule:
``t = eps/sqrt(2 Lam)`` and S = G under ``paper``, which gives what is printed, the proven S and the exact t under
``accounted``. Those of ``valid`` hold for the schedule that was run whatever S the losses have (erratum E1).
"""

from __future__ import annotations

from dpsco_bench.claims.bounds.registry import BoundContext, Symbol, paper_bounds
from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw
from dpsco_bench.papers.gopi2022.laws.radial import RadialLaw
from dpsco_bench.privacy.queries import Temperature


def _at(c: BoundContext) -> tuple[float, float]:
    """Find k and mu of the target law."""
    return Temperature.of(c.schedule).at(c.scales["draw"])


def _curved(c: BoundContext) -> tuple[float, float]:
    """Find k and ``k mu coef``, where the regulariser is of a norm with 1 < p <= 2."""
    k, mu = _at(c)
    return k, 0.5 * k * mu / (c.constants.norm - 1.0)


SYMBOLS = {
    "G": Symbol("Lipschitz constant in the problem's norm", "constants.lipschitz"),
    "D": Symbol("diameter of the feasible set in the problem's norm", "constants.diameter"),
    "S": Symbol(
        "Lipschitz constant of a difference of losses that the schedule has: G under `paper`, the proven one under "
        "`accounted`",
        "schedule.loss_range",
    ),
    "S_true": Symbol("the proven one (erratum E1)", "constants.loss_difference"),
    "t": Symbol(
        "Gaussian-DP parameter of the schedule: eps/sqrt(2 Lam) under `paper`, exact under `accounted`",
        lambda c: Temperature.of(c.schedule).parameter(c.scales["draw"]),
    ),
    "Lam": Symbol("ln(1/(2 delta))"),
    "Theta": Symbol("range of the regulariser", "schedule.theta"),
    "k": Symbol("inverse temperature: the target law is exp(-k (F + mu r)), r the regulariser", lambda c: _at(c)[0]),
    "mu": Symbol("weight of the regulariser; strong convexity of the losses in Theorems 5 and 6", lambda c: _at(c)[1]),
    "d2": Symbol("number of columns of matrices, d of vectors", lambda c: getattr(c.constants.ball, "columns", c.d)),
    "T": Symbol("steps of the alternating sampler", "schedule.sweeps"),
    "gap": Symbol(
        "E[1 - x_1], x of the target law for F = -x_1", lambda c: AxisLaw(c.constants.norm, c.d, *_curved(c)).mean_gap()
    ),
    "radius": Symbol("E ||x||, x of the target law for F = ||x||", lambda c: RadialLaw(c.d, *_curved(c)).mean()),
}
THEOREMS = {
    "thm3": "2 S sqrt(d Theta)/(n t); printed: G sqrt(8 d Theta Lam)/(n eps)",
    # the printed constant is sqrt(8), and so it is for S = 2G; the argument gives 2 sqrt(S G Theta/n)
    "thm4_sampling": "G sqrt(8 Theta/n); accounted: 2 sqrt(S G Theta/n); whole bound: thm4",
    "thm4": "2 S sqrt(d Theta)/(n t) + G sqrt(8 Theta/n); accounted: 2 S sqrt(d Theta)/(n t) + 2 sqrt(S G Theta/n)",
    "thm4_unsplit": "mu Theta + G S/(n mu) + d/k, S as the schedule has it",
    "thm4_valid": "mu Theta + G S_true/(n mu) + d/k",
    "cor2_erm": "(2 D/sqrt(p - 1)) sqrt(d/2) S/(n t); printed: (2 G D/sqrt(p - 1)) sqrt(d Lam)/(n eps)",
    "cor2_sco_sampling": "(2 D/sqrt(p - 1)) G/sqrt n; whole bound: cor2_sco",
    "cor2_sco_draw": "(2 D/sqrt(p - 1)) sqrt(d/2) S/(n t); whole bound: cor2_sco",
    "cor2_sco": (
        "(2 D/sqrt(p - 1)) (sqrt(d/2) S/(n t) + G/sqrt n); "
        "printed: (2 G D/sqrt(p - 1)) (sqrt(d Lam)/(n eps) + 1/sqrt n)"
    ),
    "cor3_erm": "6 D sqrt(ln d2) sqrt(d/2) S/(n t); printed: 6 G D sqrt(ln d2) sqrt(d Lam)/(n eps)",
    "cor3_sco_sampling": "6 D sqrt(ln d2) G/sqrt n; whole bound: cor3_sco",
    "cor3_sco": (
        "6 D sqrt(ln d2) (sqrt(d/2) S/(n t) + G/sqrt n); printed: 6 G D sqrt(ln d2) (sqrt(d Lam)/(n eps) + 1/sqrt n)"
    ),
    "cor4_erm": "2 D d2^(1/2 - 1/p) sqrt(d/2) S/(n t); printed: 2 G D d2^(1/2 - 1/p) sqrt(d Lam)/(n eps)",
    "cor4_sco_sampling": "2 D d2^(1/2 - 1/p) G/sqrt n; whole bound: cor4_sco",
    "cor4_sco_draw": "2 D d2^(1/2 - 1/p) sqrt(d/2) S/(n t); whole bound: cor4_sco",
    "cor4_sco": (
        "2 D d2^(1/2 - 1/p) (sqrt(d/2) S/(n t) + G/sqrt n); "
        "printed: 2 G D d2^(1/2 - 1/p) (sqrt(d Lam)/(n eps) + 1/sqrt n)"
    ),
    "thm5": "d S^2/(n^2 t^2 mu); printed: 2 d G^2 Lam/(n^2 eps^2 mu)",
    "thm6_sampling": "G S/(n mu); whole bound: thm6",
    "thm6_draw": "d S^2/(n^2 t^2 mu); whole bound: thm6",
    "thm6": "G S/(n mu) + d S^2/(n^2 t^2 mu); printed: (G^2/(n mu)) (1 + 2 d Lam/(n eps^2))",
    "thm6_valid": "G S_true/(n mu) + d/k",
    "thm2": "gdp_eps(S_true sqrt(k/mu)/n, delta)",
    "prop5": "S_true/(n mu)",
    "cor1": "G S_true/(n mu)",
    "prop6": "0.00001, what quadrature and tables of the law are good for",
    "prop8": "k G^2/mu, without log^2",
    "prop9": "(k G^2/mu) d^|1 - 2/p|, without log^2",
    "value_queries": (
        "n^2 eps^2 d^|1 - 2/p| ln^2(G D d n eps/delta)/ln(1/delta), that is (8), (11) and (14) with constant 1"
    ),
    "projected_queries": "4 e T, T steps of the alternating sampler",
    "queries_per_call": "4 e",
    "one": "1",
    "lower": (
        "G D sqrt(ln d/n) for p = 1; G D/sqrt(n (p - 1)) + G D sqrt(d Lam)/(n eps sqrt(p - 1)) for p < 2; "
        "G D d^(1/2 - 1/p)/sqrt n otherwise, the reference curve of Table 1 with constant 1"
    ),
    "mirror_descent": "G sqrt(2 Theta/n)",
}
LAWS = {
    # beside which chains of the regularised exponential mechanism are put
    "axis": "gap, of the target law by quadrature",
    "radial": "radius, of the target law by quadrature",
}
paper_bounds("gopi2022", THEOREMS, SYMBOLS)
paper_bounds("gopi2022_law", LAWS)
