"""Neighbouring data sets of a method, with its calibrated noise, as an audit has them."""

from dpsco_bench.audit.auditor import make_audit_cell
from dpsco_bench.audit.canaries import candidate_pairs
from dpsco_bench.privacy.calibrate import calibrate

SEED = 3


def pairs_of(algorithm, problem=None, calibration="accounted", factor=1.0, **keys):
    cell = make_audit_cell(algorithm, problem, keys)
    plan = cell.plan(calibration, SEED)[1]
    scales = calibrate(plan, cell.privacy, calibration).scales
    return list(candidate_pairs(cell, SEED, plan, {name: factor * scale for name, scale in scales.items()}))
