"""Cases of the contract suite: every algorithm, variant and calibration on tiny instances of every problem."""

import json
import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms
from dpsco_bench.audit.contract import Checks
from dpsco_bench.audit.subject import Subject, no_neighbours
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.privacy.attained import attaining_pair
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.privacy.records import WithReplacement
from dpsco_bench.problems.base import Data, Trait
from dpsco_bench.problems.registry import get_problem, list_problems, problem_class
from dpsco_bench.rng.streams import Stream, stream_key

from .records import (
    DIMENSION,
    LP_BALLS,
    AxisRecords,
    HeavyRecords,
    HeavySlopes,
    LinearRecords,
    LpPseudoHuber,
    PseudoHuber,
    PseudoHuberOnBall,
    PseudoHuberOnL1Ball,
    Quadratic,
    SteepQuadratic,
    StronglyConvexRecords,
)

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
        """True where the output is a draw, not a function of released values with noise."""
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

    def run(self, *factory, **keys):
        return self.subject.run(*factory, **{"replicates": 4, **keys})

    def mechanism(self, **keys):
        return self.subject.mechanism(**{"replicates": 4, **keys})


LASTING = ("range_constant", "sweeps", "delta_in", "step")
"""Options of short runs that a long run keeps."""


SHORT = {"steps": 6, "epochs": 2, "inner_steps": 5}
"""Schedule lengths put in place of the theorem's, where an algorithm has options of these names."""
OWN_OPTIONS = {
    "bassily2021.projected_gd": {"step": 0.1},  # its own crosses a wide ball of curved losses from side to side
    "su2023.nrmd": {"steps": 12},  # alpha <= beta asks for many steps, or many more records
    "su2023.shuffled_truncated_md": {"steps": 6, "range_constant": 2.0},
    "gopi2022.gibbs": {"sweeps": 6},
    "gopi2022.hit_and_run": {"sweeps": 6},
    "gopi2022.proximal_sampler": {"sweeps": 3, "delta_in": 0.05},
}
OWN_RECORDS = {"bassily2021.noisy_sgd": 8}
"""Fewer records for algorithms that make n^2 steps; with a given number of steps their schedule has another form."""
PROBLEM_KEYS = ("p", "norm", "d", "domain", "diameter", "gauge_convexity", "gradient_deviation", "gamma", "truncation")
PROBLEM_KEYS += ("T", "step")
"""What a plan may say that a problem lacks, besides traits."""
WIDEST = dict.fromkeys(("bassily2021.poly_sfw", "bassily2021.noisy_sfw"), 100.0)
"""Largest diameter for algorithms whose steps and sensitivities are for sets on which L1 M is of the order of L0."""


def tiny(name):
    """A small instance of a problem: three dimensions where it allows them."""
    try:
        problem = get_problem(name, DIMENSION)
    except InputError:
        problem = get_problem(name)
    return problem.at(RECORDS, PRIVACY.epsilon, PRIVACY.delta)


def tiny_problems():
    names = [name for name in list_problems() if not problem_class(name).needs_data_root]
    own = [PseudoHuber(DIMENSION), PseudoHuberOnBall(DIMENSION), PseudoHuberOnL1Ball(DIMENSION)]
    on_lp = [kind(*ball) for kind in (SteepQuadratic, LinearRecords) for ball in LP_BALLS]
    on_lp += [AxisRecords(*LP_BALLS[1]), Quadratic()]
    on_lp += [LpPseudoHuber(DIMENSION), StronglyConvexRecords(), *(HeavyRecords(*ball) for ball in LP_BALLS[1:3])]
    on_lp += [HeavySlopes(*ball) for ball in LP_BALLS[1:3]]
    wide = [get_problem("cube_fixed", 24).at(RECORDS, PRIVACY.epsilon, PRIVACY.delta)]
    ridges = {"ridge": 2.0}, {"radius": 3.0, "ridge": 0.5}
    steep = [get_problem("ridge_logistic", DIMENSION, **options) for options in ridges]
    return [*own, *on_lp, *map(tiny, names), *wide, *steep]


def compatible(algorithm, problem, variant, options):
    """Whether the problem has what the algorithm asks for, its norm and dimension included."""
    constants = algorithm.visible_constants(problem.constants, problem)
    if constants.diameter > WIDEST.get(algorithm.id, constants.diameter):
        return False
    nearly_linear = isinstance(problem, SteepQuadratic) and not isinstance(problem, HeavyRecords)
    own_norm = {Trait.LP_BALL, Trait.POLYTOPE, Trait.SYMMETRIC_SET} & set(algorithm.needs) or algorithm.least_norm < 2
    if nearly_linear and not own_norm:
        return False  # nearly linear: differences of gradients are far below what they may be
    if isinstance(problem, StronglyConvexRecords) and Trait.SYMMETRIC_SET not in algorithm.needs:
        return False  # one Hessian: differences of increments vanish
    if isinstance(problem, Quadratic) and not algorithm.id.startswith("gopi2022."):
        return False  # one Hessian, and gradients that differ by a third of 2 G: sharp in S alone
    try:
        algorithm.check_problem(problem)
        algorithm.plan(constants, RECORDS, problem.effective_dimension, PRIVACY, variant, **options)
    except Refusal:
        return False
    except InputError as error:
        if error.key not in PROBLEM_KEYS:
            raise
        return False
    return True


def combinations(algorithm):
    """Variants, calibrations and short options of an algorithm."""
    short = () if algorithm.id in OWN_RECORDS else SHORT
    options = {key: SHORT[key] for key in short if key in algorithm.options} | OWN_OPTIONS.get(algorithm.id, {})
    return [(variant, c, options) for variant, calibrations in algorithm.variants.items() for c in calibrations]


def all_cases(problems):
    """Every algorithm on every compatible problem, its variants and calibrations in turn, each at least once."""
    for algorithm in map(get_algorithm, list_algorithms()):
        waiting, seen = combinations(algorithm), set()
        for problem in problems:
            fitting = [c for c in waiting if compatible(algorithm, problem, c[0], c[2])]
            if fitting:
                waiting = [c for c in waiting if c is not fitting[0]] + fitting[:1]  # to the end of the row
                yield case_of(algorithm, problem, fitting[0])
                seen.add(fitting[0][:2])
        for combination in [c for c in waiting if c[:2] not in seen]:  # more of them than problems
            problem = next((p for p in problems if compatible(algorithm, p, combination[0], combination[2])), None)
            if problem is not None:
                yield case_of(algorithm, problem, combination)


def case_of(algorithm, problem, combination):
    variant, calibration, options = combination
    n = OWN_RECORDS.get(algorithm.id, RECORDS)
    return Case(algorithm, variant, calibration, problem.at(n, PRIVACY.epsilon, PRIVACY.delta), n, options)


CASES = list(all_cases(tiny_problems()))
"""One for every compatible pair of an algorithm and a problem."""


def one_problem_each(cases):
    """One case for every algorithm, variant and calibration."""
    return list({(c.algorithm.id, c.variant, c.calibration): c for c in reversed(cases)}.values())[::-1]


LAWS = one_problem_each(CASES)
NOISY = [c for c in LAWS if c.noisy]
CHARGED = [
    case
    for case in NOISY
    if not case.plan.unprotected
    and not any(getattr(query, "sampler_status", "") == "target_law_only" for query in case.plan.queries)
]
"""Those whose epsilon an accountant gives."""
SILENT = [c for c in LAWS if not c.noisy]
ADDITIVE, DRAWN = [c for c in NOISY if not c.drawn], [c for c in NOISY if c.drawn]
SHARP_PROBLEMS = PseudoHuber | SteepQuadratic | StronglyConvexRecords
"""Records whose gradients differ by nearly as much as the constants allow."""


def searchable(case):
    """Whether the search can be held against all that is declared: not where it is for a record drawn once."""
    once = any(isinstance(q.records, WithReplacement) for q in case.plan.queries)
    status = case.problem.constants.status
    return case.noisy and not once and not no_neighbours(case.problem, case.plan, status)


SEARCHABLE = [c for c in CASES if searchable(c)]
_SHARP_IDS = {c.algorithm.id for c in SEARCHABLE if isinstance(c.problem, SHARP_PROBLEMS)}
SHARP = [c for c in SEARCHABLE if isinstance(c.problem, SHARP_PROBLEMS) or c.algorithm.id not in _SHARP_IDS]
"""Searchable cases with such records; all of an algorithm that takes none of these problems."""
