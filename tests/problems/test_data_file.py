import json
import math

import numpy as np
import pytest

from dpsco_bench.errors import InputError
from dpsco_bench.execution.cell import Cell
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.registry import get_problem

ROWS, COLUMNS = 60, 3
OPTIONS = {"path": "t.csv", "label": "y"}


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A file with rows of norms from 0 to about 10, and what is in it."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    rows = np.round(rng.standard_normal((ROWS, COLUMNS)) * np.linspace(0, 5, ROWS)[:, None], 3)
    labels = rng.integers(0, 2, ROWS)
    write("t.csv", rows, labels)
    return rows, labels


def write(name, rows, labels):
    lines = [",".join(map(str, (*row, y))) for row, y in zip(rows, labels, strict=True)]
    with open(name, "w") as file:
        file.write("\n".join(["a,b,c,y", *lines]) + "\n")


def drawn(n=ROWS, **options):
    problem = get_problem("data_file", **{**OPTIONS, **options})
    return problem, problem.draw(n, None)


def norms(rows):
    return np.linalg.norm(rows, axis=1)


def test_without_options_nothing_is_changed(table):
    rows, labels = table
    problem, data = drawn()
    order = np.lexsort(data.features.T), np.lexsort(rows.T)
    np.testing.assert_array_equal(data.features[order[0]], rows[order[1]])
    assert sorted(data.labels) == sorted(np.where(labels == 1, 1.0, -1.0))
    assert problem.dimension == COLUMNS and problem.records == data.n == ROWS


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


def test_a_smaller_sample_is_contained_in_a_larger_one(table):
    _, whole = drawn()
    _, part = drawn(20)
    np.testing.assert_array_equal(part.features, whole.features[:20])
    np.testing.assert_array_equal(part.labels, whole.labels[:20])
    assert not np.array_equal(whole.features, table[0]), "the order is random"
    with pytest.raises(InputError, match="^n = 61: must be an integer from 1 to 60"):
        drawn(ROWS + 1)


@pytest.mark.parametrize("options", [{}, {"intercept": True}, {"loss": "least_squares", "label_clip": 0.5}])
def test_constants_follow_from_the_clipping_radius_and_hold_on_every_record(table, options):
    problem, data = drawn(clip=2.0, **options)
    constants = problem.constants
    x = np.random.default_rng(0).standard_normal((ROWS, problem.dimension))
    rows = Data(ROWS, data.features[:, None, :], data.labels[:, None])
    one = np.ones((ROWS, 1))
    away, start = problem.batch_gradient(x, rows, one), problem.batch_gradient(0 * x, rows, one)
    bounded = start if problem.loss_name == "least_squares" else np.concatenate([start, away])
    assert norms(bounded).max() <= constants.lipschitz * (1 + 1e-12)
    assert (norms(away - start) <= constants.smoothness * norms(x) * (1 + 1e-12)).all()
    assert problem.risk(problem.start[None], data)[0] <= constants.initial_gap * (1 + 1e-12)


def test_constants_are_global_only_without_a_look_at_the_data(table):
    known = drawn(clip=2.0, positive=1)[0]
    assert known.constants.status == "global" and known.warnings == ()
    coded = drawn(clip=2.0)[0]  # the label of one record may turn all others
    assert coded.constants.status == "nominal" and "labels coded from the data" in coded.warnings[0]
    for options in ({}, {"scale": "max_row_norm"}, {"scale": "max_row_norm", "clip": 0.5}):
        problem, _ = drawn(**options, positive=1)
        assert problem.constants.status == "nominal"
        assert len(problem.warnings) == 1
    squared = drawn(clip=2.0, loss="least_squares", label_clip=1.0)[0]
    assert squared.constants.status == "nominal" and len(squared.warnings) == 1


def test_without_clipping_the_constants_are_those_of_the_data(table):
    problem, data = drawn(3)
    assert problem.data_dependent_constants
    assert problem.constants_of(data).lipschitz == norms(data.features).max() < norms(table[0]).max()
    assert problem.constants_of(data).status == "nominal"
    longer, extended = drawn(3, intercept=True)
    expected = math.hypot(1, problem.constants_of(data).lipschitz)
    assert longer.constants_of(extended).lipschitz == pytest.approx(expected)


def test_labels_are_not_clipped_unasked_and_their_bound_is_then_that_of_the_data(table):
    write("prices.csv", table[0], np.linspace(-3, 250, ROWS))
    problem, data = drawn(path="prices.csv", loss="least_squares", clip=2.0)
    assert sorted(data.labels) == pytest.approx(list(np.linspace(-3, 250, ROWS)), rel=1e-6)
    assert problem.data_dependent_constants and "labels bounded by the largest one, computed" in problem.warnings[0]
    assert problem.constants_of(data).lipschitz == 2.0 * data.labels.max()
    assert problem.constants_of(data).initial_gap == 0.5 * data.labels.max() ** 2
    assert problem.risk(problem.start[None], data)[0] <= problem.constants_of(data).initial_gap
    clipped, fewer = drawn(path="prices.csv", loss="least_squares", clip=2.0, label_clip=10.0)
    assert not clipped.data_dependent_constants and fewer.labels.max() == 10.0
    assert clipped.constants.lipschitz == 20.0


def test_labels(table):
    rows, labels = table
    assert (drawn(positive=0)[1].labels == -drawn(positive="1")[1].labels).all()
    write("words.csv", rows, np.where(labels == 1, "yes", "no"))
    np.testing.assert_array_equal(drawn(path="words.csv", positive="yes")[1].labels, drawn()[1].labels)
    write("many.csv", rows, np.arange(ROWS) - 30)
    squared = drawn(path="many.csv", loss="least_squares", label_clip=7.0)[1].labels
    assert sorted(squared) == sorted(np.clip(np.arange(ROWS) - 30.0, -7, 7))


def test_least_squares_has_the_closed_form_minimum(table):
    problem, data = drawn(clip=1.0, loss="least_squares", regularisation=0.1)
    gram = data.features.T @ data.features / data.n + 0.1 * np.eye(COLUMNS)
    x = np.linalg.solve(gram, data.features.T @ data.labels / data.n)
    assert problem.optimal_risk(data) == pytest.approx(problem.risk(x[None], data)[0], rel=1e-12)


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
