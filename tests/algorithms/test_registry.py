from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import CALIBRATIONS, algorithm, get_algorithm, list_algorithms
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.execution.cell import Cell
from dpsco_bench.privacy.plan import GaussianQuery, PrivacySpec, make_plan
from dpsco_bench.problems.base import Constants


@pytest.fixture
def mine():
    """An algorithm of one's own, registered for the duration of a test."""

    @algorithm("mine.walk", source="nowhere", variants={"a": ("none",), "b": ("paper", "none")})
    def plan(given, *, count: int | None = None, size: float = 1.0, mode: str = "x"):
        """Walk at random.

        Longer text.
        """
        return make_plan(GaussianQuery("q", 1.0, 1), gradient_evaluations=given.n, count=count, size=size, mode=mode)

    @plan.run
    def walk(objective, plan, mechanism):
        return mechanism.release("q", objective.start)

    return plan


def test_ids_name_modules():
    assert get_algorithm("wang2017.dp_svrg").module == "dpsco_bench.papers.wang2017.algorithms.svrg"
    assert get_algorithm("wang2017/dp_svrg") is get_algorithm("wang2017.dp_svrg")


@pytest.mark.parametrize("id", ["", "dp_svrg", "wang2017.", "wang2017.../x", "registry.x", "wang2017.barzilai_borwein"])
def test_unknown_ids(id):
    with pytest.raises(InputError, match="^algorithm = "):
        get_algorithm(id)


def test_every_algorithm_is_whole():
    for id in list_algorithms():
        entry = get_algorithm(id)
        assert entry.id == id and entry.source and entry.summary.endswith(".") and entry.run_function
        assert set(entry.variants) and all(set(v) <= set(CALIBRATIONS) for v in entry.variants.values())


def test_ones_own_algorithm(mine):
    assert get_algorithm("mine.walk") is mine and "mine.walk" in list_algorithms()
    assert mine.summary == "Walk at random." and mine.run_function is not None
    assert list(mine.options) == ["count", "size", "mode"]


def test_an_entry_takes_one_run_and_changes_no_more(mine):
    with pytest.raises(InputError, match=r"^run of mine\.walk = 'again': must be the only one"):

        @mine.run
        def again(objective, plan, mechanism):
            return objective.start

    with pytest.raises(FrozenInstanceError):
        mine.order_invariant = False


def test_the_first_variant_that_lists_a_calibration_is_its_default_or_one_that_is_named(mine):
    assert (mine.variant_for("none"), mine.variant_for("paper"), mine.variant_for("none", "b")) == ("a", "b", "b")
    mine = replace(mine, defaults={"none": "b"})
    assert mine.variant_for("none") == "b" and mine.variant_for("none", "a") == "a"


@pytest.mark.parametrize(
    ("given", "kept"),
    [({"count": 3}, 3), ({"count": None}, None), ({"size": 2}, 2.0), ({"size": 0.5}, 0.5), ({"mode": "y"}, "y")],
)
def test_options_of_the_right_type(mine, given, kept):
    ((key, _),) = given.items()
    plan = mine.plan(Constants(1.0, 1.0), np.int64(4), np.int32(2), PrivacySpec(1.0, 1e-5), "a", **given)
    value = getattr(plan, key)
    assert value == kept and type(value) is type(kept) and plan.gradient_evaluations == 4


def test_ids_have_two_parts():
    with pytest.raises(InputError, match="^algorithm id = 'walk': must be of the form paper.name"):
        algorithm("walk", source="nowhere")


def test_euclidean_methods_refuse_constants_in_other_norms():
    """A Lipschitz constant in l_1 or l_1.5 is none in l_2; one in l_4 or l_inf is."""
    smooth = {"declared_smoothness": 1.0}
    cell = Cell("wang2017.frank_wolfe_ttz15", "gaps_l1", n=100, epsilon=1.0, delta=1e-6, problem_options=smooth)
    with pytest.raises(Refusal, match="its constants are declared in l_p with p = 1, and none are known for p = 2"):
        cell.plan("paper", 0)
    assert get_algorithm("bassily2021.poly_sfw").least_norm == 1.0
