"""Hit-and-run leaves its target alone, and reaches it."""

import numpy as np

from dpsco_bench.geometry.sets import SchattenBall
from dpsco_bench.papers.gopi2022.laws.axis import AxisLaw
from dpsco_bench.papers.gopi2022.laws.radial import RadialLaw
from dpsco_bench.papers.gopi2022.samplers.axis import sample_axis
from dpsco_bench.papers.gopi2022.samplers.chains import sample_hit_and_run

ROWS = 6000


def density(kap, c, p):
    def function(x, rows):
        length = np.linalg.norm(x, ord=p, axis=1)
        return np.where(length <= 1, kap * x[:, 0] - c * length**2, -np.inf)

    return function


def test_an_exact_sample_stays_exact(draws, score):
    start = sample_axis(draws(ROWS, "start"), 1.5, 4, np.full(ROWS, 5.0), 3.0)
    x = sample_hit_and_run(draws(ROWS), density(5.0, 3.0, 1.5), start, 1.0, 3)
    law = AxisLaw(1.5, 4, 5.0, 3.0)
    assert score(x[:, 0], law.mean()) < 4 and score((x[:, 0] - law.mean()) ** 2, law.variance()) < 4
    assert score(x[:, 2], 0.0) < 4 and not np.any(x == start)


def test_matrices_against_the_radial_law(draws, score):
    """``exp(-A ||X|| - B ||X||^2)`` in a Schatten norm of 3 x 2 matrices: the radius does not know the norm."""
    ball = SchattenBall(1.5, 2, 1.0)

    def log_density(x, rows):
        length = ball.norm(x)[:, 0]
        return np.where(length <= 1, -4.0 * length - 3.0 * length**2, -np.inf)

    x = sample_hit_and_run(draws(2000), log_density, np.zeros((2000, 6)), 1.0, 60)
    assert score(ball.norm(x)[:, 0], RadialLaw(6, 4.0, 3.0).mean()) < 4


def test_rows_do_not_depend_on_the_others(draws):
    whole = sample_hit_and_run(draws(20), density(4.0, 2.0, 2.0), np.zeros((20, 3)), 1.0, 6)
    part = sample_hit_and_run(draws(8, first=12), density(4.0, 2.0, 2.0), np.zeros((8, 3)), 1.0, 6)
    np.testing.assert_array_equal(part, whole[12:])
