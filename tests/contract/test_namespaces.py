"""The same runs on other array namespaces: only what the array API standard has may be used."""

import array_api_strict as strict
import numpy as np


def test_strict_array_api_gives_the_numbers_of_numpy(case):
    expected, outcome = case.run(), case.run(xp=strict)
    assert outcome.raw.__array_namespace__() is strict
    np.testing.assert_allclose(outcome.output, expected.output, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(np.asarray(outcome.objective.evaluations), expected.objective.evaluations)
    risks = [run.objective.excess_risk(run.raw) for run in (outcome, expected)]
    np.testing.assert_allclose(*risks, rtol=1e-9, atol=1e-14)


def test_strict_array_api_in_single_precision(case):
    outcome = case.run(xp=strict, dtype="float32")
    assert outcome.raw.dtype == strict.float32
    np.testing.assert_allclose(outcome.output, case.run(dtype="float32").output, rtol=1e-5, atol=1e-6)
