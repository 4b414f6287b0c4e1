"""Queries of one's own class that add less noise than is charged, or misstate its cost, are refuted by the check."""

from __future__ import annotations

import functools
from dataclasses import fields, replace

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import ALGORITHMS, get_algorithm
from dpsco_bench.audit import released
from dpsco_bench.audit.contract import Checks, check_algorithm
from dpsco_bench.audit.released import (
    DENSITIES,
    FALSE_ALARM,
    KINDS,
    QueryCheck,
    charged_as,
    least_kappa,
    misstated,
    noise_size,
)
from dpsco_bench.audit.subject import subject_of
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.request import make_cell
from dpsco_bench.geometry.smooth_norm import SmoothNorm
from dpsco_bench.privacy.laws import NOISE_LAWS
from dpsco_bench.privacy.plan import GaussianQuery, NoisyMinimumQuery, Query
from dpsco_bench.privacy.queries import CoveringQuery, DrawQuery, GeneralisedGaussianQuery, PerturbedObjectiveQuery
from dpsco_bench.privacy.records import Poisson
from dpsco_bench.privacy.tree import TreeQuery
from dpsco_bench.rng.keys import stream_key
from dpsco_bench.rng.streams import Stream

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
    """The finding about a method whose queries of a kind are of a class of one's own with other members."""
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
    cell = make_cell(entry.id, problem, {"n": 24, "d": 3, **options})
    return Checks(subject_of(cell, calibrate_cell(cell, "accounted", 0), 0), None).check_released()


def always(value):
    """A property of one value."""
    return property(lambda self: value)


def seldom(self, value, noise):
    """The exact value in one row of fifty."""
    rows = np.arange(len(value))[:, None]
    return np.where(rows % 50 == 49, value, value + noise)


def spoiled(self, value, noise):
    """Half of the noise, which it halves where it stands."""
    noise *= 0.5
    return value + noise


def moved(self, value, noise):
    """No noise, on a value that was changed where it stands."""
    value += noise
    return value


class Once:
    """Noise of the first release in all of them."""

    def __init__(self):
        self.noise = None

    def __call__(self, value, noise):
        self.noise = noise.copy() if self.noise is None else self.noise
        return value + self.noise


def once():
    drawn = Once()
    return lambda self, value, noise: drawn(value, noise)


def by_length(self, first, steps):
    """Ones where an accountant asks for all releases, a half where a few are drawn."""
    return np.ones(steps) if steps == self.releases else np.full(steps, 0.5)


SUMS = {
    "no noise": {"answer": lambda self, value, noise: value},
    "half of the noise": {"answer": lambda self, value, noise: value + 0.5 * noise},
    "seldom no noise": {"answer": seldom},
    "noise halved in place": {"answer": spoiled},
    "the same noise again": {"answer": once()},
    "a part that it hides": {"exposed": lambda self, value, answer: 0.0 * value},
    "another norm": {"norm": always(np.inf)},
    "a smaller kappa": {"norm_kappa": always(0.25)},
    "factors that depend on the question": {"factors": by_length},
}


SEVERAL = ("the same noise again", "factors that depend on the question")
PAIRS = [
    (kind, name)
    for kind in (GaussianQuery, GeneralisedGaussianQuery, TreeQuery)
    for name in SUMS
    if not (kind is GeneralisedGaussianQuery and name in SEVERAL)  # it releases once
    and not (kind is TreeQuery and name == "a smaller kappa")  # its cost is not its kappa
]


@pytest.mark.parametrize(("kind", "name"), PAIRS, ids=lambda own: getattr(own, "__name__", own))
def test_a_dishonest_sum(kind, name):
    found = checked(kind, **SUMS[name])
    assert found.passed is False, found.detail


DISHONEST = {
    "a law that is not normal": (GaussianQuery, {"law": always("laplace")}),
    "an unknown law of one norm": (GaussianQuery, {"law": always("gamma_norm"), "norm": always(1.0)}),
    "called normal": (
        GeneralisedGaussianQuery,
        {"is_normal": always(True), "law": always("generalised_gaussian"), "law_parameters": always((4.0,))},
    ),
    "another law in a tree": (TreeQuery, {"law": always("laplace")}),
    "smaller noise in a tree": (TreeQuery, {"factors": lambda self, first, steps: np.full(steps, 0.5)}),
    "scores without noise": (
        NoisyMinimumQuery,
        {"answer": lambda self, value, noise: value.argmin(axis=-1), "norm_kappa": always(1.0)},
    ),
    "scores charged as a sum": (NoisyMinimumQuery, {"norm_kappa": always(1.0)}),
    "an exact minimiser": (PerturbedObjectiveQuery, {"answer": lambda self, value, noise: value.solve(None)}),
    "a minimiser with half": (PerturbedObjectiveQuery, {"answer": lambda self, value, noise: value.solve(0.5 * noise)}),
    "gradients that it hides": (PerturbedObjectiveQuery, {"exposed": lambda self, value, answer: 0.0 * answer}),
    "not called a minimiser": (PerturbedObjectiveQuery, {"exact_minimiser": always(False)}),
    "a minimum in place of a draw": (DrawQuery, {"answer": lambda self, value, noise: value.minimiser(1.0)}),
    "slopes that it hides": (DrawQuery, {"exposed": lambda self, value, answer: 0.0 * answer}),
}


@pytest.mark.parametrize("name", DISHONEST)
def test_a_dishonest_query(name):
    kind, members = DISHONEST[name]
    found = checked(kind, **members)
    assert found.passed is False, found.detail


@pytest.mark.parametrize("kind", [k for k in METHODS if k is not NoisyMinimumQuery], ids=lambda kind: kind.__name__)
def test_an_honest_class_of_ones_own_passes(kind):
    assert checked(kind).passed


HONEST = {
    "noise that halves, and is charged so": {
        "factors": lambda self, first, steps: 0.5 ** np.arange(first, first + steps)
    },
    "a larger kappa": {"norm_kappa": always(2.0), "is_normal": always(False)},
    "a value that it changes": {"answer": moved},
    "Laplace noise in l1": {
        "law": always("laplace"),
        "norm": always(1.0),
        "norm_kappa": always(0.5 * np.pi),
        "is_normal": always(False),
    },
}


@pytest.mark.parametrize("name", HONEST)
def test_what_is_charged_for_passes(name):
    assert checked(GaussianQuery, **HONEST[name]).passed


def test_the_whole_check_fails(register):
    class Silent(GaussianQuery):
        def answer(self, value, noise):
            return value

    def run(objective, plan, mechanism):
        return mechanism.release("gradient", objective.mean_gradient(objective.start))

    def silent(given):
        made = honest.plan_function(given)
        (query,) = made.queries
        return replace(made, queries=(Silent(query.name, query.sensitivity, 1, paper_scale=query.paper_scale),))

    honest = get_algorithm(register("audit_test.silent", run))
    ALGORITHMS.add("mine.silent", replace(honest, id="mine.silent", plan_function=silent), __name__)
    failed = {one.check: one.detail for one in check_algorithm("mine.silent", d=3) if one.passed is False}
    said = failed["a released value is the exposed one with the noise that was charged"]
    assert said == "gradient: release 0 is not what a GaussianQuery answers with the noise drawn"


def test_each_law_is_known_and_costs_what_its_kind_says():
    assert DENSITIES.keys() == NOISE_LAWS.keys()
    for smooth in (SmoothNorm(1.5, 40, "q"), SmoothNorm(1.0, 40), SmoothNorm(1.5, 3), SmoothNorm(2.0, 5)):
        for draws in (1, 4):
            query = GeneralisedGaussianQuery("g", 1.0, 1, smooth=smooth, draws=draws)
            least = least_kappa(query.law, query.law_parameters, query.norm, smooth.d)
            assert least == pytest.approx(query.norm_kappa, rel=1e-12)
    assert least_kappa("normal", (), 2.0, 7) == 1.0 and least_kappa("mine", (), 2.0, 7) == np.inf
    assert (
        least_kappa("generalised_gaussian", (1.0,), 1.0, 7)
        == least_kappa("generalised_gaussian", (1.5,), 1.5, 7)
        == np.inf
    )


@pytest.mark.parametrize("law", ["normal", "laplace"])
def test_a_contribution_below_half_of_the_sensitivity(law):
    class Own(GaussianQuery):
        contribution = always(0.01)

    query = Own("sum", 1.0, 5, Poisson(0.1))
    assert "contribution is 0.01" in misstated(query, charged_as(query), 3)
    query = type("Nearly", (GaussianQuery,), {"contribution": always(0.49)})("sum", 1.0, 5, Poisson(0.1))
    assert "contribution is 0.49" in misstated(query, charged_as(query), 3)
    assert not misstated(GaussianQuery("sum", 1.0, 5, Poisson(0.1)), query, 3)


def test_scores_of_which_not_all_noise_is_drawn_are_not_compared():
    """The factors are, which are asked for by themselves."""
    cell = make_cell("bassily2021.poly_sfw", "l1_geometric", {"n": 24, "d": 300})
    subject = subject_of(cell, calibrate_cell(cell, "accounted", 0), 0)
    found = Checks(subject, None).check_released()
    assert found.passed is None and "without all of its noise drawn" in found.detail, found

    class Own(type(subject.plan.queries[0])):
        def factors(self, first, steps):
            return 0.5 * super().factors(first, steps)

    weak = tuple(Own(**vars(query)) for query in subject.plan.queries)
    found = Checks(replace(subject, plan=replace(subject.plan, queries=weak)), None).check_released()
    assert found.passed is False and "times the scale" in found.detail, found


def test_a_plan_passes_only_when_each_of_its_queries_was_compared(monkeypatch):
    cell = make_cell("wang2017.dp_gd_pl", "ridge_logistic", {"n": 24, "steps": 2})
    checks = Checks(subject_of(cell, calibrate_cell(cell, "accounted", 0), 0), None)
    compared, not_compared = QueryCheck(said="1 of the charged noise"), QueryCheck()
    for found, passed in (
        ({"a": compared}, True),
        ({"a": compared, "b": not_compared}, None),
        ({"a": compared, "b": QueryCheck("too small"), "c": not_compared}, False),
        ({}, None),
    ):
        monkeypatch.setattr(released, "compare", lambda *_, found=found: found)
        assert checks.check_released().passed is passed
    assert "nothing is released" in checks.check_released().detail


def test_a_query_is_charged_as_the_nearest_kind():
    class Own(CoveringQuery):
        pass

    assert type(charged_as(Own("cover", 1.0, 1))) is CoveringQuery and Query in KINDS and Own not in KINDS


LAWS = [(law, own) for law, several in {
    "normal": [()],
    "laplace": [()],
    "gamma_norm": [(), (1.0,), (3.0,), (np.inf,)],
    "generalised_gaussian": [(2.0,), (3.5,)],
    "generalised_gaussian_mean": [(2.0, 5), (3.5, 5)],
}.items() for own in several]  # fmt: skip


@pytest.mark.parametrize(("law", "parameters"), LAWS)
def test_the_size_of_noise(law, parameters):
    """Honest noise is not called small, and half of it is, whatever the law; the ratio is that of the scales."""
    stream = Stream(stream_key(3, law, "noise"), np)
    z = np.asarray(NOISE_LAWS[law](stream, 0, 20, 0, 100, 4, *parameters), dtype=np.float64)
    honest, half = noise_size(law, parameters, z), noise_size(law, parameters, 0.5 * z)
    assert honest.ratio == pytest.approx(1.0, abs=0.05) and half.ratio == pytest.approx(0.5 * honest.ratio)
    assert honest.chance > 1e-3 and half.chance < FALSE_ALARM


def test_the_chance_of_honest_noise_is_uniform():
    stream = Stream(stream_key(3, "many", "noise"), np)
    drawn = np.asarray(stream.normal(0, 500, 0, 4, 3), dtype=np.float64)
    chances = np.sort([noise_size("normal", (), z[None]).chance for z in drawn])
    assert np.abs(chances - (np.arange(500) + 0.5) / 500).max() < 0.09  # Kolmogorov-Smirnov at 0.001
