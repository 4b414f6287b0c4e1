"""The plan that was charged is the plan that runs, and what goes wrong is one line that names the algorithm."""

import math
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench import run
from dpsco_bench.algorithms.registry import ALGORITHMS, algorithm, get_algorithm
from dpsco_bench.audit.auditor import audit_cell, make_audit_cell
from dpsco_bench.audit.contract import check_algorithm
from dpsco_bench.errors import InputError
from dpsco_bench.execution.calibration import calibrate_cell, constants_status
from dpsco_bench.execution.cell import Cell, ImpurePlan
from dpsco_bench.execution.run import AlgorithmError
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.jsonio import dumps_canonical, loads
from dpsco_bench.privacy.fingerprint import PlanRecord
from dpsco_bench.privacy.plan import GammaObjectiveQuery, GaussianQuery, NoisyMinimumQuery, PaperLimit, make_plan
from dpsco_bench.privacy.queries import GeneralisedGaussianQuery
from dpsco_bench.privacy.records import Disjoint, Poisson

from .parts import plan_of, reread

QUERY = GaussianQuery("gradient", 0.1, 3, paper_scale=1.0)


def cell():
    return Cell("mine.releases", "ridge_logistic", n=32, d=3, epsilon=1.0, delta=1e-5)


def made(query=QUERY, evaluations=96.0, **more):
    return make_plan(query, gradient_evaluations=evaluations, **{"n": 32, "step": 0.5, **more})


@pytest.fixture
def plans():
    given = []

    @algorithm("mine.releases", source="a test")
    def plan(setting):
        """As the test says."""
        return given.pop(0) if len(given) > 1 else given[0]

    @plan.run
    def release(objective, plan, mechanism):
        x = objective.start
        for t in range(plan.query("gradient").releases):
            x = x - plan.step * mechanism.release("gradient", objective.mean_gradient(x), t)
        return x

    return given


OTHERS = [
    (made(replace(QUERY, releases=200)), "releases of gradient of queries = 200: must be 3"),
    (made(replace(QUERY, sensitivity=0.2)), "sensitivity of gradient of queries = 0.2: must be 0.1"),
    (made(replace(QUERY, records=Poisson(0.5))), "kind of records of gradient of queries = Poisson: must be Full"),
    (made(replace(QUERY, name="mean")), "kind of gradient of queries = absent: must be GaussianQuery"),
    (made(evaluations=97), "gradient_evaluations = 97.0: must be 96.0"),
    (made(step=0.5 + 1e-9), "step of schedule = 0.500000001: must be 0.5"),
    (made(leaks=("a count",)), "0 of leaks = a count: must be absent"),
    (made(unprotected="all of it"), "unprotected = all of it: must be"),
]


@pytest.mark.parametrize(("other", "named"), OTHERS, ids=lambda value: value if isinstance(value, str) else "")
def test_another_plan_than_the_charged_one_does_not_run(plans, other, named):
    plans[:] = [made()]
    (calibrated,) = reread((calibrate_cell(cell(), "paper", 1),))
    assert calibrated.plan_for(cell()).queries == (QUERY,)
    plans[:] = [other]
    with pytest.raises(ImpurePlan, match="^algorithm mine.releases: " + re.escape(named)):
        calibrated.plan_for(cell())


def test_a_plan_function_that_gives_two_plans_is_stopped(plans):
    plans[:] = [made(), OTHERS[0][0]]
    with pytest.raises(ImpurePlan, match=OTHERS[0][1] + ".*its plan function is not pure$"):
        run("mine.releases", "ridge_logistic", 32, 3)


def test_rounding_of_another_processor_is_no_difference(plans):
    plans[:] = [made(), made(step=0.5 * (1 + 1e-15))]
    assert calibrate_cell(cell(), "paper", 1).schedule["step"] == 0.5


def test_a_record_is_exact_and_plain():
    plan = made(limit=math.inf, unknown=math.nan, grid=np.array([0.1, 1 / 3]), count=np.int64(3), third=1 / 3)
    record = PlanRecord.of(plan)
    assert record.schedule["grid"] == [0.1, 1 / 3] and record.queries[0]["kind"] == "GaussianQuery"
    back = PlanRecord.from_json(loads(dumps_canonical(record)))
    assert record.difference(back) is None and back.schedule["third"] == 1 / 3
    other = PlanRecord.of(made(**{**plan.schedule, "count": 3.0}))
    assert record.difference(other) == ("count of schedule", 3, 3.0)


SMOOTH = SmoothNorm(1.5, 8)
EVERY_KIND = [
    replace(QUERY, records=Poisson(0.25)),
    NoisyMinimumQuery("least", 0.1, 2, lazy=True),
    GammaObjectiveQuery("solve", 0.1, 1, share=0.5, log_jacobian=0.3),
    GeneralisedGaussianQuery("vector", 0.1, 4, Disjoint(8), smooth=SMOOTH, draws=3),
]


def test_a_record_of_every_kind_of_query_is_itself_after_json():
    limit = PaperLimit("epsilon", math.inf, "at most 1", "a test")
    plan = make_plan(*EVERY_KIND, gradient_evaluations=7, leaks=("a count",), warnings=("w",), paper_limit=limit, T=3)
    record = PlanRecord.of(plan)
    text = dumps_canonical(record)
    back = PlanRecord.from_json(loads(text))
    assert back == record and dumps_canonical(back) == text
    assert back.paper_limit == {"kind": "PaperLimit", **vars(limit)}
    assert [query["records"]["kind"] for query in back.queries] == ["Poisson", "Full", "Full", "Disjoint"]
    assert back.queries[3]["smooth"]["kind"] == "SmoothNorm" and back.queries[3]["norm"] == SMOOTH.q


@pytest.mark.parametrize("value", [PaperLimit, {1.0}])
def test_what_json_cannot_hold_is_no_value_of_a_plan(value):
    allowed = "a number, text, an array, or a list"
    with pytest.raises(InputError, match=f"^shape of schedule = 'a (type|set)': must be {allowed}"):
        PlanRecord.of(made(shape=value))


@pytest.mark.parametrize("enforced", [False, True])
@pytest.mark.parametrize("of_the_data", [False, True])
@pytest.mark.parametrize("declared", ["nominal", "global"])
def test_constants_are_true_where_they_are_proven_or_the_run_clips_to_public_levels(declared, of_the_data, enforced):
    cell = SimpleNamespace(problem_entry=SimpleNamespace(data_dependent_constants=of_the_data))
    plan = SimpleNamespace(queries=(SimpleNamespace(enforced=enforced), SimpleNamespace(enforced=True)))
    expected = "global" if enforced and not of_the_data else declared
    assert constants_status(cell, plan, declared) == expected


HONEST = get_algorithm("wang2017.dp_gd_pl")
NEVER = GaussianQuery("never", 1.0, 1, share=0.1, paper_scale=1e3)
KEYS = {"n": 40, "d": 3, "steps": 4}


def mutant(run=HONEST.run_function, plan=HONEST.plan_function):
    entry = replace(HONEST, id="mine.mutant", run_function=run, plan_function=plan)
    ALGORITHMS.add("mine.mutant", entry, __name__)


@pytest.mark.parametrize("calibration", ["accounted", "paper", "none"])
@pytest.mark.parametrize(
    ("changes", "query", "released", "declared"),
    [
        ({"run": lambda objective, plan, mechanism: objective.start}, "gradient", 0, 4),
        ({"plan": plan_of(HONEST, lambda query: (query, NEVER))}, "never", 0, 1),
        ({"plan": plan_of(HONEST, lambda query: (replace(query, releases=5),))}, "gradient", 4, 5),
    ],
)
def test_a_run_that_releases_less_than_was_charged_has_no_result(changes, query, released, declared, calibration):
    mutant(**changes)
    named = f"query {query} was released {released} times, but its plan declares {declared}"
    with pytest.raises(AlgorithmError, match=f"^algorithm mine.mutant: {named}"):
        run("mine.mutant", "ridge_logistic", calibration=calibration, replicates=2, **KEYS)


def nothing(*given):
    HONEST.run_function(*given)


def broken(*given):
    raise KeyError("momentum")


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (lambda *given: HONEST.run_function(*given).mean(axis=0), r"its run returned an array of shape \(3,\)"),
        (nothing, r"its run returned NoneType"),
        (broken, r"its run failed with KeyError: 'momentum' \(test_calibrated.py, line \d+\)$"),
    ],
)
def test_what_fails_in_a_run_is_one_line_in_run_audit_and_check(wrong, named):
    mutant(run=wrong)
    for call in (
        lambda: run("mine.mutant", "ridge_logistic", replicates=2, **KEYS),
        lambda: audit_cell(make_audit_cell("mine.mutant", "canary_huber", KEYS), "accounted", runs=100),
    ):
        with pytest.raises(AlgorithmError, match=f"^algorithm mine.mutant: {named}") as caught:
            call()
        assert "\n" not in str(caught.value)
        assert isinstance(caught.value.__cause__, KeyError) == (wrong is broken)
    assert any(finding.passed is False for finding in check_algorithm("mine.mutant", **KEYS))
