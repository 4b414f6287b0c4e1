"""Algorithms made for one test."""

import pytest

from dpsco_bench.algorithms.registry import algorithm
from dpsco_bench.privacy.plan import GaussianQuery, make_plan
from dpsco_bench.privacy.records import Full
from dpsco_bench.problems.base import Trait


@pytest.fixture
def register():
    """Register an algorithm with one query; ``chosen``: its records from n, how many it looks at, and their divisor."""

    def add(id, run, name="gradient", releases=1, chosen=lambda n: (Full(), n, n)):
        @algorithm(id, source="a test", needs=(Trait.LIPSCHITZ,))
        def plan(given):
            """Releases of a sum of gradients, or of a mean."""
            records, size, divisor = chosen(given.n)
            sensitivity = 2 * given.constants.lipschitz / divisor
            query = GaussianQuery(name, sensitivity, releases, records, paper_scale=sensitivity)
            return make_plan(query, gradient_evaluations=releases * size, n=given.n)

        plan.run(run)
        return id

    return add
