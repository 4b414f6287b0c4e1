"""What Algorithms 1 and 2 share: the anchor gradient, the noisy inner loop, and the queries of either sampling."""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any

from dpsco_bench.algorithms.options import count_option, positive_option
from dpsco_bench.algorithms.registry import Setting
from dpsco_bench.backend.namespace import cast_like, float64_zeros
from dpsco_bench.errors import Refusal
from dpsco_bench.privacy.plan import GaussianQuery, Plan, make_plan
from dpsco_bench.privacy.queries import AnchoredQuery
from dpsco_bench.privacy.records import Poisson, SingleIndex

Array = Any

ANCHOR_SHARE = 0.3
VARIANTS = {"poisson": ("accounted", "none"), "literal": ("paper", "none")}
LEAK = "the exact full gradient enters every query without noise of its own"


def literal_plan(
    given: Setting,
    epochs: int,
    inner: int,
    paper_scale: float,
    leaks: tuple[str, ...] = (),
    warnings: tuple[str, ...] = (),
    **schedule: Any,
) -> Plan:
    """As printed: exact anchors, one uniform record and one noise vector per inner step; N = ``inner`` queries."""
    n = given.n
    return make_plan(
        AnchoredQuery("inner", 4 * given.constants.lipschitz, inner, SingleIndex(n), paper_scale=paper_scale),
        gradient_evaluations=epochs * n + 2 * inner,
        leaks=(LEAK, *leaks),
        warnings=warnings,
        n=n,
        epochs=epochs,
        batch=1,
        exact_anchor=True,
        **schedule,
    )


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
    total = float64_zeros(x)
    for t in steps:
        difference = objective.batch_gradient_difference(x, snapshot, mechanism.sample("inner", t))
        if plan.exact_anchor:  # as printed: v itself is never released, each step is charged as one query
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
    noise_constant: float,
) -> None:
    """Refuse schedule options out of range. Raises InputError or Refusal, naming the option."""
    count_option("epochs", epochs, source)
    count_option("inner_steps", inner_steps, source)
    count_option("batch", batch, source, given.n)
    positive_option("step", step, source)
    positive_option("noise_constant", noise_constant, source)
    if given.variant == "literal" and batch is not None:
        raise Refusal("batch with variant literal", "the algorithm samples one index per step", source)
