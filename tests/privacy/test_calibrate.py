"""Noise that meets a claim, and the status of what was charged."""

import math
from dataclasses import replace
from itertools import product

import pytest

from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon, gdp_mu
from dpsco_bench.privacy.add_remove import add_remove
from dpsco_bench.privacy.calibrate import calibrate, charge, charging_modules, released
from dpsco_bench.privacy.composition.shifts import charge_output
from dpsco_bench.privacy.fingerprint import PlanRecord
from dpsco_bench.privacy.ledger import KINDS, SEVERITY, draw_statement, privacy_status
from dpsco_bench.privacy.plan import GaussianQuery, LastIterate, PrivacySpec, make_plan
from dpsco_bench.privacy.records import Poisson, SingleIndex

PRIVACY = PrivacySpec(1.0, 1e-5)


def plan_of(*queries, **keywords):
    return make_plan(*queries, gradient_evaluations=1, n=100, **keywords)


FULL = plan_of(GaussianQuery("gradient", 0.2, 25, paper_scale=1.0))
SHARED = plan_of(GaussianQuery("anchor", 0.2, 3, share=0.3), GaussianQuery("rest", 0.7, 11))
MIXED = plan_of(GaussianQuery("anchor", 0.02, 2, share=0.3), GaussianQuery("inner", 0.4, 20, Poisson(0.1)))
SINGLE = plan_of(GaussianQuery("inner", 4.0, 50, SingleIndex(100), paper_scale=1.0))


def test_full_data_queries_compose_as_one_gaussian():
    """sigma = sensitivity sqrt(T)/mu, and charging it again gives the claim."""
    result = calibrate(FULL, PRIVACY, "accounted")
    assert result.scales["gradient"] == pytest.approx(0.2 * 5 / gdp_mu(1.0, 1e-5), rel=1e-12)
    assert result.charge.kind == "exact"
    assert result.charge.epsilon == pytest.approx(1.0, rel=1e-6)
    assert result.privacy_status == "proven"


def test_shares_split_the_squared_budget():
    result, mu = calibrate(SHARED, PRIVACY, "accounted"), gdp_mu(1.0, 1e-5)
    parts = {q.name: q.releases * (q.sensitivity / result.scales[q.name]) ** 2 for q in SHARED.queries}
    assert parts["anchor"] == pytest.approx(0.3 * mu**2) and parts["rest"] == pytest.approx(0.7 * mu**2)
    assert result.charge.epsilon == pytest.approx(1.0, rel=1e-6)


def test_a_sampled_query_takes_what_the_shares_leave():
    result, mu = calibrate(MIXED, PRIVACY, "accounted"), gdp_mu(1.0, 1e-5)
    assert result.scales["anchor"] == pytest.approx(0.02 * math.sqrt(2) / (mu * math.sqrt(0.3)))
    assert result.charge.kind == "upper" and result.privacy_status == "proven"
    assert 0.97 < result.charge.epsilon <= 1.0 + 1e-9
    # It is the least such noise: a little less would exceed the claim.
    less = {**result.scales, "inner": 0.95 * result.scales["inner"]}
    assert charge(MIXED, less, 1e-5).epsilon > 1.0


@pytest.mark.parametrize("rate", [0.999999, 1.0])
def test_a_rate_near_one_is_the_full_query(rate):
    """Convention check: a Poisson sum at q = 1 changes by the sensitivity, twice one record's contribution."""
    sampled = plan_of(GaussianQuery("inner", 0.4, 5, Poisson(rate)))
    epsilon = charge(sampled, {"inner": 2.0}, 1e-5).epsilon
    assert epsilon == pytest.approx(gdp_epsilon(math.sqrt(5) * 0.4 / 2.0, 1e-5), rel=5e-3)


def test_single_indices_have_a_profile_that_holds_whatever_the_others_contribute():
    result = calibrate(SINGLE, PRIVACY, "accounted")
    assert result.charge.kind == "upper" and result.privacy_status == "proven"
    assert 0.97 < result.charge.epsilon <= 1.0
    assert charge(SINGLE, {"inner": 0.95 * result.scales["inner"]}, 1e-5).epsilon > 1.0
    alone = {"inner": 2.0 * result.scales["inner"], "gradient": 2.0 * FULL.queries[0].sensitivity}
    single, full, both = (
        charge(plan_of(*queries), alone, 1e-5).epsilon
        for queries in (SINGLE.queries[:1], FULL.queries[:1], SINGLE.queries[:1] + FULL.queries[:1])
    )
    assert max(single, full) < both < single + full


def test_single_indices_with_a_leak_are_charged_from_below_only():
    inner = GaussianQuery("inner", 4.0, 50, SingleIndex(100), paper_scale=1.0)
    leaky = plan_of(inner, leaks=("v is used",))
    result = calibrate(leaky, PRIVACY, "paper")
    assert result.charge.kind == "lower" and result.privacy_status == "unproven"
    assert result.charge.epsilon <= charge(plan_of(inner), result.scales, 1e-5).epsilon
    quiet = charge(leaky, {"inner": 1e3}, 1e-5)
    assert quiet.kind == "lower" and quiet.epsilon < 1
    with pytest.raises(Refusal, match="^calibration accounted refused: .*v is used"):
        calibrate(leaky, PRIVACY, "accounted")


def test_what_cannot_be_shared_out_is_refused():
    unshared = plan_of(GaussianQuery("a", 1.0, 1), GaussianQuery("b", 1.0, 1))
    with pytest.raises(InputError, match="^share of .* and .* is missing"):
        calibrate(unshared, PRIVACY, "accounted")
    two = plan_of(GaussianQuery("a", 1.0, 1, Poisson(0.5)), GaussianQuery("b", 1.0, 1, SingleIndex(9)))
    with pytest.raises(Refusal, match="several sampled queries"):
        charge(two, {"a": 1.0, "b": 1.0}, 1e-5)


def test_no_noise_is_infinite_epsilon():
    for plan in (FULL, MIXED, SINGLE):
        result = calibrate(plan, PRIVACY, "none")
        assert set(result.scales.values()) == {0.0} and result.charge.epsilon == math.inf
        assert result.privacy_status == "none"


def test_two_sampled_queries_have_one_multiplier():
    two = plan_of(GaussianQuery("a", 4.0, 20, Poisson(0.05)), GaussianQuery("b", 2.0, 30, Poisson(0.2)))
    made = calibrate(two, PRIVACY, "accounted")
    assert made.scales["a"] == pytest.approx(2 * made.scales["b"]) and made.of == "sequence"
    assert 0.99 < made.charge.epsilon <= 1.0 and (made.charge.kind, made.privacy_status) == ("upper", "proven")
    with pytest.raises(InputError, match="^share of b"):
        calibrate(plan_of(two.queries[0], replace(two.queries[1], share=0.5)), PRIVACY, "accounted")


def test_add_remove_neighbours():
    scales = {"gradient": 1.0}
    assert add_remove(FULL, scales, 1e-5).epsilon == pytest.approx(gdp_epsilon(math.sqrt(25) * 0.1, 1e-5))
    mixed = {"anchor": 0.1, "inner": 1.0}
    assert 0 < add_remove(MIXED, mixed, 1e-5).epsilon < charge(MIXED, mixed, 1e-5).epsilon
    assert math.isnan(add_remove(SINGLE, {"inner": 1.0}, 1e-5).epsilon)
    assert add_remove(FULL, {"gradient": 0.0}, 1e-5).epsilon == math.inf


BELOW, AT, ABOVE, UNKNOWN, INFINITE = 0.9, 1.0, 1.1, math.nan, math.inf
TRUTH = {
    ("upper", BELOW): "proven",
    ("upper", AT): "proven",
    ("upper", ABOVE): "unproven",  # an upper bound above the claim refutes nothing
    ("upper", INFINITE): "unproven",
    ("upper", UNKNOWN): "unproven",
    ("exact", BELOW): "proven",
    ("exact", AT): "proven",
    ("exact", ABOVE): "exceeds_claim",
    ("exact", INFINITE): "exceeds_claim",
    ("exact", UNKNOWN): "unproven",
    ("lower", BELOW): "unproven",  # a lower bound proves nothing
    ("lower", AT): "unproven",
    ("lower", ABOVE): "exceeds_claim",
    ("lower", INFINITE): "exceeds_claim",
    ("lower", UNKNOWN): "unproven",
}


@pytest.mark.parametrize(("kind", "epsilon"), TRUTH)
@pytest.mark.parametrize("calibration", ["paper", "accounted"])
def test_truth_table(kind, epsilon, calibration):
    assert privacy_status(kind, epsilon, 1.0, "global", calibration) == TRUTH[kind, epsilon]


@pytest.mark.parametrize(("kind", "epsilon"), TRUTH)
def test_nominal_constants_unproven_samplers_and_runs_without_noise(kind, epsilon):
    assert privacy_status(kind, epsilon, 1.0, "nominal", "paper") == "unproven"
    assert privacy_status(kind, epsilon, 1.0, "global", "paper", sampler_status="target_law_only") == "target_law_only"
    assert {privacy_status(kind, epsilon, 1.0, constants, "none") for constants in ("global", "nominal")} == {"none"}


def test_the_table_is_complete():
    assert {kind for kind, _ in TRUTH} == set(KINDS)
    assert set(TRUTH.values()) | {"none", "target_law_only"} == set(SEVERITY)


def test_rounding_of_the_solver_is_no_violation():
    assert privacy_status("exact", 1.0 + 1e-12, 1.0, "global", "accounted") == "proven"
    assert privacy_status("exact", 1.0 + 1e-6, 1.0, "global", "accounted") == "exceeds_claim"


def iterate():
    return plan_of(GaussianQuery("g", 0.2, 5, paper_scale=0.01), last_iterate=LastIterate(0.5, 2.0, 0.5))


@pytest.mark.parametrize(("attained", "curvature"), [*product((True, False), repeat=2)])
def test_exact_values_rest_on_records_that_attain_them_and_outputs_on_the_curvature(attained, curvature):
    loud = plan_of(GaussianQuery("g", 0.2, 1, paper_scale=0.01))
    one = calibrate(loud, PRIVACY, "paper", "global", attained, curvature)
    assert (one.charge.kind, one.privacy_status) == (("exact", "exceeds_claim") if attained else ("upper", "unproven"))
    assert math.isnan(one.epsilons["epsilon_output"]) and one.epsilons["epsilon_sequence"] == one.charge.epsilon
    last = calibrate(iterate(), PRIVACY, "paper", "global", attained, curvature)
    assert (last.charge.kind == "exact") == attained and (last.output.kind == "exact") == (attained and curvature)
    assert calibrate(iterate(), PRIVACY, "paper").output.kind == "exact"
    for scale in (0.0, 1e9):  # all and nothing, whatever the records are
        plan = plan_of(GaussianQuery("g", 0.2, 1, paper_scale=scale))
        assert calibrate(plan, PRIVACY, "paper", attained=attained).charge.kind == "exact"
    half = charge_output(iterate(), {"g": 0.02}, 1e-5).epsilon
    assert add_remove(iterate(), last.scales, 1e-5).epsilon == pytest.approx(half)
    assert last.epsilons["epsilon_real"] == last.output.epsilon < last.epsilons["epsilon_sequence"]


def test_what_an_epsilon_is_of_and_who_charges_it():
    one = plan_of(GaussianQuery("g", 0.2, 1))
    cases = [(one, "release", ["shifts"]), (FULL, "sequence", ["shifts"]), (iterate(), "output", ["shifts"])]
    for plan, of, named in (*cases, (SINGLE, "sequence", ["sampled", "refutation"])):
        modules = [name.rpartition(".")[2] for name in charging_modules(plan, "paper")]
        assert (released(plan), modules) == (of, named)
    assert released(plan_of()) == "release" and charge(plan_of(), {}, 1e-5).epsilon == 0.0
    bare = replace(one, unprotected="the step")
    assert released(bare) == "output" and charge(bare, {"g": 1.0}, 1e-5).epsilon == math.inf
    assert released(replace(iterate(), leaks=("the step",))) == "sequence"
    assert charging_modules(one, "none") == [] and len(charging_modules(None, "paper")) == 3


@pytest.mark.parametrize("shares", [(0.5, 0.5, None), (0.5, 0.6, None), (0.5, 0.3, 0.1), (None, None, 0.5)])
def test_shares_leave_something_to_one_query(shares):
    plan = plan_of(*(GaussianQuery(name, 1.0, 1, share=share) for name, share in zip("abc", shares, strict=True)))
    with pytest.raises(InputError, match="^share of "):
        calibrate(plan, PRIVACY, "accounted")


DIFFERENCES = [
    (0.5, 0.5 * (1 + 1e-13), None), (0.5, 0.5 * (1 + 1e-11), "x of schedule"), (math.nan, math.nan, None),
    (math.nan, 0.0, "x of schedule"), (True, 1, "x of schedule"), ("a", "a", None), ("a", "b", "x of schedule"),
    ([1, 2], [1, 3], "1 of x of schedule"), ([1], [1, 2], "1 of x of schedule"), ({"a": 1}, {}, "a of x of schedule"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "place"), DIFFERENCES)
def test_where_two_plans_differ(one, other, place):
    first, second = (PlanRecord.of(plan_of(*SHARED.queries, x=value)) for value in (one, other))
    assert (first.difference(second) or [None])[0] == (second.difference(first) or [None])[0] == place
    louder = PlanRecord.of(plan_of(SHARED.queries[0], replace(SHARED.queries[1], sensitivity=0.8), x=one))
    assert first.difference(louder) == ("sensitivity of rest of queries", 0.7, 0.8)


def test_a_draw_is_never_said_to_be_private_without_a_proof():
    given = ("exact", 0.5, 0.5, 0.0), ("proven_tv", 0.5, 0.4, 1e-9), ("target_law_only", math.nan, 0.5, None)
    given += ("proven_tv", math.nan, 0.5, 1e-3), ("proven_tv", None, None, 1e-3)
    said, bare = [draw_statement(*each, 1e-6) for each in given], "(0.5, 1e-06)-DP"
    assert [line.startswith(bare) for line in said] == [True, True, False, False, False]
    assert [f"law is {bare}" in line for line in said] == [False, False, True, True, False]
    for nominal, kind in ((True, "upper"), (False, "lower")):
        line = draw_statement("exact", 0.7, 0.5, 0.0, 1e-6, nominal, kind)
        assert ("NOT proven" in line) == nominal and ("attain 0.7" in line) != nominal
