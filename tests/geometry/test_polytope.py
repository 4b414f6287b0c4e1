import array_api_strict as strict
import numpy as np
import pytest

from dpsco_bench.errors import InputError
from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.geometry.polytope import CrossPolytope, Polytope, Simplex


def explicit(cross):
    return Polytope(cross.vertex(np.arange(cross.count)))


@pytest.mark.parametrize(("d", "radius"), [(1, 1.0), (4, 0.5), (7, 3.0)])
def test_the_implicit_vertices_are_those_of_the_l1_ball_in_order(d, radius):
    cross = CrossPolytope(d, radius)
    vertices = explicit(cross).vertices
    assert cross.count == len(vertices) == 2 * d
    np.testing.assert_array_equal(vertices[0::2], radius * np.eye(d))
    np.testing.assert_array_equal(vertices[1::2], -radius * np.eye(d))
    e = np.random.default_rng(0).standard_normal((5, d))
    np.testing.assert_array_equal(cross.scores(e), explicit(cross).scores(e))


def test_the_least_score_is_the_linear_minimum_with_its_ties():
    cross, ball = CrossPolytope(4, 2.0), feasible_set("l1_ball", 2.0)
    e = np.array([[0.1, -3.0, 3.0, 0.0], [2.0, 2.0, -2.0, 2.0], [0.5, 0.0, 0.0, -0.7]])
    chosen = cross.vertex(cross.scores(e).argmin(axis=-1))
    np.testing.assert_array_equal(chosen, ball.minimise_linear(e))
    assert cross.scores(np.zeros((1, 4))).argmin() == 0  # +e_1 before -e_1


POLYTOPES = [Polytope(np.random.default_rng(1).standard_normal((7, 12))), CrossPolytope(12, 2)]


@pytest.mark.parametrize("polytope", POLYTOPES, ids=["listed", "cross"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_are_those_of_each_replicate_alone_and_of_a_strict_namespace(polytope, dtype):
    rng = np.random.default_rng(0)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # float32 holds not all of these
        e = (rng.standard_normal((9, 12)) * 10.0 ** rng.integers(-300, 280, (9, 1))).astype(dtype)
        e[3], e[4] = 0.0, np.sign(e[4])
        found = polytope.scores(e)
        np.testing.assert_array_equal(found, np.concatenate([polytope.scores(e[i : i + 1]) for i in range(9)]))
        np.testing.assert_array_equal(np.asarray(polytope.scores(strict.asarray(e))), found)
    assert found.dtype == dtype
    ordinary = rng.standard_normal((5, 12)).astype(np.float32)
    np.testing.assert_allclose(polytope.scores(ordinary), polytope.scores(ordinary.astype(np.float64)), atol=3e-5)


@pytest.mark.parametrize("d", [2, 3, 7])
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0, 1e12])
def test_projections_on_the_simplex_obey_the_variational_inequality(d, scale):
    """``<x - P(x), v - P(x)> <= 0`` for every vertex v, for points on either side of the set."""
    simplex = Simplex(d, 1.7)
    x = scale * np.random.default_rng(d).standard_normal((200, d))
    found = simplex.project(x)
    assert found.min() >= 0 and found.sum(axis=1) == pytest.approx(1.7, rel=1e-14)
    away = np.einsum("ri,rvi->rv", x - found, 1.7 * np.eye(d) - found[:, None])
    assert away.max() <= 1e-12 * scale * d
    np.testing.assert_allclose(simplex.project(found), found, atol=1e-15)
    np.testing.assert_allclose(simplex.project(x + 3.0), found, atol=1e-12 * max(1.0, scale))


def test_the_simplex_by_its_vertices():
    simplex, g = Simplex(3, 2.0), np.array([[0.5, -1.0, -1.0], [0.0, 0.0, 3.0]])
    explicit = Polytope(2.0 * np.eye(3))
    np.testing.assert_array_equal(simplex.scores(g), explicit.scores(g))
    np.testing.assert_array_equal(simplex.vertex(np.array([2, 0])), explicit.vertex(np.array([2, 0])))
    np.testing.assert_array_equal(simplex.minimise_linear(g), [[0.0, 2.0, 0.0], [2.0, 0.0, 0.0]])
    assert simplex.support(g).ravel().tolist() == [1.0, 6.0] and simplex.centre.tolist() == [2 / 3] * 3
    with pytest.raises(InputError):
        Simplex(1, 1.0)
