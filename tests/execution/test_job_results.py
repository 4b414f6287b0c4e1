"""Results that were made with data stay the job's results where the data are absent, and are read as written."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.cli.verbs.claim import run_claim
from dpsco_bench.execution import worker
from dpsco_bench.execution.cell import Calibrated
from dpsco_bench.execution.job_results import Measured, Summary, _chains, is_wanted
from dpsco_bench.execution.jobs import Settings
from dpsco_bench.execution.store import Store
from dpsco_bench.jsonio import dumps_canonical
from dpsco_bench.problems.constants import option
from dpsco_bench.problems.glm import RidgeLogistic
from dpsco_bench.problems.registry import PROBLEMS

from .parts import PART, entry_of

REASON = "data absent: `touch marker`"


class Marked(RidgeLogistic):
    """A problem whose data set is a marker in the data root."""

    name = "marked"
    needs_data_root = True
    root = option("data", "folder of data sets")

    @classmethod
    def unavailable(cls, root):
        return "" if (root / "marker").exists() else REASON


@pytest.fixture
def entries(tmp_path):
    PROBLEMS.add(Marked.name, Marked, __name__)
    (tmp_path / "with" / "marker").mkdir(parents=True)
    settings = [Settings(seed=1, data_root=str(tmp_path / name)) for name in ("with", "without")]
    return [entry_of("own.kept", PART | {"problem": "marked"}, settings=one) for one in settings]


@pytest.fixture
def measured(tmp_path):
    return Measured(Store(tmp_path / "store"))


def test_a_key_is_the_same_without_data_and_a_job_is_skipped_only_where_no_result_is_there(entries, measured):
    for job, absent in zip(entries[0].jobs, entries[1].jobs, strict=True):
        assert (job.skipped, absent.skipped) == ("", REASON)
        assert (job.key, job.calibration_key) == (absent.key, absent.calibration_key)
    job, absent = entries[0].jobs[0], entries[1].jobs[0]

    def found():
        return measured.present(entries[1]).jobs[0]

    assert found() == absent and not is_wanted("calibrate", absent)
    worker.make("calibrate", job, measured)
    assert found() == absent
    worker.make("run", job, measured)
    assert (found().skipped, found().present) == ("", REASON)
    assert measured.load(found())[0].num_rows == 6
    assert measured.present(entries[0]).jobs[0] == job
    measured.store.path(*measured.items("run", job)[0]).write_text("no table")
    assert found() == absent


def test_a_claim_is_judged_from_results_present_and_says_so(entries, measured, monkeypatch):
    (skipped,) = run_claim(entries[1], measured)
    assert skipped.verdict == f"skipped: {REASON}"
    (row,) = run_claim(entries[0], measured)
    assert row.replicates == 3 and row.notes == () and row.runtime_s > 0
    before = {path: path.read_bytes() for path in measured.store.root.rglob("*.*")}
    monkeypatch.setattr(worker, "execute", lambda *_, **__: pytest.fail("ran"))
    (kept,) = run_claim(entries[1], measured)
    assert kept.notes == (f"judged from results present; {REASON}",)
    assert dumps_canonical(replace(kept, notes=())) == dumps_canonical(row)
    assert {path: path.read_bytes() for path in measured.store.root.rglob("*.*")} == before


@pytest.mark.parametrize("epsilon", [0.5, math.inf, math.nan])
def test_calibrations_are_read_as_they_were_written(entries, measured, epsilon):
    job = entries[0].jobs[0]
    worker.make("calibrate", job, measured)
    cells = tuple(replace(cell, epsilon_real=epsilon, plan=None) for cell in measured.calibrations(job))
    measured.store.write("calibrations", job.calibration_key, dumps_canonical(Calibrated(cells)).encode(), [])
    assert repr(measured.calibrations(job)) == repr(cells)


def test_the_interval_is_that_of_student():
    """Over replicates, or over data sets where there are several; tables of Student's law."""
    for data_sets, replicates, half in ((1, 4, 3.182446), (1, 1000, 1.962341), (3, 1000, 4.302653), (1, 1, math.nan)):
        found = SimpleNamespace(data_sets=data_sets, replicates=replicates, stderr=1.0)
        assert Summary.half_interval.func(found) == pytest.approx(half, rel=1e-6, nan_ok=True)


SETTLED = {"rhat": np.ones(2), "ess": np.full(2, 1e4), "chain_risk": np.zeros(2), "z_score": np.zeros(2)}


@pytest.mark.parametrize(("z", "off"), [((0.1, -9.0), True), ((9.0, 0.1), True), ((3.9, -3.9), False)])
def test_chains_are_held_against_a_known_law_from_both_sides(z, off):
    found = _chains({**SETTLED, "z_score": np.array(z)})
    assert ("9 standard errors" in found) == bool(found) == off


@pytest.mark.parametrize("odd", [{"rhat": np.array([1.0, 1.5])}, {"ess": np.array([1e4, 3.0])}])
def test_the_worst_chain_decides(odd):
    assert _chains(SETTLED) == "" != _chains({**SETTLED, **odd})
