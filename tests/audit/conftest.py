"""Algorithms made for one test."""

import pytest

from dpsco_bench.algorithms.registry import algorithm
from dpsco_bench.privacy.plan import GaussianQuery, make_plan
from dpsco_bench.privacy.records import Full
from dpsco_bench.problems.base import Trait

FULL = Full()


@pytest.fixture
def register():
    """``register(id, run, records, releases)``: an algorithm with one query ``gradient``, for one test."""

    def add(id, run, records=FULL, releases=1):
        @algorithm(id, source="a test", needs=(Trait.LIPSCHITZ,))
        def plan(given):
            """Releases of a gradient."""
            n, sensitivity = given.n, 2 * given.constants.lipschitz / given.n
            query = GaussianQuery("gradient", sensitivity, releases, records, paper_scale=sensitivity)
            return make_plan(query, gradient_evaluations=n * releases, n=n)

        plan.run(run)
        return id

    return add
