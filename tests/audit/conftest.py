"""Algorithms made for one test."""

import pytest

from dpsco_bench.algorithms import registry
from dpsco_bench.algorithms.registry import algorithm
from dpsco_bench.privacy.plan import GaussianQuery, make_plan
from dpsco_bench.problems.base import Trait


@pytest.fixture
def register(monkeypatch):
    """``register(id, run)``: an algorithm with one release of the mean gradient, for one test."""

    def add(id, run):
        @algorithm(id, source="a test", needs=(Trait.LIPSCHITZ,))
        def plan(c, n, d, privacy, *, variant: str):
            """One release."""
            query = GaussianQuery("gradient", 2 * c.lipschitz / n, 1, paper_scale=2 * c.lipschitz / n)
            return make_plan(query, gradient_evaluations=n)

        plan.run(run)
        monkeypatch.setitem(registry._USER_ALGORITHMS, id, plan)
        return id

    return add
