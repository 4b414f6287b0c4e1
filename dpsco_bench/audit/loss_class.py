"""Whether the gradients of a problem's records move as the declared class of its losses says.

The class decides what objective perturbation costs; a Hessian of rank one is not enough for a generalised linear loss,
since its range may turn with the point.
"""

from __future__ import annotations

import numpy as np

from dpsco_bench.audit.subject import Subject, points_of
from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.problems.base import Draws, Trait
from dpsco_bench.problems.traits import declared_class

RECORDS = 6
TOLERANCE = 1e-8

CLASSES = {
    "linear": "differences of two records' gradients are the same everywhere",
    "glm": "every record's gradient keeps its direction",
    "plane": "differences of two records' gradients stay in a plane",
}


def declared(subject: Subject) -> list[str]:
    """What the problem declares of its losses; empty for nothing."""
    found = [declared_class(subject.problem.traits)]
    found += ["plane"] * (Trait.PLANE_GRADIENTS in subject.problem.properties)
    return [name for name in found if name in CLASSES]


def deviation(subject: Subject, name: str) -> float:
    """How far gradients are from a class, as a share of their size: rounding where they belong to it."""
    gradients = record_gradients(subject)
    size = float(np.abs(gradients).max()) or 1.0
    differences = gradients - gradients[:, :1]
    if name == "linear":
        return float(np.abs(differences - differences[:1]).max()) / size
    rank, vectors = (1, gradients) if name == "glm" else (2, differences)
    if vectors.shape[-1] <= rank:
        return 0.0
    singular = np.linalg.svd(vectors.swapaxes(0, 1), compute_uv=False)
    return float(singular[:, rank].max()) / size


def record_gradients(subject: Subject) -> np.ndarray:
    """Gradients of a few records at a few points, shape ``(points, records, d)``."""
    problem, data = subject.problem, subject.data
    records = min(RECORDS, data.n)
    if problem.draws_per_replicate:
        data = problem.sample(data.n, Draws(subject.streams(np), 0, 1))
    points = [x[None, :] for x in points_of(subject)]
    return np.stack([to_numpy(problem.record_gradients(x, data, 0, records))[0] for x in points])
