"""Whether the records that a problem draws keep to the constants that it declares, which noise is scaled by.

A search for neighbours takes unit records where a problem is of a shipped kind. So a bound that the drawn ones exceed
would show nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from dpsco_bench.audit.subject import Subject, points_of
from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.geometry.norms import dual_exponent, lp_norm
from dpsco_bench.problems.base import Draws, Trait

NUMBERS, COMPARED = 1 << 22, 64
"""Coordinates of gradients that are looked at, and records of largest gradients that are compared with each other."""
ROUNDING, FAR = 1e-4, 1e-3
"""Of a constant, for gradients in single precision too; and how far points are from each other, as a share of the
farthest, whose gradients are compared."""


def exceeded(subject: Subject) -> str:
    """The first declared constant that drawn records exceed, in words; empty where none does.

    Gradients of records at points of the domain are held against `Constants.lipschitz`, differences of two records'
    against `Constants.gradient_range`, and of one record's at two points against `Constants.smoothness`. Between two
    points the objective's gradient grows at least as `Constants.strong_convexity` says, and that of every record's loss
    as `Constants.gauge_convexity` does.
    """
    for name, declared, found in _compared(subject):
        if found > declared * (1.0 + ROUNDING):
            return f"{name} = {declared:.4g}, and a drawn record has {found:.4g}"
    for name, declared, found in _curved(subject):
        if found < declared * (1.0 - ROUNDING):
            return f"{name} = {declared:.4g}, and between two points it is {found:.4g}"
    return ""


def nothing_declared(subject: Subject) -> str:
    """Why there is nothing to hold records against; empty where there is."""
    domain = subject.problem.feasible_set
    if domain is not None and not hasattr(domain, "project"):
        return "nothing is projected on the domain, and no point of it tried"
    if subject.problem.data_dependent_constants:
        return "constants are computed from the data"
    return "constants are nominal" if subject.problem.constants.status == "nominal" else ""


def _compared(subject: Subject) -> Iterator[tuple[str, float, float]]:
    """Name of a constant, its value, and the largest that some records have."""
    c, traits, points = subject.problem.constants, subject.problem.traits, points_of(subject)
    few = max(COMPARED, NUMBERS // points.size)
    gradients, q = _gradients(subject, points, few), dual_exponent(c.norm)
    if Trait.LIPSCHITZ in traits:
        yield "lipschitz", c.lipschitz, float(lp_norm(gradients, q).max())
    largest = gradients[:, np.argsort(np.linalg.norm(gradients, axis=-1).max(axis=0))[-COMPARED:]]
    apart = largest[:, :, None] - largest[:, None, :]
    if c.gradient_range:
        yield "gradient_range", c.gradient_range, float(np.linalg.norm(apart, axis=-1).max())
    if c.loss_range and Trait.LIPSCHITZ in traits:
        yield "loss_range", c.loss_range, float(lp_norm(apart, q).max())
    if Trait.SMOOTH in traits:
        moved = lp_norm(gradients[:, None] - gradients[None, :], q).max(axis=(2, 3))
        far = lp_norm(points[:, None] - points[None, :], c.norm)[..., 0]
        distinct = far > FAR * far.max()
        if distinct.any():
            yield "smoothness", c.smoothness, float((moved[distinct] / far[distinct]).max())


def _curved(subject: Subject) -> Iterator[tuple[str, float, float]]:
    """Name of a constant, its value, and the least growth of gradients between two points that it speaks of."""
    problem, c, points = subject.problem, subject.problem.constants, points_of(subject)
    strong, gauged = Trait.STRONGLY_CONVEX in problem.traits, c.gauge_convexity and problem.feasible_set is not None
    if not strong and not gauged:
        return
    gradients, least = _gradients(subject, points, subject.data.n), [np.inf, np.inf]
    far = max(float(np.linalg.norm(x - y)) for x, y in combinations(points, 2))
    for (x, at_x), (y, at_y) in combinations(zip(points, gradients, strict=True), 2):
        apart, grown = x - y, (at_x - at_y) @ (x - y)
        square = float(apart @ apart)
        if square > (FAR * far) ** 2:
            least[0] = min(least[0], float(grown.mean()) / square + c.regularisation)
            if problem.feasible_set is not None and gauged:
                gauge = float(to_numpy(problem.feasible_set.norm(apart))[..., 0]) / problem.feasible_set.radius
                least[1] = min(least[1], float(grown.min()) / gauge**2)
    if strong:
        yield "strong_convexity", c.strong_convexity, least[0]
    if gauged:
        yield "gauge_convexity", c.gauge_convexity, least[1]


def _gradients(subject: Subject, points: np.ndarray, records: int) -> np.ndarray:
    """Gradients of some drawn records' losses, ``(points, records, d)``."""
    problem, data = subject.problem, subject.data
    if problem.draws_per_replicate:
        data = problem.sample(data.n, Draws(subject.streams(np), 0, 1))
    rows = min(records, data.n)
    return np.stack([to_numpy(problem.record_gradients(x[None, :], data, 0, rows))[0] for x in points])
