"""Noise that meets a claim, plans of several kinds of queries, and the status of what was charged."""

import math
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.privacy.accountants.allocation import allocation_epsilon
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon, gdp_mu, varying_mu
from dpsco_bench.privacy.accountants.generalised import coordinate_epsilon, counting_epsilon, spread_epsilon
from dpsco_bench.privacy.accountants.zcdp import zcdp_epsilon
from dpsco_bench.privacy.add_remove import add_remove
from dpsco_bench.privacy.calibrate import calibrate, charge, charging_modules, released
from dpsco_bench.privacy.composition.refutation import chance, covers, deciding_test
from dpsco_bench.privacy.composition.sampled import generic_bound
from dpsco_bench.privacy.composition.shifts import charge_output, decaying_costs
from dpsco_bench.privacy.fingerprint import PlanRecord
from dpsco_bench.privacy.ledger import KINDS, SEVERITY, draw_statement, privacy_status
from dpsco_bench.privacy.plan import GammaObjectiveQuery, GaussianQuery, LastIterate, ObjectiveQuery
from dpsco_bench.privacy.queries import CoveringQuery, PerturbedObjectiveQuery
from dpsco_bench.privacy.records import Disjoint, Full, Poisson, SingleIndex, WithoutReplacement, WithReplacement
from dpsco_bench.privacy.records import RandomAllocation as Allocation

from .plans import DELTA, PLAIN, PRIVACY, SMOOTH, Halving, accounted, decaying, epsilon, generalised, plan_of, source

MU = gdp_mu(PRIVACY.epsilon, DELTA)
FULL = plan_of(GaussianQuery("gradient", 0.2, 25, paper_scale=1.0))
SHARED = plan_of(GaussianQuery("anchor", 0.2, 3, share=0.3), GaussianQuery("rest", 0.7, 11))
MIXED = plan_of(GaussianQuery("anchor", 0.02, 2, share=0.3), GaussianQuery("inner", 0.4, 20, Poisson(0.1)))
SINGLE = plan_of(GaussianQuery("inner", 4.0, 50, SingleIndex(100), paper_scale=1.0))
TWO = plan_of(GaussianQuery("a", 4.0, 20, Poisson(0.05)), GaussianQuery("b", 2.0, 30, Poisson(0.2)))
DISJOINT = GaussianQuery("a", 1.0, 5, Disjoint(10)), GaussianQuery("b", 3.0, 1, Disjoint(2))
ON_TOP = GaussianQuery("all", 1.0, 4, share=0.36), GaussianQuery("block", 1.0, 9, Disjoint(3))


class Stretched(GaussianQuery):
    norm_kappa = 4.0


def perturbed(loss_class, closed_form=False, cover=True):
    keys = {"log_jacobian": 0.2, "loss_class": loss_class, "dimension": 9, "closed_form": closed_form}
    linear = PerturbedObjectiveQuery("linear", 2.0, 1, **keys)
    return plan_of(linear, *[CoveringQuery("cover", 0.01, 1)] * cover)


@pytest.mark.parametrize(
    ("plan", "kind", "scales"),
    [
        (FULL, "exact", {"gradient": 0.2 * 5}),
        (SHARED, "exact", {"anchor": 0.2 * math.sqrt(3 / 0.3), "rest": 0.7 * math.sqrt(11 / 0.7)}),
        (plan_of(*DISJOINT), "exact", {"a": 1.0, "b": 3.0}),  # the dearest block alone
        (plan_of(*ON_TOP), "exact", {"all": 2.0 / 0.6, "block": 1.0 / 0.8}),
        (perturbed("linear"), "upper", {"linear": 2.0 / math.sqrt(0.99), "cover": 0.01 / 0.1}),  # no Jacobian
        *((plan_of(decaying(later=later)), "upper", {}) for later in (0.01, 3.0)),
        (plan_of(Halving("g", 1.0, 3)), "exact", {"g": math.sqrt(21)}),
    ],
)
def test_accounted_noise_gives_the_claim(plan, kind, scales):
    """With the scales that are written out, in units of 1/mu."""
    found = accounted(plan)
    assert found.charge.epsilon == pytest.approx(1.0, rel=1e-6)
    assert (found.charge.kind, found.privacy_status) == (kind, "proven")
    assert not scales or found.scales == pytest.approx({name: scale / MU for name, scale in scales.items()})


@pytest.mark.parametrize("query", [ObjectiveQuery, GammaObjectiveQuery])
def test_repeated_minimisers_share_the_claim(query):
    found = accounted(plan_of(query("b", 2.0, 3, log_jacobian=0.1)))
    assert found.charge.epsilon == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize(("plan", "name"), [(MIXED, "inner"), (SINGLE, "inner"), (TWO, "b")])
def test_the_noise_of_sampled_queries_is_the_least(plan, name):
    found = accounted(plan)
    assert (found.charge.kind, found.privacy_status) == ("upper", "proven")
    assert 0.97 < found.charge.epsilon <= 1.0 + 1e-9
    assert epsilon(plan, {**found.scales, name: 0.95 * found.scales[name]}) > 1.0
    if plan is MIXED:  # it takes what the shares leave
        assert found.scales["anchor"] == pytest.approx(0.02 * math.sqrt(2) / (MU * math.sqrt(0.3)))
    if plan is TWO:  # of one multiplier
        assert found.scales["a"] == pytest.approx(2 * found.scales["b"]) and found.of == "sequence"


WIDE = SmoothNorm(1.05, 20, "two_ln_d")
KAPPA = 2 * math.log(20) * 20 ** (2 / (2 * math.log(20) + 1) - 2 / 21.0)
"""``(r - 1) d^(2/r - 2/q)``, which is larger than r - 1 unless r = q."""


@pytest.mark.parametrize(
    ("queries", "scales", "mu", "kind"),
    [
        (DISJOINT, {"a": 1.0, "b": 10.0}, 1.0, "exact"),
        (ON_TOP, {"all": 1.0, "block": 0.5}, math.sqrt(4 + 4), "exact"),
        ([generalised(releases=7), GaussianQuery("n", 0.3, 2)], {"g": 2.0, "n": 3.0}, math.sqrt(0.16), "upper"),
        ([generalised(smooth=WIDE, releases=5)], {"g": 2.0}, math.sqrt(5 * KAPPA) * 0.1, "upper"),
        ([generalised(smooth=WIDE, releases=5, draws=3)], {"g": 2.0}, math.sqrt(15 * KAPPA) * 0.1, "upper"),
        ([Halving("g", 1.0, 3)], {"g": 2.0}, math.sqrt(21 / 4), "exact"),
        ([Halving("g", 1.0, 3, Disjoint(2))], {"g": 2.0}, 2.0, "exact"),
    ],
)
def test_queries_compose_as_gaussians_do(queries, scales, mu, kind):
    found = charge(plan_of(*queries), scales, DELTA)
    assert found.epsilon == pytest.approx(gdp_epsilon(mu, DELTA), rel=1e-9) and found.kind == kind
    assert 1.5 * WIDE.kappa_plus < KAPPA


@pytest.mark.parametrize("rate", [0.999999, 1.0])
def test_a_rate_near_one_is_the_full_query(rate):
    """Convention check: a Poisson sum at q = 1 changes by the sensitivity, twice one record's contribution."""
    sampled = plan_of(GaussianQuery("inner", 0.4, 5, Poisson(rate)))
    epsilon = charge(sampled, {"inner": 2.0}, 1e-5).epsilon
    assert epsilon == pytest.approx(gdp_epsilon(math.sqrt(5) * 0.4 / 2.0, 1e-5), rel=5e-3)


def test_a_query_on_all_records_joins_a_sampled_one():
    """A block is such a query, too: a record may be in one block and in every Poisson batch."""
    single, full = SINGLE.queries, FULL.queries
    scales = {"inner": 2.0 * accounted(SINGLE).scales["inner"], "gradient": 0.4}
    one, other, both = (epsilon(plan_of(*queries), scales) for queries in (single, full, single + full))
    assert max(one, other) < both < one + other
    sampled, scales = GaussianQuery("sum", 0.4, 20, Poisson(0.1)), {"a": 4.0, "sum": 1.0}
    first = GaussianQuery("a", 1.0, 5, Disjoint(10), share=0.3), GaussianQuery("a", 1.0, 1, share=0.3)
    assert len({epsilon(plan_of(query, sampled), scales) for query in first}) == 1


@pytest.mark.parametrize("plan", [MIXED, SINGLE, TWO], ids=["with a full one", "one index", "two rates"])
def test_sampled_noise_that_feels_a_shift_twice_is_charged_as_half_of_it(plan):
    own = {q.name: q.releases + 1.0 for q in plan.queries}
    stretched = plan_of(*(Stretched(q.name, q.sensitivity, q.releases, q.records, share=q.share) for q in plan.queries))
    assert epsilon(stretched, own) == pytest.approx(epsilon(plan, {name: 0.5 * own[name] for name in own}), rel=1e-9)


def test_leaks_are_charged_from_below_only():
    leaky = plan_of(*SINGLE.queries, leaks=("v is used",))
    result, quiet = calibrate(leaky, PRIVACY, "paper"), charge(leaky, {"inner": 1e3}, DELTA)
    assert (result.charge.kind, result.privacy_status, quiet.kind) == ("lower", "unproven", "lower")
    assert quiet.epsilon < 1 and result.charge.epsilon <= epsilon(SINGLE, result.scales)
    with pytest.raises(Refusal, match="^calibration accounted refused: .*v is used"):
        accounted(leaky)
    query, scales = generalised(releases=9), {"g": 0.5}
    leaking, whole = (charge(plan_of(query, leaks=leaks), scales, DELTA) for leaks in (("the step",), ()))
    assert leaking.kind == "lower" and 0 < leaking.epsilon < whole.epsilon
    assert epsilon(plan_of(decaying(), leaks=("so does this",)), {"v": 1.0}) == 0.0


def shared(*shares):
    return plan_of(*(GaussianQuery(name, 1.0, 1, share=share) for name, share in zip("abc", shares, strict=False)))


@pytest.mark.parametrize(
    ("plan", "match"),
    [
        (shared(None, None), "^share of .* and .* is missing"),
        *((shared(*shares), "^share of ") for shares in ((0.5, 0.5, None), (0.5, 0.6, None), (0.5, 0.3, 0.1))),
        (shared(None, None, 0.5), "^share of "),
        (plan_of(TWO.queries[0], replace(TWO.queries[1], share=0.5)), "^share of b"),
    ],
)
def test_what_cannot_be_shared_out_is_refused(plan, match):
    with pytest.raises(InputError, match=match):
        accounted(plan)


@pytest.mark.parametrize(
    ("queries", "match"),
    [
        ([TWO.queries[0], SINGLE.queries[0]], "several sampled queries"),
        ([Halving("g", 1.0, 3, Poisson(0.1))], "sampled queries whose noise changes"),
        ([generalised(records=WithReplacement(100, 10)), ON_TOP[0]], "on drawn batches"),
        ([generalised(records=WithoutReplacement(100, 10)), ON_TOP[0]], "on drawn batches"),
        ([*perturbed("linear").queries, ON_TOP[0]], "no accountant here composes"),
    ],
)
def test_what_does_not_compose_is_refused(queries, match):
    with pytest.raises(Refusal, match=match):
        epsilon(plan_of(*queries), {query.name: 1.0 for query in queries})


def test_no_noise_is_infinite_epsilon():
    for plan in (FULL, MIXED, SINGLE):
        result = calibrate(plan, PRIVACY, "none")
        assert set(result.scales.values()) == {0.0} and result.charge.epsilon == math.inf
        assert result.privacy_status == "none"


def test_a_record_that_is_there_or_not_is_charged_its_contribution():
    """Half of the shift, but where a record alone moves the answer as far as an exchange of two."""

    class Lone(GaussianQuery):
        contribution = property(lambda self: self.sensitivity)

    def apart(plan, scales):
        return add_remove(plan, scales, DELTA)

    assert apart(FULL, {"gradient": 1.0}).epsilon == pytest.approx(gdp_epsilon(math.sqrt(25) * 0.1, DELTA))
    assert apart(FULL, {"gradient": 0.0}).epsilon == math.inf and apart(plan_of(), {}).epsilon == 0.0
    lone, scales = plan_of(Lone("g", 0.2, 3)), {"anchor": 0.1, "inner": 1.0, "g": 0.5, "v": 1.0}
    assert apart(lone, scales).epsilon == epsilon(lone, scales)
    assert 0 < apart(MIXED, scales).epsilon < epsilon(MIXED, scales)
    for smooth, kind in ((PLAIN, "exact"), (SMOOTH, "upper")):
        found = apart(plan_of(generalised(smooth=smooth)), scales)
        assert found.epsilon == gdp_epsilon(0.2 * math.sqrt(smooth.kappa), DELTA) and found.kind == kind
    sampled = [GaussianQuery("g", 0.2, 3, r) for r in (WithReplacement(9, 3), WithoutReplacement(9, 3), SingleIndex(9))]
    for plan in (*map(plan_of, (*sampled, decaying())), plan_of(sampled[0], leaks=("a step",)), SINGLE):
        found = apart(plan, scales)
        assert math.isnan(found.epsilon) and found.reason


WORDS = {
    "upper": "proven proven unproven unproven unproven",  # above the claim it refutes nothing
    "exact": "proven proven exceeds_claim exceeds_claim unproven",
    "lower": "unproven unproven exceeds_claim exceeds_claim unproven",  # below the claim it proves nothing
}
"""Below the claim of 1, at it, above it, infinite and unknown."""
EPSILONS = (0.9, 1.0, 1.1, math.inf, math.nan)
TRUTH = {(kind, e): word for kind, words in WORDS.items() for e, word in zip(EPSILONS, words.split(), strict=True)}


@pytest.mark.parametrize(("kind", "epsilon"), TRUTH)
def test_truth_table(kind, epsilon):
    status = partial(privacy_status, kind, epsilon, 1.0)
    assert {status("global", calibration) for calibration in ("paper", "accounted")} == {TRUTH[kind, epsilon]}
    assert status("nominal", "paper") == "unproven"
    assert status("global", "paper", sampler_status="target_law_only") == "target_law_only"
    assert {status(constants, "none") for constants in ("global", "nominal")} == {"none"}


def test_the_table_is_complete_and_rounding_of_the_solver_no_violation():
    assert WORDS.keys() == set(KINDS) and set(TRUTH.values()) | {"none", "target_law_only"} == set(SEVERITY)
    found = [privacy_status("exact", 1.0 + more, 1.0, "global", "accounted") for more in (1e-12, 1e-6)]
    assert found == ["proven", "exceeds_claim"]


ITERATE = plan_of(GaussianQuery("g", 0.2, 5, paper_scale=0.01), last_iterate=LastIterate(0.5, 2.0, 0.5))


@pytest.mark.parametrize(("attained", "curvature"), [*product((True, False), repeat=2)])
def test_exact_values_rest_on_records_that_attain_them_and_outputs_on_the_curvature(attained, curvature):
    loud = plan_of(GaussianQuery("g", 0.2, 1, paper_scale=0.01))
    one = calibrate(loud, PRIVACY, "paper", "global", attained, curvature)
    assert (one.charge.kind, one.privacy_status) == (("exact", "exceeds_claim") if attained else ("upper", "unproven"))
    assert math.isnan(one.epsilons["epsilon_output"]) and one.epsilons["epsilon_sequence"] == one.charge.epsilon
    last = calibrate(ITERATE, PRIVACY, "paper", "global", attained, curvature)
    assert (last.charge.kind == "exact") == attained and (last.output.kind == "exact") == (attained and curvature)
    assert calibrate(ITERATE, PRIVACY, "paper").output.kind == "exact"
    for scale in (0.0, 1e9):  # all and nothing, whatever the records are
        plan = plan_of(GaussianQuery("g", 0.2, 1, paper_scale=scale))
        assert calibrate(plan, PRIVACY, "paper", attained=attained).charge.kind == "exact"
    half = charge_output(ITERATE, {"g": 0.02}, 1e-5).epsilon
    assert add_remove(ITERATE, last.scales, 1e-5).epsilon == pytest.approx(half)
    assert last.epsilons["epsilon_real"] == last.output.epsilon < last.epsilons["epsilon_sequence"]


def test_what_an_epsilon_is_of_and_who_charges_it():
    one = plan_of(GaussianQuery("g", 0.2, 1))
    cases = [(one, "release", ["shifts"]), (FULL, "sequence", ["shifts"]), (ITERATE, "output", ["shifts"])]
    for plan, of, named in (*cases, (SINGLE, "sequence", ["sampled", "refutation"])):
        modules = [name.rpartition(".")[2] for name in charging_modules(plan, "paper")]
        assert (released(plan), modules) == (of, named)
    assert released(plan_of()) == "release" and charge(plan_of(), {}, 1e-5).epsilon == 0.0
    bare = replace(one, unprotected="the step")
    assert released(bare) == "output" and charge(bare, {"g": 1.0}, 1e-5).epsilon == math.inf
    assert released(replace(ITERATE, leaks=("the step",))) == "sequence"
    assert charging_modules(one, "none") == [] and len(charging_modules(None, "paper")) == 3


DIFFERENCES = [
    (0.5, 0.5 * (1 + 1e-13), None), (0.5, 0.5 * (1 + 1e-11), "x of schedule"), (math.nan, math.nan, None),
    (math.nan, 0.0, "x of schedule"), (True, 1, "x of schedule"), ("a", "a", None), ("a", "b", "x of schedule"),
    ([1, 2], [1, 3], "1 of x of schedule"), ([1], [1, 2], "1 of x of schedule"), ({"a": 1}, {}, "a of x of schedule"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "place"), DIFFERENCES)
def test_where_two_plans_differ(one, other, place):
    first, second = (PlanRecord.of(plan_of(*SHARED.queries, x=value)) for value in (one, other))
    assert (first.difference(second) or [None])[0] == (second.difference(first) or [None])[0] == place


def test_a_draw_is_never_said_to_be_private_without_a_proof():
    given = ("exact", 0.5, 0.5, 0.0), ("proven_tv", 0.5, 0.4, 1e-9), ("target_law_only", math.nan, 0.5, None)
    given += ("proven_tv", math.nan, 0.5, 1e-3), ("proven_tv", None, None, 1e-3)
    said, bare = [draw_statement(*each, 1e-6) for each in given], "(0.5, 1e-06)-DP"
    assert [line.startswith(bare) for line in said] == [True, True, False, False, False]
    assert [f"law is {bare}" in line for line in said] == [False, False, True, True, False]
    for nominal, kind in ((True, "upper"), (False, "lower")):
        line = draw_statement("exact", 0.7, 0.5, 0.0, 1e-6, nominal, kind)
        assert ("NOT proven" in line) == nominal and ("attain 0.7" in line) != nominal


@pytest.mark.parametrize("smooth", [SMOOTH, PLAIN], ids=["r=3", "r=2"])
def test_a_mean_of_draws_costs_as_much_as_its_shift_in_each(smooth):
    """Sensitivity s/m and m draws: ``kappa s^2/(2 m scale^2)``, as if one record had shifted m draws by s/m each."""
    plan, zeros = plan_of(generalised("g", 1.0 / 8, 6, smooth, records=Disjoint(8), draws=8)), np.zeros((4000, 4))
    assert epsilon(plan, {"g": 0.5}) == pytest.approx(gdp_epsilon(math.sqrt(smooth.kappa / (8 * 0.25)), DELTA))
    one = source(plan_of(generalised(smooth=smooth)), 0.5, 4000).release("g", zeros)
    assert np.var(source(plan, 0.5, 4000).release("g", zeros, 2)) == pytest.approx(np.var(one) / 8, rel=0.1)


def test_a_refuted_claim_is_refuted_by_a_lower_bound():
    strong = plan_of(generalised(records=Disjoint(3), releases=4, paper_scale=0.2 / 1.2))
    single = plan_of(GaussianQuery("g", 2.0, 400, SingleIndex(20), paper_scale=0.5))
    for plan, share in ((strong, 0.0), (single, 0.5)):
        result = calibrate(plan, PRIVACY, "paper")
        assert (result.charge.kind, result.privacy_status) == ("lower", "unproven")
        upper = epsilon(plan, result.scales)
        assert max(1.0, share * upper) < result.charge.epsilon < upper
    between = calibrate(plan_of(generalised(paper_scale=1.05)), PRIVACY, "paper")
    assert (between.charge.kind, between.privacy_status) == ("upper", "unproven")


@pytest.mark.parametrize(
    "records", [Poisson(0.1), SingleIndex(100), WithReplacement(50, 5)], ids=["Poisson", "one", "many"]
)
def test_normal_noise_on_drawn_records_is_paid_in_the_norm_of_the_shift(records):
    """A shift of s in l_q is one of ``sqrt(kappa) s`` in l_2 where r = 2 < q."""
    smooth = SmoothNorm(1.5, 3)
    assert smooth.r == 2.0 and smooth.kappa > 1.0
    query = generalised(releases=5, smooth=smooth, records=records)
    plain = plan_of(GaussianQuery("g", 0.2, 5, records))
    wide = plan_of(replace(query, sensitivity=0.2 / math.sqrt(smooth.kappa)))
    for epsilon_of in (charge, add_remove):
        found = [epsilon_of(plan, {"g": 1.0}, 1e-6).epsilon for plan in (wide, plain)]
        assert found[0] == pytest.approx(found[1], nan_ok=True)
    scales = [calibrate(plan, PRIVACY, "accounted").scales["g"] for plan in (wide, plain)]
    assert scales[0] == pytest.approx(scales[1])


@pytest.mark.parametrize("records", [WithReplacement(100, 10), WithoutReplacement(100, 10)], ids=["with", "without"])
@pytest.mark.parametrize("smooth", [SMOOTH, PLAIN], ids=["r=3", "r=2"])
def test_batches_of_a_fixed_size_are_charged_from_both_sides(smooth, records):
    query = generalised(releases=50, smooth=smooth, records=records)
    quiet, loud = (plan_of(replace(query, paper_scale=scale)) for scale in (3.0, 0.03))
    found = [calibrate(plan, PRIVACY, "paper") for plan in (quiet, loud)]
    assert [(f.charge.kind, f.privacy_status) for f in found] == [("upper", "proven"), ("lower", "unproven")]
    made = accounted(quiet)
    assert made.charge.epsilon == pytest.approx(1.0, rel=2e-3) and made.privacy_status == "proven"
    assert epsilon(quiet, {"g": 0.99 * made.scales["g"]}) > 1.0


@pytest.mark.parametrize(("n", "d", "generic", "factor"), [(1000, 10, 2.30, 26), (4000, 32, 2.09, 5.2)])
def test_the_generic_bound_of_batches_takes_far_more_noise(n, d, generic, factor):
    """The same for zCDP without replacement (Wang, Balle and Kasiviswanathan 2019), on noisy_smd as corrected."""
    smooth = SmoothNorm(1.5, d, "q")
    steps = math.floor(n**2 / (16 * d * smooth.kappa * math.log(1e6)))
    batch = round(n * math.sqrt(1 / (4 * steps)))
    query = generalised(sensitivity=2 / batch, releases=steps, smooth=smooth, records=WithReplacement(n, batch))
    scales = {"g": math.sqrt(8 * smooth.kappa * steps * math.log(1e6)) / n}
    found = generic_bound(plan_of(query), scales, PRIVACY)
    assert found == (pytest.approx(generic, rel=0.01), pytest.approx(factor, rel=0.02))
    assert generic_bound(plan_of(query), {"g": 0.0}, PRIVACY) is None, "there is no noise"


@pytest.mark.parametrize("cover", [True, False])
def test_accounted_objective_perturbation_meets_the_claim(cover):
    """The less is known of the loss, the more noise it takes."""
    scales = []
    for loss_class in ("linear", "glm", "any"):
        result, closed = (accounted(perturbed(loss_class, form, cover)) for form in (False, True))
        assert result.charge.kind == "upper" and result.charge.epsilon == pytest.approx(1.0, rel=1e-9)
        assert result.privacy_status == ("proven" if cover else "target_law_only")
        assert closed.privacy_status == "proven" and closed.scales == result.scales
        scales.append(result.scales["linear"])
    assert scales == sorted(scales)


def test_costs_of_the_records_are_those_summed_release_by_release():
    query = decaying(start=0.1, floor=0.05)
    scales = np.maximum(0.1 * 0.9 ** np.arange(40), 0.05)
    scales[0] = 0.1
    changes = np.zeros((40, 40))
    for i in range(40):
        for t in range(i, 40):
            changes[i, t] = 0.9**t * 0.5 if i == 0 else 0.9 ** (t - i) * 0.3
    costs = np.sum((2 * changes / scales) ** 2 / 2, axis=1)
    assert decaying_costs(query) == pytest.approx((costs[0], costs[1:].max()))
    value = charge(plan_of(query), {"v": 7.0}, 1e-6)
    assert value.epsilon == pytest.approx(zcdp_epsilon(costs.max() / 49, 1e-6)) and value.kind == "upper"


def output_of(step=0.5, gradients=1.0, lengths=1.0, diameter=math.inf, kind=GaussianQuery, scale=0.9):
    """Epsilon of a last iterate, in other units of gradients and of lengths."""
    step, unit = tuple(np.atleast_1d(step) * lengths / gradients), gradients / lengths
    declared = LastIterate(step if len(step) > 1 else step[0], 2.0 * unit, 0.5 * unit, diameter=diameter * lengths)
    charged = charge_output(
        plan_of(kind("g", 0.2 * gradients, 6), last_iterate=declared), {"g": scale * gradients}, 1e-6
    )
    assert charged.kind == ("exact" if declared.attainable or scale == 0.0 else "upper")
    return charged.epsilon


@pytest.mark.parametrize("given", [{}, {"diameter": 0.05}, {"step": (0.5, 0.4, 0.3, 0.5, 0.2, 0.1)}, {"kind": Halving}])
def test_an_output_is_charged_alike_in_all_units(given):
    plain = output_of(**given)
    assert [output_of(gradients=5.0, **given), output_of(lengths=7.0, **given)] == pytest.approx([plain] * 2)
    assert output_of(scale=0.0, **given) == math.inf and output_of(scale=0.8, **given) > plain


def test_an_output_after_equal_steps_is_that_of_one_step_size():
    assert output_of((0.5,) * 6) == pytest.approx(output_of()) and output_of(diameter=0.05) < output_of()
    louder = varying_mu([0.75] * 6, [0.1] * 6, 0.45 * 0.5 ** np.arange(6))
    assert output_of(kind=Halving) == pytest.approx(gdp_epsilon(louder, 1e-6))


COPIES = [
    (Full(), [0.0, 1.0], 128), (Disjoint(2), [0.0, 1.0], 4), (WithoutReplacement(10, 4), [0.6, 0.4], 4),
    (WithReplacement(10, 4), binom(4, 0.1).pmf(range(5)), 4), (WithReplacement(1, 2), [0.0, 0.0, 1.0], 4),
]  # fmt: skip


@pytest.mark.parametrize(("records", "weights", "d"), COPIES)
def test_a_lower_bound_is_the_best_of_the_tests_on_the_law_of_the_batches(records, weights, d):
    smooth = SmoothNorm(1.5 if d == 4 else 1.2, d, "q")
    plan = plan_of(*(generalised(n, s, 5, smooth, records=records) for n, s in (("g", 0.2), ("quiet", 0.01))))
    given = (1 if isinstance(records, Disjoint) else 5, smooth.r, d, 1e-6, list(weights))
    expected = {"axis": max(test(2.0, *given) for test in (counting_epsilon, coordinate_epsilon))}
    expected["even"] = spread_epsilon(2.0 * d ** (-1 / smooth.q), *given)
    bound, query = deciding_test(plan, {"g": 0.1, "quiet": 0.1}, 1e-6)
    assert bound.epsilon == pytest.approx(max(expected.values())) and query is plan.queries[0]
    assert bound.pair == max(expected, key=expected.get) == ("axis" if d == 4 else "even")
    if records.sampled:
        assert chance(records) == pytest.approx(1.0 - weights[0])


def test_what_has_no_test_is_bounded_from_below_by_none():
    untested = (GaussianQuery("g", 1.0, 3), GaussianQuery("g", 1.0, 3, Poisson(0.1)), decaying())
    untested += (generalised(draws=3), generalised(records=Poisson(0.1)), Halving("g", 1.0, 3, SingleIndex(9)))
    for query in untested:
        assert not covers(plan_of(query)) and deciding_test(plan_of(query), {query.name: 1.0}, 1e-6) is None
    for tested, pair in ((GaussianQuery("h", 1.0, 3, SingleIndex(9)), "any"),
                         (generalised("h", smooth=SmoothNorm(1.5, 3), records=SingleIndex(9)), "even")):  # fmt: skip
        plan, scales = plan_of(untested[0], tested), {"g": 1.0, "h": 0.1}
        assert covers(plan) and deciding_test(plan, scales, 1e-6)[0].pair == pair


@pytest.mark.parametrize(("releases", "size"), [(4, 5), (3, 5), (3, 6)])
def test_batches_of_a_random_order_are_charged_by_how_many_take_part(releases, size):
    plan = plan_of(GaussianQuery("g", 0.2, releases, Allocation(20, size)))
    found = charge(plan, {"g": 0.1}, 1e-6).epsilon
    taken = gdp_epsilon(2.0, 1e-6) if releases == 4 else allocation_epsilon(2.0, releases, releases * size / 20, 1e-6)
    assert found == taken
    made = calibrate(plan, PRIVACY, "accounted")
    assert 0.99 < made.charge.epsilon <= 1.0 + 1e-9
    with pytest.raises(InputError, match="^releases of g = 5: must be at most 4"):
        charge(plan_of(GaussianQuery("g", 0.2, 5, Allocation(20, 5))), {"g": 0.1}, 1e-6)
