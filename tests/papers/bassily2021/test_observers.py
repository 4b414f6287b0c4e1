import numpy as np
import pytest

from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import run_block


def observed(algorithm, problem, n, observer, scale=0.0, replicates=3, **options):
    cell = Cell(algorithm, problem, n=n, epsilon=1.0, delta=1e-6, d=4, problem_options=options)
    _, made = cell.plan("paper", 0)
    scales = {query.name: scale for query in made.queries}
    data = cell.draw_data(0, 0)
    trace = run_block(cell, made, scales, data, root_seed=3, replicates=replicates, rounds=observer)
    return trace, made


@pytest.mark.parametrize(("algorithm", "problem"), [("poly_sfw", "needle_l1"), ("noisy_sfw", "cube_iid")])
def test_errors_of_the_estimates_are_of_the_order_of_the_sampling_error(algorithm, problem):
    trace, made = observed(f"bassily2021.{algorithm}", problem, 4096, "bassily2021.estimates", replicates=400)
    entry = 4**0 if algorithm == "poly_sfw" else 4 ** (-1 / 3)  # absolute value of a record's entries
    first, last = trace.extras["first_error"], trace.extras["last_error"]
    assert 1.0 < first.mean() / (entry * np.sqrt(2 / 4096)) < 2.0  # a mean of n/2 records, in l_q of four entries
    if algorithm == "noisy_sfw":  # linear losses: the increments vanish
        np.testing.assert_array_equal(first, last)
    else:
        assert 1.0 < last.mean() / np.sqrt(made.step / (2 - made.step)) < 2.0


def test_distances_are_those_of_the_outputs():
    trace, _ = observed("bassily2021.gg_lmo", "cube_fixed", 1000, "bassily2021.distance", 0.1, 50, signal=5.0)
    best = 4 ** (-1 / 1.5)
    np.testing.assert_allclose(trace.extras["distance"], np.linalg.norm(trace.output - best, ord=1.5, axis=1))
    np.testing.assert_allclose(trace.extras["alpha"], trace.risk[:, -1], atol=1e-12)
    assert (trace.extras["distance"] <= np.sqrt(8 * trace.extras["alpha"] / (0.5 * trace.extras["mean_norm"]))).all()
