"""Plans of several kinds of queries: parallel composition, objective perturbation with covering noise, decay."""

import math
from dataclasses import replace

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
from dpsco_bench.privacy.calibrate import calibrate, charge
from dpsco_bench.privacy.composition.refutation import chance, covers, deciding_test
from dpsco_bench.privacy.composition.sampled import generic_bound
from dpsco_bench.privacy.composition.shifts import charge_output, decaying_costs
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import GaussianQuery, LastIterate, PrivacySpec, make_plan
from dpsco_bench.privacy.queries import (
    CoveringQuery,
    DecayingNoisyMinimumQuery,
    GeneralisedGaussianQuery,
    PerturbedObjectiveQuery,
)
from dpsco_bench.privacy.records import (
    Disjoint,
    Full,
    Poisson,
    RandomAllocation,
    SingleIndex,
    WithoutReplacement,
    WithReplacement,
)

PRIVACY = PrivacySpec(1.0, 1e-6)
SMOOTH, PLAIN = SmoothNorm(1.5, 4, "q"), SmoothNorm(2.0, 4)


def plan_of(*queries, **keywords):
    return make_plan(*queries, gradient_evaluations=1, n=100, **keywords)


def generalised(name="g", sensitivity=0.2, releases=1, smooth=SMOOTH, **keywords):
    return GeneralisedGaussianQuery(name, sensitivity, releases, smooth=smooth, **keywords)


def test_disjoint_blocks_cost_the_dearest_alone():
    plan = plan_of(GaussianQuery("a", 1.0, 5, Disjoint(10)), GaussianQuery("b", 3.0, 1, Disjoint(2)))
    value = charge(plan, {"a": 1.0, "b": 10.0}, 1e-6)
    assert value.epsilon == gdp_epsilon(1.0, 1e-6) and value.kind == "exact"
    result = calibrate(plan, PRIVACY, "accounted")
    mu = gdp_mu(1.0, 1e-6)
    assert result.scales == pytest.approx({"a": 1.0 / mu, "b": 3.0 / mu})
    assert result.charge.epsilon == pytest.approx(1.0) and result.privacy_status == "proven"


def test_queries_on_all_records_come_on_top():
    plan = plan_of(GaussianQuery("all", 1.0, 4, share=0.36), GaussianQuery("block", 1.0, 9, Disjoint(3)))
    result, mu = calibrate(plan, PRIVACY, "accounted"), gdp_mu(1.0, 1e-6)
    assert result.scales == pytest.approx({"all": 2.0 / (0.6 * mu), "block": 1.0 / (0.8 * mu)})
    assert result.charge.epsilon == pytest.approx(1.0)
    value = charge(plan, {"all": 1.0, "block": 0.5}, 1e-6)
    assert value.epsilon == gdp_epsilon(math.sqrt(4 + 4), 1e-6)


def test_blocks_join_a_sampled_query():
    """A record may be in one block and in every Poisson batch."""
    sampled, scales = GaussianQuery("sum", 0.4, 20, Poisson(0.1)), {"a": 4.0, "sum": 1.0}
    first = GaussianQuery("a", 1.0, 5, Disjoint(10), share=0.3), GaussianQuery("a", 1.0, 1, share=0.3)
    plan, shared = (plan_of(query, sampled) for query in first)
    assert charge(plan, scales, 1e-6).epsilon == charge(shared, scales, 1e-6).epsilon


def test_generalised_gaussians_add_up_as_gaussians_do():
    plan = plan_of(generalised(releases=7), GaussianQuery("n", 0.3, 2))
    value = charge(plan, {"g": 2.0, "n": 3.0}, 1e-6)
    square = 7 * 2.0 * 0.01 + 2 * 0.01
    assert value.epsilon == gdp_epsilon(math.sqrt(square), 1e-6) and value.kind == "upper"


def test_the_cost_of_a_generalised_gaussian_is_that_of_its_dual_norm():
    """kappa = (r - 1) d^(2/r - 2/q), which is larger than r - 1 unless r = q; a mean of draws costs each of them."""
    smooth = SmoothNorm(1.05, 20, "two_ln_d")
    r, q = 2 * math.log(20) + 1, 21.0
    kappa = (r - 1) * 20 ** (2 / r - 2 / q)
    assert kappa > 1.5 * smooth.kappa_plus
    for draws in (1, 3):
        value = charge(plan_of(generalised(smooth=smooth, releases=5, draws=draws)), {"g": 2.0}, 1e-6)
        assert value.epsilon == pytest.approx(gdp_epsilon(math.sqrt(5 * draws * kappa) * 0.2 / 2.0, 1e-6), rel=1e-9)


@pytest.mark.parametrize("smooth", [SMOOTH, PLAIN], ids=["r=3", "r=2"])
def test_a_mean_of_draws_costs_as_much_as_its_shift_in_each(smooth):
    """Sensitivity s/m and m draws: ``kappa s^2/(2 m scale^2)``, as if one record had shifted m draws by s/m each."""
    query = generalised(sensitivity=1.0 / 8, releases=6, records=Disjoint(8), draws=8, smooth=smooth)
    value = charge(plan_of(query), {"g": 0.5}, 1e-6)
    cost = smooth.kappa / (8 * 0.25)
    assert value.epsilon == pytest.approx(gdp_epsilon(math.sqrt(cost), 1e-6))
    z = Mechanism(plan_of(query), {"g": 0.5}, "what", 1, 0, 4000).release("g", np.zeros((4000, 4)), 2)
    one = Mechanism(plan_of(generalised(smooth=smooth)), {"g": 0.5}, "what", 1, 0, 4000)
    assert np.var(z) == pytest.approx(np.var(one.release("g", np.zeros((4000, 4)))) / 8, rel=0.1)


def test_a_refuted_claim_is_refuted_by_a_lower_bound():
    strong = plan_of(generalised(records=Disjoint(3), releases=4, paper_scale=0.2 / 1.2))
    result = calibrate(strong, PRIVACY, "paper")
    assert result.charge.kind == "lower" and result.privacy_status == "unproven"
    assert 1.0 < result.charge.epsilon < charge(strong, result.scales, 1e-6).epsilon
    between = calibrate(plan_of(generalised(paper_scale=1.05)), PRIVACY, "paper")
    assert between.charge.kind == "upper" and between.privacy_status == "unproven"


def test_single_indices_are_refuted_too():
    plan = plan_of(GaussianQuery("g", 2.0, 400, SingleIndex(20), paper_scale=0.5))
    result = calibrate(plan, PRIVACY, "paper")
    upper = charge(plan, result.scales, 1e-6).epsilon
    assert result.privacy_status == "unproven" and upper / 2 < result.charge.epsilon < upper


def test_add_remove_halves_the_shift_where_a_record_can_be_there_or_not():
    for smooth, kind in ((PLAIN, "exact"), (SMOOTH, "upper")):
        found = add_remove(plan_of(generalised(smooth=smooth)), {"g": 0.5}, 1e-6)
        assert found.epsilon == gdp_epsilon(0.2 * math.sqrt(smooth.kappa), 1e-6) and found.kind == kind
    sampled = [GaussianQuery("g", 0.2, 3, r) for r in (WithReplacement(9, 3), WithoutReplacement(9, 3), SingleIndex(9))]
    for plan in (*map(plan_of, (*sampled, decaying())), plan_of(sampled[0], leaks=("a step",))):
        found = add_remove(plan, {"g": 1.0, "v": 1.0}, 1e-6)
        assert math.isnan(found.epsilon) and found.reason
    assert add_remove(plan_of(), {}, 1e-6).epsilon == 0.0


class Lone(GaussianQuery):
    """A record alone moves the answer as far as an exchange of two."""

    contribution = property(lambda self: self.sensitivity)


def test_add_remove_charges_the_contribution():
    plan, scales = plan_of(Lone("g", 0.2, 3)), {"g": 0.5}
    assert add_remove(plan, scales, 1e-6).epsilon == charge(plan, scales, 1e-6).epsilon


class Halving(GaussianQuery):
    """Noise that halves from release to release."""

    def factors(self, first, steps):
        return 0.5 ** np.arange(first, first + steps)


def test_noise_that_changes_is_charged_release_by_release():
    query = Halving("g", 1.0, 3)
    assert charge(plan_of(query), {"g": 2.0}, 1e-6).epsilon == gdp_epsilon(math.sqrt(21 / 4), 1e-6)
    blocks = Halving("g", 1.0, 3, Disjoint(2))
    assert charge(plan_of(blocks), {"g": 2.0}, 1e-6).epsilon == gdp_epsilon(2.0, 1e-6)
    accounted = calibrate(plan_of(query), PRIVACY, "accounted")
    assert accounted.charge.epsilon == pytest.approx(1.0)
    source = Mechanism(plan_of(query), {"g": 2.0}, "what", 1, 0, 9000)
    spread = [np.std(source.release("g", np.zeros((9000, 2)), t)) for t in (2, 0, 1)]
    np.testing.assert_allclose(spread, [0.5, 2.0, 1.0], rtol=0.03)
    with pytest.raises(Refusal, match="sampled queries whose noise changes"):
        charge(plan_of(Halving("g", 1.0, 3, Poisson(0.1))), {"g": 1.0}, 1e-6)


def test_leaks_never_turn_an_upper_bound_into_a_lower_one():
    leaking = plan_of(generalised(releases=9), leaks=("the step uses the data",))
    value = charge(leaking, {"g": 0.5}, 1e-6)
    whole = charge(plan_of(generalised(releases=9)), {"g": 0.5}, 1e-6)
    assert value.kind == "lower" and 0 < value.epsilon < whole.epsilon
    assert charge(plan_of(decaying(), leaks=("so does this",)), {"v": 1.0}, 1e-6).epsilon == 0.0


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


@pytest.mark.parametrize(
    "records", [WithReplacement(100, 10), WithoutReplacement(100, 10)], ids=lambda r: type(r).__name__
)
@pytest.mark.parametrize("smooth", [SMOOTH, PLAIN], ids=["r=3", "r=2"])
def test_batches_of_a_fixed_size_are_charged_from_both_sides(smooth, records):
    query = generalised(releases=50, smooth=smooth, records=records, paper_scale=3.0)
    quiet = calibrate(plan_of(query), PRIVACY, "paper")
    assert quiet.charge.kind == "upper" and quiet.privacy_status == "proven"
    loud = calibrate(plan_of(replace(query, paper_scale=0.03)), PRIVACY, "paper")
    assert loud.privacy_status == "unproven" and loud.charge.kind == "lower"
    made = calibrate(plan_of(query), PRIVACY, "accounted")
    assert made.charge.epsilon == pytest.approx(1.0, rel=2e-3) and made.privacy_status == "proven"
    assert charge(plan_of(query), {"g": 0.99 * made.scales["g"]}, 1e-6).epsilon > 1.0
    with pytest.raises(Refusal, match="on drawn batches"):
        charge(plan_of(query, GaussianQuery("n", 1.0, 1)), {"g": 1.0, "n": 1.0}, 1e-6)


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


def test_batches_with_replacement_are_uniform():
    plan = plan_of(GaussianQuery("g", 1.0, 30, WithReplacement(20, 6)))
    source = Mechanism(plan, {"g": 1.0}, "what", 1, 0, 200)
    batches = [source.sample("g", t) for t in range(30)]
    assert batches[0].indices.shape == (200, 6) and batches[0].expected_size == 6.0
    np.testing.assert_array_equal(batches[0].sizes, 6.0)
    counts = np.bincount(np.concatenate([b.indices.ravel() for b in batches]), minlength=20)
    assert np.abs(counts - 1800).max() < 5 * math.sqrt(1800)
    part = Mechanism(plan, {"g": 1.0}, "what", 1, 50, 10).sample("g", 7)
    np.testing.assert_array_equal(part.indices, batches[7].indices[50:60])


def perturbed(loss_class, jacobian=0.2, closed_form=False, cover=True):
    linear = PerturbedObjectiveQuery(
        "linear", 2.0, 1, log_jacobian=jacobian, loss_class=loss_class, dimension=9, closed_form=closed_form
    )
    return plan_of(linear, CoveringQuery("cover", 0.01, 1)) if cover else plan_of(linear)


@pytest.mark.parametrize("cover", [True, False])
@pytest.mark.parametrize("loss_class", ["linear", "glm", "any"])
def test_accounted_objective_perturbation_meets_the_claim(loss_class, cover):
    result = calibrate(perturbed(loss_class, cover=cover), PRIVACY, "accounted")
    assert result.charge.kind == "upper" and result.charge.epsilon == pytest.approx(1.0, rel=1e-9)
    assert result.privacy_status == ("proven" if cover else "target_law_only")
    closed = calibrate(perturbed(loss_class, closed_form=True, cover=cover), PRIVACY, "accounted")
    assert closed.privacy_status == "proven" and closed.scales == result.scales


def test_less_is_known_of_the_loss_more_noise_it_takes():
    scales = [calibrate(perturbed(c), PRIVACY, "accounted").scales["linear"] for c in ("linear", "glm", "any")]
    assert scales == sorted(scales)


def test_linear_losses_ignore_the_jacobian_and_spend_a_tenth_of_mu_on_the_cover():
    result, mu = calibrate(perturbed("linear"), PRIVACY, "accounted"), gdp_mu(1.0, 1e-6)
    assert result.scales == pytest.approx({"linear": 2.0 / (math.sqrt(0.99) * mu), "cover": 0.01 / (0.1 * mu)})


def decaying(releases=40, **keywords):
    fields = {"decay": 0.9, "first": 0.5, "later": 0.3, "start": 0.4, "floor": 0.2, **keywords}
    return DecayingNoisyMinimumQuery("v", 0.5, releases, **fields)


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


@pytest.mark.parametrize("later", [0.01, 3.0])
def test_accounted_decaying_noise_meets_the_claim(later):
    result = calibrate(plan_of(decaying(later=later)), PRIVACY, "accounted")
    assert result.charge.epsilon == pytest.approx(1.0) and result.privacy_status == "proven"


def output_of(step=0.5, gradients=1.0, lengths=1.0, diameter=math.inf, kind=GaussianQuery, scale=0.9):
    """Charge of a last iterate, in other units of gradients and of lengths."""
    step, unit = tuple(np.atleast_1d(step) * lengths / gradients), gradients / lengths
    declared = LastIterate(step if len(step) > 1 else step[0], 2.0 * unit, 0.5 * unit, diameter=diameter * lengths)
    plan = plan_of(kind("g", 0.2 * gradients, 6), last_iterate=declared)
    return charge_output(plan, {"g": scale * gradients}, 1e-6).epsilon


@pytest.mark.parametrize("given", [{}, {"diameter": 0.05}, {"step": (0.5, 0.4, 0.3, 0.5, 0.2, 0.1)}, {"kind": Halving}])
def test_an_output_is_charged_alike_in_all_units(given):
    plain = output_of(**given)
    assert [output_of(gradients=5.0, **given), output_of(lengths=7.0, **given)] == pytest.approx([plain] * 2)
    assert output_of(scale=0.0, **given) == math.inf and output_of(scale=0.8, **given) > plain


def test_an_output_after_equal_steps_is_that_of_one_step_size():
    assert output_of((0.5,) * 6) == pytest.approx(output_of()) and output_of(diameter=0.05) < output_of()
    louder = varying_mu([0.75] * 6, [0.1] * 6, 0.45 * 0.5 ** np.arange(6))
    assert output_of(kind=Halving) == pytest.approx(gdp_epsilon(louder, 1e-6))


@pytest.mark.parametrize(
    ("step", "diameter", "kind"), [(0.8, math.inf, "exact"), (0.9, math.inf, "upper"), (0.8, 9.0, "upper")]
)
def test_an_output_is_exact_where_a_quadratic_attains_it(step, diameter, kind):
    """Steps of at most ``2/(M + mu)`` without a domain: here 0.8."""
    plan = plan_of(GaussianQuery("g", 0.2, 6), last_iterate=LastIterate(step, 2.0, 0.5, diameter=diameter))
    assert charge_output(plan, {"g": 0.9}, 1e-6).kind == kind


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
    plan = plan_of(GaussianQuery("g", 0.2, releases, RandomAllocation(20, size)))
    found = charge(plan, {"g": 0.1}, 1e-6).epsilon
    taken = gdp_epsilon(2.0, 1e-6) if releases == 4 else allocation_epsilon(2.0, releases, releases * size / 20, 1e-6)
    assert found == taken
    made = calibrate(plan, PRIVACY, "accounted")
    assert 0.99 < made.charge.epsilon <= 1.0 + 1e-9
    with pytest.raises(InputError, match="^releases of g = 5: must be at most 4"):
        charge(plan_of(GaussianQuery("g", 0.2, 5, RandomAllocation(20, 5))), {"g": 0.1}, 1e-6)
