"""Mirror descent in l_p, 1 < p < 2 (Su, Zhao, Wang 2023): regularised, and truncated for heavy tails.

Amplification by shuffling: records that are each randomised with a local (epsilon_0, delta_0), then permuted. Feldman,
McMillan and Talwar 2021, Theorem 3.1: shuffling n mechanisms that are each epsilon_0-differentially private, adaptively
chosen, gives ``F(epsilon_0, n, dh)`` at ``dh``, for ``epsilon_0 <= ln(n/(16 ln(2/dh)))``, with

    F = ln(1 + tanh(epsilon_0/2) (8 sqrt(e^epsilon_0 ln(4/dh)/n) + 8 e^epsilon_0/n)).

A local delta_0 costs ``n (e^F + 1)(1 + e^(-epsilon_0)/2) delta_0`` of delta besides; here half of delta goes to each
part. The formula and this rule are from memory: what rests on them alone is `unproven`.
"""

from __future__ import annotations

import math
from math import log, log2, nan, sqrt
from typing import Any

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.algorithms.shared import average
from dpsco_bench.backend.namespace import array_namespace, cast_like, float64_zeros
from dpsco_bench.geometry.mirror import SmoothMirror
from dpsco_bench.geometry.norms import SmoothNorm, lp_norm
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.accountants.solve import root
from dpsco_bench.privacy.accountants.zcdp import zcdp_epsilon, zcdp_rho
from dpsco_bench.privacy.plan import Plan, at_most, make_plan
from dpsco_bench.privacy.queries import GeneralisedGaussianQuery
from dpsco_bench.privacy.records import Disjoint, RandomAllocation
from dpsco_bench.problems.base import Trait

Array = Any
NORM_RULE = "two_ln_d"
"""The exponent of the smooth norm: r = max(2, min(q, 2 ln d + 1))."""
T_RULES = {"proof": 0.5, "theorem": 1.0}
"""Exponent of k beside n eps in T^(5/2)."""
NEEDS = (Trait.CONVEX, Trait.SMOOTH, Trait.LP_BALL, Trait.UNREGULARISED)
ONE_PASS: dict[str, Any] = dict(needs=NEEDS, order_invariant=False, least_norm=1.0)
POWERS = {"corrected": (1.0, -0.5), "printed": (-1.0, 1.0)}
"""Powers of M in T and, before the power 2/3, in lambda."""
LARGEST_EPSILON = 100.0
"""Beyond it nothing is said about shuffling."""


def smooth_norm(given: Setting, limit: bool = False) -> SmoothNorm:
    """Smooth norm beside the dual of l_p, 1 < p < 2 (or p = 2, a limit), d >= 2. Raises InputError for others."""
    p, d = given.constants.norm, given.d
    given.require("norm", p, 1.0 < p < 2.0 or (limit and p == 2.0), f"p in (1, 2{']' if limit else ')'}")
    given.count("d", d, least=2)
    return SmoothNorm(p, d, NORM_RULE)


def printed_kappa(p: float, d: int) -> float:
    """``k = min{1/(p-1), 2 ln d}``, as printed; kappa_q itself is larger (erratum E5)."""
    return min(1.0 / (p - 1.0), 2.0 * log(d))


def truncated(gradients: Array, q: float, level: float) -> Array:
    """Gradients ``(R, m, d)`` with those of ``l_q`` norm above the level set to zero (not clipped)."""
    xp = array_namespace(gradients)
    return xp.where(lp_norm(gradients, q) <= level, gradients, xp.zeros_like(gradients))


@algorithm(
    "su2023.nrmd",
    source="Su, Zhao, Wang 2023, Algorithm 3, Theorems 6 and 7",
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.UNCONSTRAINED, Trait.UNREGULARISED),
    least_norm=1.0,
)
def nrmd_plan(given: Setting, *, T_rule: str = "proof", steps: int | None = None) -> Plan:
    """T = (n eps sqrt(k)/sqrt(d l))^(2/5) regularised mirror steps with full gradients, alpha = (4 beta/T) log2(n/T).

    k = min{1/(p-1), 2 ln d}. ``paper``: s^2 = 64 L^2 k T l/(n eps)^2. ``accounted``: with the exact kappa_q.

    Parameters
    ----------
    given : Setting
        Constants in l_p with 1 < p < 2, on the whole space.
    T_rule : str
        ``proof``: sqrt(k) in T, as the proof of Theorem 7 has it. ``theorem``: k, as its statement prints (erratum E6).
    steps : optional
        Replaces T.
    """
    c, n, d = given.constants, given.n, given.d
    smooth, k = smooth_norm(given), printed_kappa(c.norm, d)
    L, beta, l, eps = c.lipschitz, c.smoothness, given.l, given.epsilon
    power = T_RULES[given.choice("T_rule", T_rule, T_RULES)]
    T = given.count("steps", steps) or max(1, round((n * eps * k**power / sqrt(d * l)) ** 0.4))
    alpha = 4 * beta / T * log2(n / T)
    if not 0 < alpha <= beta:
        allowed = f"large enough (and T small enough) for 0 < alpha <= beta; alpha = {alpha / beta:.3g} beta"
        raise given.error("n", n, allowed)
    scale = 8 * L * sqrt(k * T * l) / (n * eps)
    query = GeneralisedGaussianQuery("gradient", 2 * L / n, T, paper_scale=scale, smooth=smooth)
    geometry: Schedule = dict(p=c.norm, norm_rule=NORM_RULE, r=smooth.r, kappa=smooth.kappa)
    return make_plan(query, gradient_evaluations=n * T, n=n, steps=T, alpha=alpha, beta=beta, **geometry)


@nrmd_plan.run
def nrmd(objective, plan, mechanism):
    """Algorithm 3 on iterates ``(R, d)``; returns their average with weights (1 + alpha/(2 beta))^t."""
    w, alpha, beta, T = objective.start, plan.alpha, plan.beta, plan.steps
    mirror = SmoothMirror(SmoothNorm(plan.p, w.shape[-1], plan.norm_rule))
    z, total, weights = mirror.gradient(w), float64_zeros(w), 0.0
    for t in range(1, T + 1):
        gradient = mechanism.release("gradient", objective.mean_gradient(w), t - 1)
        z = (beta * z - gradient) / (beta + alpha)
        w = mirror.inverse(z)
        weight = (1 + alpha / (2 * beta)) ** (t - T)  # normalised at T, so that nothing overflows
        total, weights = total + weight * w, weights + weight
        objective.observe(w)
    return cast_like(total / weights, w)


def heavy_tailed(given: Setting) -> tuple[SmoothNorm, float, float]:
    """Return the smooth norm, the printed kappa, and M, the diameter of the l_p ball, 1 < p <= 2.

    Raises InputError for another set or p, or gradients without a bound on their second moment.
    """
    c, smooth = given.constants, smooth_norm(given, limit=True)
    own, sigma = getattr(c.ball, "p", None) == c.norm, c.gradient_deviation
    given.require("domain", c.domain, own, f"lp_ball:{c.norm:g}, the ball of the norm of L and beta")
    given.require("gradient_deviation", sigma, sigma > 0, "> 0: the sigma of Assumption 4")
    return smooth, printed_kappa(c.norm, given.d), c.diameter


def truncated_schedule(given: Setting, level: float, steps: int, left_over: bool = False) -> Schedule:
    """T, m = n // T, gamma = sqrt T and the threshold beta M + lambda, for a truncation level lambda.

    With ``left_over`` one batch fewer where T m = n, unless it is the only one. Raises InputError for T > n, gamma < 2
    beta or lambda < max(beta, 1) M.
    """
    c, n = given.constants, given.n
    given.require("T", steps, 1 <= steps <= n, f"from 1 to n = {n}, so that batches are not empty")
    batch = n // steps
    steps = max(1, min(steps, (n - 1) // batch)) if left_over else steps
    gamma, least = sqrt(steps), max(c.smoothness, 1.0) * c.diameter
    beta2 = 2 * c.smoothness
    given.require("gamma", gamma, gamma >= beta2, f"at least 2 beta = {beta2:.4g}: n is too small")
    given.require("truncation", level, level >= least, f"at least max(beta, 1) M = {least:.4g}: n is too small")
    cut: Schedule = dict(truncation=level, threshold=c.smoothness * c.diameter + level, p=c.norm, norm_rule=NORM_RULE)
    return dict(n=n, steps=steps, batch=batch, gamma=gamma, **cut)


def truncated_mirror_descent(objective, plan, mechanism):
    """Make one pass of mirror steps over the l_p ball on ``(R, d)``; returns the mean of w_1..w_T."""
    start, q = objective.start, plan.p / (plan.p - 1)
    mirror = SmoothMirror(SmoothNorm(plan.p, start.shape[-1], plan.norm_rule))

    def step(w, t):
        gradients = truncated(objective.record_gradients(w, t * plan.batch, plan.batch), q, plan.threshold)
        y = mechanism.release("gradient", objective.xp.mean(gradients, axis=1), t)
        return mirror.step(mirror.gradient(w) - y / plan.gamma, plan.p, objective.domain.radius)

    return average(objective, start, plan.steps, step)


@algorithm("su2023.truncated_batched_md", source="Su, Zhao, Wang 2023, Algorithm 7, Theorems 11 and 16", **ONE_PASS)
def truncated_batched_md_plan(
    given: Setting, *, constant: float = 1.0, schedule: str = "corrected", steps: int | None = None
) -> Plan:
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
    c, n, d, l, eps = given.constants, given.n, given.d, given.l, given.epsilon
    given.positive("constant", constant)
    (smooth, k, M), (in_steps, in_level) = heavy_tailed(given), POWERS[given.choice("schedule", schedule, POWERS)]
    level = (sqrt(n * eps) * c.gradient_deviation**2 * M**in_level / (k * (d * l) ** 0.25)) ** (2 / 3)
    T = given.count("steps", steps) or round(M**in_steps * n * eps / (level * sqrt(d * l)))
    made = truncated_schedule(given, level, T)
    threshold, m = made["threshold"], made["batch"]
    scale = sqrt(constant * k * l) * threshold / (m * eps)
    query = GeneralisedGaussianQuery("gradient", 2 * threshold / m, T, Disjoint(m), paper_scale=scale, smooth=smooth)
    limit = at_most("epsilon", eps, 1.0, given.source)
    return make_plan(query, gradient_evaluations=m * T, paper_limit=limit, r=smooth.r, kappa=smooth.kappa, **made)


truncated_batched_md_plan.run(truncated_mirror_descent)


@algorithm("su2023.shuffled_truncated_md", source="Su, Zhao, Wang 2023, Algorithm 4, Theorems 9 and 10", **ONE_PASS)
def shuffled_truncated_md_plan(
    given: Setting, *, constant: float = 1.0, range_constant: float = 1.0, steps: int | None = None
) -> Plan:
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
    c, n, d, l, eps = given.constants, given.n, given.d, given.l, given.epsilon
    given.positive("constant", constant)
    given.positive("range_constant", range_constant)
    smooth, k, M = heavy_tailed(given)
    level = c.gradient_deviation * sqrt(n * eps) / (k**2 * d * l) ** 0.25
    T = given.count("steps", steps) or round((M * n * eps) ** 2 / (level**2 * d * l))
    made = truncated_schedule(given, level, T, left_over=True)
    T, threshold, m, logarithm = made["steps"], made["threshold"], made["batch"], log(n) + l
    scale = sqrt(constant * logarithm * k * l / n) * threshold / eps
    limit = at_most("epsilon", eps, range_constant * sqrt(logarithm / n), given.source, " = C sqrt(ln(n/delta)/n)")
    noise: Schedule = dict(paper_scale=scale, smooth=smooth, draws=m)
    query = GeneralisedGaussianQuery("gradient", 2 * threshold / m, T, RandomAllocation(n, m), **noise)
    shuffled = _shuffling(given, smooth.kappa * (2 * threshold) ** 2 / 2, scale)
    made = {"r": smooth.r, "kappa": smooth.kappa, **made, **shuffled}
    return make_plan(query, gradient_evaluations=m * T, paper_limit=limit, **made)


@shuffled_truncated_md_plan.run
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
    return {"shuffling_epsilon": epsilon_of(cost / scale**2, delta, n), "shuffling_scale": needed}


def largest_local_epsilon(n: int, delta: float) -> float:
    """Largest epsilon_0 for which the theorem is stated, ``ln(n/(16 ln(2/delta)))``; negative for small n."""
    return math.log(n / (16.0 * math.log(2.0 / delta)))


def shuffled_epsilon(local: float, n: int, delta: float) -> float:
    """Compute the theorem's ``F(local, n, delta)``, also outside its range (`largest_local_epsilon`)."""
    grown = math.exp(local)
    return math.log1p(math.tanh(0.5 * local) * (8.0 * math.sqrt(grown * math.log(4.0 / delta) / n) + 8.0 * grown / n))


def local_budget(epsilon: float, delta: float, n: int) -> tuple[float, float, float]:
    """Find the epsilon that each record may spend for (epsilon, delta) after shuffling, where the range is not empty.

    Returns the largest epsilon_0 in the theorem's range with ``F(epsilon_0, n, delta/2) <= epsilon``, its delta_0, and
    the rho for which rho-zCDP implies both.
    """
    local = most = largest_local_epsilon(n, 0.5 * delta)
    if shuffled_epsilon(most, n, 0.5 * delta) > epsilon:
        local = root(lambda e: shuffled_epsilon(e, n, 0.5 * delta) - epsilon, 0.0, most, 1e-15)
    share = _local_delta(local, epsilon, delta, n)
    return local, share, zcdp_rho(local, share)


def epsilon_of(rho: float, delta: float, n: int) -> float:
    """Epsilon after shuffling n records that are each randomised with local rho-zCDP.

    The local epsilon_0 is the least one that is consistent with the delta_0 which F of it leaves. Where none lies in
    the theorem's range, or F gives more, it is the epsilon of rho-zCDP: what holds without shuffling holds with it.
    """
    most, alone = largest_local_epsilon(n, 0.5 * delta), zcdp_epsilon(rho, delta)

    def excess(local: float) -> float:
        share = _local_delta(local, shuffled_epsilon(local, n, 0.5 * delta), delta, n)
        return zcdp_epsilon(rho, share) - local

    if most <= 0.0 or excess(0.0) <= 0.0 or excess(most) > 0.0:
        return alone
    return min(alone, shuffled_epsilon(root(excess, 0.0, most, 1e-15), n, 0.5 * delta))


def _local_delta(local: float, epsilon: float, delta: float, n: int) -> float:
    return 0.5 * delta / (n * (math.exp(epsilon) + 1.0) * (1.0 + 0.5 * math.exp(-local)))
