"""What fails names the records that its epsilon compares: those that the accountant's own test compares, or none."""

import math
from dataclasses import replace

import pytest

from dpsco_bench.analysis.record import read_record
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.request import make_cell
from dpsco_bench.paths import shared_dir
from dpsco_bench.privacy.accountants import single_index
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.compared import OPPOSED, OPPOSED_TO_ALL, Compared, compared
from dpsco_bench.privacy.plan import Charge, PrivacySpec
from dpsco_bench.privacy.records import Full, SingleIndex, WithReplacement
from dpsco_bench.problems.registry import get_problem

from .test_attained import N, plan_of

SPEC = PrivacySpec(1.0, 1e-6)
CANARY = get_problem("canary_huber", 3)


def named(records, problem=CANARY, **plan_changes):
    plan = replace(plan_of(records), **plan_changes)
    fixed = calibrate(plan, SPEC, "paper")
    return fixed.charge, fixed.scales, compared(problem, plan, N, fixed.charge, fixed.scales, SPEC.delta)


def test_an_exact_value_is_that_of_two_opposed_records_of_the_problem():
    assert named(Full())[2] == Compared(OPPOSED)
    assert named(Full(), get_problem("ridge_logistic", 3))[2] == Compared()


@pytest.mark.parametrize("records", [SingleIndex(N), WithReplacement(population=N, size=4)], ids=["one", "batch"])
def test_a_test_of_batches_says_how_often_the_record_is_drawn_and_how_far_it_moves(records):
    charge, scales, found = named(records)
    size, rate = (1, 1 / N) if isinstance(records, SingleIndex) else (4, 1 - (1 - 1 / N) ** 4)
    assert charge.kind == "lower" and found.records == OPPOSED_TO_ALL
    shift = 2.0 / size / scales["gradient"]
    assert f"each of 200 releases draws it with probability {rate:.3g}" in found.effect
    assert f"{shift:.3g} standard deviations" in found.effect
    again = single_index.opposed_epsilon(shift, 200, rate, SPEC.delta)
    assert charge.epsilon == pytest.approx(again)  # what is named is what was tested


@pytest.mark.parametrize(
    ("algorithm", "problem", "options", "records"),
    [
        ("wang2017.dp_svrg", "ridge_logistic", {}, (single_index.REVERSED, single_index.VANISHING)),
        ("wang2017.dp_svrg_pp", "logistic_plain", {}, (single_index.REVERSED, single_index.VANISHING)),
        (
            "gopi2022.reg_exp_mech",
            "axis_linear",
            {"p": 2.0, "schedule": "erm", "sampler": "axis_exact", "accountant": "pairs"},
            ("the worst pair of data sets of two points on an axis",),
        ),
    ],
)
def test_what_is_charged_above_its_claim_is_named(algorithm, problem, options, records):
    cell = make_cell(algorithm, problem, {"n": 1001, "d": 10, "epsilon": 1.0, "delta": 1e-5, **options})
    charged = calibrate_cell(cell, "paper", 0)
    assert charged.epsilon_real > 1.0
    charge = Charge(charged.epsilon_real, charged.epsilon_real_kind, charged.accountant)
    found = compared(cell.problem_entry, charged.plan_for(cell), 1001, charge, charged.scales, 1e-5)
    assert found.records in records and found.effect


@pytest.mark.parametrize("profile", ["ci", "full"])
def test_every_recorded_failure_names_its_records_where_there_is_noise(profile):
    rows = read_record(shared_dir("workflows") / "recorded" / f"{profile}.json")
    failed = [row for row in rows if row.kind == "privacy" and row.word == "fails" and math.isfinite(row.epsilon_real)]
    assert len(failed) > 5 and all(row.noise.pair for row in failed if row.noise.epsilon_of != "output")
