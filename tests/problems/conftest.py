import numpy as np
import pytest

from dpsco_bench.errors import InputError
from dpsco_bench.problems.base import Trait
from dpsco_bench.problems.registry import get_problem, list_problems, problem_class
from dpsco_bench.rng.streams import Stream, stream_key


def at_hand(name):
    """Whether the problem has one data set, and one that can be drawn here."""
    found = problem_class(name)
    return not (found.needs_data_root or found.draws_per_replicate)


HERE = [name for name in list_problems() if at_hand(name)]


def streams(data_set=0, seed=5):
    return lambda name: Stream(stream_key(seed, "problem tests", f"data/{data_set}/{name}"), np)


def small(name, d=4):
    try:
        return get_problem(name, d)
    except InputError:
        return get_problem(name)


@pytest.fixture(params=HERE)
def problem(request):
    """Every problem whose data are at hand, in four dimensions where it allows them."""
    return small(request.param)


@pytest.fixture(params=[name for name in HERE if Trait.CONVEX in small(name).traits])
def convex_problem(request):
    """The problems whose exact minimum is known."""
    return small(request.param)


def is_global(name, oracle):
    problem = small(name)
    promised = problem.constants.status == "global" and Trait.LIPSCHITZ in problem.traits
    return promised and problem.shares_records == oracle


@pytest.fixture(params=[name for name in HERE if is_global(name, oracle=False)])
def global_problem(request):
    """The problems with records whose Lipschitz constant is true on the whole domain."""
    return small(request.param)


@pytest.fixture(params=[name for name in HERE if is_global(name, oracle=True)])
def global_oracle(request):
    """The oracles whose Lipschitz constant is true on the whole domain."""
    return small(request.param)


@pytest.fixture
def draw():
    """``draw(problem, n)``: a data set from fixed streams."""
    return lambda problem, n, data_set=0: problem.draw(n, streams(data_set))
