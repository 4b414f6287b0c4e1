import json
from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench.execution.cell import AlgorithmError, Cell, check_records, located
from dpsco_bench.jsonio import dumps_canonical, loads
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import GaussianQuery, make_plan
from dpsco_bench.privacy.records import Disjoint, Full, Nodes, Poisson, RandomAllocation, SingleIndex

CELL = Cell("wang2017.dp_gd_pl", "diag_quadratic", n=64, d=4, epsilon=1.0, delta=1e-5, options={"steps": 3})


def noise(cell, calibration="paper", data_set=0, seed=1):
    plan = cell.plan(calibration, seed)[1]
    name = plan.queries[0].name
    return Mechanism(plan, {name: 1.0}, cell.run_key(data_set), seed, 0, 2).release(name, np.zeros((2, 4)))


SAME = [{"epsilon": 1}, {"options": {"steps": 7}}, {"options": {"noise_constant": 4.0}}]
SAME += [{"problem_options": {"constants": {"smoothness": 2.0}}}, {"problem_options": {"kappa": 4}}]
SAME += [{"method": "label", "parameter": "n", "value": 64.0, "cell": 3}]
OTHER = [{"epsilon": 2.0}, {"delta": 1e-6}, {"n": 65}, {"problem_options": {"kappa": 8.0}}]
OTHER += [{"algorithm": "wang2017.output_perturbation_zhang17"}, {"problem": "ridge_logistic"}]


@pytest.mark.parametrize("changes", SAME)
def test_common_random_numbers(changes):
    np.testing.assert_array_equal(noise(replace(CELL, **changes)), noise(CELL))


def test_calibrations_and_variants_share_their_noise_and_data_sets_and_seeds_do_not():
    assert replace(CELL, variant="literal").run_key(0) == replace(CELL, variant="poisson").run_key(0)
    np.testing.assert_array_equal(noise(CELL, "paper"), noise(CELL, "accounted"))
    for other in ({"data_set": 1}, {"seed": 2}):
        assert not np.isin(noise(CELL, **other), noise(CELL)).any()


@pytest.mark.parametrize("changes", OTHER)
def test_different_questions_have_independent_noise(changes):
    assert not np.isin(noise(replace(CELL, **changes)), noise(CELL)).any()


def test_data_depend_on_the_problem_and_not_on_the_privacy():
    cell = Cell("wang2017.dp_gd_pl", "ridge_logistic", n=32, d=4, epsilon=1.0, delta=1e-5)
    features = cell.draw_data(1, 0).features
    for same in ({"epsilon": 4.0}, {"algorithm": "wang2017.dp_svrg"}, {"options": {"steps": 2}}):
        np.testing.assert_array_equal(replace(cell, **same).draw_data(1, 0).features, features)
    for other in (cell.draw_data(1, 1), cell.draw_data(2, 0), replace(cell, d=5).draw_data(1, 0)):
        assert not np.isin(other.features, features).any()


def test_keys_are_canonical_json():
    given = {"problem": "diag_quadratic", "options": {}, "n": 64, "d": 4, "epsilon": 1.0, "delta": 1e-5}
    assert json.loads(CELL.run_key(2)) == {"run": "wang2017.dp_gd_pl", **given, "data_set": 2}
    assert json.loads(CELL.data_key()) == {"data": "diag_quadratic", "options": {}, "n": 64, "d": 4}
    spelled = replace(CELL, algorithm="wang2017/dp_gd_pl", d=np.int64(4))
    assert spelled.run_key(2) == CELL.run_key(2) and json.loads(replace(CELL, d=None).data_key())["d"] == 16


@pytest.mark.parametrize("p", ["inf", float("inf")])
def test_infinity_names_one_stream_however_it_is_written(p):
    """Files have ``inf``, of which YAML makes a text; a plan has it as JSON, of which a number is made."""
    cell = Cell("bassily2021.noisy_sgd", "onehot", n=64, d=4, epsilon=1.0, delta=1e-5, problem_options={"p": p})
    there = Cell.from_json(loads(dumps_canonical(cell)))
    assert cell == there and there.data_key() == cell.data_key() and there.run_key(0) == cell.run_key(0)
    assert "Infinity" in cell.data_key()


def test_plans_use_the_effective_dimension_and_the_realised_constants(monkeypatch):
    cell = Cell("wang2017.dp_gd_pl", "rank8_least_squares", n=64, epsilon=1.0, delta=1e-5)
    plan = cell.plan("paper", 1)[1]
    c = cell.constants(1)
    assert plan.step == pytest.approx(1 / c.smoothness) and c.smoothness != 1 / 8
    assert c.status == "nominal"
    assert cell.constants(2) != c
    cell = Cell("wang2017.dp_gd_pl", "ridge_logistic", n=16, epsilon=1.0, delta=1e-5)
    assert cell.constants(1).status == "global"
    monkeypatch.setattr(type(cell.problem_entry), "data_dependent_constants", True)
    assert cell.constants(1).status == "nominal"


def test_the_data_root_is_given_where_it_is_asked_for():
    stored = Cell("wang2017.dp_gd_pl", "covertype", n=8, epsilon=1.0, delta=1e-5)
    assert located(stored, "here").problem_options == {"root": "here"}
    assert located(replace(stored, problem="ridge_logistic"), "here").problem_options == {}
    assert located(stored, "there").data_key() == stored.data_key()


def test_the_order_of_options_names_no_other_stream():
    given = [("constants", {"smoothness": 2.0}), ("kappa", 4.0)]
    one, other = (replace(CELL, problem_options=dict(items)) for items in (given, given[::-1]))
    keys = [(cell.data_key(), cell.objective_key(0), cell.run_key(0)) for cell in (one, other)]
    assert keys[0] == keys[1]


@pytest.mark.parametrize(
    ("records", "releases", "n", "fault"),
    [
        *((Full(), 9, None, ""), (Full(), 1, 65, "n of its plan = 65")),
        *((Poisson(0.5), 9, 64, ""), (Poisson(0.5), 9, None, "n of its plan = missing")),
        *((SingleIndex(64), 99, None, ""), (SingleIndex(63), 1, None, "population of q = 63")),
        *((Nodes(64), 1, None, ""), (Nodes(65), 1, None, "count of q = 65")),
        *((Disjoint(16), 4, None, ""), (Disjoint(13), 5, None, "sizes of its blocks = 65")),
        *((RandomAllocation(64, 16), 4, None, ""), (RandomAllocation(64, 16), 5, None, "sizes of its blocks = 80")),
    ],
)
def test_a_plan_samples_from_the_records_of_its_run_and_no_more(records, releases, n, fault):
    query = GaussianQuery("q", sensitivity=1.0, releases=releases, records=records)
    plan = make_plan(query, gradient_evaluations=1, **({} if n is None else {"n": n}))
    if not fault:
        return check_records("a.b", plan, 64)
    with pytest.raises(AlgorithmError, match=f"a.b: {fault}.*: must be .*64"):
        check_records("a.b", plan, 64)
