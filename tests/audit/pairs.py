"""Neighbouring data sets of a method, with its calibrated noise, as an audit has them."""

from dpsco_bench.audit.auditor import make_audit_cell
from dpsco_bench.audit.canaries import candidate_pairs
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
