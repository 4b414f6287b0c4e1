"""Cells of several parts side by side: every score finds its own places."""

from types import SimpleNamespace

import numpy as np

from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.report.panels import Group, _groups, _places, _ratios

SIZES = {
    ("first-n", "paper"): ("n", 3),
    ("second-d", "paper"): ("d", 2),
    ("third-n", "paper"): ("n", 4),
    ("first-n", "accounted"): ("n", 3),
    ("third-n", "accounted"): ("n", 4),
}


def job(part, calibration):
    if (part, calibration) not in SIZES:
        return None
    parameter, size = SIZES[part, calibration]
    return SimpleNamespace(cells=[SimpleNamespace(parameter=parameter, signal=None)] * size)


def score(calibration, cells):
    return SimpleNamespace(
        part=SimpleNamespace(uses=["first-n", "second-d", "third-n"]),
        row=Verdict("shown", "shown", calibration=calibration, values=tuple(range(cells))),
        results=SimpleNamespace(job=job),
    )


def test_a_score_without_some_parts_leaves_their_places_empty():
    groups = _groups([score("paper", 9)])[0]
    assert groups == [Group("first-n", "n", 3), Group("second-d", "d", 2), Group("third-n", "n", 4)]
    assert _places(score("paper", 9), groups).tolist() == [0, 1, 2, 4, 5, 7, 8, 9, 10]
    assert _places(score("accounted", 7), groups).tolist() == [0, 1, 2, 7, 8, 9, 10]


def test_one_parameter_needs_no_groups():
    assert _groups([score("accounted", 7)])[0] == []
    assert _places(score("accounted", 7), []).tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_a_ratio_is_a_mean_over_its_bound_with_two_standard_errors():
    row = Verdict("holds", "explicit", mean=(1.0, 3.0, 2.0), stderr=(0.1, np.nan, 0.5), bound=(2.0, 2.0, 0.0))
    ratios, whiskers = _ratios(SimpleNamespace(row=row))
    assert ratios.tolist() == [0.5, 1.5, np.inf] and whiskers[:2].tolist() == [0.1, 0.0]
    unequal = Verdict("holds", "explicit", mean=(1.0,), stderr=(), bound=(2.0,))
    assert _ratios(SimpleNamespace(row=unequal))[0].size == 0
