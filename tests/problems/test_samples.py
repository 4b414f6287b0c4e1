"""Samples that every replicate draws anew, and signals side by side: all interfaces of all problems agree."""

import numpy as np
import pytest

from dpsco_bench.problems.registry import get_problem, list_problems, problem_class

from ..runs import drawn

N, EPSILON, SIGNALS = 24, 30.0, np.array([0.1, 0.25, 0.4])


def known(name, signal):
    option = problem_class(name).signal_option
    return get_problem(name, **({option: signal} if option else {})).at(N, EPSILON, 1e-6)


KNOWN = {name: known(name, 0.1) for name in list_problems() if not problem_class(name).needs_data_root}
SAMPLED = [name for name, problem in KNOWN.items() if problem.draws_per_replicate]
SIGNALLED = [name for name, problem in KNOWN.items() if problem.signal_option and problem.with_signals(SIGNALS)]
ORDER = np.array([[3, 0, 17, 3]])


def sample(problem, first=0, replicates=4):
    return drawn(problem, N, replicates, first) if problem.draws_per_replicate else problem.draw(N, None)


def points(problem, rows=4):
    x = np.random.default_rng(0).standard_normal((rows, problem.dimension))
    return 0.7 * x / np.abs(x).sum(axis=1, keepdims=True)


def batch(problem, x, data):
    return problem.batch_gradient(x, problem.gather(data, np.tile(ORDER, (len(x), 1))), np.full((len(x), 4), 0.25))


@pytest.mark.parametrize("name", SAMPLED)
def test_means_ranges_records_and_batches_agree_however_replicates_are_split(name):
    problem = KNOWN[name]
    data, x = sample(problem), points(problem)
    records = problem.record_gradients(x, data, 0, N)
    one = np.stack([problem.range_gradient(x, data, i, 1) for i in range(N)], axis=1)
    np.testing.assert_allclose(one, records, atol=1e-12)
    np.testing.assert_allclose(problem.mean_gradient(x, data), records.mean(axis=1), atol=1e-12)
    np.testing.assert_allclose(problem.range_gradient(x, data, 5, 7), records[:, 5:12].mean(axis=1), atol=1e-12)
    now, before = problem.range_gradient_pair(x, -x, data, 9, 1)
    np.testing.assert_allclose(now - before, problem.range_gradient_difference(x, -x, data, 9, 1), atol=1e-12)
    np.testing.assert_allclose(batch(problem, x, data), records[:, ORDER[0]].mean(axis=1), atol=1e-12)
    for level in (0.5 * np.abs(records).max(), 2.0 * np.abs(records).max()):
        clipped = np.clip(records, -level, level).mean(axis=1)
        np.testing.assert_allclose(problem.clipped_mean_gradient(x, data, level), clipped, atol=1e-12)
    later = problem.record_gradients(x[2:], sample(problem, 2, 2), 0, N)
    np.testing.assert_array_equal(later, records[2:])
    same = np.array_equal(records[0] - records[0].mean(axis=0), records[1] - records[1].mean(axis=0))
    assert same == (name == "cube_fixed"), "replicates have records of their own, but for a fixed pattern"


@pytest.mark.parametrize("name", SIGNALLED)
def test_signals_side_by_side_are_the_signals_one_by_one(name):
    problem = KNOWN[name]
    single = [known(name, float(s)) for s in SIGNALS]
    both, x = problem.with_signals(SIGNALS), points(problem, 12).reshape(3, 4, -1)
    makers = [
        lambda p, x, data: p.mean_gradient(x, data),
        lambda p, x, data: p.risk(x, data) if p.excess_risk(x, data) is None else p.excess_risk(x, data),
    ]
    if problem.draws_per_replicate:
        makers += [
            lambda p, x, data: p.range_gradient(x, data, 5, 1),
            lambda p, x, data: p.range_gradient_pair(x, 0.5 * x, data, 7, 1)[1],
            lambda p, x, data: p.record_gradients(x, data, 4, 3),
            batch,
        ]
    if hasattr(problem, "population_gradient"):
        makers += [lambda p, x, data: p.population_gradient(x, data), lambda p, x, data: p.optimum(data)]
    for make in makers:
        alone = [make(p, own, sample(p)) for p, own in zip(single, x, strict=True)]
        np.testing.assert_allclose(make(both, x.reshape(12, -1), sample(both)), np.concatenate(alone), 1e-12, 1e-14)
