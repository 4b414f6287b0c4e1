"""Perturbation of Algorithms 1, 2 and 5: the class of the loss, the two queries, and the run."""

from __future__ import annotations

from math import inf, log1p, sqrt
from typing import Any

import numpy as np

from dpsco_bench.algorithms.info import Info
from dpsco_bench.algorithms.registry import Setting
from dpsco_bench.backend.namespace import cast, row_norm, to_numpy
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.plan import Plan, Query, at_most, make_plan
from dpsco_bench.privacy.queries import CoveringQuery, PerturbedObjectiveQuery
from dpsco_bench.problems.base import Constants, Trait
from dpsco_bench.problems.minimisers import isotropic_minimiser, minimise, planned_steps
from dpsco_bench.problems.objective import Objective

Array = Any

NEEDS = (Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.TWICE_DIFFERENTIABLE, Trait.SYMMETRIC_SET)
SOURCE = "Su, Zhao, Wang 2023, Theorems 1 and 3, Lemma 5"
HEADROOM = 100.0
"""Gap of the solver's first point over L diam2, at most; the linear term can make it larger than one."""
ANY_LOSS = (
    "not proved for this loss by the published argument (erratum E1): charged by the bound for all losses, a quantile "
    "of chi_d"
)


def euclidean_set(c: Constants, source: str) -> Any:
    """Return the bounded feasible set of an objective whose constants are Euclidean.

    Raises InputError for another norm, or the whole space.
    """
    if c.norm != 2.0:
        raise InputError("norm", c.norm, "2: L and beta are Euclidean here", source)
    if c.ball is None:
        raise InputError("domain", c.domain, "a bounded, centrally symmetric set", source)
    return c.ball


def has_closed_form(c: Constants) -> bool:
    """Check that the perturbed minimiser is computed exactly, so that alpha = 0 and H is not needed.

    A Hessian that does not depend on the data is not enough: only for multiples of the identity is it a projection.
    """
    return c.isotropic and c.loss_class == "linear"


def hessian_rank(c: Constants, d: int) -> tuple[int, int]:
    """Rank of the part of a record's Hessian that depends on the data, and ``r = min(d, 2 rank)``."""
    rank = d if c.hessian_rank == inf else min(d, round(c.hessian_rank))
    return rank, min(d, 2 * rank)


def perturbation_plan(
    given: Setting,
    *,
    ridge: float,
    convexity: float,
    accuracy: float,
    linear_scale: float,
    output_scale: float | None,
    warnings: tuple[str, ...] = (),
) -> Plan:
    """Plan of one perturbed minimisation, with or without noise that covers the solver's error.

    Closed forms (see `has_closed_form`) cost n gradients.

    Parameters
    ----------
    ridge, convexity : float, lambda, and m with ``J`` m-strongly convex
    accuracy : float, alpha; a closed form without H attains 0, and so the plan says
    linear_scale, output_scale : float
        s1 and s2 as printed; s2 None for an algorithm, or a loss, without H. The paper's noise is for eps <= 1.

    Notes
    -----
    The release of the minimiser costs ``rank ln(1 + beta/(n m))`` for the determinants and D_g for the gradients.
    """
    c, n, d = given.constants, given.n, given.d
    kind, exact, (rank, _) = c.loss_class, has_closed_form(c), hessian_rank(c, d)
    linear = PerturbedObjectiveQuery(
        "linear term",
        c.gradient_difference,
        1,
        paper_scale=linear_scale,
        log_jacobian=rank * log1p(c.smoothness / (n * convexity)),
        loss_class=kind,
        dimension=d,
        closed_form=exact,
    )
    queries: list[Query] = [linear]
    if output_scale is not None:
        sensitivity = 2 * sqrt(2 * accuracy / convexity)
        queries.append(CoveringQuery("output", sensitivity, 1, paper_scale=output_scale))
    headroom = HEADROOM * c.lipschitz * c.diameter / accuracy
    steps = 1 if exact else planned_steps(c.total_smoothness + 2 * ridge, convexity, headroom)
    return make_plan(
        *queries,
        gradient_evaluations=n * steps,
        warnings=warnings + (ANY_LOSS,) * (kind == "any"),
        paper_limit=at_most("epsilon", given.epsilon, 1.0, SOURCE),
        n=n,
        ridge=ridge,
        convexity=convexity,
        accuracy=0.0 if exact and output_scale is None else accuracy,
        steps=steps,
        closed_form=exact,
        log_jacobian=linear.log_jacobian,
        loss_class=kind,
        output_noise=output_scale is not None,
    )


class CertifiedMinimiser:
    """``argmin F(x) + ridge ||x||^2 + <b, x>/n`` over the domain, for each row's own ``b``, up to ``accuracy``.

    An exact projection where all Hessians are multiples of the identity and ``accuracy`` is 0. Computed in float64;
    `Objective.certify` keeps the gradient mapping, and which rows rounding kept from the accuracy.

    Parameters
    ----------
    ridge : float, lambda >= 0, the weight of the squared norm
    convexity : float, m > 0 of the whole
    accuracy : float, alpha; 0 asks for a closed form
    steps : int, as for `minimise`; 1 for the closed form
    """

    def __init__(self, objective: Objective, ridge: float, convexity: float, accuracy: float, steps: int) -> None:
        self.objective, self.ridge, self.convexity = objective, ridge, convexity
        self.accuracy, self.steps, self.info = accuracy, steps, Info()

    @property
    def shape(self) -> tuple[int, int]:
        return self.objective.replicates, self.objective.problem.dimension

    def data_part(self, x: Array) -> np.ndarray:
        """Sum of the records' gradients at ``x (R, d)``, in float64 on the host; not counted."""
        return self.objective.n * to_numpy(self.objective.exact_gradient(x))

    def solve(self, linear: Array | None) -> Array:
        """Minimisers ``(R, d)`` for linear terms ``b (R, d)``; None stands for zeros."""
        xp = self.objective.xp
        terms = xp.zeros(self.shape, dtype=xp.float64)
        if linear is not None:
            terms = cast(xp.asarray(linear), xp.float64) / self.objective.n
        curvature = self.objective.problem.isotropic_curvature
        if self.accuracy > 0.0:
            points = self._approximate(terms)
        elif curvature is not None:
            points = isotropic_minimiser(self.objective, curvature, terms, 2.0 * self.ridge)
        else:
            raise InputError("accuracy", 0, "> 0: the minimiser has no closed form", self.objective.problem.name)
        return cast(points, self.objective.dtype)

    def _approximate(self, terms: Array) -> Array:
        objective, c = self.objective, self.objective.problem.constants
        size = c.lipschitz + row_norm(terms)[:, 0]
        found = minimise(
            lambda x: objective.exact_gradient(x) + 2.0 * self.ridge * x + terms,
            objective.project,
            cast(objective.start, objective.xp.float64),
            smoothness=c.total_smoothness + 2.0 * self.ridge,
            convexity=self.convexity,
            accuracy=self.accuracy,
            steps=self.steps,
            size=size,
        )
        objective.count(found.steps * objective.n)
        self.info.certify(float(objective.xp.max(found.mapping / size)), found.rounded)
        return found.points


def perturbed_minimum(objective, plan, mechanism):
    """``theta_2``: minimise ``F + <G, .>/n + lambda ||.||^2`` over C; then ``P(theta_2 + H)``. Returns ``(R, d)``."""
    accuracy = 0.0 if plan.closed_form else plan.accuracy
    value = CertifiedMinimiser(objective, plan.ridge, plan.convexity, accuracy, plan.steps)
    x = mechanism.release("linear term", value)
    if plan.output_noise:
        value.info.demoted = value.info.rounded  # H covers an error of alpha, which rounding did not let them reach
        noisy = mechanism.release("output", x)
        projected = objective.project(noisy)
        objective.observe_round(minimiser=x, noisy=noisy, projected=projected)
        x = projected
    objective.observe(x)
    return x, value.info
