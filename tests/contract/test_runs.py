"""Every run: dtypes, namespaces, reproducibility, independence of chunking and of the records' order."""

import array_api_strict as strict
import numpy as np

from dpsco_bench.privacy import mechanism
from dpsco_bench.problems.base import Data
from dpsco_bench.rng.streams import Stream


def test_single_precision_and_a_finite_risk(case):
    run = case.run(replicates=3, dtype="float32")
    assert run.raw.shape == (3, case.problem.dimension) and run.raw.dtype == np.float32
    risk = run.objective.excess_risk(run.raw)
    assert risk.shape == (3,) and risk.dtype == np.float64 and np.isfinite(risk).all()


def test_noise_off_draws_no_noise(silent_case, monkeypatch):
    class Forbidden(Stream):
        def normal(self, *_):
            raise AssertionError("noise was drawn")

        laplace = generalised_gaussian = normal

    monkeypatch.setattr(mechanism, "Stream", Forbidden)
    silent_case.run()


def test_trajectories_do_not_depend_on_how_replicates_are_split(case):
    whole = case.run(replicates=6).output
    parts = np.concatenate([case.run(replicates=2).output, case.run(first=2, replicates=4).output])
    np.testing.assert_allclose(parts, whole, rtol=1e-12, atol=1e-12 * np.abs(whole).max())


def test_order_of_the_records_does_not_matter_where_the_algorithm_says_so(symmetric_case):
    data, order = symmetric_case.data, np.random.default_rng(0).permutation(symmetric_case.n)
    permuted = Data(data.n, data.features[order], data.labels[order])
    expected = symmetric_case.run().output
    np.testing.assert_allclose(symmetric_case.run(data=permuted).output, expected, rtol=1e-10, atol=1e-12)


def test_strict_array_api_gives_the_numbers_of_numpy(case):
    expected, outcome = case.run(), case.run(xp=strict)
    assert outcome.raw.__array_namespace__() is strict
    np.testing.assert_allclose(outcome.output, expected.output, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(np.asarray(outcome.objective.evaluations), expected.objective.evaluations)
    risks = [run.objective.excess_risk(run.raw) for run in (outcome, expected)]
    np.testing.assert_allclose(*risks, rtol=1e-9, atol=1e-14)
    outcome = case.run(xp=strict, dtype="float32")
    assert outcome.raw.dtype == strict.float32
    np.testing.assert_allclose(outcome.output, case.run(dtype="float32").output, rtol=1e-5, atol=1e-6)
