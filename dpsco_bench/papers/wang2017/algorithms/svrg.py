"""DP-SVRG and DP-SVRG++: variance-reduced proximal gradient steps with Gaussian noise (Wang, Ye, Xu 2017)."""

from __future__ import annotations

from math import ceil, floor, inf, log, log2, sqrt
from typing import Any

import numpy as np

from dpsco_bench.algorithms.registry import Setting, algorithm
from dpsco_bench.backend.namespace import array_namespace, cast_like, float64_zeros
from dpsco_bench.errors import Refusal
from dpsco_bench.papers.wang2017.algorithms.gradient_descent import named_constant
from dpsco_bench.plain import Schedule
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.privacy.queries import AnchoredQuery
from dpsco_bench.privacy.records import Poisson, SingleIndex
from dpsco_bench.problems.base import Trait

Array = Any
ANCHOR_SHARE = 0.3
VARIANTS = {"poisson": ("accounted", "none"), "literal": ("paper", "none")}
LEAK = "the exact full gradient enters every query without noise of its own"
STEP_LEAK = "the step size comes from exact full gradients"
CHARGES = ("query", "parts", "output")
"""Releases of the literal variant: each step's sum; its two parts, as Appendix B.2 charges them; or the output."""
PART = 2.0 / 3.0
"""Share of a step's variance that hides the difference d in `CHARGES` ``parts``; the rest hides v."""
MOST_EPOCHS = 200


def check_choices(given: Setting, batch: int | None, charge: str) -> None:
    """Refuse a batch size of the literal variant, and another charge of the other one."""
    given.choice("charge", charge, CHARGES)
    if given.variant == "literal" and batch is not None:
        raise Refusal("batch with variant literal", "the algorithm samples one index per step", given.source)
    if given.variant != "literal" and charge != "query":
        raise Refusal(f"charge = {charge} with variant {given.variant}", "it is of the printed noise", given.source)


def literal_plan(
    given: Setting, epochs: int, inner: int, scale: float, charge: str, leaks: tuple[str, ...] = (), **told: Any
) -> Plan:
    """Plan as printed: exact anchors, one uniform record and one noise vector per inner step; N = ``inner`` queries.

    With ``charge=parts`` a step's noise is the sum of two, with which d and v are released one by one (Appendix B.2,
    equations (15) and (16)): the law of the iterates is the same, and whoever sees both parts sees more.
    """
    n, G = given.n, given.constants.lipschitz
    queries: list[Any] = [AnchoredQuery("inner", 4 * G, inner, SingleIndex(n), paper_scale=scale)]
    if charge == "parts":
        scales = sqrt(PART) * scale, sqrt(1 - PART) * scale
        queries = [GaussianQuery("inner", 4 * G, inner, SingleIndex(n), paper_scale=scales[0])]
        queries += [GaussianQuery("full", 2 * G / n, inner, paper_scale=scales[1])]
    leaks, evaluations = (*((LEAK,) * (charge == "query")), *leaks), epochs * n + 2 * inner
    schedule: Schedule = dict(n=n, epochs=epochs, batch=1, exact_anchor=True, **told)
    return make_plan(*queries, gradient_evaluations=evaluations, leaks=leaks, **schedule)


def output_plan(given: Setting, weights: np.ndarray, kept: float, scale: float, **told: Any) -> Plan:
    """Plan the law of the literal output where losses are linear: all differences vanish, and v is the same everywhere.

    The output is ``kept x_0 - eta sum_j w_j (v + u_j)``, hence ``kept x_0 - eta W (v + noise)``, W the sum of w_j, with
    noise of standard deviation ``sigma ||w||_2/W``. The ``weights (N,)`` w_j > 0 of the noise vectors u_j, and ``kept``
    in [0, 1], are made by the average and the proximal steps. Raises Refusal for other losses, on a bounded domain.
    """
    c, n, total = given.constants, given.n, float(weights.sum())
    if c.losses != "linear" or c.domain != "space":
        raise Refusal("charge = output", "the output's law is known for linear losses on the whole space")
    scale = scale * float(np.linalg.norm(weights)) / total
    query = GaussianQuery("output", 2 * c.lipschitz / n, 1, paper_scale=scale)
    return make_plan(query, gradient_evaluations=n, n=n, kept=kept, reach=told["step"] * total, **told)


def linear_output(objective: Any, plan: Plan, mechanism: Any) -> Array:
    """Draw the output of `output_plan` on ``(R, d)``: no step is made."""
    x = objective.start
    x = plan.kept * x - plan.reach * mechanism.release("output", objective.mean_gradient(x), 0)
    objective.observe(x)
    return x


def shrinking_powers(given: Setting, step: float, count: int) -> np.ndarray:
    """``s, s^2, ..., s^count`` with ``s = 1/(1 + eta lambda)``: what proximal steps leave of a vector."""
    return (1.0 + step * given.constants.regularisation) ** -np.arange(1.0, count + 1.0)


def poisson_plan(given: Setting, epochs: int, inner: int, batch: int | None, **schedule: Any) -> Plan:
    """Released anchors and Poisson batches of expected size ``b = min(n, ceil(0.5 n eps/sqrt(N l)))``."""
    n, G = given.n, given.constants.lipschitz
    b = given.count("batch", batch, n) or min(n, ceil(0.5 * n * given.epsilon / sqrt(inner * given.l)))
    anchor = GaussianQuery("anchor", 2 * G / n, epochs, share=ANCHOR_SHARE)
    query = GaussianQuery("inner", 4 * G / b, inner, Poisson(b / n))
    schedule = dict(n=n, epochs=epochs, batch=b, exact_anchor=False, **schedule)
    return make_plan(anchor, query, gradient_evaluations=epochs * n + 2 * b * inner, **schedule)


def anchor_gradient(v: Array, plan: Plan, mechanism: Any, epoch: int) -> Array:
    """``v``, the mean gradient at the snapshot: exact as printed, released once per epoch where it is accounted for."""
    return v if plan.exact_anchor else mechanism.release("anchor", v, epoch)


def inner_loop(
    objective: Any, plan: Plan, mechanism: Any, x: Array, snapshot: Array, v: Array, step: Array, steps: range
) -> tuple[Array, Array]:
    """Make variance-reduced noisy proximal steps from ``x (R, d)``, with a snapshot and its gradient v, ``(R, d)``.

    ``step`` is eta, a number or ``(R, 1)``, ``steps`` the numbers of the inner queries of this epoch. Returns the last
    of the new iterates and their mean, ``(R, d)``.
    """
    total, in_parts = float64_zeros(x), any(query.name == "full" for query in plan.queries)
    for t in steps:
        difference = objective.batch_gradient_difference(x, snapshot, mechanism.sample("inner", t))
        if in_parts:
            gradient = mechanism.release("inner", difference, t) + mechanism.release("full", v, t)
        elif plan.exact_anchor:  # as printed: v itself is never released, each step is charged as one query
            gradient = mechanism.release("inner", difference + v, t)
        else:
            gradient = mechanism.release("inner", difference, t) + v
        x = objective.prox(x - step * gradient, step)
        total = total + x
        objective.observe(x)
    return x, cast_like(total / len(steps), x)


def barzilai_borwein_step(move: Array, change: Array, step: Array, plan: Plan) -> Array:
    """Compute ``||ds||^2 / (m |<ds, dg>|)`` per replicate, ``(R, 1)``; the previous step where ``<ds, dg> = 0``.

    ds and dg ``(R, d)`` are differences of the last two snapshots and of their full gradients, regulariser included.
    With exact anchors the step is as published; with released ones noise can flip the sign of ``<ds, dg>`` or make it
    tiny, hence the absolute value and the clipping to ``[1/(m(L+lambda)), 5/(m lambda)]``.
    """
    xp = array_namespace(move)
    square = xp.sum(move * move, axis=-1, keepdims=True)
    product = plan.inner_steps * xp.abs(xp.sum(move * change, axis=-1, keepdims=True))
    known = product > 0
    candidate = square / xp.where(known, product, xp.ones_like(product))
    if not plan.exact_anchor:
        low, high = plan.bb_range
        candidate = xp.minimum(xp.maximum(candidate, xp.full_like(candidate, low)), xp.full_like(candidate, high))
    return xp.where(known, candidate, xp.zeros_like(candidate) + step)


@algorithm(
    "wang2017.dp_svrg",
    source="Wang, Ye, Xu 2017, Algorithm 1, Theorems 4.1 and 4.2",
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.STRONGLY_CONVEX),
    variants=VARIANTS,
    order_invariant=False,
    proximal=True,
)
def dp_svrg_plan(
    given: Setting,
    *,
    theta: float | None = None,
    inner_bound: str = "printed",
    epochs: int | None = None,
    inner_steps: int | None = None,
    batch: int | None = None,
    step: float | None = None,
    step_rule: str = "constant",
    noise_constant: float | str = 1.0,
    charge: str = "query",
) -> Plan:
    """DP-SVRG for strongly convex objectives: theta = eta L, m from inequality (4), T = log2 of the risk to gain.

    Parameters
    ----------
    given : Setting
        mu > 0.
    variant : str
        ``literal``: exact anchor gradient, one uniform record per step. ``poisson``: released anchor, Poisson batches.
    theta : float
        eta L, in (0, 1/24) for the printed bound (default 1/48), (0, 1/12) for the corrected one (default 1/24).
    inner_bound : str
        ``printed`` or ``corrected`` (independent noise halves the variance constant; erratum E4).
    epochs, inner_steps, batch, step : optional
        Replace T, m, the expected batch size b = min(n, ceil(0.5 n eps/sqrt(N l))) (Poisson variant only) and eta.
    step_rule : str
        ``constant`` or ``bb`` (Barzilai-Borwein from the second epoch on; Tan et al. 2016).
    noise_constant : float or str
        c in sigma^2 = c G^2 N l/(n eps)^2, equation (3); ``advanced`` is 576 ln(2.5 N/delta), from the constants of
        Remark 4.1's proof.
    charge : str
        For the literal variant: ``query`` answers the sum of each step; ``parts`` its two parts, with two thirds and
        one third of the variance; ``output`` is the law of the output on linear losses, a single normal.
    """
    c, n, l, eps = given.constants, given.n, given.l, given.epsilon
    given.positive("strong_convexity", c.strong_convexity)
    bb = given.choice("step_rule", step_rule, ("constant", "bb")) == "bb"
    if bb and given.variant == "poisson" and c.regularisation <= 0:
        raise given.error("regularisation", c.regularisation, "> 0 for the clipped private step of Tan et al. 2016")
    theta, variance = _theta(given, theta, inner_bound)
    check_choices(given, batch, charge)
    bound = (c.condition_number / theta + variance * theta) / (0.5 * (1 - variance * theta) - variance * theta)
    m = given.count("inner_steps", inner_steps) or floor(bound) + 1  # the least with A < 1/2 in inequality (4)
    gain = log2(c.strong_convexity * c.initial_gap / (given.d * c.lipschitz**2 * l)) + 2 * log2(n * eps)
    T = given.count("epochs", epochs) or max(1, ceil(gain))
    N, eta = T * m, given.positive("step", step) or theta / c.smoothness
    bb_range = 1.0 / (m * c.total_smoothness), 5.0 / (m * max(c.regularisation, 1e-300))
    A = contraction(c.condition_number, eta * c.smoothness, variance, m)
    schedule: Schedule = dict(inner_steps=m, step=eta, contraction=A, bb=bb, bb_range=bb_range)
    if given.variant == "poisson":
        return poisson_plan(given, T, N, batch, **schedule)
    # sigma = sqrt(2 ln(1.25/delta')) 3 G/eps' with delta' = delta/(2 N) and 2 eps'/n = eps/(2 sqrt(2 N l))
    constant = named_constant(given, noise_constant, "advanced", 576.0 * log(2.5 * N / given.delta))
    scale, limit = sqrt(constant * N * l) * c.lipschitz / (n * eps), N / n**2
    outside = (f"Theorem 4.1 asks for eps <= c1 T m/n^2, here {limit:.3g} c1 (erratum E1)",) * (eps > limit)
    if charge != "output":
        return literal_plan(given, T, N, scale, charge, (STEP_LEAK,) * bb, warnings=outside, **schedule)
    if bb:
        raise Refusal("charge = output with step_rule bb", "its steps are random", given.source)
    weights, kept = _weights_of_epochs(given, eta, T, m)
    return output_plan(given, weights, kept, scale, epochs=T, inner_steps=m, step=eta, warnings=outside)


@dp_svrg_plan.run
def dp_svrg(objective, plan, mechanism, mean_gradient=None, inner=inner_loop):
    """Algorithm 1 on iterates ``(R, d)``; every epoch starts at its snapshot, and the last snapshot is returned.

    A compiled run gives a function of the point and an inner loop of its own.
    """
    if plan.queries[0].name == "output":
        return linear_output(objective, plan, mechanism)
    mean_gradient = mean_gradient or objective.mean_gradient
    snapshot, step, previous = objective.start, plan.step, None
    for s in range(plan.epochs):
        v = anchor_gradient(mean_gradient(snapshot), plan, mechanism, s)
        if plan.bb:
            full = v + objective.regulariser_gradient(snapshot)
            if previous is not None:
                step = barzilai_borwein_step(snapshot - previous[0], full - previous[1], step, plan)
            previous = snapshot, full
        steps = range(s * plan.inner_steps, (s + 1) * plan.inner_steps)
        _, snapshot = inner(objective, plan, mechanism, snapshot, snapshot, v, step, steps)
    objective.observe(snapshot)
    return snapshot


def _theta(given: Setting, theta: float | None, inner_bound: str) -> tuple[float, float]:
    """Return theta and the variance constant of inequality (4): 8 as printed, 4 with independent noise."""
    given.choice("inner_bound", inner_bound, ("printed", "corrected"))
    variance, default = (8.0, 1 / 48) if inner_bound == "printed" else (4.0, 1 / 24)
    theta = default if theta is None else theta
    allowed = f"in (0, 1/{3 * variance:.0f}), or inequality (4) has no m (erratum E4)"
    given.require("theta", theta, 0 < theta < 1.0 / (3.0 * variance), allowed)
    return theta, variance


def _weights_of_epochs(given: Setting, step: float, epochs: int, m: int) -> tuple[np.ndarray, float]:
    """Return w_j of the noise vectors, and what is left of x_0: an epoch returns ``a x - eta sum_j w_j (v + u_j)``."""
    left = np.cumsum(shrinking_powers(given, step, m)) / m
    return np.outer(left[-1] ** np.arange(epochs), left).ravel(), float(left[-1]) ** epochs


def contraction(kappa: float, theta: float, variance: float, m: int) -> float:
    """Contraction factor A of one epoch, inequality (4); infinite where a given step makes it void."""
    shrink = 1 - variance * theta
    return kappa / (theta * shrink * m) + variance * theta * (m + 1) / (m * shrink) if shrink > 0 else inf


@algorithm(
    "wang2017.dp_svrg_pp",
    source="Wang, Ye, Xu 2017, Algorithm 2, Theorems 4.3 and 4.4",
    needs=(Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ),
    variants=VARIANTS,
    order_invariant=False,
    proximal=True,
)
def dp_svrg_pp_plan(
    given: Setting,
    *,
    epochs: int | None = None,
    inner_steps: int | None = None,
    batch: int | None = None,
    step: float | None = None,
    noise_constant: float = 1.0,
    charge: str = "query",
) -> Plan:
    """DP-SVRG++ for convex objectives: eta = 1/(13 L), m = L ||x_0 - x*||^2/D0, T = log2(n eps/(G sqrt(d l))).

    Epoch s has 2^s m steps, N = (2^(T+1) - 2) m in all.

    Parameters
    ----------
    given : Setting
        D0 and ||x_0 - x*|| are the declared `initial_gap` and `distance`.
    variant, epochs, inner_steps, batch, step, charge
        As for ``wang2017.dp_svrg``.
    noise_constant : float
        c in sigma^2 = c G^2 2^T m ln(2/delta)/(n eps)^2, equation (6).
    """
    c, n, eps = given.constants, given.n, given.epsilon
    check_choices(given, batch, charge)
    given.positive("noise_constant", noise_constant)
    m = given.count("inner_steps", inner_steps) or max(1, ceil(c.smoothness * c.distance**2 / c.initial_gap))
    gain = log2(n * eps / c.lipschitz) - 0.5 * log2(given.d * given.l)
    T = given.count("epochs", epochs) or max(1, round(gain))
    given.require("epochs", T, T <= MOST_EPOCHS, f"at most {MOST_EPOCHS}: epochs double in length")
    N = (2 ** (T + 1) - 2) * m
    schedule: Schedule = dict(inner_steps=m, step=given.positive("step", step) or 1.0 / (13.0 * c.smoothness))
    if given.variant == "poisson":
        return poisson_plan(given, T, N, batch, **schedule)
    scale = sqrt(noise_constant * 2**T * m * (log(2.0) + given.l)) * c.lipschitz / (n * eps)
    limit = 2**T * m / n**2
    outside = (f"Theorem 4.3 asks for eps <= c1 2^T m/n^2, here {limit:.3g} c1 (erratum E1)",) * (eps > limit)
    if charge != "output":
        return literal_plan(given, T, N, scale, charge, warnings=outside, **schedule)
    # the last epoch's average: earlier noise reaches it through the iterate that the epoch starts at
    last = np.cumsum(shrinking_powers(given, schedule["step"], 2**T * m)) / (2**T * m)
    earlier = float(last[-1]) * shrinking_powers(given, schedule["step"], (2**T - 2) * m)
    kept, weights = float(earlier[-1] if earlier.size else last[-1]), np.concatenate([earlier, last])
    return output_plan(given, weights, kept, scale, epochs=T, warnings=outside, **schedule)


@dp_svrg_pp_plan.run
def dp_svrg_pp(objective, plan, mechanism, mean_gradient=None, inner=inner_loop):
    """Algorithm 2 on iterates ``(R, d)``; x runs on from epoch to epoch, and the last snapshot is returned."""
    if plan.queries[0].name == "output":
        return linear_output(objective, plan, mechanism)
    mean_gradient = mean_gradient or objective.mean_gradient
    x, snapshot, done = objective.start, objective.start, 0
    for s in range(plan.epochs):
        v = anchor_gradient(mean_gradient(snapshot), plan, mechanism, s)
        steps = range(done, done + 2 ** (s + 1) * plan.inner_steps)
        x, snapshot = inner(objective, plan, mechanism, x, snapshot, v, plan.step, steps)
        done = steps.stop
    objective.observe(snapshot)
    return snapshot
