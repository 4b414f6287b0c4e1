"""Records that compiled steps look up are those that the problem writes out."""

import numpy as np
import pytest

from dpsco_bench.fused import compiled
from dpsco_bench.fused.tiles import write_signs
from dpsco_bench.problems.data import Kinds, Levels, Signs, kinds_of
from dpsco_bench.problems.registry import get_problem

from ..runs import drawn

N, REPLICATES, SIGNALS = 60, 3, np.array([2.0, 0.1, 0.7])
CASES = {
    ("cube_iid", 11): Levels,
    ("needle_l1", 8): Levels,
    ("onehot", 5): Kinds,
    ("cube_vertices", 6): Kinds,
    ("coord_pseudo_huber", 4): Kinds,
    ("linear_ball spread", 11): Signs,
    ("onehot", 200): type(None),
    ("cube_fixed", 5): type(None),
}


def sampled(name, d):
    name, _, spread = name.partition(" ")
    problem = get_problem(name, d, **({"spread": 0.25} if spread else {})).at(N, 1.0, 1e-6).with_signals(SIGNALS)
    return problem, drawn(problem, N, REPLICATES)


@pytest.mark.parametrize(("name", "d"), CASES)
def test_kinds_are_the_records(name, d):
    problem, data = sampled(name, d)
    found, rows = kinds_of(problem, data, True), len(SIGNALS) * REPLICATES
    assert isinstance(found, CASES[name, d])
    expected = problem.form_records(data, np.broadcast_to(np.arange(N), (rows, N)))
    if isinstance(found, Levels):
        above = found.levels[None] > found.ranks[:, None, None, None]
        np.testing.assert_array_equal(np.where(above, found.scale, -found.scale).reshape(rows, N, d), expected.features)
    elif isinstance(found, Signs):
        signs = found.scale * np.tile(found.signs, (len(SIGNALS), 1, 1))
        np.testing.assert_array_equal(found.means[:, None] + signs, expected.features)
    elif found is not None:
        kinds = np.broadcast_to(found.kinds, (rows, N))
        np.testing.assert_array_equal(found.features[kinds], expected.features)
        if expected.labels is not None:
            np.testing.assert_array_equal(found.labels[found.kinds], expected.labels)


def test_a_class_that_changes_its_records_has_no_kinds():
    problem, data = sampled("onehot", 5)
    other = object.__new__(type("Changed", (type(problem),), {"gather": lambda self, data, indices: None}))
    vars(other).update(vars(problem))
    assert kinds_of(problem, data, True) is not None
    assert kinds_of(other, data, True) is None


@pytest.mark.skipif(not compiled.available(), reason="Numba is missing or switched off")
def test_a_loop_writes_the_two_values_that_the_arrays_say():
    indices = np.random.default_rng(0).integers(0, N, (7, REPLICATES, 2))
    known, rows = kinds_of(*sampled("cube_iid", 11), True), np.tile(np.arange(REPLICATES), len(SIGNALS))
    written = np.empty((len(rows), 7, 2, 11))
    write_signs(written, known.levels, known.ranks, known.scale, indices)
    above = known.levels[rows, indices[:, rows].transpose(0, 2, 1)] > known.ranks[np.repeat([0, 1, 2], 3)][:, None]
    np.testing.assert_array_equal(written, np.where(above, known.scale, -known.scale).transpose(2, 0, 1, 3))
