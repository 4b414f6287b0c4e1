"""Fixtures of the contract suite: its cases, selected by what a test is about."""

import pytest

from dpsco_bench.algorithms.registry import list_algorithms

from .cases import ADDITIVE, CASES, CHARGED, DRAWN, LAWS, NOISY, SHARP, SILENT, one_problem_each


def by_day(cases):
    """Every variant and calibration of an algorithm once, and every problem; the other pairs run at night."""
    seen = set()
    for case in cases:
        looks = {(case.algorithm.id, case.variant, case.calibration), case.problem.name}
        yield case if looks - seen else pytest.param(case, marks=pytest.mark.long)
        seen |= looks


SELECTIONS = {
    "pair": [*by_day(CASES)],  # every algorithm on every problem
    "problem_case": list({c.problem.name: c for c in CASES if c.noisy}.values()),
    "case": LAWS,  # every algorithm, variant and calibration, on one problem
    "noisy_case": NOISY,  # those of them with noise
    "law_case": ADDITIVE,
    "drawn_case": DRAWN,
    "silent_case": SILENT,
    "charged_case": CHARGED,
    "symmetric_case": [c for c in SILENT if c.algorithm.order_invariant and c.data.features is not None],
    "sharp_law_case": one_problem_each(SHARP),
}


def pytest_generate_tests(metafunc):
    for name, cases in SELECTIONS.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, cases, ids=lambda c: c.id)
    if "algorithm_id" in metafunc.fixturenames:
        metafunc.parametrize("algorithm_id", list_algorithms())
