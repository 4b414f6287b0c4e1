"""Variance reduction of Algorithms 1 and 2: anchor gradient, noisy inner loop, queries of either sampling."""

from __future__ import annotations

from math import ceil, log, sqrt
from typing import Any

import numpy as np

from dpsco_bench.algorithms.registry import Setting, choice_option, count_option, positive_option
from dpsco_bench.backend.namespace import cast_like, float64_zeros
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.privacy.queries import AnchoredQuery
from dpsco_bench.privacy.records import Poisson, SingleIndex

Array = Any

ANCHOR_SHARE = 0.3
VARIANTS = {"poisson": ("accounted", "none"), "literal": ("paper", "none")}
LEAK = "the exact full gradient enters every query without noise of its own"
CHARGES = ("query", "parts", "output")
"""Releases of the literal variant: each step's sum; its two parts, as Appendix B.2 charges them; or the output."""
PART = 2.0 / 3.0
"""Share of a step's variance that hides the difference d in `CHARGES` ``parts``; the rest hides v."""


def literal_plan(
    given: Setting,
    epochs: int,
    inner: int,
    paper_scale: float,
    charge: str = "query",
    leaks: tuple[str, ...] = (),
    warnings: tuple[str, ...] = (),
    **schedule: Any,
) -> Plan:
    """Plan as printed: exact anchors, one uniform record and one noise vector per inner step; N = ``inner`` queries.

    With ``charge=parts`` a step's noise is the sum of two, with which d and v are released one by one (Appendix B.2,
    equations (15) and (16)): the law of the iterates is the same, and whoever sees both parts sees more.
    """
    n, G = given.n, given.constants.lipschitz
    queries: list[Any] = [AnchoredQuery("inner", 4 * G, inner, SingleIndex(n), paper_scale=paper_scale)]
    if charge == "parts":
        scales = sqrt(PART) * paper_scale, sqrt(1 - PART) * paper_scale
        queries = [GaussianQuery("inner", 4 * G, inner, SingleIndex(n), paper_scale=scales[0])]
        queries += [GaussianQuery("full", 2 * G / n, inner, paper_scale=scales[1])]
    return make_plan(
        *queries,
        gradient_evaluations=epochs * n + 2 * inner,
        leaks=(*((LEAK,) * (charge == "query")), *leaks),
        warnings=warnings,
        n=n,
        epochs=epochs,
        batch=1,
        exact_anchor=True,
        **schedule,
    )


def output_plan(given: Setting, weights: np.ndarray, kept: float, eta: float, paper_scale: float, **told: Any) -> Plan:
    """Plan the law of the literal output where losses are linear: all differences vanish, and v is the same everywhere.

    The output is ``kept x_0 - eta sum_j w_j (v + u_j)``, hence ``kept x_0 - eta W (v + noise)``, W the sum of w_j, with
    noise of standard deviation ``sigma ||w||_2/W``. Raises Refusal for other losses and on a bounded domain.

    Parameters
    ----------
    weights : array (N,), w_j > 0 of the noise vectors u_j, by the average and the proximal steps
    kept : float, in [0, 1], what is left of the start
    """
    if given.constants.losses != "linear" or given.constants.domain != "space":
        raise Refusal("charge = output", "the output's law is known for linear losses on the whole space")
    total = float(weights.sum())
    scale = paper_scale * float(np.linalg.norm(weights)) / total
    query = GaussianQuery("output", 2 * given.constants.lipschitz / given.n, 1, paper_scale=scale)
    return make_plan(query, gradient_evaluations=given.n, n=given.n, kept=kept, reach=eta * total, **told)


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
    b = batch or min(n, ceil(0.5 * n * given.epsilon / sqrt(inner * given.l)))
    anchor = GaussianQuery("anchor", 2 * G / n, epochs, share=ANCHOR_SHARE)
    query = GaussianQuery("inner", 4 * G / b, inner, Poisson(b / n))
    evaluations = epochs * n + 2 * b * inner
    return make_plan(
        anchor, query, gradient_evaluations=evaluations, n=n, epochs=epochs, batch=b, exact_anchor=False, **schedule
    )


def anchor_gradient(v: Array, plan: Plan, mechanism: Any, epoch: int) -> Array:
    """``v``, the mean gradient at the snapshot: exact as printed, released once per epoch where it is accounted for."""
    return v if plan.exact_anchor else mechanism.release("anchor", v, epoch)


def inner_loop(
    objective: Any, plan: Plan, mechanism: Any, x: Array, snapshot: Array, v: Array, step: Array, steps: range
) -> tuple[Array, Array]:
    """Variance-reduced noisy proximal steps from ``x``.

    Parameters
    ----------
    x, snapshot, v : array (R, d), iterate, snapshot and its anchor gradient
    step : float or array (R, 1), eta
    steps : range, numbers of the inner queries of this epoch

    Returns
    -------
    last, mean : array (R, d), the last of the new iterates, and their mean
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


def check_choices(
    source: str,
    given: Setting,
    epochs: int | None,
    inner_steps: int | None,
    batch: int | None,
    step: float | None,
    charge: str,
) -> None:
    """Refuse schedule options out of range. Raises InputError or Refusal, naming the option."""
    count_option("epochs", epochs, source)
    count_option("inner_steps", inner_steps, source)
    count_option("batch", batch, source, given.n)
    positive_option("step", step, source)
    choice_option("charge", charge, CHARGES, source)
    if given.variant == "literal" and batch is not None:
        raise Refusal("batch with variant literal", "the algorithm samples one index per step", source)
    if given.variant != "literal" and charge != "query":
        raise Refusal(f"charge = {charge} with variant {given.variant}", "it is of the printed noise", source)


def svrg_noise_constant(given: Setting, value: float | str, inner: int, source: str) -> float:
    """Read the constant c: a number > 0, or ``advanced`` for ``576 ln(2.5 N/delta)``, from Appendix B.1's constants.

    There ``sigma = sqrt(2 ln(1.25/delta')) 3 G/eps'``, ``delta' = delta/(2 N)`` and ``2 eps'/n = eps/(2 sqrt(2 N l))``.
    """
    if value == "advanced":
        return 576.0 * log(2.5 * inner / given.delta)
    if isinstance(value, str) or value <= 0:
        raise InputError("noise_constant", value, "a number > 0 or advanced", source)
    return float(value)
