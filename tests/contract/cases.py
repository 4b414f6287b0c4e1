"""Cases of the contract suite: every registered algorithm, variant and calibration on tiny instances of every problem.

A new algorithm or problem is covered as soon as the registry lists it.
"""

from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms
from dpsco_bench.audit.subject import no_neighbours
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.privacy.records import WithReplacement
from dpsco_bench.problems.base import Trait
from dpsco_bench.problems.registry import get_problem, list_problems, problem_class

from .case import PRIVACY, RECORDS, Case
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
"""Fewer records for algorithms that make n^2 steps."""
NATURAL = ("bassily2021.noisy_sgd",)
"""Algorithms whose schedule is short enough as it is, and has another form with a given number of steps."""
PROBLEM_KEYS = ("p", "norm", "d", "domain", "diameter", "gauge_convexity", "gradient_deviation", "gamma", "truncation")
PROBLEM_KEYS += ("T", "step")
"""What a plan may say that a problem lacks, besides traits."""
WIDE = 100.0
WIDEST = {"bassily2021.poly_sfw": WIDE, "bassily2021.noisy_sfw": WIDE}
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
    on_lp += [AxisRecords(*LP_BALLS[1]), Quadratic(DIMENSION)]
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
    short = () if algorithm.id in NATURAL else SHORT
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


PROBLEMS = tiny_problems()
CASES = list(all_cases(PROBLEMS))
"""One for every compatible pair of an algorithm and a problem."""


def one_problem_each(cases):
    """One case for every algorithm, variant and calibration."""
    return list({(c.algorithm.id, c.variant, c.calibration): c for c in reversed(cases)}.values())[::-1]


def sampler_status(query):
    return getattr(query, "sampler_status", "exact")


LAWS = one_problem_each(CASES)
NOISY = [c for c in LAWS if c.noisy]
CHARGED = [
    c for c in NOISY if not c.plan.unprotected and "target_law_only" not in [*map(sampler_status, c.plan.queries)]
]
"""Those whose epsilon an accountant gives."""
SILENT = [c for c in LAWS if not c.noisy]
ADDITIVE, DRAWN = [c for c in NOISY if not c.drawn], [c for c in NOISY if c.drawn]
SHARP_PROBLEMS = PseudoHuber | SteepQuadratic
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
