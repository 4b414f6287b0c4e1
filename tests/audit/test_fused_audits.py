"""Audits of compiled runs of canaries: the same losses, written so that compiled steps know them.

The canaries themselves stay as they are: another text of theirs would make recorded audits anew.
"""

from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench.audit.auditor import Audit
from dpsco_bench.audit.canaries import runs_fused, trials
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.cell import Cell
from dpsco_bench.fused import compiled
from dpsco_bench.fused.registry import FUSED
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.canaries import CanaryCurved, CanaryHeavy
from dpsco_bench.problems.data import CONSTANT, PSEUDO_HUBER, RecordForm
from dpsco_bench.problems.registry import PROBLEMS

if not compiled.available():
    pytest.skip("Numba is missing or switched off: reference implementations run", allow_module_level=True)


class KnownHeavy(CanaryHeavy):
    """``<a, x>`` with a of any length, in place of ``y <a, x>``."""

    name = "known_heavy"

    def draw(self, n, streams):
        return slopes(super().draw(n, streams))

    def domain_records(self, count, seed):
        return slopes(super().domain_records(count, seed))

    def loss(self, margins, labels):
        return margins + 0.0 * labels

    def slope(self, margins, labels):
        return 1.0 + 0.0 * (margins + labels)

    @property
    def record_form(self):
        return RecordForm(CONSTANT)


def slopes(data):
    return Data(data.n, data.features * np.asarray(data.labels)[:, None], 0.0 * np.asarray(data.labels))


class KnownCurved(CanaryCurved):
    """``t/sqrt(t^2 + 1/beta^2)`` is the slope of the canary."""

    name = "known_curved"

    @property
    def record_form(self):
        return RecordForm(PSEUDO_HUBER, (1.0 / self.curvature_bound, 0.0))


OWN = {
    "su2023.phased_dp_sgd": (KnownCurved, {"domain": "space"}),
    "su2023.truncated_batched_md": (KnownHeavy, {"p": 1.5}),
    "su2023.shuffled_truncated_md": (KnownHeavy, {"p": 1.5}),
}


@pytest.fixture(params=OWN)
def cell(request):
    cls, options = OWN[request.param]
    PROBLEMS.add(cls.name, cls, __name__)
    yield Cell(request.param, cls.name, 200, 1.0, 1e-5, 3, problem_options=options)
    PROBLEMS.forget(cls.name)


def test_these_and_no_others_have_no_fused_audit_in_a_claim():
    fused = {trial.algorithm for trial in trials() if trial.fused}
    assert set(FUSED.names()) - fused == set(OWN)


def test_the_output_of_a_fused_run_is_audited(cell):
    calibrated = calibrate_cell(cell, "accounted", 1)
    assert runs_fused(cell, calibrated.plan_for(cell))
    less = replace(calibrated, scales={name: 0.01 * scale for name, scale in calibrated.scales.items()})
    given = dict(runs=4000, confidence=0.999, statistic="output", seed=1)
    assert Audit(cell, calibrated, **given).result().verdict == "not refuted"
    assert Audit(cell, less, **given).result().verdict == "refuted"
