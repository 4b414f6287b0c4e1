"""A value above the claim is an instance's own only where two of its records attain it, and these are named."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench.analysis.record import read_record
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.request import make_cell
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.paths import shared_dir
from dpsco_bench.privacy import attained
from dpsco_bench.privacy.accountants import single_index
from dpsco_bench.privacy.attained import attaining_pair, attains, attains_curvature
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.compared import ALONG, OPPOSED, OPPOSED_TO_ALL, Compared, compared
from dpsco_bench.privacy.plan import Charge, GaussianQuery, LastIterate, make_plan
from dpsco_bench.privacy.queries import GeneralisedGaussianQuery
from dpsco_bench.privacy.records import Disjoint, Full, Poisson, SingleIndex, WithReplacement
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.registry import get_problem

from .plans import DELTA, PRIVACY

N = 64
CANARY = get_problem("canary_huber", 3)


def plan_of(records, distance=2.0):
    size = {Full: N, SingleIndex: 1, Poisson: N}.get(type(records)) or records.size
    query = GaussianQuery("gradient", distance / size, 200, records, paper_scale=0.05 * distance / size)
    return make_plan(query, gradient_evaluations=1, n=N)


SAMPLED = (SingleIndex(N), WithReplacement(population=N, size=4))


@pytest.mark.parametrize("records", SAMPLED, ids=lambda records: type(records).__name__)
def test_a_lower_bound_is_that_of_an_instance_with_opposed_records(records):
    plan = plan_of(records)
    charge = calibrate(plan, PRIVACY, "paper").charge
    assert charge.kind == "lower" and charge.epsilon > 1.0
    assert attains(CANARY, plan, N, charge) and not attains(CANARY, plan_of(records, 4.0), N, charge)
    assert not attains(get_problem("ridge_logistic", 3), plan, N, charge)


def test_a_bound_of_one_direction_asks_for_records_that_differ_in_it():
    axis, even = get_problem("canary_linear", 4), get_problem("cube_fixed", 4)
    charges = [Charge(9.0, "lower", "a test", pair=pair) for pair in ("any", "axis", "even", "computed", "")]
    for problem, direction, apart in ((axis, "axis", 2.0), (even, "even", 4.0 * even.scale)):
        found = [attains(problem, plan_of(SingleIndex(N), apart), N, charge) for charge in charges]
        assert found == [True, direction == "axis", direction == "even", True, False]


@pytest.mark.parametrize(("change", "told"), [((1.0, -1.0), "even"), ((1.0, 0.0), "axis"), ((1.0, 0.5), "")])
def test_a_direction_is_even_axis_or_neither(change, told):
    """Of two records whose gradients are ``+-change/2``: linear losses."""

    class Opposed:
        dimension = 2

        def batch_gradient(self, x, data, weights):
            return np.asarray(data.features)[:, 0]

    half = np.array(change) / 2
    assert attained._direction(Opposed(), Data(2, np.stack([half, -half]), None)) == told


def test_exact_values_rest_on_a_pair_that_all_queries_share():
    for kind in ("exact", "upper"):
        assert attains(CANARY, plan_of(Full()), N, Charge(9.0, kind, "a test")) is (kind == "exact")
    for records in (Full(), Disjoint(4)):
        assert np.shape(attaining_pair(CANARY, plan_of(records), N).features) == (2, 3)
    for records in (*SAMPLED, Poisson(0.1)):
        assert attaining_pair(CANARY, plan_of(records), N) is None
    # An exact value is that of two opposed records.
    assert named(Full())[2] == Compared(OPPOSED)
    assert named(Full(), get_problem("ridge_logistic", 3))[2] == Compared()
    for distance, found in ((2.0, True), (1.9, False)):
        block = GaussianQuery("block", distance / 4, 1, Disjoint(4))
        plan = make_plan(*plan_of(Full()).queries, block, gradient_evaluations=1, n=N)
        assert (attaining_pair(CANARY, plan, N) is not None) is found


def named(records, problem=CANARY):
    plan = plan_of(records)
    fixed = calibrate(plan, PRIVACY, "paper")
    return fixed.charge, fixed.scales, compared(problem, plan, N, fixed.charge, fixed.scales, DELTA)


@pytest.mark.parametrize("records", SAMPLED, ids=["one", "batch"])
def test_a_test_of_batches_says_how_often_the_record_is_drawn_and_how_far_it_moves(records):
    charge, scales, found = named(records)
    size, rate = (1, 1 / N) if isinstance(records, SingleIndex) else (4, 1 - (1 - 1 / N) ** 4)
    assert charge.kind == "lower" and found.records == OPPOSED_TO_ALL
    shift = 2.0 / size / scales["gradient"]
    assert f"{rate:.3g}" in found.effect and f"{shift:.3g}" in found.effect
    again = single_index.opposed_epsilon(shift, 200, rate, DELTA)
    assert charge.epsilon == pytest.approx(again)  # what is named is what was tested


SVRG = (single_index.REVERSED, single_index.VANISHING)
PAIRS = {"p": 2.0, "schedule": "erm", "sampler": "axis_exact", "accountant": "pairs"}


@pytest.mark.parametrize(
    ("algorithm", "problem", "options", "records"),
    [
        ("wang2017.dp_svrg", "ridge_logistic", {}, SVRG),
        ("wang2017.dp_svrg_pp", "logistic_plain", {}, SVRG),
        ("gopi2022.reg_exp_mech", "axis_linear", PAIRS, ("the worst pair of data sets of two points on an axis",)),
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


@pytest.mark.parametrize(("mu", "attained"), [(10.0 + 5e-6, True), (10.0 + 5e-5, False), (10.0 - 5e-5, False)])
def test_the_least_curvature_is_that_of_a_steady_slope_and_the_ridge(mu, attained):
    plan = replace(plan_of(Full()), last_iterate=LastIterate(0.05, 11.0, mu))
    assert attains_curvature(CANARY, plan, N) is attained
    assert not attains_curvature(get_problem("ridge_logistic", 3), plan, N)
    assert not attains_curvature(CANARY, plan_of(Full()), N)


@pytest.mark.parametrize(("records", "told"), [(Full(), "each of 9 releases"), (Disjoint(4), "the release")])
def test_a_test_of_generalised_noise_says_how_far_and_along_what(records, told):
    query = GeneralisedGaussianQuery("g", 0.2, 9, records, smooth=SmoothNorm(1.5, 4, "q"), paper_scale=0.02)
    plan = make_plan(query, gradient_evaluations=1, n=N)
    charge = calibrate(plan, PRIVACY, "paper").charge
    found = compared(CANARY, plan, N, charge, {"g": 0.02}, DELTA)
    assert charge.kind == "lower" and found.records == OPPOSED
    assert told in found.effect and "10 scales" in found.effect and found.effect.endswith(ALONG[charge.pair])
    assert compared(CANARY, plan, N, replace(charge, epsilon=1.01 * charge.epsilon), {"g": 0.02}, 1e-6) == Compared()
