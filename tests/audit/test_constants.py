"""What drawn records are held against is what the objective has, its ridge once."""

from itertools import combinations

import numpy as np
import pytest

from dpsco_bench.audit.auditor import make_audit_cell
from dpsco_bench.audit.constants import _curved, exceeded
from dpsco_bench.audit.subject import points_of, subject_of
from dpsco_bench.execution.calibration import calibrate_cell


def test_the_least_growth_between_two_points_is_that_of_the_objective():
    cell = make_audit_cell("wang2017.dp_gd_pl", "ridge_logistic", {"n": 24, "d": 3})
    subject = subject_of(cell, calibrate_cell(cell, "accounted", 1), 1)
    ((name, declared, least),) = _curved(subject)
    objective, points = subject.objective(replicates=1), points_of(subject)
    gradients = [objective.mean_gradient(x[None]) + objective.regulariser_gradient(x[None]) for x in points]
    pairs = combinations(zip(points, np.concatenate(gradients), strict=True), 2)
    own = min(float((g - h) @ (x - y) / ((x - y) @ (x - y))) for (x, g), (y, h) in pairs)
    assert name == "strong_convexity" and least == pytest.approx(own, rel=1e-9)
    assert declared <= least and exceeded(subject) == ""
