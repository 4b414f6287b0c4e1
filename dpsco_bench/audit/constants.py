"""Hold what a problem declares of its losses against its own records: their class, their constants, an exact epsilon.

The search for neighbours takes unit records where a problem is of a shipped kind, so a Lipschitz constant that drawn
records exceed would show nowhere else. The class decides what objective perturbation costs; a Hessian of rank one does
not make a loss generalised linear, since its range may turn with the point. An epsilon is exact where two admissible
records change every release by what is declared: not by less, and not by more.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations

import numpy as np

from dpsco_bench.audit.subject import Finding, Subject, points_of, record_gradients, replaced
from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.geometry.norms import dual_exponent, lp_norm
from dpsco_bench.privacy.attained import attaining_pair, rests_on_sensitivities
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.privacy.records import Disjoint
from dpsco_bench.privacy.transcript import Recorder, Replay
from dpsco_bench.problems.base import Data, Trait
from dpsco_bench.problems.constants import declared_class

CLASS_RECORDS, CLASS_TOLERANCE, ATTAINED_TOLERANCE = 6, 1e-8, 1e-6
CLASSES = {
    "linear": "differences of two records' gradients are the same everywhere",
    "glm": "every record's gradient keeps its direction",
    "plane": "differences of two records' gradients stay in a plane",
}
NUMBERS, COMPARED = 1 << 22, 64
"""Coordinates of gradients that are looked at, and records of largest gradients that are compared with each other."""
ROUNDING, FAR = 1e-4, 1e-3
"""Rounding of a constant, in single precision too; and the distance between points, as a share of the
farthest, whose gradients are compared."""


def not_projected(subject: Subject) -> str:
    """Say why no points of the domain can be tried; empty where they can."""
    domain = subject.problem.feasible_set
    tried = domain is None or hasattr(domain, "project")
    return "" if tried else "nothing is projected on the domain, and no point of it tried"


def declared_classes(subject: Subject) -> list[str]:
    found = [declared_class(subject.problem.traits)]
    found += ["plane"] * (Trait.PLANE_GRADIENTS in subject.problem.properties)
    return [name for name in found if name in CLASSES]


def loss_class(subject: Subject) -> Finding:
    """Compare gradients of a few records at a few points."""
    declared = declared_classes(subject)
    if reason := not_projected(subject) or ("" if declared else "none is declared"):
        return None, reason
    for name in declared:
        if (gap := deviation(subject, name)) > CLASS_TOLERANCE:
            return False, f"declared: {CLASSES[name]}; off by {gap:.1e} of a gradient"
    return True, "; ".join(CLASSES[name] for name in declared)


def deviation(subject: Subject, name: str) -> float:
    """Measure how far gradients are from a class, as a share of their size: rounding where they belong to it."""
    gradients = record_gradients(subject, CLASS_RECORDS)
    size = float(np.abs(gradients).max()) or 1.0
    differences = gradients - gradients[:, :1]
    if name == "linear":
        return float(np.abs(differences - differences[:1]).max()) / size
    rank, vectors = (1, gradients) if name == "glm" else (2, differences)
    if vectors.shape[-1] <= rank:
        return 0.0
    singular = np.linalg.svd(vectors.swapaxes(0, 1), compute_uv=False)
    return float(singular[:, rank].max()) / size


def drawn(subject: Subject) -> Finding:
    """Compare gradients of drawn records at a few points with the constants."""
    if reason := not_projected(subject):
        return None, reason
    if subject.problem.data_dependent_constants:
        return None, "constants are computed from the data"
    if subject.problem.constants.status == "nominal":
        return None, "constants are nominal"
    found = exceeded(subject)
    return not found, found or "their gradients are within them at the points tried"


def exceeded(subject: Subject) -> str:
    """Name the first declared constant that drawn records exceed; empty where none does."""
    for name, declared, found in _compared(subject):
        if found > declared * (1.0 + ROUNDING):
            return f"{name} = {declared:.4g}, and a drawn record has {found:.4g}"
    for name, declared, found in _curved(subject):
        if found < declared * (1.0 - ROUNDING):
            return f"{name} = {declared:.4g}, and between two points it is {found:.4g}"
    return ""


def _compared(subject: Subject) -> Iterator[tuple[str, float, float]]:
    """Name of a constant, its value, and the largest that some records have: `Constants` says of which gradients."""
    c, traits, points = subject.problem.constants, subject.problem.traits, points_of(subject)
    gradients, q = record_gradients(subject, max(COMPARED, NUMBERS // points.size)), dual_exponent(c.norm)
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
    """Name of a constant, its value, and the least growth between two points of the gradients that it speaks of."""
    problem, c, points = subject.problem, subject.problem.constants, points_of(subject)
    strong, gauged = Trait.STRONGLY_CONVEX in problem.traits, c.gauge_convexity and problem.feasible_set is not None
    if not strong and not gauged:
        return
    gradients, least = record_gradients(subject, subject.data.n), [np.inf, np.inf]
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


def attained(subject: Subject) -> Finding:
    """Compute a pair of records, its gradients and what it changes."""
    epsilon, kind, queries = subject.charge.epsilon, subject.charge.kind, subject.plan.queries
    if kind != "exact":
        return None, f"its epsilon is called {kind}"
    if not (any(isinstance(q, DrawQuery) for q in queries) or rests_on_sensitivities(subject.plan, epsilon)):
        return None, "no pair is asked for"
    missing = shortfall(subject)
    said = f"epsilon = {epsilon:.4g} is called exact, but {missing}" if missing else "by two opposed records"
    return not missing, said


def shortfall(subject: Subject) -> str:
    """Say why no pair attains what is declared; empty where one does. A draw computes its pair itself."""
    for draw in subject.plan.queries:
        if isinstance(draw, DrawQuery):
            found = draw.attained(subject.scales[draw.name], subject.delta)
            exact = found is not None and found.kind == "exact"
            near = found is not None and abs(found.epsilon / subject.charge.epsilon - 1.0) <= ATTAINED_TOLERANCE
            return "" if exact and near else "no pair of laws is known to attain it"
    pair, constants = attaining_pair(subject.problem, subject.plan, subject.data.n), subject.problem.constants
    if pair is None:
        return f"no two records of {subject.problem.name} are known to attain what is declared"
    gradients, query = _gradients(subject, pair), subject.plan.queries[0]
    size = query.records.size if isinstance(query.records, Disjoint) else subject.data.n
    shares = np.linalg.norm(gradients[0] - gradients[1], ord=query.norm, axis=-1) / (query.sensitivity * size)
    steep = float(lp_norm(gradients, dual_exponent(constants.norm)).max()) / constants.lipschitz
    if constants.status != "nominal" and steep > 1.0 + ATTAINED_TOLERANCE:
        return f"a gradient of the two records is {steep:.3g} times the Lipschitz constant: they are not admissible"
    if shares.min() < 1.0 - ATTAINED_TOLERANCE:
        return f"the gradients of the two records differ by as little as {shares.min():.3g} of what is declared"
    if shares.max() > 1.0 + ATTAINED_TOLERANCE:
        return f"the gradients of the two records differ by {shares.max():.3g} times what is declared"
    ratio = 1.0 if subject.no_neighbours else _least_ratio(subject, pair)
    wrong = abs(ratio - 1.0) > ATTAINED_TOLERANCE
    return f"the two records change a release by {ratio:.3g} of what is declared" if wrong else ""


def _gradients(subject: Subject, pair: Data) -> np.ndarray:
    points = np.concatenate([points_of(subject)] * 2)
    rows = (
        None if own is None else np.repeat(np.asarray(own), len(points) // 2, axis=0)[:, None]
        for own in (pair.features, pair.labels)
    )
    found = subject.problem.batch_gradient(points, Data(2, *rows), np.ones((len(points), 1)))
    return to_numpy(found).reshape(2, -1, points.shape[1])


def _least_ratio(subject: Subject, pair: Data) -> float:
    """Least change of a release between data sets with either record over the declared one; of blocks the largest."""
    one, other = (replaced(subject.data, 0, pair, which) for which in (0, 1))
    recorded = subject.run(Recorder, data=one)
    replayed = subject.run(partial(Replay, recorded.mechanism.transcript), data=other)
    ratios = []
    for query in subject.plan.queries:
        values = [run.mechanism.transcript.value(query.name) for run in (recorded, replayed)]
        changes = np.linalg.norm(values[0] - values[1], ord=query.norm, axis=-1) / query.sensitivity
        ratios.append(changes.max() if isinstance(query.records, Disjoint) else changes.min())
    disjoint = all(isinstance(query.records, Disjoint) for query in subject.plan.queries)
    return float(max(ratios) if disjoint else min(ratios))
