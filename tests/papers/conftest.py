from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.algorithms.info import split
from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.base import Batch, Constants, Data, Problem, Trait
from dpsco_bench.problems.glm import GeneralisedLinear, Logistic
from dpsco_bench.problems.objective import Objective
from dpsco_bench.rng.streams import Stream, stream_key

FEATURES = np.array([[0.6, 0.8], [1.0, 0.0], [0.0, 0.5], [-0.6, 0.0]])
LABELS = np.array([1.0, -1.0, 1.0, 1.0])
START = np.array([0.5, -0.25])


class FourRecords(Logistic):
    """The four records and the start of the specification's check vectors, with the usual logistic loss."""

    name = "four_records"
    traits = frozenset(Trait)

    def __init__(self, regularisation=0.1, offset=0.0, sign=-1.0):
        self.regularisation, self.offset, self.sign = regularisation, offset, sign
        super().__init__(2)

    @property
    def own_constants(self):
        lam = self.regularisation
        return Constants(1.0, 0.25, strong_convexity=lam, regularisation=lam)

    @property
    def start(self):
        return START

    def draw(self, n, streams):
        return Data(4, FEATURES, LABELS)


def run_scripted(entry, plan, problem, order, observer=None):
    """Noise-free output ``(d,)`` of a run on the four records with the given record order."""
    objective = Objective(problem, problem.draw(4, None), 1, observer=observer)
    return split(entry.run_function(objective, plan, Batches([[record] for record in order], plan)))[0][0]


def run_plan(entry, plan, problem, data, *, scale=0.0, replicates=1, seed=3, dtype="float64", observer=None):
    """Output ``(R, d)`` of a run with one noise scale for all queries."""
    objective = Objective(problem, data, replicates, dtype=dtype, observer=observer)
    scales = {q.name: scale for q in plan.queries}
    source = Mechanism(plan, scales, "unit test", seed, 0, replicates, dtype=dtype)
    return split(entry.run_function(objective, plan, source))[0]


@pytest.fixture
def vectors():
    return SimpleNamespace(FourRecords=FourRecords, Batches=Batches, run=run_scripted, start=START)


@pytest.fixture
def execute():
    return run_plan


@pytest.fixture
def draw():
    """``draw(problem, n)``: a data set from fixed streams."""
    return lambda problem, n: problem.draw(n, lambda name: Stream(stream_key(1, "('algorithm tests',)", name), np))


class SineLeastSquares(GeneralisedLinear):
    """``(1/2)(<a, x> - y)^2`` with ``a_ij = sin(1 + 3i + j)`` and ``y_i = cos i``, on a ball."""

    name = "sine_least_squares"
    traits = frozenset(Trait)

    def __init__(self, d, domain, norm, radius=1.0, smoothness=1.0):
        self.declared = Constants(1.0, smoothness, diameter=2 * radius, domain=domain, norm=norm)
        super().__init__(d)

    @property
    def own_constants(self):
        return self.declared

    def draw(self, n, streams):
        i, j = np.arange(n), np.arange(self.dimension)
        return Data(n, np.sin(1.0 + 3 * i[:, None] + j), np.cos(1.0 * i))

    def slope(self, margins, labels):
        return margins - labels


class Batches(Mechanism):
    """A mechanism without noise whose batches are given lists of records."""

    def __init__(self, batches, plan):
        super().__init__(plan, {q.name: 0.0 for q in plan.queries}, "scripted", 0, 0, 1)
        self._given = batches

    def sample(self, name, step=0):
        self._declared(name, step)
        self.sampled[name] += 1
        indices = np.array([self._given[step]])
        return Batch(indices, np.ones(indices.shape), np.array([1.0 * indices.size]), 1.0 * indices.size)


@pytest.fixture
def sine():
    """``sine(entry, plan, problem, batches)``: noise-free output ``(d,)`` on the sine records, and the objective."""

    def run(entry, plan, problem, batches=()):
        objective = Objective(problem, problem.draw(plan.n, None), 1)
        return split(entry.run_function(objective, plan, Batches(batches, plan)))[0][0], objective

    return SimpleNamespace(run=run, problem=SineLeastSquares)


class Points(Problem):
    """``(curvature/2) ||x - z||^2``, or ``<z, x>`` without curvature, on the l_p ball of radius 1, records as given."""

    name = "points"

    def __init__(self, d, curvature=0.0, norm=2.0, lipschitz=None):
        self.curvature = curvature
        domain = "l2_ball" if norm == 2 else f"lp_ball:{norm}"
        G = lipschitz or (2.0 * curvature or 1.0)
        more = {"diameter": 2.0, "hessian_rank": 0} | ({"strong_convexity": curvature} if curvature else {})
        self.own_constants = Constants(G, curvature, domain=domain, norm=norm, **more)
        found = {Trait.SMOOTH, Trait.STRONGLY_CONVEX} if curvature else {Trait.LINEAR_LOSS}
        self.traits = frozenset({Trait.CONVEX, Trait.LIPSCHITZ}) | found
        super().__init__(d)

    own_constants = None

    def range_gradient(self, x, data, first, count):
        z = data.features[..., first : first + count, :].mean(axis=-2)
        return self.curvature * (x - z) if self.curvature else z + 0 * x

    def mean_gradient(self, x, data):
        return self.range_gradient(x, data, 0, data.n)

    def batch_gradient(self, x, batch, weights):
        sums = np.sum(weights[..., None] * batch.features, axis=1)
        size = weights.sum(axis=1, keepdims=True)
        return self.curvature * (size * x - sums) if self.curvature else sums


@pytest.fixture
def points():
    """``points.run(algorithm, records, calibration)``: mechanism, plan, output ``(R, d)`` and objective of a run."""

    def run(id, records, calibration="none", *, epsilon=1.0, factory=Mechanism, replicates=1, rounds=None, **keys):
        own = {key: keys.pop(key) for key in ("curvature", "norm", "lipschitz") if key in keys}
        n, d = records.shape[-2:]
        entry, problem, privacy = get_algorithm(id), Points(d, **own), PrivacySpec(epsilon, 1e-6)
        plan = entry.plan(problem.constants, n, d, privacy, entry.variant_for(calibration), **keys)
        calibrated = calibrate(plan, privacy, calibration)
        source = factory(plan, calibrated.scales, "points", 5, 0, replicates)
        data = Data(n, records, np.zeros(records.shape[:-1]))
        objective = Objective(problem, data, replicates, rounds=rounds)
        output = split(entry.run_function(objective, plan, source))[0]
        made = {"plan": plan, "calibrated": calibrated, "mechanism": source, "objective": objective}
        return SimpleNamespace(output=output, **made)

    return SimpleNamespace(run=run, problem=Points)
