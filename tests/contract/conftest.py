"""Fixtures of the contract suite: its cases, selected by what a test is about."""

from dpsco_bench.algorithms.registry import list_algorithms

from .cases import CASES, NOISY, SEARCHABLE, SHARP, SILENT, one_problem_each

SELECTIONS = {
    "case": CASES,
    "noisy_case": NOISY,
    "silent_case": SILENT,
    "law_case": one_problem_each(NOISY),  # noise and batches know the plan alone, so one problem will do
    "charged_case": [c for c in one_problem_each(NOISY) if not c.plan.unprotected],  # those with a finite epsilon
    "symmetric_case": [c for c in SILENT if c.algorithm.order_invariant and c.data.features is not None],
    "searchable_case": SEARCHABLE,
    "sharp_case": SHARP,
    "sharp_law_case": one_problem_each(SHARP),
}


def pytest_generate_tests(metafunc):
    for name, cases in SELECTIONS.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, cases, ids=lambda c: c.id)
    if "algorithm_id" in metafunc.fixturenames:
        metafunc.parametrize("algorithm_id", list_algorithms())
