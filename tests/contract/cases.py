"""Cases of the contract suite: every registered algorithm, variant and calibration on tiny instances of every problem.

A new algorithm or problem is covered as soon as the registry lists it.
"""

from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.privacy.plan import WithReplacement
from dpsco_bench.problems.base import Trait
from dpsco_bench.problems.registry import get_problem, list_problems, problem_class

from .case import PRIVACY, RECORDS, Case
from .records import (
    DIMENSION,
    LP_BALLS,
    AxisRecords,
    HeavyRecords,
    LinearRecords,
    LpPseudoHuber,
    PseudoHuber,
    PseudoHuberOnBall,
    PseudoHuberOnL1Ball,
    Quadratic,
    SteepQuadratic,
    StronglyConvexRecords,
)

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
STRIDING = tuple(f"zhang2022.{name}" for name in ("dp_otb", "dp_otb_lp", "dp_otb_pure", "dp_sgd"))
"""Algorithms whose first steps are of the size of the set: they overshoot on the widest ones."""
BETTING = ("zhang2022.parameter_free",)
"""Algorithms that have hardly moved after so few records."""
NATURAL = ("bassily2021.noisy_sgd",)
"""Algorithms whose schedule is short enough as it is, and has another form with a given number of steps."""
PROBLEM_KEYS = ("p", "norm", "d", "domain", "diameter", "gauge_convexity", "gradient_deviation", "gamma", "truncation")
PROBLEM_KEYS += ("T", "step")
"""What a plan may say that a problem lacks, besides traits."""
WIDE = 100.0
WIDEST = {"bassily2021.poly_sfw": WIDE, "bassily2021.noisy_sfw": WIDE}
"""Largest diameter for algorithms whose steps and sensitivities are for sets on which L1 M is of the order of L0."""
FULLY_CROSSED = 5
"""Problems, pseudo_huber among them, on which every calibration of an algorithm runs; enough as the registry grows."""


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
    on_lp += [AxisRecords(*LP_BALLS[1]), Quadratic(DIMENSION)]
    on_lp += [LpPseudoHuber(DIMENSION), StronglyConvexRecords(), *(HeavyRecords(*ball) for ball in LP_BALLS[1:3])]
    wide = [get_problem("cube_fixed", 24).at(RECORDS, PRIVACY.epsilon, PRIVACY.delta)]
    return [*own, *on_lp, *map(tiny, names), *wide]


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


def all_cases():
    """Each compatible problem with one calibration of each variant, the first few with all of them."""
    problems = tiny_problems()
    for algorithm in map(get_algorithm, list_algorithms()):
        short = () if algorithm.id in NATURAL else SHORT
        options = {key: SHORT[key] for key in short if key in algorithm.options} | OWN_OPTIONS.get(algorithm.id, {})
        for variant, calibrations in algorithm.variants.items():
            fitting = [problem for problem in problems if compatible(algorithm, problem, variant, options)]
            for number, problem in enumerate(fitting):
                for calibration in calibrations if number < FULLY_CROSSED else calibrations[:1]:
                    yield Case(algorithm, variant, calibration, problem, options=options)


CASES = list(all_cases())


def one_problem_each(cases):
    """One case for every algorithm, variant and calibration."""
    return list({(c.algorithm.id, c.variant, c.calibration): c for c in reversed(cases)}.values())[::-1]


NOISY = [c for c in CASES if c.noisy]
SILENT = [c for c in CASES if not c.noisy]
ADDITIVE, DRAWN = [c for c in NOISY if not c.drawn], [c for c in NOISY if c.drawn]
DESCENDING = [
    c
    for c in SILENT
    if c.algorithm.id not in BETTING and not (c.algorithm.id in STRIDING and c.problem.constants.diameter > WIDE)
]
"""Noise-free runs that end below their start even after so few records."""
# Nominal constants prove no sensitivity, a plan with leaks does not claim to be all, and there are no neighbours where
# all records are equal or every replicate has a sample of its own.
SEARCHABLE = [
    c
    for c in NOISY
    if c.problem.constants.status == "global"
    and not (c.problem.shares_records or c.problem.draws_per_replicate)
    and not (c.plan.leaks or c.plan.unprotected)
    and not any(isinstance(q.records, WithReplacement) for q in c.plan.queries)  # declared for a record drawn once
]
SHARP_PROBLEMS = PseudoHuber | SteepQuadratic
"""Records whose gradients differ by nearly as much as the constants allow."""
_SHARP_IDS = {c.algorithm.id for c in SEARCHABLE if isinstance(c.problem, SHARP_PROBLEMS)}
SHARP = [c for c in SEARCHABLE if isinstance(c.problem, SHARP_PROBLEMS) or c.algorithm.id not in _SHARP_IDS]
"""Searchable cases with such records; all of an algorithm that takes none of these problems."""
