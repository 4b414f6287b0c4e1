import numpy as np
import pytest

from dpsco_bench.errors import InputError
from dpsco_bench.problems.base import Trait
from dpsco_bench.problems.registry import get_problem, list_problems, problem_class
from dpsco_bench.rng.streams import Stream, stream_key


def small(name, d=4):
    try:
        return get_problem(name, d)
    except InputError:
        return get_problem(name)


HERE = [c for c in map(problem_class, list_problems()) if not (c.needs_data_root or c.draws_per_replicate)]
SMALL = {found.name: small(found.name) for found in HERE}
"""The problems with one data set that can be drawn here, in four dimensions where they allow them."""
CONVEX = [name for name, problem in SMALL.items() if Trait.CONVEX in problem.traits]
"""Their exact minimum is known."""
GLOBAL = [name for name, p in SMALL.items() if Trait.LIPSCHITZ in p.traits and p.constants.status == "global"]
"""Their Lipschitz constant is true on the whole domain."""
ORACLES = [name for name in GLOBAL if SMALL[name].shares_records]


@pytest.fixture(params=SMALL)
def problem(request):
    return small(request.param)


@pytest.fixture
def draw():
    """``draw(problem, n)``: a data set from fixed streams."""

    def drawn(problem, n, data_set=0):
        return problem.draw(n, lambda name: Stream(stream_key(5, "problem tests", f"data/{data_set}/{name}"), np))

    return drawn
