"""Losses, domains and splits of one's own file: the constants are true, the minima are minima, most methods accept."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsco_bench.errors import InputError
from dpsco_bench.problems.data_file import DataFile
from dpsco_bench.problems.margin_losses import LOSSES, WITH_WIDTH
from dpsco_bench.problems.registry import get_problem

NUMBERS = ("squared", "huber")
SETTINGS = {
    "plain": {},
    "unregularised": {"regularisation": 0.0},
    "ball": {"domain": "l2_ball"},
    "ridge in the ball": {"domain": "l2_ball", "regularisation": 0.1},
    "l1": {"domain": "l1_ball"},
    "l1.5": {"domain": "lp_ball", "p": 1.5},
    "polyhedral": {"domain": "lp_ball", "p": 1.0},
    "cube": {"domain": "lp_ball", "p": math.inf},
    "simplex": {"domain": "simplex"},
    "dual rows": {"p": 1.5, "regularisation": 0.0},
}
domains = st.sampled_from([{}, {"domain": "l2_ball"}, {"domain": "l1_ball"}, {"domain": "simplex"}])
exponents = st.sampled_from([1.0, 1.2, 1.5, 2.0, 3.0, math.inf])
sizes = st.floats(0.05, 20.0)


@st.composite
def problems(draw):
    """A problem of any setting, without a file."""
    loss = draw(st.sampled_from(sorted(LOSSES)))
    options = {"loss": loss, "clip": draw(sizes), "intercept": draw(st.booleans())}
    on_lp, in_lp = exponents.map(lambda p: {"domain": "lp_ball", "p": p}), exponents.map(lambda p: {"p": p})
    options |= draw(st.one_of(domains, on_lp, in_lp))
    if options.get("domain"):
        options["radius"] = draw(sizes)
    options["regularisation"] = draw(st.floats(0.01, 2.0) if loss == "linear" else st.sampled_from([0.0, 0.3]))
    if loss in WITH_WIDTH:
        options["width"] = draw(sizes)
    if loss in (*NUMBERS, "least_squares"):
        options["label_clip"] = draw(sizes)
    return DataFile(draw(st.integers(2, 6)), **options)


def points(problem, count, rng):
    """Points of the domain, its far ends among them; of the whole space far and near ones."""
    z = rng.standard_normal((count, problem.dimension)) * 10.0 ** rng.uniform(-2, 2, (count, 1))
    domain = problem.feasible_set
    return z if domain is None else np.concatenate([domain.project(z), domain.minimise_linear(z)])


@settings(max_examples=150, deadline=None)
@given(problem=problems(), seed=st.integers(0, 2**31))
def test_no_record_and_no_point_break_the_constants(problem, seed):
    rng = np.random.default_rng(seed)
    x, c = points(problem, 40, rng), problem.constants
    records = [problem.domain_records(40, seed), problem.records_at(x)]
    q = problem.row_exponent
    for data in (found for found in records if found is not None):
        assert problem.row_norms(data.features).max() <= problem.with_intercept(problem.clip) * (1 + 1e-9)
        labels = data.labels if problem.classes else data.labels * rng.random(data.n)
        margins = x @ data.features.T
        slopes = problem.slope(margins, labels)
        lengths = np.abs(slopes) * problem.row_norms(data.features)
        free = problem.loss_name in ("squared", "least_squares") and problem.domain == "none"
        assert (c.status == "nominal") == free
        if not free:
            assert lengths.max() <= c.lipschitz * (1 + 1e-9)
        other = points(problem, 40, rng)[: len(x)]
        change = np.abs(problem.slope(other @ data.features.T, labels) - slopes) * problem.row_norms(data.features)
        apart = np.linalg.norm(other - x, ord=problem.p or 2.0, axis=1)
        assert (change <= c.smoothness * apart[:, None] * (1 + 1e-9) + 1e-9 * c.lipschitz).all()
        ridge = 0.5 * problem.ridge * float(problem.start @ problem.start)
        start = problem.loss(problem.start @ data.features.T, labels) + ridge
        lowest = problem.loss(margins, labels).min() if not problem.margin.smooth and problem.domain != "none" else 0.0
        assert start.max() - lowest <= c.initial_gap * (1 + 1e-9)
    if problem.domain != "none":
        assert np.linalg.norm(x - problem.start, axis=1).max() <= c.initial_distance * (1 + 1e-9)
        assert np.linalg.norm(x, ord=problem.p or 2.0, axis=1).max() <= 0.5 * c.diameter * (1 + 1e-9)
    assert math.isclose(1.0 / q + 1.0 / (problem.p or 2.0), 1.0)


@pytest.fixture
def people(tmp_path, monkeypatch):
    """A file of 80 records with three features and a label that they explain in part."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    rows = np.round(rng.standard_normal((80, 3)) + 0.3, 4)
    y = (rows @ [1.0, -1.0, 0.5] + rng.standard_normal(80) > 0).astype(int)
    lines = ["a,b,c,y", *(",".join(map(str, (*r, v))) for r, v in zip(rows, y, strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    return {"path": "t.csv", "label": "y", "clip": 2.0}


def made(options, loss="logistic", **more):
    own = {"label_clip": 1.0} if loss in NUMBERS else {}
    return get_problem("data_file", **{**options, **own, "loss": loss, **more})


@pytest.mark.parametrize("where", ["plain", "ball", "ridge in the ball", "l1", "l1.5", "cube", "simplex"])
@pytest.mark.parametrize("loss", ["logistic", "squared", "huber", "smoothed_hinge", "linear"])
def test_the_minimum_is_the_minimum(people, loss, where):
    width = {"width": 0.3} if loss in WITH_WIDTH else {}
    problem = made(people, loss, **SETTINGS[where], **width)
    data = problem.draw(80, None)
    x = problem.minimiser(data)
    best = problem.optimal_risk(data)
    assert best == problem.risk(x[None], data)[0]
    gradient = (problem.mean_gradient(x[None], data) + problem.ridge * x)[0]
    domain = problem.feasible_set
    if domain is None:
        assert np.linalg.norm(gradient) <= 1e-6
        return
    np.testing.assert_allclose(domain.project(x[None])[0], x, atol=1e-12)
    rng = np.random.default_rng(0)
    others = np.concatenate(
        [domain.project(x + 0.1 * rng.standard_normal((200, 3))), domain.minimise_linear(rng.standard_normal((50, 3)))]
    )
    assert (problem.risk(others, data) >= best - 1e-9).all()
    assert float(gradient @ x + domain.support(-gradient[None])[0, 0]) <= 1e-6


@pytest.mark.parametrize("loss", ["huber", "smoothed_hinge"])
def test_flat_losses_without_a_ridge_are_minimised_on_the_whole_space(people, loss):
    """Newton's method would stop where all curvatures are 0."""
    problem = made(people, loss, regularisation=0.0, width=0.2)
    data = problem.draw(80, None)
    found = scipy.optimize.minimize(
        lambda x: float(problem.risk(x[None], data)[0]),
        np.zeros(3),
        jac=lambda x: problem.mean_gradient(x[None], data)[0],
    )
    assert problem.optimal_risk(data) <= found.fun + 1e-9
    assert problem.optimal_risk(data) < problem.risk(np.zeros((1, 3)), data)[0] - 1e-3


def test_held_out_records_are_used_for_nothing_else(people):
    problem = made(people, split=0.25)
    whole = made(people)
    assert (problem.records, whole.records) == (60, 80)
    used, held = problem.draw(60, None), problem.held_out(60)
    both = np.concatenate([used.features, held.features])
    np.testing.assert_array_equal(both, whole.draw(80, None).features)
    assert whole.held_out(80) is None and whole.beside(np.zeros((1, 3)), used) == {}
    with pytest.raises(InputError, match="^n = 61: must be an integer from 1 to 60"):
        problem.check_records(61)
