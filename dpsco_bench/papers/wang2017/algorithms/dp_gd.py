"""DP-GD as in the experiments on merely convex losses (Wang, Ye, Xu 2017, Algorithm 4, Appendix A and Figure 2)."""

from __future__ import annotations

from dpsco_bench.algorithms.registry import Setting, algorithm, count_option
from dpsco_bench.papers.wang2017.algorithms.dp_gd_pl import dp_gd_pl
from dpsco_bench.papers.wang2017.algorithms.noisy_gradient import checked_step, gradient_query
from dpsco_bench.privacy.plan import Plan, last_iterate, make_plan
from dpsco_bench.problems.base import Trait

SOURCE = "Wang, Ye, Xu 2017, Algorithm 4 and Appendix A"
FIGURE_2_STEPS = 1000


@algorithm(
    "wang2017.dp_gd",
    source=SOURCE,
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.UNCONSTRAINED),
    law="gradient_descent",
)
def plan(
    given: Setting,
    *,
    steps: int | None = None,
    step: float | None = None,
    noise_constant: float | str = 1.0,
    release: str = "sequence",
) -> Plan:
    """Noisy gradient descent with a given number of steps, returning the last iterate.

    The paper runs Algorithm 4 on a convex loss without the Polyak-Lojasiewicz inequality, which none of its theorems
    covers; the steps are those of Figure 2.

    Parameters
    ----------
    steps, step : optional
        T (1000 by default) and eta (1/L by default, and at most that).
    noise_constant : float or str
        c in sigma^2 = c G^2 T l/(n eps)^2, equation (11); ``renyi`` is c = 8 + 4 eps/l (erratum E8).
    release : str
        What accounted noise is calibrated by: the ``sequence`` of all gradients, or the ``output`` alone.
    """
    n, eta = given.n, checked_step(step, given.constants.total_smoothness, SOURCE)
    T = count_option("steps", steps, SOURCE) or FIGURE_2_STEPS
    query = gradient_query(given, T, noise_constant, SOURCE)
    last = last_iterate(given.constants, eta, release, SOURCE)
    return make_plan(query, gradient_evaluations=n * T, last_iterate=last, n=n, steps=T, step=eta)


plan.run(dp_gd_pl)
