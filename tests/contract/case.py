"""One algorithm on one tiny problem, as the contract suite runs it."""

import json
import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from dpsco_bench.audit.contract import Checks
from dpsco_bench.audit.subject import Subject, no_neighbours
from dpsco_bench.privacy.attained import attaining_pair
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.problems.base import Data
from dpsco_bench.rng.streams import Stream, stream_key

SEED = 11
RECORDS = 24
PRIVACY = PrivacySpec(1.0, 1e-5)
SEARCHING = {"neighbours": 6, "rounds": 2, "everywhere": False}


@dataclass(eq=False)
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

    @property
    def drawn(self):
        """Whether the output is a draw and not a function of released values with noise."""
        return any(isinstance(q, DrawQuery) for q in self.plan.queries)

    @cached_property
    def data(self):
        return Data(self.n) if self.problem.draws_per_replicate else self.problem.draw(self.n, self.streams(np))

    def streams(self, xp):
        return lambda name: Stream(stream_key(SEED, self.problem.name, f"data/0/{name}"), xp)

    @cached_property
    def plan(self):
        constants = self.algorithm.visible_constants(self.problem.constants_of(self.data), self.problem)
        d = self.problem.effective_dimension
        return self.algorithm.plan(constants, self.n, d, PRIVACY, self.variant, **self.options)

    @cached_property
    def calibrated(self):
        """Its noise; on a machine without an accountant the one that ``DPSCO_SCALES`` names."""
        if os.environ.get("DPSCO_SCALES") and Path(os.environ["DPSCO_SCALES"]).is_file():
            scales = json.loads(Path(os.environ["DPSCO_SCALES"]).read_text())[self.id]
            return SimpleNamespace(scales=scales, charge=None)
        attained = attaining_pair(self.problem, self.plan, self.n) is not None
        return calibrate(self.plan, PRIVACY, self.calibration, self.problem.constants.status, attained)

    @property
    def scales(self):
        return self.calibrated.scales

    @cached_property
    def subject(self):
        c = self.calibrated
        why = no_neighbours(self.problem, self.plan, self.problem.constants.status)
        what = self.plan, PRIVACY.delta, c.scales, c.charge, why, self.data
        return Subject(self.algorithm, self.problem, *what, self.id, self.streams, SEED)

    @cached_property
    def checks(self):
        """The package's own checks, with a search that fits a suite of many cases."""
        return self.checks_of((1 << 10, 1 << 10))

    def checks_of(self, length):
        """The same with long runs of a given length."""
        return Checks(self.subject, self.without_noise, length=length, searching=SEARCHING)

    def without_noise(self, n, steps=None):
        """The same with ``n`` records and the schedule of the theorem, or so many steps, for a long run."""
        defined = "none" in self.algorithm.variants[self.variant]
        variant = self.variant if defined else self.algorithm.variant_for("none")
        problem = self.problem.at(n, PRIVACY.epsilon, PRIVACY.delta)
        kept = {key: value for key, value in self.options.items() if key in LASTING}
        kept |= {} if steps is None else {"steps": steps}
        return replace(self, problem=problem, variant=variant, calibration="none", n=n, options=kept).subject

    def with_plan(self, plan):
        """The same case and noise with another plan."""
        copy = replace(self)
        copy.__dict__.update(data=self.data, plan=plan, calibrated=self.calibrated)
        return copy

    def run(self, *factory, **keys):
        return self.subject.run(*factory, **{"replicates": 4, **keys})

    def mechanism(self, **keys):
        return self.subject.mechanism(**{"replicates": 4, **keys})


LASTING = ("range_constant", "sweeps", "delta_in", "step")
"""Options of short runs that a long run keeps."""
