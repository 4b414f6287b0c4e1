import math
from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.execution.cell import Cell
from dpsco_bench.papers.su2023.algorithms.lp_setting import printed_kappa, truncated
from dpsco_bench.privacy.accountants.allocation import largest_shift
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants, Draws
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import get_problem
from dpsco_bench.rng.keys import stream_key
from dpsco_bench.rng.streams import Stream

NRMD, PHASED, BATCHED, SHUFFLED, STAND_IN = (
    get_algorithm(f"su2023.{name}")
    for name in ("nrmd", "phased_dp_sgd", "truncated_batched_md", "shuffled_truncated_md", "heavy_tailed_euclid")
)
PRIVACY = PrivacySpec(1.0, 1e-6)
L = math.log(1e6)
FREE = Constants(1.0, 1.0, norm=1.5)
HEAVY = Constants(1.0, 0.5, norm=1.5, domain="lp_ball:1.5", diameter=2.0, gradient_deviation=1.0)


@pytest.mark.parametrize(("n", "ratio"), [(2**17, 0.91), (2**18, 0.72)])
def test_alpha_of_nrmd(n, ratio):
    assert NRMD.plan(FREE, n, 8, PRIVACY, "standard").alpha == pytest.approx(ratio, abs=6e-3)


def test_nrmd_refusals():
    with pytest.raises(InputError, match="^n = 65536: must be large enough .* alpha = 1.13 beta"):
        NRMD.plan(FREE, 2**16, 8, PRIVACY, "standard")
    for p in (1.0, 2.0, 3.0):
        with pytest.raises(InputError, match="^norm = "):
            NRMD.plan(Constants(1.0, 1.0, norm=p), 2**20, 8, PRIVACY, "standard")
    with pytest.raises(InputError, match="^T_rule = 'long'"):
        NRMD.plan(FREE, 2**20, 8, PRIVACY, "standard", T_rule="long")
    with pytest.raises(Refusal, match="lacks .*the whole space as domain"):
        Cell(NRMD.id, "heavy_linear_t", n=2**20, epsilon=1.0, delta=1e-6).plan("paper", 0)


def test_t_rules_of_nrmd():
    n, d = 2**30, 64
    for name, power in (("proof", 0.5), ("theorem", 1.0)):
        made = NRMD.plan(Constants(1.0, 1.0, norm=1.2), n, d, PRIVACY, "standard", T_rule=name)
        assert made.steps == round((n * 5**power / math.sqrt(d * L)) ** 0.4)
    assert printed_kappa(1.2, d) == pytest.approx(5.0) and printed_kappa(1.01, d) == 2 * math.log(d)


@pytest.mark.parametrize(("rule", "noise", "bias"), [("proof", 0.8, 0.8), ("theorem", 1.1, 0.6)])
def test_erratum_e6_the_exponents_of_kappa(rule, noise, bias):
    """T^(3/2) sqrt(d l k)/(n eps) and k/T balance with the proof's T; the theorem's leaves k^1.1 (bias: k^0.6)."""
    k = np.array([2.0, 4.0, 8.0])
    plans = [NRMD.plan(Constants(1.0, 1.0, norm=1 + 1 / x), 2**40, 64, PRIVACY, "standard", T_rule=rule) for x in k]
    T = np.array([made.steps for made in plans])
    slopes = [np.polyfit(np.log(k), np.log(term), 1)[0] for term in (T**1.5 * np.sqrt(k), k / T)]
    assert slopes == pytest.approx([noise, bias], abs=1e-3)


@pytest.mark.parametrize(("delta", "factor"), [(1e-5, 4.13), (1e-6, 4.40)])
def test_erratum_e7_what_the_composition_lemma_asks_for(delta, factor):
    """Lemma 1 at T = 100: eps/(2 sqrt(2 T ln(2/delta))) and delta/T for each release, by Lemma 3."""
    made = NRMD.plan(FREE, 2**30, 8, PrivacySpec(1.0, delta), "standard", steps=100)
    query, each = made.query("gradient"), 1.0 / (2 * math.sqrt(2 * 100 * math.log(2 / delta)))
    asked = math.sqrt(2 * 2.0 * math.log(100 / delta)) * query.sensitivity / each
    assert asked / query.paper_scale == pytest.approx(factor, abs=6e-3)


def test_accounted_noise_of_nrmd():
    made = NRMD.plan(FREE, 2**30, 8, PRIVACY, "standard")
    scale = calibrate(made, PRIVACY, "accounted").scales["gradient"]
    assert scale**2 == pytest.approx(2.0 * made.steps * (2 / 2**30 / gdp_mu(1.0, 1e-6)) ** 2)


def test_phases():
    made = PHASED.plan(Constants(2.0, 0.1), 5000, 4, PRIVACY, "standard")
    assert made.sizes == (2500, 1250, 625, 312, 156, 78, 39, 19, 9, 4, 2, 1) and made.step == pytest.approx(
        min(4 / math.sqrt(5000), 1 / (2 * math.sqrt(4 * L))) / 2
    )
    scales = calibrate(made, PRIVACY, "accounted").scales
    for i in range(1, len(made.sizes) + 1):
        assert scales[f"phase {i}"] == pytest.approx(4 * made.step / 4**i / gdp_mu(1.0, 1e-6))
        assert made.query(f"phase {i}").paper_scale == pytest.approx(8 * made.step / 4**i * math.sqrt(L))
    assert PHASED.plan(Constants(1.0, 1e-3), 4096, 4, PRIVACY, "standard").gradient_evaluations == 4095


def test_phased_refusals():
    for constants, n, privacy, pattern in (
        (Constants(1.0, 1.0, norm=1.5), 100, PRIVACY, "^norm = 1.5"),
        (Constants(1.0, 1.0), 1, PRIVACY, "^n = 1: must be an integer >= 2"),
        (Constants(1.0, 1.0), 100, PrivacySpec(30.0, 1e-6), "^epsilon = 30.0: must be at most 2 ln"),
        (Constants(1.0, 1e6), 100, PRIVACY, "^step = "),
    ):
        with pytest.raises(InputError, match=pattern):
            PHASED.plan(constants, n, 4, privacy, "standard")


def test_truncation_sets_to_zero():
    gradients = np.array([[[3.0, 0.0], [0.0, 3.1], [-2.0, 2.0]]])
    np.testing.assert_array_equal(truncated(gradients, 3.0, 3.0), [[[3.0, 0.0], [0.0, 0.0], [-2.0, 2.0]]])


def test_no_record_enters_a_mean_beyond_the_threshold():
    """Whatever the tails: what is released is the mean of the gradients that stay, of norm at most the threshold."""
    rng, released = np.random.default_rng(4), []
    drawn = rng.standard_cauchy((6, 3, 5, 8)) * 0.3

    def release(name, value, step):
        released.append(value)
        return value

    objective = SimpleNamespace(
        start=np.zeros((3, 8)), xp=np, domain=SimpleNamespace(radius=1.0), observe=lambda w: None,
        record_gradients=lambda w, first, count: drawn[first // 5],
    )  # fmt: skip
    plan = SimpleNamespace(p=1.5, norm_rule="two_ln_d", steps=6, batch=5, threshold=1.2, gamma=2.0)
    BATCHED.run_function(objective, plan, SimpleNamespace(release=release))
    norms = np.linalg.norm(drawn, ord=3, axis=-1)
    assert 0.2 < (norms > 1.2).mean() < 0.8
    expected = np.where((norms <= 1.2)[..., None], drawn, 0.0).mean(axis=2)
    np.testing.assert_allclose(np.array(released), expected, rtol=1e-12)
    assert np.linalg.norm(expected, ord=3, axis=-1).max() <= 1.2


def test_the_schedule_of_algorithm_4():
    made = SHUFFLED.plan(HEAVY, 2**16, 4, PrivacySpec(0.0195, 1e-6), "standard")
    ne, k = 2**16 * 0.0195, 2.0
    assert made.truncation == pytest.approx(math.sqrt(ne) / (k**2 * 4 * L) ** 0.25)
    assert made.steps == round((2 * ne) ** 2 / (made.truncation**2 * 4 * L)) and made.batch == 2**16 // made.steps
    assert made.threshold == 1.0 + made.truncation and made.gamma == math.sqrt(made.steps)
    scale = calibrate(made, PrivacySpec(0.0195, 1e-6), "accounted").scales["gradient"]
    shift = largest_shift(0.0195, 1e-6, made.steps, made.steps * made.batch / 2**16)
    assert scale == pytest.approx(math.sqrt(made.kappa / made.batch) * 2 * made.threshold / shift)


@pytest.mark.parametrize(("asked", "run", "batch"), [(512, 511, 8), (4096, 4095, 1), (63, 63, 65)])
def test_algorithm_4_leaves_a_record_over(asked, run, batch):
    """Random allocation asks for equal batches and one record left over; a known batch would cost far more."""
    privacy = PrivacySpec(0.2, 1e-6)
    made = SHUFFLED.plan(HEAVY, 2**12, 4, privacy, "standard", steps=asked)
    assert (made.steps, made.batch, made.gamma) == (run, batch, math.sqrt(run))
    found = calibrate(made, privacy, "accounted")
    assert found.charge.epsilon == pytest.approx(0.2, rel=1e-4) and found.privacy_status == "proven"
    known = 2 * math.sqrt(made.kappa) / gdp_mu(0.2, 1e-6)
    assert found.scales["gradient"] * math.sqrt(batch) / made.threshold < 0.2 * known


def test_the_printed_schedule_of_algorithm_7():
    ours = BATCHED.plan(HEAVY, 2**16, 4, PRIVACY, "standard")
    printed = BATCHED.plan(HEAVY, 2**16, 4, PRIVACY, "standard", schedule="printed")
    assert printed.truncation == pytest.approx(2 * ours.truncation)
    assert printed.steps == round(2**16 / (2 * printed.truncation * math.sqrt(4 * L)))
    assert calibrate(ours, PRIVACY, "accounted").scales["gradient"] ** 2 == pytest.approx(
        2.0 * (2 * ours.threshold / ours.batch / gdp_mu(1.0, 1e-6)) ** 2
    )


def test_heavy_tail_refusals():
    def other(**changes):
        return Constants(**{**{k: getattr(HEAVY, k) for k in HEAVY.__dataclass_fields__}, **changes})

    for constants, n, options, pattern in (
        (other(gradient_deviation=0.0), 2**16, {}, "^gradient_deviation = 0.0"),
        (other(domain="l2_ball"), 2**16, {}, "^domain = 'l2_ball'"),
        (other(norm=3.0), 2**16, {}, "^norm = 3.0"),
        (HEAVY, 2**16, {"steps": 2**17}, "^T = 131072: must be from 1 to n"),
        (other(smoothness=50.0), 2**16, {"steps": 100}, "^gamma = .*at least 2 beta = 100"),
        (HEAVY, 40, {"steps": 16}, r"^truncation = .*at least max\(beta, 1\) M = 2"),
    ):
        for entry in (BATCHED, SHUFFLED):
            with pytest.raises(InputError, match=pattern):
                entry.plan(constants, n, 4, PRIVACY, "standard", **options)
    far = SHUFFLED.plan(HEAVY, 2**12, 4, PrivacySpec(0.08, 1e-6), "standard")
    with pytest.raises(InputError, match="^epsilon = .*: must be at most .* for the paper's noise"):
        calibrate(far, PrivacySpec(0.08, 1e-6), "paper")


class Ordered(Mechanism):
    """Remembers that an order was asked for."""

    asked = 0

    def permutation(self, name, n):
        type(self).asked += 1
        return super().permutation(name, n)


def test_algorithm_4_shuffles_what_the_replicates_share():
    """A sample that every replicate draws anew is in random order already."""
    problem = get_problem("heavy_linear_t", 4).at(256, 0.2, 1e-6)
    privacy = PrivacySpec(0.2, 1e-6)
    constants = problem.constants.override(gradient_deviation=3.0)
    made = SHUFFLED.plan(constants, 256, 4, privacy, "standard", steps=8)
    sample = problem.sample(256, Draws(lambda name: Stream(stream_key(1, "t", name), np), 0, 2))
    source = Ordered(made, {"gradient": 0.0}, "unit test", 0, 0, 2)
    SHUFFLED.run_function(Objective(problem, sample, 2), made, source)
    assert Ordered.asked == 0
    order = source.permutation("records", 256)
    assert order.shape == (2, 256) and np.array_equal(np.sort(order, axis=1), np.tile(np.arange(256), (2, 1)))
    assert not np.array_equal(order[0], order[1])


def test_the_stand_in_says_what_it_is():
    problem = get_problem("two_point_tail", 8).at(4096, 1.0, 1e-6)
    made = STAND_IN.plan(problem.constants, 4096, 8, PRIVACY, "stand_in")
    assert "stand-in" in made.warnings[0] and made.steps == 64
    tau = 64 / 8**0.25
    s = 2 * tau * math.sqrt(8 * 64) / (4096 * gdp_mu(1.0, 1e-6))
    assert made.clip == pytest.approx(tau) and calibrate(made, PRIVACY, "accounted").scales == {
        "clipped gradient": pytest.approx(s)
    }
    assert made.step == pytest.approx(min(1, 2 / (math.sqrt(8) * math.sqrt(s**2 + 1 / tau**2) * 8)))
    with pytest.raises(Refusal, match="no variant defines it"):
        STAND_IN.variant_for("paper")
    with pytest.raises(InputError, match="^norm = 1.5"):
        STAND_IN.plan(HEAVY, 4096, 8, PRIVACY, "stand_in")
