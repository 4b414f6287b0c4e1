"""Truncated mirror descent on shuffled data with noise on every gradient (Su, Zhao, Wang 2023, Algorithm 4)."""

from __future__ import annotations

from math import log, nan, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm, count_option, positive_option
from dpsco_bench.papers.su2023.algorithms.lp_setting import printed_kappa
from dpsco_bench.papers.su2023.algorithms.truncated import (
    NEEDS,
    heavy_tailed,
    truncated_mirror_descent,
    truncated_schedule,
)
from dpsco_bench.papers.su2023.shuffling import epsilon_of, largest_local_epsilon, local_budget
from dpsco_bench.privacy.plan import Plan, at_most, make_plan
from dpsco_bench.privacy.queries import GeneralisedGaussianQuery
from dpsco_bench.privacy.records import RandomAllocation

SOURCE = "Su, Zhao, Wang 2023, Algorithm 4, Theorems 9 and 10"

LARGEST_EPSILON = 100.0
"""Beyond it nothing is said about shuffling."""


@algorithm("su2023.shuffled_truncated_md", source=SOURCE, needs=NEEDS, order_invariant=False, least_norm=1.0)
def plan(given: Setting, *, constant: float = 1.0, range_constant: float = 1.0, steps: int | None = None) -> Plan:
    """T = (M n eps)^2/(lambda^2 d l) batches of a shuffled pass, gamma = sqrt T.

    lambda = sigma sqrt(n eps)/(k^2 d l)^(1/4). Every truncated gradient gets noise of its own; only their mean is used.
    ``paper``: s1^2 = c ln(n/delta) k (beta M + lambda)^2 l/(n eps^2), for eps <= C sqrt(ln(n/delta)/n). ``accounted``:
    the mean is post-processing of m releases, each of which a record moves by 2 (beta M + lambda)/m, and the batch of a
    record is one of T at random, or none: that asks for a record that is left over, so that where T m = n one batch
    fewer is run. What amplification by shuffling would give is shown in the schedule (`shuffling_epsilon` at the
    printed noise, `shuffling_scale` for the claim; NaN outside its range): its formula is from memory, and no status
    rests on it.

    Parameters
    ----------
    given : Setting
        Constants in l_p, 1 < p < 2, on the l_p ball; sigma is `gradient_deviation`.
    constant : float
        c, which the paper hides.
    range_constant : float
        C of the printed noise's range, eps <= C sqrt(ln(n/delta)/n), which the paper hides too.
    steps : optional
        Replaces T.
    """
    c, n, d = given.constants, given.n, given.d
    count_option("steps", steps, SOURCE)
    positive_option("constant", constant, SOURCE)
    positive_option("range_constant", range_constant, SOURCE)
    smooth, M = heavy_tailed(c, d, SOURCE)
    k, l, eps = printed_kappa(c.norm, d), given.l, given.epsilon
    level = c.gradient_deviation * sqrt(n * eps) / (k**2 * d * l) ** 0.25
    T = steps or round((M * n * eps) ** 2 / (level**2 * d * l))
    made = truncated_schedule(given, M, level, T, SOURCE, left_over=True)
    T, threshold, m, logarithm = made["steps"], made["threshold"], made["batch"], log(n) + l
    scale = sqrt(constant * logarithm * k * l / n) * threshold / eps
    limit = at_most("epsilon", eps, range_constant * sqrt(logarithm / n), SOURCE, " = C sqrt(ln(n/delta)/n)")
    query = GeneralisedGaussianQuery(
        "gradient", 2 * threshold / m, T, RandomAllocation(n, m), paper_scale=scale, smooth=smooth, draws=m
    )
    shuffled = _shuffling(given, smooth.kappa * (2 * threshold) ** 2 / 2, scale)
    made = {"r": smooth.r, "kappa": smooth.kappa, **made, **shuffled}
    return make_plan(query, gradient_evaluations=m * T, paper_limit=limit, **made)


@plan.run
def shuffled_truncated_md(objective, plan, mechanism):
    """Algorithm 4 on iterates ``(R, d)``; a sample that every replicate draws anew is in random order already."""
    if not objective.problem.draws_per_replicate:
        objective.reorder(mechanism.permutation("records", plan.n))
    return truncated_mirror_descent(objective, plan, mechanism)


def _shuffling(given: Setting, cost: float, scale: float) -> dict[str, float]:
    """Epsilon of the printed noise by amplification, and the noise that it would need; ``cost`` is rho at scale 1.

    NaN for what lies outside the range of the formula.
    """
    n, eps, delta = given.n, given.epsilon, given.delta
    known = largest_local_epsilon(n, 0.5 * delta) > 0 and eps <= LARGEST_EPSILON
    needed = sqrt(cost / local_budget(eps, delta, n)[2]) if known else nan
    return {
        "shuffling_epsilon": epsilon_of(cost / scale**2, delta, n),
        "shuffling_scale": needed,
    }
