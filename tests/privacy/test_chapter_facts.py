"""Numbers of the chapters bassily2021 and su2023, sections 8 and 10, that are a matter of accounting alone."""

import math

import numpy as np
import pytest

from dpsco_bench.geometry.smooth_norm import SmoothNorm
from dpsco_bench.papers.su2023 import shuffling
from dpsco_bench.privacy.accountants import counting, pld
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon, gdp_mu
from dpsco_bench.privacy.accountants.single_index import opposed_epsilon
from dpsco_bench.privacy.accountants.zcdp import zcdp_epsilon, zcdp_rho
from dpsco_bench.privacy.calibrate import calibrate, charge
from dpsco_bench.privacy.composition.batches import generic_bound
from dpsco_bench.privacy.plan import GaussianQuery, make_plan
from dpsco_bench.privacy.queries import (
    CoveringQuery,
    DecayingNoisyMinimumQuery,
    GeneralisedGaussianQuery,
    PerturbedObjectiveQuery,
)
from dpsco_bench.privacy.records import Disjoint, SingleIndex, WithReplacement
from dpsco_bench.privacy.rules import decaying_costs
from dpsco_bench.privacy.spec import PrivacySpec

DELTA = 1e-6
LOG = math.log(1 / DELTA)


def near(printed):
    """Within 1 %, or half a unit of the last digit printed where that is more."""
    digits = 10.0 ** -len(printed.partition(".")[2])
    return pytest.approx(float(printed), rel=0.01, abs=0.6 * digits)


def plan_of(*queries):
    return make_plan(*queries, gradient_evaluations=0, n=100)


def test_primitives():
    assert gdp_mu(1.0, DELTA) == pytest.approx(0.236704380663, rel=1e-11)
    assert zcdp_rho(1.0, DELTA) == pytest.approx(0.024356, abs=5e-7)


# --- bassily2021 -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "real", "ratio"),
    [(0.5, ".376", ".766"), (1, ".790", ".804"), (2, "1.672", ".849"), (4, "3.590", ".908"), (8, "7.941", ".994")],
)
def test_one_generalised_gaussian_query(epsilon, real, ratio):
    """Gaussian-DP with sqrt(kappa_q) s/sigma for every p; zCDP has .408, .853, 1.797, 3.843, 8.46."""
    for p, kind in ((1.5, "upper"), (2.0, "exact")):
        smooth = SmoothNorm(p, 16, "q")
        scale = math.sqrt(2 * smooth.kappa * LOG) * 0.3 / epsilon
        query = GeneralisedGaussianQuery("g", 0.3, 4, Disjoint(9), paper_scale=scale, smooth=smooth)
        found = charge(plan_of(query), {"g": scale}, DELTA)
        assert found.epsilon == near(real) and found.kind == kind
        accounted = calibrate(plan_of(query), PrivacySpec(epsilon, DELTA), "accounted")
        assert accounted.scales["g"] / scale == near(ratio)


@pytest.mark.parametrize(("delta", "most"), [(1e-6, 8.339), (1e-5, 7.968), (1e-3, 6.978)])
def test_the_largest_claim_that_proposition_8_meets(delta, most):
    """sigma^2 = 2 kappa_q l s^2/eps^2 is eps/sqrt(2 l)-GDP; at p = 2 this is exact: larger claims are refuted."""
    for claim, meets in ((most - 1e-3, True), (most + 1e-3, False)):
        assert (gdp_epsilon(claim / math.sqrt(2 * math.log(1 / delta)), delta) <= claim) == meets


@pytest.mark.parametrize(
    ("epsilon", "delta", "printed"),
    [(1, 1e-6, "1.037"), (2, 1e-6, "2.150"), (4, 1e-6, "4.621"), (8, 1e-6, "10.64"), (1, 1e-5, "1.044")],
)
def test_proposition_8_by_the_papers_route(epsilon, delta, printed):
    """Renyi divergence ``rho a^2/(a - 1)`` at rho = eps^2/(4 l), converted by ``+ l/(a - 1)`` (E2)."""
    log = math.log(1 / delta)
    a = 1 + np.exp(np.linspace(-5, 10, 100_001))
    assert np.min(epsilon**2 / (4 * log) * a**2 / (a - 1) + log / (a - 1)) == near(printed)


@pytest.mark.parametrize(("d", "printed"), [(64, "1.148"), (256, "1.475"), (1024, "1.897"), (4096, "2.444")])
def test_gaussian_noise_for_lq_sensitivity(d, printed):
    """E3 read literally: l2 noise of the scale for kappa = 2, while the l2 sensitivity is d^(1/6) times as large."""
    assert gdp_epsilon(d ** (1 / 6) / math.sqrt(4 * LOG), DELTA) == near(printed)


def poly_sfw(n, epsilon, vertices=64):
    """L0 = 1, M = 2, L1 = 0."""
    eta, half = math.log(n / math.log(vertices)) / n, n // 2
    start, floor = 4 / n, 4 * eta
    scale = 2 * math.sqrt(n * LOG) / epsilon
    shape = {"decay": 1 - eta, "first": 4 / half, "later": floor, "start": start, "floor": floor}
    return DecayingNoisyMinimumQuery("v", max(4 / half, floor), half + 1, paper_scale=scale, **shape)


@pytest.mark.parametrize(
    ("n", "real", "ratio", "first", "real_4", "ratio_4"),
    [
        (10**3, ".345", ".368", ".137", "1.51", ".412"),
        (10**4, ".286", ".309", ".071", "1.255", ".346"),
        (10**5, ".249", ".271", ".045", "1.092", ".304"),
        (10**6, ".224", ".245", ".032", ".978", ".274"),
    ],
)
def test_poly_sfw(n, real, ratio, first, real_4, ratio_4):
    for epsilon, value, price in ((1, real, ratio), (4, real_4, ratio_4)):
        query = poly_sfw(n, epsilon)
        assert charge(plan_of(query), {"v": query.paper_scale}, DELTA).epsilon == near(value)
        accounted = calibrate(plan_of(query), PrivacySpec(epsilon, DELTA), "accounted").scales["v"]
        assert accounted / query.paper_scale == near(price)
    query = poly_sfw(n, 1)
    assert zcdp_epsilon(decaying_costs(query)[0] / query.paper_scale**2, DELTA) == near(first)


def test_poly_sfw_without_decay():
    n = 10**4
    each = 2 * 1.0 / (2 * math.sqrt(n * LOG))
    assert zcdp_epsilon(n / 2 * each**2 / 2, DELTA) == near(".853")


def smd(n, d, smooth, epsilon=1.0):
    """T, m and the corrected scale of noisy_smd for L0 = 1."""
    steps = max(1, math.floor((epsilon * n) ** 2 / (16 * d * smooth.kappa * LOG)))
    batch = min(n, max(1, round(n * math.sqrt(epsilon / (4 * steps)))))
    return steps, batch, math.sqrt(8 * smooth.kappa * steps * LOG) / (epsilon * n)


def minibatch(n, d, smooth, literal=False):
    steps, batch, scale = smd(n, d, smooth)
    scale /= math.sqrt(steps) if literal else 1.0
    return GeneralisedGaussianQuery("g", 2 / batch, steps, WithReplacement(n, batch), paper_scale=scale, smooth=smooth)


def poisson_surrogate(query):
    """Epsilon of Poisson batches of the same expected size, add/remove form: of another scheme, for comparison."""
    rate = query.records.size / query.records.population
    return pld.add_remove_epsilon(query.paper_scale / query.sensitivity, rate, query.releases, DELTA)


def test_noisy_smd_schedule():
    steps, batch, scale = smd(4000, 32, SmoothNorm(1.5, 32, "q"))
    assert (steps, batch) == (1130, 59) and scale == pytest.approx(0.124946096099, rel=1e-11)


def test_literal_noisy_smd_is_not_private():
    """The surrogate's 836, and a lower bound for the batches with replacement that are run."""
    query = minibatch(1000, 10, SmoothNorm(2.0, 10), literal=True)
    assert (query.releases, query.records.size) == (452, 24)
    assert query.paper_scale / query.sensitivity == near(".126")
    assert poisson_surrogate(query) == near("836")
    result = calibrate(plan_of(query), PrivacySpec(1.0, DELTA), "paper")
    assert result.privacy_status == "unproven" and 800 < result.charge.epsilon < 836
    assert result.charge.kind == "lower"
    rounder = minibatch(1000, 10, SmoothNorm(1.5, 10, "q"), literal=True)
    rounder = calibrate(plan_of(rounder), PrivacySpec(1.0, DELTA), "paper")
    assert rounder.privacy_status == "unproven" and rounder.charge.epsilon > 68


@pytest.mark.parametrize(("n", "d", "printed"), [(1000, 10, ".853"), (16000, 32, ".826")])
def test_corrected_noisy_smd_poisson_surrogate(n, d, printed):
    query = minibatch(n, d, SmoothNorm(2.0, d))
    assert poisson_surrogate(query) == near(printed)
    result = calibrate(plan_of(query), PrivacySpec(1.0, DELTA), "paper")
    assert result.privacy_status == "proven" and float(printed) < result.charge.epsilon < 1.15 * float(printed)


@pytest.mark.parametrize(
    ("n", "d", "generic", "factor"), [(1000, 10, 2.30, 26), (4000, 32, 2.09, 5.2), (16000, 32, 1.94, 2.0)]
)
def test_corrected_noisy_smd_is_private_whatever_its_norm(n, d, generic, factor):
    """Generalised Gaussian noise is Gaussian-DP, so that drawing with replacement has the bound of group privacy.

    The generic bound for zCDP without replacement (Wang, Balle and Kasiviswanathan 2019) would take much more noise.
    """
    plan, privacy = plan_of(minibatch(n, d, SmoothNorm(1.5, d, "q"))), PrivacySpec(1.0, DELTA)
    result = calibrate(plan, privacy, "paper")
    assert result.privacy_status == "proven" and 0.85 < result.charge.epsilon < 1.0
    assert generic_bound(plan, result.scales, privacy) == (
        pytest.approx(generic, rel=0.01),
        pytest.approx(factor, rel=0.02),
    )


def test_fullbatch_noisy_smd_is_one_query():
    """T queries of sensitivity 2/n at the corrected scale: mu^2 = eps^2/(2 l)."""
    for p in (1.5, 2.0):
        smooth = SmoothNorm(p, 10, "q")
        steps, _, scale = smd(1000, 10, smooth)
        query = GeneralisedGaussianQuery("g", 2 / 1000, steps, paper_scale=scale, smooth=smooth)
        assert charge(plan_of(query), {"g": scale}, DELTA).epsilon == near(".790")
        accounted = calibrate(plan_of(query), PrivacySpec(1.0, DELTA), "accounted").scales["g"]
        assert accounted**2 == pytest.approx(4 * smooth.kappa * steps / (1000 * gdp_mu(1.0, DELTA)) ** 2)


@pytest.mark.parametrize(
    ("epsilon", "upper", "attained"),
    [(1, ".861", ".80"), (2, "2.004", "1.75"), (3, "3.49", "2.88"), (4, "5.46", "4.30"), (8, "25.7", "18.9")],
)
def test_noisy_sgd_with_single_records(epsilon, upper, attained):
    """n = 200, T = n^2, L2 = 1: the one-index profile, and the pair that the transcript attains."""
    n, scale = 200, math.sqrt(8 * LOG) / epsilon
    plan = plan_of(GaussianQuery("g", 2.0, n * n, SingleIndex(n), paper_scale=scale))
    assert charge(plan, {"g": scale}, DELTA).epsilon == near(upper)
    assert pld.add_remove_epsilon(scale / 2, 1 / n, n * n, DELTA) == near(attained)
    assert opposed_epsilon(2 / scale, n * n, 1 / n, DELTA) == near(attained)
    status = calibrate(plan, PrivacySpec(epsilon, DELTA), "paper").privacy_status
    assert status == ("proven" if epsilon == 1 else "unproven")


# --- su2023 ------------------------------------------------------------------------------------------------------

CLASSIC = math.log(2.5 / DELTA)


def app_objp(epsilon, loss_class, jacobian=0.0, covering=2 / 8, dimension=1, cover=True):
    """Alg 1 at L = 1, D_g = 2; the covering noise is 8 sqrt(ln(2.5/delta))/eps per ``sqrt(alpha/lam)``."""
    linear = PerturbedObjectiveQuery(
        "linear", 2.0, 1, log_jacobian=jacobian, loss_class=loss_class, dimension=dimension, closed_form=not cover
    )
    scales = {"linear": math.sqrt(128 * CLASSIC) / epsilon}
    queries = [linear]
    if cover:
        queries.append(CoveringQuery("cover", covering, 1))
        scales["cover"] = math.sqrt(CLASSIC) / epsilon
    return charge(plan_of(*queries), scales, DELTA).epsilon


@pytest.mark.parametrize(
    ("epsilon", "first", "second"), [(1, ".3117", ".4095"), (0.5, ".1486", ".1953"), (0.1, ".0264", ".0348")]
)
def test_objective_perturbation_with_linear_losses(epsilon, first, second):
    """Alg 1: sensitivity 2 sqrt(alpha/lam). Alg 2 with modulus Delta/diam2^2: 2 sqrt(2 alpha diam2^2/Delta)."""
    assert app_objp(epsilon, "linear") == near(first)
    assert app_objp(epsilon, "linear", covering=2 * math.sqrt(2) / 8) == near(second)


def test_objective_perturbation_with_linear_losses_and_no_cover():
    assert app_objp(1, "linear", cover=False) == near(".1733")


def test_objective_perturbation_of_generalised_linear_losses():
    jacobian = math.log(1.25)
    assert jacobian == near(".2231")
    assert app_objp(1, "glm", jacobian, dimension=20) == near(".7337")
    half = DELTA / 2
    assert gdp_epsilon(2 / 8 / math.sqrt(CLASSIC), half) == near(".2614")
    assert app_objp(1, "glm", jacobian, dimension=20) - jacobian - gdp_epsilon(0.25 / math.sqrt(CLASSIC), half) == near(
        ".2492"
    )


@pytest.mark.parametrize(("d", "printed"), [(16, "1.11"), (256, "1.66"), (1024, "2.40")])
def test_objective_perturbation_of_any_loss(d, printed):
    """Full rank: the determinants cost ``d ln(1 + eps/(2d))``."""
    assert app_objp(1, "any", d * math.log1p(0.5 / d), dimension=d) == near(printed)


def test_exact_objective_perturbation_as_printed():
    """Alg 5: s1^2 = 32 l/eps^2, lam = r beta/(2 eps n); at full rank the Jacobian alone tends to eps."""
    for jacobian, printed in ((math.log(1.5), ".910"), (1.0, "1.505")):
        query = PerturbedObjectiveQuery("linear", 2.0, 1, log_jacobian=jacobian, loss_class="glm", dimension=20)
        assert charge(plan_of(query), {"linear": math.sqrt(32 * LOG)}, DELTA).epsilon == near(printed)


def test_accounted_objective_perturbation():
    for loss_class, jacobian, printed in (("linear", 0.0, "8.449"), ("glm", math.log(1.25), "13.72")):
        query = PerturbedObjectiveQuery("linear", 2.0, 1, log_jacobian=jacobian, loss_class=loss_class, dimension=20)
        assert calibrate(plan_of(query), PrivacySpec(1.0, DELTA), "accounted").scales["linear"] == near(printed)
    assert math.sqrt(128 * CLASSIC) == near("43.42")


@pytest.mark.parametrize(("epsilon", "printed"), [(1, ".2598"), (0.5, ".1238"), (0.1, ".0219")])
def test_noisy_regularised_mirror_descent(epsilon, printed):
    n, steps, smooth = 10**4, 50, SmoothNorm(1.5, 8, "two_ln_d")
    scale = 8 * math.sqrt(smooth.kappa * steps * LOG) / (n * epsilon)
    query = GeneralisedGaussianQuery("g", 2 / n, steps, paper_scale=scale, smooth=smooth)
    assert charge(plan_of(query), {"g": scale}, DELTA).epsilon == near(printed)
    accounted = calibrate(plan_of(query), PrivacySpec(epsilon, DELTA), "accounted").scales["g"]
    assert epsilon != 1 or accounted / scale == near(".284")
    assert epsilon != 1 or gdp_epsilon(math.sqrt(math.e / (16 * LOG)), DELTA) == near(".443")


@pytest.mark.parametrize(("epsilon", "printed"), [(0.1, ".0419"), (1, ".5198"), (5, "3.084"), (20, "16.30")])
def test_phased_sgd(epsilon, printed):
    phases = [(f"phase {i}", 0.5 / 4**i, 1024 >> i) for i in range(1, 11)]
    queries = [GaussianQuery(name, 2 * eta, 1, Disjoint(size)) for name, eta, size in phases]
    scales = {name: 4 * eta * math.sqrt(math.log(1e5)) / epsilon for name, eta, _ in phases}
    assert charge(plan_of(*queries), scales, 1e-5).epsilon == near(printed)
    accounted = calibrate(plan_of(*queries), PrivacySpec(epsilon, 1e-5), "accounted").scales
    assert accounted == pytest.approx({name: 2 * eta / gdp_mu(epsilon, 1e-5) for name, eta, _ in phases})


def truncated_batched(p, constant=1.0, d=4, batch=38, threshold=3.0):
    smooth = SmoothNorm(p, d, "two_ln_d")
    printed = min(1 / (p - 1), 2 * math.log(d))
    scale = math.sqrt(constant * printed * math.log(1e5)) * threshold / batch
    return GeneralisedGaussianQuery("g", 2 * threshold / batch, 7, Disjoint(batch), paper_scale=scale, smooth=smooth)


def test_truncated_batched_mirror_descent_is_not_private():
    """At most 2.40, exactly as p tends to 2; and for p = 1.5 one coordinate refutes the claim already."""
    query = truncated_batched(1.5)
    assert charge(plan_of(query), {"g": query.paper_scale}, 1e-5).epsilon == near("2.40")
    result = calibrate(plan_of(query), PrivacySpec(1.0, 1e-5), "paper")
    assert result.privacy_status == "unproven" and 1.5 < result.charge.epsilon < 2.40
    normal = GaussianQuery("g", query.sensitivity, 7, Disjoint(38))
    flat = math.sqrt(math.log(1e5)) * query.sensitivity / 2
    assert charge(plan_of(normal), {"g": flat}, 1e-5).epsilon == near("2.40")
    nearly = truncated_batched(1.999)
    assert calibrate(plan_of(nearly), PrivacySpec(1.0, 1e-5), "paper").charge.epsilon == near("2.40")


def test_truncated_batched_mirror_descent_with_more_noise():
    """The least constant is 4.84; the 8 of Lemma 3 gives at most .759."""
    assert 4 / math.log(1e5) / gdp_mu(1.0, 1e-5) ** 2 == near("4.84")
    enough = calibrate(plan_of(truncated_batched(1.5, constant=8.0)), PrivacySpec(1.0, 1e-5), "paper")
    assert enough.privacy_status == "proven" and enough.charge.epsilon == near(".759")


@pytest.mark.parametrize(
    ("n", "claimed", "shuffled", "batch", "summed"),
    [(2**12, ".0735", None, 12, ".636"), (2**16, ".0195", ".588", 47, ".306"), (2**20, ".0051", ".200", 180, ".149")],
)
def test_shuffled_truncated_mirror_descent(n, claimed, shuffled, batch, summed):
    """Constant 1 at eps = sqrt(ln(n/delta)/n): both upper bounds lie far above the claim; neither refutes it."""
    epsilon, smooth, threshold = math.sqrt(math.log(n / DELTA) / n), SmoothNorm(1.5, 4, "two_ln_d"), 2.0
    assert epsilon == near(claimed)
    scale = math.sqrt(math.log(n / DELTA) * 2.0 * LOG / n) * threshold / epsilon
    records = Disjoint(batch)
    query = GeneralisedGaussianQuery("g", 2 * threshold / batch, 5, records, scale, smooth=smooth, draws=batch)
    result = calibrate(plan_of(query), PrivacySpec(epsilon, DELTA), "paper")
    assert result.charge.epsilon == near(summed) and result.privacy_status == "unproven"
    accounted = calibrate(plan_of(query), PrivacySpec(epsilon, DELTA), "accounted").scales["g"]
    assert accounted == pytest.approx(math.sqrt(smooth.kappa / batch) * 2 * threshold / gdp_mu(epsilon, DELTA))
    local = smooth.kappa * (2 * threshold) ** 2 / (2 * scale**2)
    value = shuffling.epsilon_of(local, DELTA, n)
    assert value == (near(shuffled) if shuffled else zcdp_epsilon(local, DELTA))


def test_shuffling_of_few_records_amplifies_nothing():
    """The chapter's 3.80 at n = 2^12 is the local epsilon under shuffling's split of delta; unsplit it is 2.62."""
    n, rho = 2**12, 2 / (math.log(2**12 / DELTA) * LOG) * math.log(2**12 / DELTA)
    local = 3.8002
    share = DELTA / 2 / (n * (math.exp(local) + 1) * (1 + math.exp(-local) / 2))
    assert zcdp_epsilon(rho, share) == pytest.approx(local, rel=1e-4) and local == near("3.80")
    assert local > shuffling.largest_local_epsilon(n, DELTA / 2) == near("2.82")
    assert shuffling.epsilon_of(rho, DELTA, n) == zcdp_epsilon(rho, DELTA) == near("2.62")


@pytest.mark.parametrize(
    ("n", "epsilon", "scale", "paper"),
    [(2**10, ".275", "23.7", "1.92"), (2**14, ".0756", "25.3", "1.86"), (2**18, ".0194", "26.9", "1.92")],
)
def test_shuffled_noise_at_half_a_local_epsilon(n, epsilon, scale, paper):
    claimed = shuffling.shuffled_epsilon(0.5, n, DELTA / 2)
    assert claimed == near(epsilon)
    local, _, rho = shuffling.local_budget(claimed, DELTA, n)
    assert local == pytest.approx(0.5) and 2 / math.sqrt(2 * rho) == near(scale)
    assert math.sqrt(math.log(n / DELTA) * LOG / n) / claimed == near(paper)


def test_the_counting_test_of_one_normal_release_is_exact():
    assert counting.counting_epsilon(2 / math.sqrt(math.log(1e5)), 1, 2.0, 4, 1e-5) == near("2.40")
