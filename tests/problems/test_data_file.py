"""One's own file: what options do to it, its constants and minima, what is held out, and its public twin."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.cell import Cell
from dpsco_bench.leaderboard.choose import make_point, twin_of
from dpsco_bench.problems.data_file import DataFile
from dpsco_bench.problems.glm import LOSSES, WITH_WIDTH
from dpsco_bench.problems.registry import get_problem

ROWS, COLUMNS = 60, 3
OPTIONS = {"path": "t.csv", "label": "y"}
NUMBERS = ("squared", "huber")


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A file with rows of norms from 0 to about 10 that explain their labels in part, and what is in it."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    rows = np.round(rng.standard_normal((ROWS, COLUMNS)) * np.linspace(0, 5, ROWS)[:, None], 3)
    labels = (rows @ [1.0, -1.0, 0.5] + rng.standard_normal(ROWS) > 0).astype(int)
    write("t.csv", rows, labels)
    return rows, labels


def write(name, rows, labels):
    lines = [",".join(map(str, (*row, y))) for row, y in zip(rows, labels, strict=True)]
    with open(name, "w") as file:
        file.write("\n".join(["a,b,c,y", *lines]) + "\n")


def drawn(n=ROWS, **options):
    own = {"label_clip": 1.0} if options.get("loss") in NUMBERS else {}
    problem = get_problem("data_file", **{**OPTIONS, **own, **options})
    return problem, problem.draw(n, None)


def norms(rows):
    return np.linalg.norm(rows, axis=1)


def test_records_are_those_of_the_file_in_random_order(table):
    """Without options nothing is changed; a smaller sample is contained in a larger one."""
    rows, labels = table
    problem, data = drawn()
    expected = np.column_stack([rows, np.where(labels == 1, 1.0, -1.0)])
    both = [found[np.lexsort(found.T)] for found in (np.column_stack([data.features, data.labels]), expected)]
    np.testing.assert_array_equal(*both)
    assert problem.dimension == COLUMNS and problem.records == data.n == ROWS
    _, part = drawn(20)
    np.testing.assert_array_equal(part.features, data.features[:20])
    np.testing.assert_array_equal(part.labels, data.labels[:20])
    assert not np.array_equal(data.features, rows), "the order is random"
    with pytest.raises(InputError, match="^n = 61: must be an integer from 1 to 60"):
        drawn(ROWS + 1)


@pytest.mark.parametrize("clip", [0.1, 1.0, 3.0, 100.0])
def test_clipping_bounds_norms_and_keeps_directions_and_short_rows(table, clip):
    _, plain = drawn()
    _, data = drawn(clip=clip)
    before, after = norms(plain.features), norms(data.features)
    assert (after <= clip * (1 + 1e-15 * COLUMNS)).all() and (after <= before * (1 + 1e-15)).all()
    short = before <= clip
    np.testing.assert_array_equal(data.features[short], plain.features[short])
    np.testing.assert_allclose(after[~short], clip, rtol=1e-14)
    np.testing.assert_allclose(data.features * before[:, None], plain.features * after[:, None], rtol=1e-12, atol=1e-12)
    _, twice = drawn(clip=clip)
    np.testing.assert_array_equal(twice.features, data.features)


def test_the_intercept_is_one_after_clipping(table):
    problem, data = drawn(clip=2.0, intercept=True)
    assert problem.dimension == COLUMNS + 1 and (data.features[:, -1] == 1).all()
    np.testing.assert_array_equal(data.features[:, :-1], drawn(clip=2.0)[1].features)
    assert problem.constants.lipschitz == pytest.approx(math.sqrt(5))


def test_constants_are_global_only_without_a_look_at_the_data(table):
    """Without clipping they are those of the data."""
    known = drawn(clip=2.0, positive=1)[0]
    assert known.constants.status == "global" and known.warnings == ()
    coded = drawn(clip=2.0)[0]  # the label of one record may turn all others
    assert coded.constants.status == "nominal" and "labels coded from the data" in coded.warnings[0]
    scaled = {"scale": "max_row_norm", "positive": 1}
    squared = {"clip": 2.0, "loss": "least_squares", "label_clip": 1.0}
    for options in ({"positive": 1}, scaled, scaled | {"clip": 0.5}, squared):
        problem, _ = drawn(**options)
        assert problem.constants.status == "nominal" and len(problem.warnings) == 1
    problem, data = drawn(3)
    assert problem.data_dependent_constants
    assert problem.constants_of(data).lipschitz == norms(data.features).max() < norms(table[0]).max()
    assert problem.constants_of(data).status == "nominal"
    longer, extended = drawn(3, intercept=True)
    expected = math.hypot(1, problem.constants_of(data).lipschitz)
    assert longer.constants_of(extended).lipschitz == pytest.approx(expected)


def test_labels(table):
    """They are not clipped unasked, and their bound is then that of the data."""
    rows, labels = table
    assert (drawn(positive=0)[1].labels == -drawn(positive="1")[1].labels).all()
    write("words.csv", rows, np.where(labels == 1, "yes", "no"))
    np.testing.assert_array_equal(drawn(path="words.csv", positive="yes")[1].labels, drawn()[1].labels)
    write("many.csv", rows, np.arange(ROWS) - 30)
    squared = drawn(path="many.csv", loss="least_squares", label_clip=7.0)[1].labels
    assert sorted(squared) == sorted(np.clip(np.arange(ROWS) - 30.0, -7, 7))
    write("prices.csv", rows, np.linspace(-3, 250, ROWS))
    prices = {"path": "prices.csv", "loss": "least_squares", "clip": 2.0}
    problem, data = drawn(**prices)
    assert sorted(data.labels) == pytest.approx(list(np.linspace(-3, 250, ROWS)), rel=1e-6)
    assert problem.data_dependent_constants and "labels bounded by the largest one, computed" in problem.warnings[0]
    assert problem.constants_of(data).lipschitz == 2.0 * data.labels.max()
    assert problem.constants_of(data).initial_gap == 0.5 * data.labels.max() ** 2
    assert problem.risk(problem.start[None], data)[0] <= problem.constants_of(data).initial_gap
    clipped, fewer = drawn(**prices, label_clip=10.0)
    assert not clipped.data_dependent_constants and fewer.labels.max() == 10.0
    assert clipped.constants.lipschitz == 20.0


SQUARED, WORDS = {"loss": "least_squares"}, {"path": "words.csv"}
REFUSED = [
    (SQUARED | {"positive": 1}, "^positive = 1: must be left out for a loss of numbers"),
    (SQUARED | {"one_against_rest": True}, "^one_against_rest = True: must be left out"),
    (SQUARED | WORDS, "^label y of words.csv = 'a in record 1': must be a number in every record"),
    ({"path": "one.csv"}, "^label y of one.csv = '1.0': must be a column with at least two values"),
    ({"path": "many.csv"}, "has 60 different numbers, -30, -29, -28, ...: give loss=least_squares"),
    (WORDS, "^positive is missing.*values a, b, c; column y has a third, c, in record 3"),
    (WORDS | {"one_against_rest": True}, "^positive is missing.*with one_against_rest"),
    (WORDS | {"positive": "b"}, "^label y of words.csv = 'c in record 3': must be b or one other value; of 3"),
    (WORDS | {"positive": "d"}, "^positive = 'd': must be one of the label's values a, b, c"),
    ({"positive": 7}, "^positive = 7: must be one of the label's values 0.0, 1.0"),
    ({"label_clip": 1.0}, "^label_clip = 1.0: must be left out for loss logistic"),
    ({"p": 1.5, "domain": "l2_ball"}, "^p = .*: must be given for domain lp_ball"),
    ({"domain": "lp_ball"}, "^p = .*: must be given for domain lp_ball"),
    ({"radius": 2.0, "domain": "none"}, "^radius = 2.0: must be left out without a domain"),
    ({"loss": "linear", "regularisation": 0.0}, "^regularisation = 0: must be > 0 for loss linear"),
    ({"width": 0.5}, "^width = 0.5: must be left out for losses other than"),
    *(({"split": share}, f"^split = {share}: must be a share of the 60 records") for share in (0.001, 0.999)),
]


@pytest.mark.parametrize(("options", "match"), REFUSED)
def test_labels_and_options_that_do_not_fit_are_told(table, options, match):
    for name, labels in (("words", ["a", "b", "c"] * 20), ("one", np.ones(ROWS, int)), ("many", np.arange(ROWS) - 30)):
        write(f"{name}.csv", table[0], labels)
    with pytest.raises(DpscoError, match=match):
        get_problem("data_file", **{**OPTIONS, **options})


def test_what_only_the_data_could_bound(table):
    write("zeros.csv", np.zeros((ROWS, 3)), table[1])
    problem, data = drawn(path="zeros.csv")
    with pytest.raises(InputError, match="^features of zeros.csv = 'all 0'"):
        problem.constants_of(data)
    for options, key in (({}, "clip"), ({"clip": 1.0, **SQUARED}, "label_clip")):
        with pytest.raises(InputError, match=f"^{key} is missing: must be given for a twin"):
            getattr(get_problem("data_file", **{**OPTIONS, **options}), "twin_options")  # noqa: B009


def keys(**options):
    cell = Cell("wang2017.dp_gd_pl", "data_file", 20, 1.0, 1e-5, problem_options={**OPTIONS, **options})
    return cell.data_key(), cell.run_key(0)


def test_keys_depend_on_the_content_and_not_on_the_place(table, tmp_path):
    rows, labels = table
    first = keys()
    assert "t.csv" not in "".join(first) and len(json.loads(first[0])["options"]["sha256"]) == 64
    (tmp_path / "elsewhere").mkdir()
    write("elsewhere/u.csv", rows, labels)
    assert keys(path="elsewhere/u.csv", root="any") == first
    assert keys(sha256=json.loads(first[0])["options"]["sha256"]) == first
    assert keys(clip=1.0) != first
    write("t.csv", rows, 1 - labels)
    assert keys() != first


SETTINGS = {
    "plain": {},
    "ball": {"domain": "l2_ball"},
    "ridge in the ball": {"domain": "l2_ball", "regularisation": 0.1},
    "l1": {"domain": "l1_ball"},
    "l1.5": {"domain": "lp_ball", "p": 1.5},
    "cube": {"domain": "lp_ball", "p": math.inf},
    "simplex": {"domain": "simplex"},
}
domains = st.sampled_from([{}, {"domain": "l2_ball"}, {"domain": "l1_ball"}, {"domain": "simplex"}])
exponents = st.sampled_from([{"p": p} for p in (1.0, 1.2, 1.5, 2.0, 3.0, math.inf)])
sizes = st.floats(0.05, 20.0)


@st.composite
def problems(draw):
    """A problem of any setting, without a file."""
    loss = draw(st.sampled_from(sorted(LOSSES)))
    options = {"loss": loss, "clip": draw(sizes), "intercept": draw(st.booleans())}
    options |= draw(st.one_of(domains, exponents.map(lambda p: {"domain": "lp_ball"} | p), exponents))
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


@pytest.mark.parametrize("where", SETTINGS)
@pytest.mark.parametrize("loss", ["logistic", "squared", "huber", "smoothed_hinge", "linear"])
def test_the_minimum_is_the_minimum(table, loss, where):
    problem, data = drawn(loss=loss, clip=2.0, **SETTINGS[where], **({"width": 0.3} if loss in WITH_WIDTH else {}))
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
    near, ends = x + 0.1 * rng.standard_normal((200, 3)), rng.standard_normal((50, 3))
    for others in (domain.project(near), domain.minimise_linear(ends)):
        assert (problem.risk(others, data) >= best - 1e-9).all()
    assert float(gradient @ x + domain.support(-gradient[None])[0, 0]) <= 1e-6


@pytest.mark.parametrize("loss", ["huber", "smoothed_hinge"])
def test_flat_losses_without_a_ridge_are_minimised_on_the_whole_space(table, loss):
    """Newton's method would stop where all curvatures are 0."""
    problem, data = drawn(loss=loss, clip=2.0, regularisation=0.0, width=0.2)
    given = (lambda x: float(problem.risk(x[None], data)[0])), np.zeros(3)
    found = scipy.optimize.minimize(*given, jac=lambda x: problem.mean_gradient(x[None], data)[0])
    assert problem.optimal_risk(data) <= found.fun + 1e-9
    assert problem.optimal_risk(data) < problem.risk(np.zeros((1, 3)), data)[0] - 1e-3


def test_held_out_records_are_used_for_nothing_else(table):
    (problem, used), (whole, data) = drawn(45, split=0.25), drawn()
    assert (problem.records, whole.records) == (45, 60)
    both = np.concatenate([used.features, problem.held_out(45).features])
    np.testing.assert_array_equal(both, data.features)
    assert whole.held_out(60) is None and whole.beside(np.zeros((1, 3)), used) == {}
    with pytest.raises(InputError, match="^n = 46: must be an integer from 1 to 45"):
        problem.check_records(46)


TWINS = [
    {"clip": 2.0},
    {"clip": 2.0, "domain": "l1_ball", "radius": 3.0, "intercept": True},
    {"clip": 0.5, "domain": "lp_ball", "p": 1.5, "loss": "smoothed_hinge", "width": 0.5},
    {"clip": 1.0, "domain": "simplex", "loss": "linear"},
    {"clip": 1.5, "domain": "l2_ball", "loss": "squared", "label_clip": 2.0, "regularisation": 0.1},
    {"clip": 1.0, "loss": "huber", "label_clip": 3.0},
]


@pytest.mark.parametrize("options", TWINS)
def test_constants_are_those_of_the_file_and_records_keep_within_them(options):
    point = twin_of(make_point({"problem": "data_file", "n": 300, "d": 4, **options}))
    own, twin = get_problem("data_file", 4, **options), get_problem(point.problem, 4, **point.options)
    assert twin.constants == own.constants and twin.traits == own.traits and (point.n, point.d) == (300, 4)
    assert twin.constants.status == own.constants.status
    data = Cell("", point.problem, 300, 1.0, 1e-6, 4, problem_options=point.options).draw_data(7, 0)
    rows = data.features[:, : 4 - twin.intercept]
    assert data.features.shape == (300, 4) and twin.row_norms(rows) == pytest.approx(np.full(300, options["clip"]))
    if twin.classes:
        assert set(data.labels) == {-1.0, 1.0}
    else:
        assert np.abs(data.labels).max() <= options["label_clip"]
    best = twin.minimiser(data)
    assert twin.risk(best[None], data)[0] < twin.risk(twin.start[None], data)[0], "there is something to learn"


def test_the_minimum_is_that_with_the_ridge_in_force(table):
    """A ridge that is declared as a constant counts as one that is an option."""
    (own, data), (declared, _) = (
        drawn(domain="l1_ball", **given) for given in ({"regularisation": 0.5}, {"constants": {"regularisation": 0.5}})
    )
    assert declared.optimal_risk(data) == own.optimal_risk(data)
