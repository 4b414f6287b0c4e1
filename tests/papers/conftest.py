from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.algorithms.info import split
from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.base import Batch, Constants, Data, Problem, Trait
from dpsco_bench.problems.glm import GeneralisedLinear, Logistic, SquaredLoss
from dpsco_bench.problems.objective import Objective
from dpsco_bench.rng.streams import Stream, stream_key


class FourRecords(Logistic):
    """The four records and the start of the specification's check vectors, with the usual logistic loss."""

    name = "four_records"
    traits = frozenset(Trait)
    own_constants = start = None

    def __init__(self, regularisation=0.1, offset=0.0, sign=-1.0, start=(0.5, -0.25), **ball):
        self.regularisation, self.offset, self.sign, self.start = regularisation, offset, sign, np.array(start)
        self.own_constants = Constants(1.0, 0.25, regularisation, regularisation, **ball)
        super().__init__(2)

    def draw(self, n, streams):
        features = np.array([[0.6, 0.8], [1.0, 0.0], [0.0, 0.5], [-0.6, 0.0]])
        return Data(4, features, np.array([1.0, -1.0, 1.0, 1.0]))


class SineLeastSquares(GeneralisedLinear):
    """``(1/2)(<a, x> - y)^2`` with ``a_ij = sin(1 + 3i + j)`` and ``y_i = cos i``, on a ball."""

    name = "sine_least_squares"
    traits = frozenset(Trait)
    margin = SquaredLoss()
    own_constants = None

    def __init__(self, d, domain, norm, radius=1.0):
        self.own_constants = Constants(1.0, 1.0, diameter=2 * radius, domain=domain, norm=norm)
        super().__init__(d)

    def draw(self, n, streams):
        i, j = np.arange(n), np.arange(self.dimension)
        return Data(n, np.sin(1.0 + 3 * i[:, None] + j), np.cos(1.0 * i))


class Records(Problem):
    """Records with a given gradient ``(x (R, 1, d), z (R, W, d)) -> (R, W, d)``."""

    name = "records"
    own_constants = isotropic_curvature = None

    def __init__(self, d, gradient, constants, traits=frozenset(Trait) - {Trait.LINEAR_LOSS}, curvature=None):
        self.gradient, self.own_constants, self.traits = gradient, constants, traits
        self.isotropic_curvature = curvature
        super().__init__(d)

    def mean_gradient(self, x, data):
        return self.gradient(x[:, None, :], data.features[None]).mean(axis=1)

    def batch_gradient(self, x, batch, weights):
        return (self.gradient(x[:, None, :], batch.features) * weights[:, :, None]).sum(axis=1)


def points_problem(d, curvature=0.0, norm=2.0, lipschitz=None):
    """``(curvature/2) ||x - z||^2``, or ``<z, x>`` without curvature, on the l_p ball of radius 1."""
    shape = {"diameter": 2.0, "domain": "l2_ball" if norm == 2 else f"lp_ball:{norm}", "norm": norm, "hessian_rank": 0}
    if curvature:
        constants = Constants(lipschitz or 2.0 * curvature, curvature, strong_convexity=curvature, **shape)
        return Records(d, lambda x, z: curvature * (x - z), constants)
    traits = frozenset({Trait.CONVEX, Trait.LIPSCHITZ, Trait.LINEAR_LOSS})
    return Records(d, lambda x, z: z + 0 * x, Constants(lipschitz or 1.0, 0.0, **shape), traits)


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


def run_batches(entry, plan, problem, batches=(), observer=None):
    """Noise-free output ``(d,)`` of a run whose batches are given lists of records, and its objective."""
    objective = Objective(problem, problem.draw(plan.n, None), 1, observer=observer)
    return split(entry.run_function(objective, plan, Batches(batches, plan)))[0][0], objective


def run_calibrated(entry, problem, data, privacy, calibration, *, factory=Mechanism, replicates=1, rounds=None, **keys):
    """Plan a method, calibrate and run it: what was made on the way, and the output ``(R, d)``."""
    constants = entry.visible_constants(problem.constants, problem)
    plan = entry.plan(constants, data.n, problem.dimension, privacy, entry.variant_for(calibration), **keys)
    calibrated = calibrate(plan, privacy, calibration)
    source = factory(plan, calibrated.scales, "unit test", 5, 0, replicates)
    objective = Objective(problem, data, replicates, rounds=rounds)
    output, info = split(entry.run_function(objective, plan, source))
    return SimpleNamespace(
        plan=plan, calibrated=calibrated, mechanism=source, objective=objective, output=output, info=info
    )


def run_points(id, records, calibration="none", *, epsilon=1.0, **keys):
    """Run a method on records of `points_problem`, see `run_calibrated`."""
    own = {key: keys.pop(key) for key in ("curvature", "norm", "lipschitz") if key in keys}
    problem, data = points_problem(records.shape[-1], **own), Data(len(records), records, np.zeros(len(records)))
    return run_calibrated(get_algorithm(id), problem, data, PrivacySpec(epsilon, 1e-6), calibration, **keys)


def execute(entry, plan, problem, data, *, scale=0.0, replicates=1, dtype="float64", observer=None):
    """Output ``(R, d)`` of a run with one noise scale for all queries."""
    objective = Objective(problem, data, replicates, dtype=dtype, observer=observer)
    source = Mechanism(plan, {q.name: scale for q in plan.queries}, "unit test", 3, 0, replicates, dtype=dtype)
    return split(entry.run_function(objective, plan, source))[0]


@pytest.fixture
def draw():
    """``draw(problem, n)``: a data set from fixed streams."""
    return lambda problem, n: problem.draw(n, lambda name: Stream(stream_key(1, "('algorithm tests',)", name), np))
