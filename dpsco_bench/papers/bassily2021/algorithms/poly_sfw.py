"""Private stochastic Frank-Wolfe over a polytope, one pass (Bassily, Guzman, Nandi 2021, Algorithm 1)."""

from __future__ import annotations

from math import log, sqrt

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.polytope import CrossPolytope, Polytope
from dpsco_bench.papers.bassily2021.algorithms.lp_setup import towards
from dpsco_bench.privacy.plan import Plan, make_plan
from dpsco_bench.privacy.queries import DecayingNoisyMinimumQuery
from dpsco_bench.problems.base import Constants, Trait

SOURCE = "Bassily, Guzman, Nandi 2021, Algorithm 1, Theorems 3 and 4"


@algorithm(
    "bassily2021.poly_sfw",
    source=SOURCE,
    needs=(Trait.CONVEX, (Trait.SMOOTH, Trait.LINEAR_LOSS), Trait.LIPSCHITZ, Trait.POLYTOPE, Trait.UNREGULARISED),
    order_invariant=False,
    least_norm=1.0,
)
def plan(given: Setting) -> Plan:
    """Frank-Wolfe steps eta = ln(n/ln K)/n to the vertex of least noisy score against a recursive gradient estimate.

    ``paper``: Laplace scales b_t = 2 s_t sqrt(n l)/eps with
    s_t = max{(1-eta)^t 2 L0 M/n, 2 eta (L1 M^2 + L0 M)}. ``accounted``: one multiplier on all b_t for which the worst
    record, in the first batch (which moves a score by (1-eta)^t 2 L0 M/N, erratum E6) or later, meets the claim.

    Parameters
    ----------
    given : Setting
        Constants in the polyhedral norm, on the l1 ball (K = 2d implicit vertices) or a polytope given by its K
        vertices; n at least 2 and above ln K.
    """
    c, n, d = given.constants, given.n, given.d
    K = vertex_count(c, d)
    if n <= log(K) or n < 2:
        raise InputError("n", n, f"an integer >= 2 and above ln K = {log(K):.3g}", SOURCE)
    L0, L1, M = c.lipschitz, c.smoothness, c.diameter
    step, N = log(n / log(K)) / n, n // 2
    decay, start, floor = 1 - step, 2 * L0 * M / n, 2 * step * (L1 * M**2 + L0 * M)
    first, later = 2 * L0 * M / N, 2 * step * (decay * L1 * M**2 + L0 * M)
    last = max(start * decay**N, floor)
    vertex = DecayingNoisyMinimumQuery(
        "vertex",
        max(first, later),
        N + 1,
        paper_scale=2 * last * sqrt(n * given.l) / given.epsilon,  # b_N, of the last release
        decay=decay,
        first=first,
        later=later,
        start=start / last,
        floor=floor / last,
    )
    return make_plan(vertex, gradient_evaluations=3 * N, n=n, steps=N, step=step, vertices=K)


@plan.run
def poly_sfw(objective, plan, mechanism):
    """Algorithm 1 on iterates ``(R, d)``; returns the last iterate."""
    polytope, eta, N = polytope_of(objective), plan.step, plan.steps
    x_old = objective.start
    estimate = objective.range_gradient(x_old, 0, N)
    objective.observe_round(estimate=estimate)
    chosen = mechanism.release("vertex", polytope.scores(estimate), 0)
    x = towards(x_old, polytope.vertex(chosen, x_old.dtype), eta)
    for t in range(1, N + 1):
        now, before = objective.range_gradient_pair(x, x_old, N + t - 1, 1)
        estimate = (1 - eta) * (estimate + now - before) + eta * now
        objective.observe_round(estimate=estimate)
        chosen = mechanism.release("vertex", polytope.scores(estimate), t)
        x_old, x = x, towards(x, polytope.vertex(chosen, x_old.dtype), eta)
        objective.observe(x)
    return x


def vertex_count(c: Constants, d: int) -> int:
    """K: 2d for the l1 ball, else the number that the name of the polytope gives.

    Raises InputError for another domain, or fewer than two vertices.
    """
    kind, _, count = c.domain.partition(":")
    if kind not in ("l1_ball", "polytope"):
        raise InputError("domain", c.domain, "l1_ball or a polytope with a list of vertices", SOURCE)
    K = 2 * d if kind == "l1_ball" else int(count)
    if K < 2:
        raise InputError("K", K, "an integer >= 2", SOURCE)
    return K


def polytope_of(objective):
    """Find the polytope of the run: explicit vertices as the problem lists them, or those of the l1 ball."""
    domain = objective.domain
    return domain if isinstance(domain, Polytope) else CrossPolytope(objective.start.shape[-1], domain.radius)
