"""Declared sensitivities against an adversarial search over neighbours, transcripts and records."""

from dataclasses import replace

import pytest

from dpsco_bench.privacy.queries import CoveringQuery

TEETH = 0.05
"""The search finds at least this fraction of every declared sensitivity, whatever the problem: it is not idle."""


def understated(plan, name, factor):
    queries = (replace(q, sensitivity=factor * q.sensitivity) if q.name == name else q for q in plan.queries)
    return replace(plan, queries=tuple(queries))


def test_no_neighbour_changes_a_released_value_by_more_than_declared(searchable_case):
    """And a forced transcript forces the output: everything but the released values is post-processing."""
    worst = searchable_case.check_sensitivity()
    assert min(worst.values()) > TEETH, worst


def test_an_understated_sensitivity_is_caught(sharp_case):
    """Fifteen per cent less than the truth, for any one query."""
    for query in sharp_case.plan.queries:
        if isinstance(query, CoveringQuery):
            continue
        mutant = sharp_case.altered(plan=understated(sharp_case.plan, query.name, 0.85))
        with pytest.raises(AssertionError):
            mutant.check_sensitivity()
