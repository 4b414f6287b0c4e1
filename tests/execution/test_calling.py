"""What goes wrong in a run, or against its plan, is one line that names the algorithm, from every way to run it."""

from dataclasses import replace

import pytest

from dpsco_bench import run
from dpsco_bench.algorithms.registry import ALGORITHMS, get_algorithm
from dpsco_bench.audit.auditor import audit_cell, make_audit_cell
from dpsco_bench.audit.contract import check_algorithm
from dpsco_bench.errors import InputError
from dpsco_bench.execution.run import AlgorithmError
from dpsco_bench.privacy.plan import GaussianQuery

HONEST = get_algorithm("wang2017.dp_gd_pl")
KEYS = {"n": 40, "d": 3, "steps": 4}


@pytest.fixture
def mutant():
    """``mutant(run, plan)``: registers DP-GD with another run or plan as mine.mutant."""

    def register(run=HONEST.run_function, plan=HONEST.plan_function):
        entry = replace(HONEST, id="mine.mutant", run_function=run, plan_function=plan)
        ALGORITHMS.add("mine.mutant", entry, __name__)

    return register


def plan_with_another_query(given, *, steps: int | None = None):
    made = HONEST.plan_function(given, steps=steps)
    never = GaussianQuery("never", 1.0, 1, share=0.1, paper_scale=1e3)
    return replace(made, queries=(*made.queries, never), last_iterate=None)


def plan_with_another_release(given, *, steps: int | None = None):
    made = HONEST.plan_function(given, steps=steps)
    (query,) = made.queries
    return replace(made, queries=(replace(query, releases=query.releases + 1),))


def without_noise(objective, plan, mechanism):
    x = objective.start
    for _ in range(plan.steps):
        x = x - plan.step * (objective.mean_gradient(x) + objective.regulariser_gradient(x))
    return x


@pytest.mark.parametrize("calibration", ["accounted", "paper", "none"])
@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"run": without_noise}, "query gradient was released 0 times, but its plan declares 4"),
        ({"plan": plan_with_another_query}, "query never was released 0 times, but its plan declares 1"),
        ({"plan": plan_with_another_release}, "query gradient was released 4 times, but its plan declares 5"),
    ],
)
def test_a_run_that_releases_less_than_was_charged_has_no_result(mutant, changes, named, calibration):
    mutant(**changes)
    with pytest.raises(AlgorithmError, match=f"^algorithm mine.mutant: {named}"):
        run("mine.mutant", "ridge_logistic", calibration=calibration, replicates=2, **KEYS)


def squeezed(objective, plan, mechanism):
    return HONEST.run_function(objective, plan, mechanism).mean(axis=0)


def nothing(objective, plan, mechanism):
    HONEST.run_function(objective, plan, mechanism)


def broken(objective, plan, mechanism):
    raise KeyError("momentum")


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (squeezed, r"its run returned an array of shape \(3,\)"),
        (nothing, r"its run returned NoneType"),
        (broken, r"its run failed with KeyError: 'momentum' \(test_calling.py, line \d+\)$"),
    ],
)
def test_what_fails_in_a_run_is_one_line_in_run_audit_and_check(mutant, wrong, named):
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


def test_errors_of_the_input_pass_unchanged(mutant):
    def own(objective, plan, mechanism):
        raise InputError("momentum", 3, "at most 1")

    mutant(run=own)
    with pytest.raises(InputError, match="^momentum = 3: must be at most 1$"):
        run("mine.mutant", "ridge_logistic", replicates=2, **KEYS)
