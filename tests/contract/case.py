"""One algorithm on one tiny problem, as the contract suite runs it."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.execution.measures import get_measure
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Data, Draws
from dpsco_bench.problems.objective import Objective
from dpsco_bench.rng.keys import stream_key
from dpsco_bench.rng.streams import Stream

SEED = 11
RECORDS = 24
PRIVACY = PrivacySpec(1.0, 1e-5)


@dataclass
class Outcome:
    """Output ``(R, d)`` and the algorithm's measure on the host, with the mechanism and objective that the run used."""

    output: np.ndarray
    mechanism: Mechanism
    objective: Objective
    raw: object
    risk: np.ndarray
    start_risk: float


@dataclass
class Case:
    """One algorithm, variant and calibration on one tiny problem."""

    algorithm: object
    variant: str
    calibration: str
    problem: object
    n: int = RECORDS
    options: dict = field(default_factory=dict)

    @property
    def id(self):
        return f"{self.algorithm.id}-{self.variant}-{self.calibration}-{self.problem.name}"

    @property
    def noisy(self):
        return self.calibration != "none" and bool(self.plan.queries)

    @cached_property
    def data(self):
        return Data(self.n) if self.problem.draws_per_replicate else self.problem.draw(self.n, self.streams(np))

    def streams(self, xp):
        return lambda name: Stream(stream_key(SEED, self.problem.name, f"data/0/{name}"), xp)

    def objective(self, data, first, replicates, xp, dtype, observer):
        if self.problem.draws_per_replicate:
            data = self.problem.sample(self.n, Draws(self.streams(xp), first, replicates))
        return Objective(self.problem, data, replicates, xp, dtype, observer, self.n)

    @cached_property
    def plan(self):
        return self.plan_with(**self.options)

    def plan_with(self, **options):
        constants = self.algorithm.visible_constants(self.problem.constants_of(self.data), self.problem)
        d = self.problem.effective_dimension
        return self.algorithm.plan(constants, self.n, d, PRIVACY, self.variant, **options)

    @cached_property
    def calibrated(self):
        return calibrate(self.plan, PRIVACY, self.calibration, self.problem.constants.status)

    @property
    def scales(self):
        return self.calibrated.scales

    def altered(self, run=None, plan=None):
        """The same case with another run function or another plan, for mutation checks."""
        copy = replace(self, algorithm=replace(self.algorithm, run_function=run or self.algorithm.run_function))
        copy.__dict__.update(data=self.data, plan=plan or self.plan, calibrated=self.calibrated)
        return copy

    def mechanism(self, factory=Mechanism, *, scales=None, first=0, replicates=4, xp=np, dtype="float64"):
        scales = self.scales if scales is None else scales
        return factory(self.plan, scales, self.id, SEED, first, replicates, xp, dtype)

    def run(self, factory=Mechanism, *, data=None, **keywords):
        source = self.mechanism(factory, **keywords)
        replicates, xp = keywords.get("replicates", 4), keywords.get("xp", np)
        measure, dtype = get_measure(self.algorithm.measure), keywords.get("dtype", "float64")
        first = keywords.get("first", 0)
        objective = self.objective(data or self.data, first, replicates, xp, dtype, measure.observe)
        start_risk = float(measure.at_start(objective)[0])
        raw = self.algorithm.run_function(objective, self.plan, source)
        return Outcome(to_numpy(raw), source, objective, raw, measure.value(objective, raw), start_risk)
