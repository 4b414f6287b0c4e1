"""Queries of one's own class that add less noise than is charged are refuted by the check."""

import functools
from dataclasses import fields, replace

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import ALGORITHMS, get_algorithm
from dpsco_bench.audit.contract import Checks
from dpsco_bench.audit.search import FALSE_ALARM, noise_size
from dpsco_bench.audit.subject import subject_of
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.request import make_cell
from dpsco_bench.privacy.mechanism import NOISE_LAWS
from dpsco_bench.privacy.plan import GaussianQuery, NoisyMinimumQuery
from dpsco_bench.privacy.queries import DrawQuery, GeneralisedGaussianQuery, PerturbedObjectiveQuery
from dpsco_bench.privacy.tree import TreeQuery
from dpsco_bench.rng.streams import Stream, stream_key

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
    cell = make_cell(entry.id, problem, {"n": 24, "d": 3, **options})
    return Checks(subject_of(cell, calibrate_cell(cell, "accounted", 0), 0), None).check_released()


def always(value):
    return property(lambda self: value)


def spoiled(self, value, noise):
    """Half of the noise, which it halves where it stands."""
    noise *= 0.5
    return value + noise


MISTAKEN = {
    "no noise": (GaussianQuery, {"answer": lambda self, value, noise: value}),
    "noise halved in place": (GaussianQuery, {"answer": spoiled}),
    "half of the noise in a tree": (TreeQuery, {"answer": lambda self, value, noise: value + 0.5 * noise}),
    "half of the noise in l_r": (GeneralisedGaussianQuery, {"answer": lambda self, value, noise: value + 0.5 * noise}),
    "a law that is not normal": (GaussianQuery, {"law": always("laplace")}),
    "factors in a tree, which its cost ignores": (
        TreeQuery,
        {"factors": lambda self, first, steps: np.full(steps, 0.5)},
    ),
    "scores without noise": (
        NoisyMinimumQuery,
        {"answer": lambda self, value, noise: value.argmin(axis=-1), "norm_kappa": always(1.0)},
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
    assert checked(kind)[0]


def test_noise_that_halves_and_is_charged_so_passes():
    assert checked(GaussianQuery, factors=lambda self, first, steps: 0.5 ** np.arange(first, first + steps))[0]


@pytest.mark.parametrize("share", [0.01, 0.49, 0.5])
def test_a_contribution_below_half_of_the_sensitivity(share):
    """One record exchanged for another changes a batch by twice what each contributes, at most."""
    passed, detail = checked(GaussianQuery, contribution=property(lambda self: share * self.sensitivity))
    assert (passed is False and "less than half of the sensitivity" in detail) if share < 0.5 else passed, detail


def test_scores_of_which_not_all_noise_is_drawn_are_not_compared():
    cell = make_cell("bassily2021.poly_sfw", "l1_geometric", {"n": 24, "d": 300})
    passed, detail = Checks(subject_of(cell, calibrate_cell(cell, "accounted", 0), 0), None).check_released()
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
