"""The checks of one's own algorithm and queries: honest ones pass, and each kind of dishonesty is named."""

import functools
import json
from dataclasses import fields, replace
from functools import partial
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import ALGORITHMS, get_algorithm
from dpsco_bench.audit import contract
from dpsco_bench.audit.contract import LENGTH, Checks, Ends, _curved, check_algorithm, drawn_constants
from dpsco_bench.audit.search import FALSE_ALARM, noise_size
from dpsco_bench.audit.subject import points_of
from dpsco_bench.cli.main import main
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.privacy.mechanism import NOISE_LAWS
from dpsco_bench.privacy.plan import GaussianQuery, NoisyMinimumQuery
from dpsco_bench.privacy.queries import DrawQuery, GeneralisedGaussianQuery, PerturbedObjectiveQuery
from dpsco_bench.privacy.records import Disjoint, Full
from dpsco_bench.privacy.tree import TreeQuery
from dpsco_bench.problems.registry import PROBLEMS, problem_class
from dpsco_bench.rng.streams import Stream, stream_key

from .pairs import subject

HONEST = get_algorithm("wang2017.dp_gd_pl")
OUTPUT, COUNTS, EVALUATIONS, RANDOMNESS, REPLICATES, ORDER, SENSITIVITY, RELEASED, POST, CLASS = range(10)
CONSTANTS, LONG, ATTAINED, LAST = range(10, 14)


def failed(findings):
    return {number for number, finding in enumerate(findings) if finding.passed is False}


@pytest.fixture
def mutant():
    def check(run=HONEST.run_function, plan=HONEST.plan_function, problem="ridge_logistic", **options):
        entry = replace(HONEST, id="mine.mutant", run_function=run, plan_function=plan)
        ALGORITHMS.add("mine.mutant", entry, __name__)
        return check_algorithm(entry, problem, d=3, steps=4, **options)

    return check


RIDGE = ("wang2017.output_perturbation_zhang17", "ridge_logistic", {})
GAUGE = ("su2023.app_objp_sc", "logistic_glm", {"domain": "l2_ball"})


@pytest.mark.parametrize(
    ("name", "value", "case", "said"),
    [
        ("lipschitz", 0.5, RIDGE, ""),
        ("smoothness", 0.1, RIDGE, ""),
        ("gradient_range", 0.5, RIDGE, ""),
        ("loss_range", 0.5, RIDGE, ""),
        ("strong_convexity", 3.0, RIDGE, ""),
        ("gauge_convexity", 50.0, GAUGE, "and between two points it is"),
    ],
)
def test_constants_that_drawn_records_exceed_are_named(name, value, case, said):
    """Whatever the search for neighbours finds: it may put in records of the shipped kind."""
    algorithm, problem, options = case
    own = type("Own", (problem_class(problem),), {"name": "mine_understated"})
    own.own_constants = property(lambda self: replace(super(own, self).own_constants, **{name: value}))
    PROBLEMS.add("mine_understated", own, __name__)
    finding = check_algorithm(algorithm, "mine_understated", d=3, **options)[CONSTANTS]
    assert finding.passed is False and finding.detail.startswith(f"{name} = {value:g}, {said}")


def test_the_least_growth_between_two_points_is_that_of_the_objective():
    known = subject()
    ((name, declared, least),) = _curved(known)
    objective, points = known.objective(replicates=1), points_of(known)
    gradients = [objective.mean_gradient(x[None]) + objective.regulariser_gradient(x[None]) for x in points]
    pairs = combinations(zip(points, np.concatenate(gradients), strict=True), 2)
    own = min(float((g - h) @ (x - y) / ((x - y) @ (x - y))) for (x, g), (y, h) in pairs)
    assert name == "strong_convexity" and least == pytest.approx(own, rel=1e-9)
    assert declared <= least and drawn_constants(known)[0]


def after(change):
    def run(objective, plan, mechanism):
        return change(HONEST.run_function(objective, plan, mechanism), objective, mechanism)

    return run


def replanned(**changes):
    def plan(given, *, steps: int | None = None):
        made = HONEST.plan_function(given, steps=steps)
        (query,) = made.queries
        new = {key: value(getattr(query, key)) for key, value in changes.items()}
        return replace(made, queries=(replace(query, **new),))

    return plan


RNG = np.random.default_rng(0)


def look(position, x, objective, mechanism):
    return x + 1e-3 * objective.data.labels[position] * objective.data.features[position, :]


SPOILT = [
    (lambda x, objective, _: x - 0.1 * objective.problem.mean_gradient(x, objective.data), {POST, LAST}),
    *((partial(look, position), {POST}) for position in (0, 1, 7, 12, 23)),
    (lambda x, objective, _: x + 0 * objective.mean_gradient(x), {EVALUATIONS}),
    (lambda x, objective, _: x + RNG.standard_normal(x.shape), {RANDOMNESS}),
    (lambda x, objective, _: x - x.mean(axis=0), {REPLICATES}),
    (lambda x, objective, _: x + objective.data.features[0], {ORDER, POST}),
]


@pytest.mark.parametrize(("change", "named"), SPOILT)
def test_what_is_done_after_an_honest_run(mutant, change, named):
    assert named <= failed(mutant(after(change)))


def test_an_understated_sensitivity_and_fewer_or_more_releases_than_declared(mutant):
    assert SENSITIVITY in failed(mutant(plan=replanned(sensitivity=lambda s: 0.5 * s), problem="canary_huber"))
    assert failed(mutant(plan=replanned(releases=lambda r: r + 1))) == {COUNTS, LAST}
    fewer = mutant(plan=replanned(releases=lambda r: r - 1))
    assert failed(fewer) == {OUTPUT} and "release of gradient = 3: must be in 0..2" in fewer[OUTPUT].detail


def descent(objective, plan, mechanism, averaged=False, momentum=0.0, stale=False):
    """Plain steps, unless a ``stale`` last one has the gradient of the start, and contracts nothing."""
    x = before = objective.start
    total = 0.0 * x
    for t in range(plan.steps):
        at = objective.start if stale and t + 1 == plan.steps else x
        gradient = mechanism.release("gradient", objective.mean_gradient(at), t) + objective.regulariser_gradient(at)
        x, before = x - plan.step * gradient + momentum * (x - before), x
        total = total + x
    return total / plan.steps if averaged else x


def test_an_output_that_is_no_last_iterate_of_plain_steps(mutant):
    """All are private as their sequences say, and not as a last iterate of such steps is."""
    assert failed(mutant(run=descent)) == set()
    for change in ({"averaged": True}, {"momentum": 0.5}, {"stale": True}):
        assert failed(mutant(run=partial(descent, **change))) == {LAST}


@pytest.mark.parametrize("problem", ["diag_quadratic", "rank8_least_squares"])
def test_what_cannot_be_tried_is_said(problem):
    findings = check_algorithm("wang2017.dp_gd_pl", problem, steps=3)
    assert findings[SENSITIVITY].passed is findings[POST].passed is None
    assert "equal" in findings[POST].detail or "nominal" in findings[POST].detail


def test_wrong_input_and_the_verb(capsys):
    with pytest.raises(InputError, match="^calibration = 'none'"):
        check_algorithm("wang2017.dp_gd_pl", calibration="none")
    with pytest.raises(Refusal, match="strongly convex"):
        check_algorithm("wang2017.dp_svrg", "rank8_least_squares")
    assert main(["check", "wang2017.dp_gd_pl", "steps=3", "d=3"]) == 0
    assert sum(line.startswith("ok ") for line in capsys.readouterr().out.splitlines()) == 13
    assert main(["check", "wang2017.dp_gd_pl", "steps=3", "problem=diag_quadratic", "--json"]) == 0
    assert [f["passed"] for f in json.loads(capsys.readouterr().out)].count(None) == 6


METHODS = {
    GaussianQuery: ("wang2017.dp_gd_pl", "ridge_logistic", {"steps": 4}),
    GeneralisedGaussianQuery: ("bassily2021.gg_mechanism", "coord_pseudo_huber", {}),
    NoisyMinimumQuery: ("wang2017.frank_wolfe_ttz15", "l1_linear", {"steps": 4}),
    PerturbedObjectiveQuery: ("su2023.app_objp", "logistic_glm", {}),
    TreeQuery: ("zhang2022.dp_otb", "logistic_glm", {}),
    DrawQuery: ("gopi2022.gibbs", "linear_ball", {"sweeps": 3}),
}
"""A method, a problem and options for each kind of query."""


def checked(kind, **members):
    id, problem, options = METHODS[kind]
    honest = get_algorithm(id)

    @functools.wraps(honest.plan_function)
    def plan(*args, **keys):
        made = honest.plan_function(*args, **keys)
        return replace(made, queries=tuple(map(own, made.queries)), last_iterate=None)

    def own(query):
        if not isinstance(query, kind):
            return query
        cls = type("Own", (type(query),), members)
        return cls(**{field.name: getattr(query, field.name) for field in fields(query)})

    entry = replace(honest, id="mine.own_query", plan_function=plan)
    ALGORITHMS.add(entry.id, entry, __name__)
    return Checks(subject(entry.id, problem, **options), None).check_released()


MISTAKEN = {
    "no noise": (GaussianQuery, {"answer": lambda self, value, noise: value}),
    "noise halved in place": (
        GaussianQuery,
        {"answer": lambda self, value, noise: value + np.multiply(noise, 0.5, out=noise)},
    ),
    "half of the noise in a tree": (TreeQuery, {"answer": lambda self, value, noise: value + 0.5 * noise}),
    "half of the noise in l_r": (GeneralisedGaussianQuery, {"answer": lambda self, value, noise: value + 0.5 * noise}),
    "a law that is not normal": (GaussianQuery, {"law": property(lambda self: "laplace")}),
    "factors that the cost of a tree ignores": (TreeQuery, {"factors": lambda self, *steps: np.full(steps[1], 0.5)}),
    "scores without noise": (
        NoisyMinimumQuery,
        {"answer": lambda self, value, noise: value.argmin(axis=-1), "norm_kappa": property(lambda self: 1.0)},
    ),
    "an exact minimiser": (PerturbedObjectiveQuery, {"answer": lambda self, value, noise: value.solve(None)}),
    "a minimum in place of a draw": (DrawQuery, {"answer": lambda self, value, noise: value.minimiser(1.0)}),
}


@pytest.mark.parametrize("name", MISTAKEN)
def test_a_mistaken_query(name):
    kind, members = MISTAKEN[name]
    passed, detail = checked(kind, **members)
    assert passed is False, detail


@pytest.mark.parametrize("kind", [k for k in METHODS if k is not NoisyMinimumQuery], ids=lambda kind: kind.__name__)
def test_an_honest_class_of_ones_own_passes(kind):
    halved = {"factors": lambda self, first, steps: 0.5 ** np.arange(first, first + steps)}  # and is charged so
    assert checked(kind)[0] and (kind is not GaussianQuery or checked(kind, **halved)[0])


@pytest.mark.parametrize("share", [0.01, 0.49, 0.5])
def test_a_contribution_below_half_of_the_sensitivity(share):
    """One record exchanged for another changes a batch by twice what each contributes, at most."""
    passed, detail = checked(GaussianQuery, contribution=property(lambda self: share * self.sensitivity))
    assert (passed is False and "less than half of the sensitivity" in detail) if share < 0.5 else passed, detail


def test_scores_of_which_not_all_noise_is_drawn_are_not_compared():
    passed, detail = Checks(subject("bassily2021.poly_sfw", "l1_geometric", d=300), None).check_released()
    assert passed is None and "without all of its noise drawn" in detail, detail


LAWS = [("normal", ()), ("laplace", ()), *(("gamma_norm", own) for own in ((), (1.0,), (3.0,), (np.inf,)))]
LAWS += [("generalised_gaussian", (r,)) for r in (2.0, 3.5)]
LAWS += [("generalised_gaussian_mean", (r, 5)) for r in (2.0, 3.5)]


@pytest.mark.parametrize(("law", "parameters"), LAWS)
def test_the_size_of_noise(law, parameters):
    """Honest noise is not called small, and half of it is, whatever the law; the ratio is that of the scales."""
    stream = Stream(stream_key(3, law, "noise"), np)
    z = np.asarray(NOISE_LAWS[law](stream, 0, 20, 0, 100, 4, *parameters), dtype=np.float64)
    (honest, chance), (half, small) = noise_size(law, parameters, z), noise_size(law, parameters, 0.5 * z)
    assert honest == pytest.approx(1.0, abs=0.05) and half == pytest.approx(0.5 * honest)
    assert chance > 1e-3 and small < FALSE_ALARM


def test_the_chance_of_honest_noise_is_uniform():
    stream = Stream(stream_key(3, "many", "noise"), np)
    drawn = np.asarray(stream.normal(0, 500, 0, 4, 3), dtype=np.float64)
    chances = np.sort([noise_size("normal", (), z[None])[1] for z in drawn])
    assert np.abs(chances - (np.arange(500) + 0.5) / 500).max() < 0.09  # Kolmogorov-Smirnov at 0.001


def unread(objective, plan, mechanism):
    raise ValueError("a slip")


def once(objective, plan, mechanism):
    """One release less than declared of its own accord, and then one too many."""
    return mechanism.release("gradient", objective.mean_gradient(objective.start), plan.steps)


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (unread, "its run failed with ValueError: a slip (test_contract.py, line"),
        (once, "release of gradient = 4: must be in 0..3"),
        (after(lambda x, objective, _: x[:, :2]), "its run returned an array of shape (8, 2)"),
        (after(lambda x, objective, _: np.full_like(x, np.nan)), "shape (8, 3)"),
    ],
    ids=["exception", "release", "shape", "nan"],
)
def test_one_cause_is_told_once(mutant, run, said):
    findings = mutant(run=run)
    assert failed(findings) == {OUTPUT} and said in findings[OUTPUT].detail and len(findings) == 14
    assert findings[CLASS].passed and findings[CONSTANTS].passed
    assert {one.passed for one in findings} == {True, False, None}
    assert "as said above" in findings[RANDOMNESS].detail


LONG_RUNS = [  # the long run, the shorter one, and what is said
    (Ends(2.0, 1.0, False), None, True),  # the minimum is not known
    (Ends(2.0, 2.0, False), None, False),
    (Ends(2.0, 1.0, False, 2.0, 0.5), None, True),
    (Ends(1.0, 2.0, True, 1.0, 2.0), None, False),
    (Ends(2.0, 1.0, False, 2.0, 0.51), Ends(2.0, 1.0, False, 2.0, 0.51), None),
    (Ends(2.0, 1.0, False, 2.0, 0.9), Ends(2.0, 1.0, False, 2.0, 0.81), False),
    (Ends(2.0, 1.0, False, 2.0, 0.9), Ends(2.0, 1.0, False, 2.0, 0.82), None),  # it does not grow by a tenth
    (Ends(2.0, 1.0, False, 2.0, 0.9), Ends(2.0, 1.0, False, 1.8, 0.6), None),  # which begins elsewhere
    (Ends(2.0, 1.0, False, 2.0, 0.9), Ends(2.0, 1.0, False, 2.3, 0.6), None),
    (Ends(2.0, 1.0, False, 2.0, 0.9, 0.039), Ends(2.0, 1.0, False, 2.0, 0.6), False),  # six errors of .04 are .24
    (Ends(2.0, 1.0, False, 2.0, 0.9, 0.041), Ends(2.0, 1.0, False, 2.0, 0.6), None),
    (Ends(2.0, 1.0, False, 2.0, 0.9), Ends(2.0, 1.0, False, 2.0, 0.6, 0.036), False),
    (Ends(2.0, 1.0, False, 2.0, 0.9), Ends(2.0, 1.0, False, 2.0, 0.6, 0.037), None),
    (Ends(2.0, 1.0, False, 2.0, 0.9), InputError("steps", 0, "more"), None),
]


@pytest.mark.parametrize("steep", [0.1, 0.001])
@pytest.mark.parametrize(("long", "short", "passed"), LONG_RUNS)
def test_what_a_long_run_says(monkeypatch, long, short, passed, steep):
    objective = SimpleNamespace(start=None, exact_gradient=lambda x: np.full((4, 1), steep))
    objective.constants = SimpleNamespace(norm=2.0, lipschitz=1.0)
    subject = SimpleNamespace(data=SimpleNamespace(n=64), objective=lambda replicates: objective)
    shown, tried = iter((long, short)), []

    def plan_at(n, steps):
        tried.append((n, steps))
        if isinstance(short, InputError):
            raise short

    monkeypatch.setattr(contract, "longest", lambda plan_at, length: (subject, 40))
    monkeypatch.setattr(contract, "ends", lambda subject: next(shown))
    found, detail = contract.long_run(plan_at, LENGTH)
    near = steep < 0.01 and not long.rises
    assert found is (None if near else passed), detail
    assert tried == ([(16, 10)] if short and not near else []) and ("next to a minimiser" in detail) == near


SOUND = {"lipschitz": 1.0, "status": "global", "kind": "exact", "unsearched": "", "block": 10, "asked": True}
ATTAINED_BY = [  # contributions at two points, the change of a release, and what differs from a sound case
    *(((0.5, 0.5), 1.0, {}, True), ((0.5 + 4e-7, 0.5 - 4e-7), 1.0, {}, True), ((0.5, 0.5), 1.0, {"block": 5}, True)),
    *(((0.5, 0.5), ratio, {}, abs(ratio - 1) < 1e-6) for ratio in (0.9, 1.1, 1 - 9e-7, 1 + 9e-7, 1 - 2e-6, 1 + 2e-6)),
    *(((0.5, other), 1.0, {}, False) for other in (0.4, 0.6, 0.5 - 4e-6, 0.5 + 4e-6)),
    *(((0.5, 0.5), 1.0, {"lipschitz": own}, own > 0.5) for own in (0.499, 0.501)),
    *(((0.5, 0.5), 1.0, {"lipschitz": 0.4, "status": "nominal"}, True), ((0.5, 0.5), 0.9, {"unsearched": "no"}, True)),
    *(((0.5, 0.5), 1.0, {"kind": "upper"}, None), ((0.5, 0.5), 1.0, {"asked": False}, None)),
    ((), 1.0, {}, False),
]


@pytest.mark.parametrize(("sizes", "ratio", "other", "passed"), ATTAINED_BY)
def test_an_exact_epsilon_takes_two_admissible_records_that_change_a_release_by_what_is_declared(
    monkeypatch, sizes, ratio, other, passed
):
    given = SOUND | other
    records = Disjoint(given["block"]) if "block" in other else Full()
    query = SimpleNamespace(name="q", records=records, norm=2.0, sensitivity=1.0 / given["block"])
    constants = SimpleNamespace(norm=2.0, lipschitz=given["lipschitz"], status=given["status"])
    subject = SimpleNamespace(charge=SimpleNamespace(epsilon=1.0, kind=given["kind"]), data=SimpleNamespace(n=10))
    subject.plan, subject.no_neighbours = SimpleNamespace(queries=(query,)), given["unsearched"]
    subject.problem = SimpleNamespace(name="p", constants=constants)
    gradients = np.array([[[size, 0.0] for size in sizes], [[-0.5, 0.0] for _ in sizes]])
    patch = {"rests_on_sensitivities": given["asked"], "attaining_pair": ("", "", 0.0) if sizes else None}
    for name, value in (patch | {"_gradients": gradients, "_least_ratio": ratio}).items():
        monkeypatch.setattr(contract, name, lambda *arguments, value=value: value)
    assert contract.attained_epsilon(subject)[0] is passed


@pytest.mark.parametrize(
    ("blocks", "least"), [((False, False), 0.5), ((True, False), 0.8), ((False, True), 0.5), ((True, True), 1.0)]
)
def test_the_least_change_of_a_release_and_of_disjoint_blocks_the_largest(monkeypatch, blocks, least):
    changes = {"a": np.array([[[0.5]], [[0.9]]]), "b": np.array([[[0.8]], [[1.0]]])}
    records = [Disjoint(2) if block else Full() for block in blocks]
    queries = [GaussianQuery(name, 1.0, 2, own) for name, own in zip("ab", records, strict=True)]

    def run(kind, data):
        return SimpleNamespace(mechanism=SimpleNamespace(transcript=SimpleNamespace(value=lambda q: data * changes[q])))

    monkeypatch.setattr(contract, "replaced", lambda data, position, pair, which: which)
    subject = SimpleNamespace(plan=SimpleNamespace(queries=queries), data=None, run=run)
    assert contract._least_ratio(subject, None) == pytest.approx(least)


def test_ends_of_a_long_run_have_the_standard_error_of_four_replicates():
    start, finals = np.full((4, 1), 8.0), np.array([[1.0], [2.0], [3.0], [6.0]])
    objective = SimpleNamespace(start=start, data=None, excess_risk=lambda x: x[:, 0])
    objective.constants = SimpleNamespace(norm=2.0, lipschitz=1.0)
    subject = SimpleNamespace(problem=SimpleNamespace(risk=lambda x, data: 1.0 + x[:, 0]))
    subject.objective, subject.run = lambda replicates: objective, lambda replicates: SimpleNamespace(output=finals)
    error = np.sqrt(14.0 / 3.0) / 2.0 / 8.0
    assert vars(contract.ends(subject)) == pytest.approx(vars(Ends(9.0, 4.0, False, 8.0, 3.0 / 8.0, error)))


@pytest.mark.parametrize(("size", "gap", "agree"), [(0.1, 0.9e-9, True), (0.1, 1.1e-9, False), (1e3, 0.9e-6, True)])
def test_outputs_agree_up_to_a_share_of_their_size_or_of_one(size, gap, agree):
    assert contract._agreement(np.array([size + gap, 0.0]), np.array([size, 0.0]), 1e-9)[0] == agree
