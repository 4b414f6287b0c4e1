import numpy as np
import pytest


def test_numbers_do_not_depend_on_how_replicates_are_split(draws):
    whole = draws(6).uniform("a", 3, 5)
    parts = np.concatenate([draws(2).uniform("a", 3, 5), draws(4, first=2).uniform("a", 3, 5)])
    np.testing.assert_array_equal(parts, whole)
    integers = np.concatenate([draws(2).integers("i", 0, 3, 9), draws(4, first=2).integers("i", 0, 3, 9)])
    np.testing.assert_array_equal(integers, draws(6).integers("i", 0, 3, 9))


def test_fewer_coordinates_are_the_first_ones(draws):
    np.testing.assert_array_equal(draws(4).uniform("a", 0, 40)[:, :7], draws(4).uniform("a", 0, 7))
    np.testing.assert_array_equal(draws(4).integers("a", 0, 40, 17)[:, :7], draws(4).integers("a", 0, 7, 17))


def test_names_and_steps_are_independent_streams(draws):
    rows = [draws(3).uniform(name, step, 2) for name in ("a", "b") for step in (0, 1)]
    assert len(np.unique(np.concatenate(rows).round(12), axis=0)) == 12


def test_copies_repeat_the_replicates(draws):
    np.testing.assert_array_equal(draws(3, copies=2).uniform("a", 0, 2), np.tile(draws(3).uniform("a", 0, 2), (2, 1)))
    assert draws(3, copies=2).rows == 6


@pytest.mark.parametrize("rows", [[0, 1, 2, 3], [2, 0, 2], [0, 40], [5 + 41, 5]])
def test_numbers_of_several_steps_are_those_of_each(draws, rows):
    made = draws(41, first=7, copies=2)
    found = made.uniform_steps("a", 3, 2, 4, np.array(rows))
    np.testing.assert_array_equal(found, np.stack([made.uniform("a", step, 4)[rows] for step in (3, 4)]))
