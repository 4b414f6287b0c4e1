"""The checks of one's own algorithm: honest ones pass, and each kind of dishonesty is named."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import ALGORITHMS, get_algorithm
from dpsco_bench.audit.auditor import make_audit_cell
from dpsco_bench.audit.contract import _curved, check_algorithm, exceeded
from dpsco_bench.audit.subject import points_of, subject_of
from dpsco_bench.cli.main import main
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.problems.registry import PROBLEMS, problem_class

HONEST = get_algorithm("wang2017.dp_gd_pl")
PAIRS = [
    ("wang2017.dp_gd_pl", "ridge_logistic", {"steps": 4}),
    ("wang2017.dp_gd_pl", "canary_huber", {"steps": 4}),
    ("wang2017.dp_svrg", "ridge_logistic", {"epochs": 2, "inner_steps": 4}),
    ("wang2017.output_perturbation_zhang17", "ridge_logistic", {}),
]
OUTPUT, COUNTS, EVALUATIONS, RANDOMNESS, REPLICATES, ORDER, SENSITIVITY, RELEASED, POST, CLASS = range(10)
CONSTANTS, LONG, ATTAINED, LAST = range(10, 14)


def failed(findings):
    return {number for number, finding in enumerate(findings) if finding.passed is False}


@pytest.mark.parametrize(("algorithm", "problem", "options"), PAIRS)
@pytest.mark.parametrize("calibration", ["paper", "accounted"])
def test_honest_algorithms_pass(algorithm, problem, options, calibration):
    findings = check_algorithm(algorithm, problem, calibration, d=3, **options)
    assert len(findings) == 14 and not failed(findings), findings
    assert all(finding.check and finding.detail for finding in findings)


@pytest.fixture
def mutant():
    """``mutant(run=..., plan=...)``: findings about DP-GD with another run or plan function."""

    def check(run=HONEST.run_function, plan=HONEST.plan_function, problem="ridge_logistic", **options):
        entry = replace(HONEST, id="mine.mutant", run_function=run, plan_function=plan)
        ALGORITHMS.add("mine.mutant", entry, __name__)
        return check_algorithm(entry, problem, d=3, steps=4, **options)

    return check


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"lipschitz": 0.5}, "lipschitz = 0.5, and a drawn record has"),
        ({"smoothness": 0.1}, "smoothness = 0.1, and a drawn record has"),
        ({"gradient_range": 0.5}, "gradient_range = 0.5, and a drawn record has"),
        ({"loss_range": 0.5}, "loss_range = 0.5, and a drawn record has"),
        ({"strong_convexity": 3.0}, "strong_convexity = 3, and between two points it is"),
    ],
    ids=lambda declared: next(iter(declared)) if isinstance(declared, dict) else "",
)
def test_constants_that_drawn_records_exceed_are_named(declared, said):
    """Whatever the search for neighbours finds: it may put in records of the shipped kind."""
    own = type("Own", (problem_class("ridge_logistic"),), {"name": "mine_understated"})
    own.own_constants = property(lambda self: replace(super(own, self).own_constants, **declared))
    PROBLEMS.add("mine_understated", own, __name__)
    findings = check_algorithm("wang2017.output_perturbation_zhang17", "mine_understated", d=3)
    assert CONSTANTS in failed(findings) and findings[CONSTANTS].detail.startswith(said)


def test_the_least_growth_between_two_points_is_that_of_the_objective():
    cell = make_audit_cell("wang2017.dp_gd_pl", "ridge_logistic", {"n": 24, "d": 3})
    subject = subject_of(cell, calibrate_cell(cell, "accounted", 1), 1)
    ((name, declared, least),) = _curved(subject)
    objective, points = subject.objective(replicates=1), points_of(subject)
    gradients = [objective.mean_gradient(x[None]) + objective.regulariser_gradient(x[None]) for x in points]
    pairs = combinations(zip(points, np.concatenate(gradients), strict=True), 2)
    own = min(float((g - h) @ (x - y) / ((x - y) @ (x - y))) for (x, g), (y, h) in pairs)
    assert name == "strong_convexity" and least == pytest.approx(own, rel=1e-9)
    assert declared <= least and exceeded(subject) == ""


def test_a_gauge_convexity_that_losses_have_not_is_named():
    own = type("Own", (problem_class("logistic_glm"),), {"name": "mine_curved"})
    own.own_constants = property(lambda self: replace(super(own, self).own_constants, gauge_convexity=50.0))
    PROBLEMS.add("mine_curved", own, __name__)
    finding = check_algorithm("su2023.app_objp_sc", "mine_curved", d=3, domain="l2_ball")[CONSTANTS]
    assert finding.passed is False and finding.detail.startswith("gauge_convexity = 50, and between two points it is")


def test_a_domain_on_which_nothing_is_projected_is_no_traceback():
    findings = check_algorithm("bassily2021.poly_sfw", "cube_vertices", d=6)
    assert findings[CLASS].passed is findings[CONSTANTS].passed is None and not failed(findings)


def after(change):
    """The honest run, and something after it."""

    def run(objective, plan, mechanism):
        return change(HONEST.run_function(objective, plan, mechanism), objective, mechanism)

    return run


def replanned(**changes):
    """The honest plan with its query changed."""

    def plan(given, *, steps: int | None = None):
        made = HONEST.plan_function(given, steps=steps)
        (query,) = made.queries
        new = {key: value(getattr(query, key)) for key, value in changes.items()}
        return replace(made, queries=(replace(query, **new),))

    return plan


def peek(x, objective, mechanism):
    return x - 0.1 * objective.problem.mean_gradient(x, objective.data)


def test_the_unchanged_mutant_passes(mutant):
    assert not failed(mutant())


def test_a_peek_at_the_data(mutant):
    assert failed(mutant(after(peek))) == {POST, LAST}


@pytest.mark.parametrize("position", [0, 1, 7, 12, 23])
def test_a_peek_at_one_record_wherever_it_stands(mutant, position):
    def look(x, objective, mechanism):
        return x + 1e-3 * objective.data.labels[position] * objective.data.features[position, :]

    assert POST in failed(mutant(after(look)))


def test_an_understated_sensitivity(mutant):
    assert SENSITIVITY in failed(mutant(plan=replanned(sensitivity=lambda s: 0.5 * s), problem="canary_huber"))


def test_fewer_releases_than_declared(mutant):
    assert failed(mutant(plan=replanned(releases=lambda r: r + 1))) == {COUNTS, LAST}


def test_more_releases_than_declared(mutant):
    findings = mutant(plan=replanned(releases=lambda r: r - 1))
    assert COUNTS in failed(findings) and "release of gradient = 3" in findings[COUNTS].detail


def test_gradients_that_are_not_planned(mutant):
    assert failed(mutant(after(lambda x, objective, _: x + 0 * objective.mean_gradient(x)))) == {EVALUATIONS}


def test_randomness_of_ones_own(mutant):
    rng = np.random.default_rng(0)
    assert RANDOMNESS in failed(mutant(after(lambda x, objective, _: x + rng.standard_normal(x.shape))))


def averaged(objective, plan, mechanism, momentum=0.0):
    """The mean of the iterates; with momentum the last one."""
    x = before = objective.start
    total = 0.0 * x
    for t in range(plan.steps):
        gradient = mechanism.release("gradient", objective.mean_gradient(x), t) + objective.regulariser_gradient(x)
        x, before = x - plan.step * gradient + momentum * (x - before), x
        total = total + x
    return x if momentum else total / plan.steps


def stale(objective, plan, mechanism):
    """The last step's gradient is that of the start, so that this step contracts nothing."""
    x = objective.start
    for t in range(plan.steps):
        at = x if t + 1 < plan.steps else objective.start
        gradient = mechanism.release("gradient", objective.mean_gradient(at), t) + objective.regulariser_gradient(at)
        x = x - plan.step * gradient
    return x


def test_an_output_that_is_no_last_iterate_of_plain_steps(mutant):
    """All are private as their sequences say, and not as a last iterate of such steps is."""
    assert failed(mutant(run=averaged)) == failed(mutant(run=stale)) == {LAST}
    assert failed(mutant(run=partial(averaged, momentum=0.5))) == {LAST}


def test_replicates_that_see_each_other(mutant):
    assert REPLICATES in failed(mutant(after(lambda x, objective, _: x - x.mean(axis=0))))


def test_outputs_of_another_shape_or_not_finite(mutant):
    assert OUTPUT in failed(mutant(after(lambda x, objective, _: x[:, :2])))
    assert OUTPUT in failed(mutant(after(lambda x, objective, _: np.full_like(x, np.nan))))


def test_dependence_on_the_order(mutant):
    def first_record(x, objective, mechanism):
        return x + objective.data.features[0]

    assert {ORDER, POST} <= failed(mutant(after(first_record)))


@pytest.mark.parametrize("problem", ["diag_quadratic", "rank8_least_squares"])
def test_what_cannot_be_tried_is_said(problem):
    findings = check_algorithm("wang2017.dp_gd_pl", problem, steps=3)
    assert findings[SENSITIVITY].passed is findings[POST].passed is None
    assert "equal" in findings[POST].detail or "nominal" in findings[POST].detail


def test_wrong_input():
    with pytest.raises(InputError, match="^calibration = 'none': must be paper or accounted"):
        check_algorithm("wang2017.dp_gd_pl", calibration="none")
    with pytest.raises(InputError, match="^stepz = 3: must be a known key"):
        check_algorithm("wang2017.dp_gd_pl", stepz=3)
    with pytest.raises(Refusal, match="strongly convex"):
        check_algorithm("wang2017.dp_svrg", "rank8_least_squares")


def test_an_algorithm_without_a_run(mutant):
    with pytest.raises(InputError, match="@plan.run"):
        mutant(run=None)


def test_the_verb(capsys):
    assert main(["check", "wang2017.dp_gd_pl", "steps=3", "d=3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100 and sum(line.startswith("ok ") for line in lines) == 13
    assert any(line.startswith("-  ") and "called upper" in line for line in lines)
    assert main(["check", "wang2017.dp_gd_pl", "steps=3", "problem=diag_quadratic", "--json"]) == 0
    assert [f["passed"] for f in json.loads(capsys.readouterr().out)].count(None) == 6
