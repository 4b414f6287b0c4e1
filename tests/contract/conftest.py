"""Cases of the contract suite: every registered algorithm, variant and calibration on tiny instances of every problem.

A new algorithm or problem is covered as soon as the registry lists it.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms
from dpsco_bench.backend.namespace import array_namespace, to_numpy
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.execution.measures import get_measure
from dpsco_bench.geometry.norms import dual_exponent
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import Poisson, WithReplacement
from dpsco_bench.privacy.queries import CoveringQuery, DrawQuery
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.privacy.transcript import Recorder, Replay
from dpsco_bench.problems.base import DOMAIN_TRAITS, Constants, Data, Draws, Trait
from dpsco_bench.problems.glm import GeneralisedLinear
from dpsco_bench.problems.newton import minimise_glm_in_ball
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import get_problem, list_problems, problem_class
from dpsco_bench.rng.keys import stream_key
from dpsco_bench.rng.streams import Stream

SEED = 11
RECORDS, DIMENSION = 24, 3
PRIVACY = PrivacySpec(1.0, 1e-5)
DECIDED_BY_CONSTANTS = {Trait.UNREGULARISED, Trait.BALL_OR_STRONGLY_CONVEX}.union(*DOMAIN_TRAITS.values())
SHORT = {"steps": 6, "epochs": 2, "inner_steps": 5}
"""Schedule lengths put in place of the theorem's, where an algorithm has options of these names."""


class PseudoHuber(GeneralisedLinear):
    """``sqrt(1 + (margin - y)^2)`` with labels in [-100, 100]: gradients of norm close to G in both directions."""

    name = "pseudo_huber"
    traits = frozenset(Trait) - DECIDED_BY_CONSTANTS - {Trait.PUBLIC_QUADRATIC, Trait.LINEAR_LOSS}

    @property
    def own_constants(self):
        return Constants(1.0, 1.0, strong_convexity=0.1, regularisation=0.1, initial_gap=100.0)

    def draw(self, n, streams):
        rows = streams("features").normal(0, 1, 0, n, self.dimension)[0].astype(np.float64)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return Data(n, rows, 200.0 * streams("labels").uniform(0, 1, 0, n, 1)[0, :, 0] - 100.0)

    def loss(self, margins, labels):
        return (1.0 + (margins - labels) ** 2) ** 0.5

    def slope(self, margins, labels):
        return (margins - labels) / self.loss(margins, labels)

    def curvature(self, margins, labels):
        return self.loss(margins, labels) ** -3.0

    def domain_records(self, count, seed):
        rng = np.random.default_rng(seed)
        rows = rng.standard_normal((count, self.dimension))
        rows[:4, 1:] = 0.0
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return Data(count, rows, np.resize([100.0, -100.0, 0.0], count))


class PseudoHuberOnBall(PseudoHuber):
    """The same losses on a ball that gives iterates room to go far, without a regulariser."""

    name = "pseudo_huber_on_ball"
    traits = PseudoHuber.traits - {Trait.STRONGLY_CONVEX, Trait.POLYAK_LOJASIEWICZ}

    @property
    def own_constants(self):
        return Constants(1.0, 1.0, initial_gap=100.0, initial_distance=100.0, diameter=2000.0, domain="l2_ball")

    def optimal_risk(self, data):
        """Over the l2 ball, which contains the l1 ball: differences of risks are what tests look at."""
        return minimise_glm_in_ball(self, data, self.constants.ball.radius).value


class PseudoHuberOnL1Ball(PseudoHuberOnBall):
    """The same losses on an l1 ball."""

    name = "pseudo_huber_on_l1_ball"

    @property
    def own_constants(self):
        return Constants(1.0, 1.0, initial_gap=100.0, initial_distance=100.0, diameter=2000.0, domain="l1_ball")


class SteepQuadratic(GeneralisedLinear):
    """``(s/2)(margin - y)^2`` on the unit l_p ball, s = 0.01 and labels of +-99: gradients of l_q norm close to 1."""

    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ})
    curvature_constant = 0.01

    def __init__(self, domain, p):
        self.name, self.q = f"steep_{domain}", dual_exponent(p)
        self.declared = Constants(1.0, self.curvature_constant, initial_gap=100.0, diameter=2.0, domain=domain, norm=p)
        super().__init__(DIMENSION)

    @property
    def own_constants(self):
        return self.declared

    def _unit(self, rows):
        return rows / np.linalg.norm(rows, ord=self.q, axis=1, keepdims=True)

    def draw(self, n, streams):
        rows = streams("features").normal(0, 1, 0, n, self.dimension)[0].astype(np.float64)
        return Data(n, self._unit(rows), np.sign(streams("labels").uniform(0, 1, 0, n, 1)[0, :, 0] - 0.5) * 99.0)

    def loss(self, margins, labels):
        return 0.5 * self.curvature_constant * (margins - labels) ** 2

    def slope(self, margins, labels):
        return self.curvature_constant * (margins - labels)

    def optimal_risk(self, data):
        return 0.0

    def domain_records(self, count, seed):
        rows = np.random.default_rng(seed).standard_normal((count, self.dimension))
        rows[:4] = np.eye(self.dimension)[[0, 0, 1, 1]]
        return Data(count, self._unit(rows), np.resize([99.0, -99.0], count))


class LinearRecords(SteepQuadratic):
    """``-<a, x>`` on the unit l_p ball."""

    traits = frozenset({Trait.CONVEX, Trait.LIPSCHITZ, Trait.LINEAR_LOSS})

    def __init__(self, domain, p):
        super().__init__(domain, p)
        self.name = f"linear_{domain}"

    def loss(self, margins, labels):
        return -margins

    def slope(self, margins, labels):
        return -(0 * margins + 0 * labels + 1)

    def optimal_risk(self, data):
        return -float(self.constants.ball.support(np.mean(data.features, axis=0)[None])[0, 0])

    def domain_records(self, count, seed):
        records = super().domain_records(count, seed)
        records.features[1] *= -1
        return records


class AxisRecords(LinearRecords):
    """``-<a, x>`` with ``a = +-e_1`` on the unit l_p ball."""

    def __init__(self, domain, p):
        super().__init__(domain, p)
        self.name = f"axis_{domain}"
        self.declared = replace(self.declared, losses="axis_linear")

    def _unit(self, rows):
        return np.sign(rows[:, :1]) * np.eye(1, self.dimension)


class Quadratic(GeneralisedLinear):
    """``(1/2) ||x - a||^2`` with ``||a|| <= 1/2`` on the unit l2 ball: G = 3/2, S = 1."""

    name = "quadratic_on_ball"
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.STRONGLY_CONVEX})
    isotropic_curvature = 1.0

    @property
    def own_constants(self):
        return Constants(
            1.5, 1.0, strong_convexity=1.0, diameter=2.0, domain="l2_ball", loss_range=1.0, losses="quadratic"
        )

    def draw(self, n, streams):
        rows = streams("features").normal(0, 1, 0, n, self.dimension)[0].astype(np.float64)
        return Data(n, 0.5 * rows / np.linalg.norm(rows, axis=1, keepdims=True), np.zeros(n))

    def mean_gradient(self, x, data):
        return x - array_namespace(x).mean(data.features, axis=0)

    def batch_gradient(self, x, batch, weights):
        xp = array_namespace(x)
        return xp.sum((x[:, None, :] - batch.features) * weights[:, :, None], axis=1)

    def batch_losses(self, x, data, indices):
        xp = array_namespace(x)
        return 0.5 * xp.sum((x[:, None, :] - self.gather(data, indices).features) ** 2, axis=-1)

    def risk(self, x, data):
        xp = array_namespace(x)
        return 0.5 * xp.mean(xp.sum((x[:, None, :] - data.features) ** 2, axis=-1), axis=-1)

    def optimal_risk(self, data):
        mean = np.mean(data.features, axis=0)
        return 0.5 * float(np.mean(np.sum((mean - data.features) ** 2, axis=-1)))

    def domain_records(self, count, seed):
        rows = np.random.default_rng(seed).standard_normal((count, self.dimension))
        rows[:2] = np.eye(2, self.dimension)[[0, 0]] * np.array([[1.0], [-1.0]])
        return Data(count, 0.5 * rows / np.linalg.norm(rows, axis=1, keepdims=True), np.zeros(count))


class LpPseudoHuber(PseudoHuber):
    """The same losses on the whole space with their constants in l_p, without a regulariser."""

    name = "lp_pseudo_huber"
    traits = PseudoHuberOnBall.traits

    @property
    def own_constants(self):
        """Rows of l2 norm 1 have an l_q norm of at most 1 for q = 3."""
        return Constants(1.0, 1.0, initial_gap=100.0, initial_distance=100.0, norm=1.5)


class HeavyRecords(SteepQuadratic):
    """Linear losses on the unit l_p ball with slopes of any length; sigma = 3 and beta = 0.01 are declared."""

    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LINEAR_LOSS})
    thresholds = (40.0, 3.4, 5.2, 4.3, 3.6, 5.9)
    """Lengths of the slopes of records: some just below, some above the levels that the algorithms cut at."""

    def __init__(self, domain, p):
        super().__init__(domain, p)
        self.name = f"heavy_{domain}"
        self.declared = replace(self.declared, gradient_deviation=3.0, hessian_rank=0.0)

    def loss(self, margins, labels):
        return labels * margins

    def slope(self, margins, labels):
        return labels + 0 * margins

    def domain_records(self, count, seed):
        lengths = np.resize(np.repeat(self.thresholds, 2) * np.tile([1.0, -1.0], len(self.thresholds)), count)
        flat = np.ones((count, self.dimension)) * self.dimension ** (-1.0 / self.q)
        return Data(count, flat, lengths)


LP_BALLS = (("l1_ball", 1.0), ("lp_ball:1.5", 1.5), ("l2_ball", 2.0), ("linf_ball", np.inf))
LOOSE = {
    "bassily2021.poly_sfw": "scores on a centred ball change half as much as on any set of the same diameter",
    "bassily2021.noisy_sfw": "Hessians of convex losses differ by at most L1, not by 2 L1",
}
"""One-pass algorithms whose declared sensitivity is known not to be attained on these problems, and why."""
WIDEST = 100.0
"""Largest diameter for them: their steps and sensitivities are for sets on which L1 M is of the order of L0."""
BLUNT = {
    "su2023.phased_dp_sgd": "a record moves the average of a phase by up to n_i/(n_i + 1) of what is declared",
    "su2023.truncated_batched_md": "the search knows the level of truncation only roughly",
    "su2023.shuffled_truncated_md": "the search knows the level of truncation only roughly",
    "su2023.kj16": "the projection shortens the features that the search tries",
    "zhang2022.fkt20_phased_sgd": "a record moves the average of a phase by up to n_i/(n_i + 1) of what is declared",
    **{
        f"zhang2022.{name}-printed": "equation (6) is at least twice what the first record does"
        for name in ("dp_otb", "dp_otb_lp", "dp_otb_pure", "parameter_free")
    },
}
"""Others (or their variants) of which the search finds no neighbour within 15 per cent of what is declared, and why."""
OWN_OPTIONS = {
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
PLACES = dict.fromkeys(("su2023.phased_dp_sgd", "zhang2022.fkt20_phased_sgd"), (0, 12, 18, 21))
"""Records at which the search looks, where the first and the last do not enter every query: one of each phase."""
PROBLEM_KEYS = (
    "p",
    "norm",
    "d",
    "domain",
    "diameter",
    "gauge_convexity",
    "gradient_deviation",
    "gamma",
    "truncation",
    "T",
    "step",
)
"""What a plan may say that a problem lacks, besides traits."""
NATURAL = ("bassily2021.noisy_sgd",)
"""Algorithms whose schedule is short enough as it is, and has another form with a given number of steps."""
FULLY_CROSSED = 5
"""Problems, pseudo_huber among them, on which every calibration of an algorithm runs; enough as the registry grows."""


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

    @property
    def drawn(self):
        """Whether the output is a draw and not a function of released values with noise."""
        return any(isinstance(q, DrawQuery) for q in self.plan.queries)

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

    # --- checks that the mutation tests use too --------------------------------------------------------------

    def check_counts(self):
        """Declared = drawn: each query is released, and sampled where it samples, as often as the plan says."""
        source = self.run().mechanism
        assert dict(source.released) == {q.name: q.releases for q in self.plan.queries}
        sampled = {q.name: q.releases for q in self.plan.queries if q.records.sampled}
        assert dict(source.sampled) == sampled

    def check_only_randomness(self):
        """All randomness comes from the mechanism: a forced transcript forces the output, bit for bit."""
        first = self.run(Recorder)
        again = self.run(partial(Replay, first.mechanism.transcript))
        np.testing.assert_array_equal(again.output, first.output)

    def check_evaluations(self, replicates=32):
        """Planned = counted: exactly in the mean law, the drawn sizes of Poisson batches taken into account."""
        outcome = self.run(Recorder, replicates=replicates)
        counted = to_numpy(outcome.objective.evaluations)
        random = [q for q in self.plan.queries if isinstance(q.records, Poisson)]
        if not random:
            np.testing.assert_array_equal(counted, self.plan.gradient_evaluations)
            return
        batches = outcome.mechanism.transcript.batches
        drawn = np.stack([sum(to_numpy(b.sizes) for b in batches[q.name].values()) for q in random], axis=1)
        design = np.column_stack([np.ones(replicates), drawn])
        fit = np.linalg.lstsq(design, counted, rcond=None)[0]
        np.testing.assert_allclose(design @ fit, counted, rtol=1e-9)
        expected = np.array([q.releases * self.n * q.records.rate for q in random])
        np.testing.assert_allclose(fit[0] + expected @ fit[1:], self.plan.gradient_evaluations, rtol=1e-9)
        spread = np.array([q.releases * self.n * q.records.rate * (1 - q.records.rate) for q in random])
        deviation = 5 * np.sqrt((fit[1:] ** 2) @ spread / replicates)
        assert abs(counted.mean() - self.plan.gradient_evaluations) <= deviation + 1e-9

    def check_sensitivity(self):
        """No neighbour found changes a released value by more than declared; returns the largest ratio per query."""
        searched = [query for query in self.plan.queries if not isinstance(query, CoveringQuery)]
        worst = {query.name: 0.0 for query in searched}
        for recorded, on_neighbour in self.neighbouring_runs():
            for query in searched:  # covering noise hides a solver's error, not data: the minimiser is forced
                first, second = recorded.mechanism.transcript, on_neighbour.mechanism.transcript
                change = first.largest_change(second, query.name, query.norm)
                worst[query.name] = max(worst[query.name], float(change.max()) / query.sensitivity)
            np.testing.assert_array_equal(on_neighbour.output, recorded.output)
        assert max(worst.values()) <= 1 + 1e-9, worst
        return worst

    def neighbouring_runs(self, records=12):
        """Pairs of a run on D and its transcript forced on D'; large noise drives the iterates far apart."""
        domain = self.problem.domain_records(records, SEED)
        first_alone = (self.n // 2,) * (self.algorithm.id in LOOSE)  # of the records that enter after the first half
        for position in PLACES.get(self.algorithm.id, (0, *first_alone, self.n - 1)):
            for factor, first in ((1.0, 0), (1e4, 1), (1e6, 2)):
                data = replaced(self.data, position, domain, first)
                scales = {name: factor * scale for name, scale in self.scales.items()}
                recorded = self.run(Recorder, data=data, scales=scales, first=first, replicates=8)
                replay = partial(Replay, recorded.mechanism.transcript)
                for other in range(records):
                    neighbour = replaced(data, position, domain, other)
                    yield recorded, self.run(replay, data=neighbour, scales=scales, first=first, replicates=8)
        recorded = self.run(Recorder, replicates=8)
        replay = partial(Replay, recorded.mechanism.transcript)
        for position in range(self.n):
            yield (
                recorded,
                self.run(replay, data=replaced(self.data, position, domain, position % records), replicates=8),
            )


def replaced(data, position, records, which):
    """The neighbour of ``data`` with one record replaced."""
    features, labels = data.features.copy(), data.labels.copy()
    features[position], labels[position] = records.features[which], records.labels[which]
    return Data(data.n, features, labels)


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
    on_lp += [LpPseudoHuber(DIMENSION), *(HeavyRecords(*ball) for ball in LP_BALLS[1:3])]
    on_lp += [AxisRecords(*LP_BALLS[1]), Quadratic(DIMENSION)]
    wide = [get_problem("cube_fixed", 24).at(RECORDS, PRIVACY.epsilon, PRIVACY.delta)]
    return [*own, *on_lp, *map(tiny, names), *wide]


def compatible(algorithm, problem, variant, options):
    """Whether the problem has what the algorithm asks for, its norm and dimension included."""
    constants = algorithm.visible_constants(problem.constants, problem)
    if algorithm.id in LOOSE and constants.diameter > WIDEST:
        return False
    nearly_linear = isinstance(problem, SteepQuadratic) and not isinstance(problem, HeavyRecords)
    own_norm = {Trait.LP_BALL, Trait.POLYTOPE} & set(algorithm.needs) or algorithm.least_norm < 2
    if nearly_linear and not own_norm:
        return False  # nearly linear: differences of gradients are far below what they may be
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
SELECTIONS = {
    "case": CASES,
    "noisy_case": ADDITIVE,
    "drawn_case": DRAWN,
    "silent_case": SILENT,
    "law_case": one_problem_each(ADDITIVE),  # noise and batches know the plan alone, so one problem will do
    "charged_case": [c for c in one_problem_each(NOISY) if np.isfinite(c.calibrated.charge.epsilon)],
    "descending_case": [
        c
        for c in SILENT
        if c.algorithm.id not in BETTING and not (c.algorithm.id in STRIDING and c.problem.constants.diameter > WIDEST)
    ],
    "symmetric_case": [c for c in SILENT if c.algorithm.order_invariant and c.data.features is not None],
    "searchable_case": SEARCHABLE,
    "sharp_case": [
        c
        for c in SEARCHABLE
        if isinstance(c.problem, PseudoHuber | SteepQuadratic)
        and not {c.algorithm.id, f"{c.algorithm.id}-{c.variant}"} & {*LOOSE, *BLUNT}
    ],
}


def pytest_generate_tests(metafunc):
    for name, cases in SELECTIONS.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, cases, ids=lambda c: c.id)
    if "algorithm_id" in metafunc.fixturenames:
        metafunc.parametrize("algorithm_id", list_algorithms())
