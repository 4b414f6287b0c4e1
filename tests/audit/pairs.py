"""Neighbouring data sets of a method, with its calibrated noise, as an audit and the checks have them."""

from dpsco_bench.audit.auditor import make_audit_cell
from dpsco_bench.audit.canaries import TRAJECTORIES, candidate_pairs
from dpsco_bench.audit.subject import subject_of
from dpsco_bench.audit.transcript import Recording
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.request import make_cell
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.mechanism import Mechanism

SEED = 3


class Weak(Mechanism):
    """A tenth of the noise that is charged."""

    def __init__(self, plan, scales, *args, **keywords):
        super().__init__(plan, {name: scale / 10 for name, scale in scales.items()}, *args, **keywords)


def pairs_of(algorithm, problem=None, calibration="accounted", factor=1.0, **keys):
    cell = make_audit_cell(algorithm, problem, keys)
    plan = cell.plan(calibration, SEED)[1]
    scales = calibrate(plan, cell.privacy, calibration).scales
    return list(candidate_pairs(cell, SEED, plan, {name: factor * scale for name, scale in scales.items()}))


def recorded(setting, runs=TRAJECTORIES, what="runs"):
    """Runs on the first data set, as they were recorded."""
    recorder = Recording(Mechanism(setting.plan, setting.scales, what, SEED, 0, runs))
    setting.execute(setting.pair[0], recorder, runs)
    return recorder


def subject(algorithm="wang2017.dp_gd_pl", problem="ridge_logistic", **keys):
    """A method with accounted noise on a few records, as the checks see it."""
    cell = make_cell(algorithm, problem, {"n": 24, "d": 3, **keys})
    return subject_of(cell, calibrate_cell(cell, "accounted", 1), 1)
