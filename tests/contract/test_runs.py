"""What every run gives: shapes, dtypes, reproducibility, independence of chunking and of the records' order."""

import numpy as np
import pytest

from dpsco_bench.privacy import mechanism
from dpsco_bench.privacy.transcript import Recorder
from dpsco_bench.problems.base import Data
from dpsco_bench.rng.streams import Stream


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_shape_dtype_and_finiteness(case, dtype):
    outcome = case.run(replicates=3, dtype=dtype)
    assert outcome.raw.shape == (3, case.problem.dimension)
    assert outcome.raw.dtype == np.dtype(dtype)
    assert np.isfinite(outcome.output).all()
    assert outcome.risk.shape == (3,) and outcome.risk.dtype == np.float64 and np.isfinite(outcome.risk).all()


def test_same_keys_same_bits(case):
    np.testing.assert_array_equal(case.run().output, case.run().output)


def test_noise_off_draws_no_noise(silent_case, monkeypatch):
    class Forbidden(Stream):
        def normal(self, *_):
            raise AssertionError("noise was drawn")

        laplace = generalised_gaussian = normal

    monkeypatch.setattr(mechanism, "Stream", Forbidden)
    silent_case.run()


def test_noise_does_not_depend_on_how_replicates_are_split(noisy_case):
    """Replicates 0..5 at once and as 0..1, 2..5: the same noise bits for every release."""

    def noise(first, replicates):
        transcript = noisy_case.run(Recorder, first=first, replicates=replicates).mechanism.transcript
        return [transcript.noises[q.name][t] for q in noisy_case.plan.queries for t in range(q.releases)]

    parts = [np.concatenate(pair) for pair in zip(noise(0, 2), noise(2, 4), strict=True)]
    np.testing.assert_array_equal(noise(0, 6), parts)


def test_trajectories_do_not_depend_on_how_replicates_are_split(case):
    """Matrix products may round differently for another number of rows; nothing else may differ."""
    whole = case.run(replicates=6).output
    parts = np.concatenate([case.run(replicates=2).output, case.run(first=2, replicates=4).output])
    np.testing.assert_allclose(parts, whole, rtol=1e-12, atol=1e-12 * np.abs(whole).max())


def test_replicates_differ_where_there_is_noise(noisy_case):
    """Seen in the noise of the last release; a chosen index may be the same for two replicates."""
    noises = noisy_case.run(Recorder, replicates=6).mechanism.transcript.noises
    for query in noisy_case.plan.queries:
        assert len(np.unique(noises[query.name][query.releases - 1], axis=0)) == 6


def test_order_of_the_records_does_not_matter_where_the_algorithm_says_so(symmetric_case):
    data, order = symmetric_case.data, np.random.default_rng(0).permutation(symmetric_case.n)
    permuted = Data(data.n, data.features[order], data.labels[order])
    expected = symmetric_case.run().output
    np.testing.assert_allclose(symmetric_case.run(data=permuted).output, expected, rtol=1e-10, atol=1e-12)


def test_the_noise_free_run_descends(descending_case):
    """On average a short noise-free schedule moves against the first gradient: the signs of the steps are right.

    It may end above the start, since some steps are made for noise or for many more steps.
    """
    outcome = descending_case.run(replicates=32)
    start = outcome.objective.start
    gradient = outcome.objective.exact_gradient(start)
    assert np.mean(np.sum(gradient * (outcome.output - start), axis=-1)) <= 1e-12
