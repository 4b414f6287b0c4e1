"""Truncated mirror descent with one draw of noise a batch (Su, Zhao, Wang 2023, Algorithm 7)."""

from __future__ import annotations

from math import sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm, choice_option, count_option, positive_option
from dpsco_bench.papers.su2023.algorithms.lp_setting import printed_kappa
from dpsco_bench.papers.su2023.algorithms.truncated import (
    NEEDS,
    heavy_tailed,
    truncated_mirror_descent,
    truncated_schedule,
)
from dpsco_bench.privacy.plan import Plan, at_most, make_plan
from dpsco_bench.privacy.queries import GeneralisedGaussianQuery
from dpsco_bench.privacy.records import Disjoint

SOURCE = "Su, Zhao, Wang 2023, Algorithm 7, Theorems 11 and 16"

POWERS = {"corrected": (1.0, -0.5), "printed": (-1.0, 1.0)}
"""Powers of M in T and, before the power 2/3, in lambda."""


@algorithm("su2023.truncated_batched_md", source=SOURCE, needs=NEEDS, order_invariant=False, least_norm=1.0)
def plan(given: Setting, *, constant: float = 1.0, schedule: str = "corrected", steps: int | None = None) -> Plan:
    """T = M n eps/(lambda sqrt(d l)) batches of one pass, gamma = sqrt T.

    lambda = (sqrt(n eps) sigma^2/(k sqrt(M) (d l)^(1/4)))^(2/3). Gradients of l_q norm above beta M + lambda become
    zero, so that a record moves the mean of its batch by at most 2 (beta M + lambda)/m. ``paper``: s1^2 = c k (beta M +
    lambda)^2 l/(m eps)^2, for eps <= 1.

    Parameters
    ----------
    given : Setting
        Constants in l_p, 1 < p < 2, on the l_p ball; sigma is `gradient_deviation`.
    constant : float
        c, which the paper hides; 1 is not private, 8 follows from the paper's own Lemma 3 (erratum E10).
    schedule : str
        ``corrected``, from the balance of (28), or ``printed``: M in the denominator of T, M^(2/3) in lambda
        (erratum E11).
    steps : optional
        Replaces T.
    """
    c, n, d = given.constants, given.n, given.d
    count_option("steps", steps, SOURCE)
    positive_option("constant", constant, SOURCE)
    choice_option("schedule", schedule, POWERS, SOURCE)
    smooth, M = heavy_tailed(c, d, SOURCE)
    k, l, eps = printed_kappa(c.norm, d), given.l, given.epsilon
    in_steps, in_level = POWERS[schedule]
    level = (sqrt(n * eps) * c.gradient_deviation**2 * M**in_level / (k * (d * l) ** 0.25)) ** (2 / 3)
    T = steps or round(M**in_steps * n * eps / (level * sqrt(d * l)))
    made = truncated_schedule(given, M, level, T, SOURCE)
    threshold, m = made["threshold"], made["batch"]
    scale = sqrt(constant * k * l) * threshold / (m * eps)
    query = GeneralisedGaussianQuery("gradient", 2 * threshold / m, T, Disjoint(m), paper_scale=scale, smooth=smooth)
    limit = at_most("epsilon", eps, 1.0, SOURCE)
    return make_plan(query, gradient_evaluations=m * T, paper_limit=limit, r=smooth.r, kappa=smooth.kappa, **made)


plan.run(truncated_mirror_descent)
