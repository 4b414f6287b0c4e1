"""The same runs on a GPU: the noise bits are the same, matrix products round differently."""

import numpy as np
import pytest

from dpsco_bench.privacy.transcript import Recorder

cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
if not cupy.is_available():
    pytest.skip("CuPy finds no usable GPU", allow_module_level=True)

pytestmark = pytest.mark.gpu
TOLERANCE = 1e-9


def test_runs_give_the_numbers_of_numpy(case):
    expected, outcome = case.run(), case.run(xp=cupy)
    assert isinstance(outcome.raw, cupy.ndarray)
    scale = np.abs(expected.output).max()
    np.testing.assert_allclose(outcome.output, expected.output, rtol=TOLERANCE, atol=TOLERANCE * scale)
    np.testing.assert_array_equal(outcome.objective.evaluations.get(), expected.objective.evaluations)
    risks = [run.objective.excess_risk(run.raw) for run in (outcome, expected)]
    np.testing.assert_allclose(*risks, rtol=1e-6, atol=1e-12)
    assert case.run(xp=cupy, dtype="float32").raw.dtype == cupy.float32


def test_noise_has_the_same_bits(law_case):
    host, device = (law_case.run(Recorder, xp=xp).mechanism.transcript for xp in (np, cupy))
    for query in law_case.plan.queries:
        np.testing.assert_array_equal(device.noise(query.name), host.noise(query.name))
