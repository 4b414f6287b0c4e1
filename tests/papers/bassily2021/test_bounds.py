import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi

from dpsco_bench.claims.bounds.registry import BoundContext, get_bound
from dpsco_bench.errors import InputError
from dpsco_bench.papers.bassily2021.laws.frank_wolfe import (
    largest_excess,
    largest_excess_without_noise,
    winning_probabilities,
)
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.problems.base import Constants

L, N, D, EPS = math.log(1e6), 10_000, 32, 0.5
NOISE = math.sqrt(L) / EPS
CONTEXT = BoundContext(
    n=N,
    d=D,
    epsilon=EPS,
    delta=1e-6,
    constants=Constants(1.5, 0.5, diameter=2.0, domain="lp_ball:1.5", norm=1.5),
    calibration="paper",
    schedule={"kappa": 2.0, "vertices": 64, "steps": 1024, "step": 0.01},
    scales={"vertex": 4.0, "release": 0.3},
    extras={"alpha": 0.1, "mean_norm": 0.2},
)
ON_L1 = replace(CONTEXT, constants=Constants(1.5, 0.5, diameter=2.0, domain="l1_ball", norm=1.0))
ON_P4 = replace(CONTEXT, constants=Constants(1.5, 0.5, diameter=2.0, domain="lp_ball:4", norm=4.0))
ON_CUBE = replace(CONTEXT, constants=Constants(1.5, 0.5, diameter=2.0, domain="linf_ball", norm=math.inf))
LNK, A = math.log(64), math.log(N / math.log(64))
REACH, DRIFT = 1.5 * 2.0, 0.5 * 4.0
ROOT = math.sqrt(D * L)
T = math.floor((EPS * N) ** 2 / (16 * D * 2 * L))
THM4 = (
    REACH * math.sqrt(LNK / N)
    + 2 * math.e * REACH * A * (LNK / N + LNK**1.5 * NOISE / N)
    + 8 * 2 * (0.5 * 2 + 1.5) * A * (math.e * math.sqrt(LNK / N) + LNK * NOISE / math.sqrt(N))
    + DRIFT * A / (2 * N)
)
THM12_PRIVATE = 16 * 2 * DRIFT * math.log(N) * ROOT / (EPS * N**0.75)
THM12 = (
    REACH * (1 + 8 * math.sqrt(2)) / 100
    + 16 * 2 * REACH * ROOT / (EPS * N)
    + 4 * 2 * DRIFT * math.log(N) / 100
    + THM12_PRIVATE
    + DRIFT * math.log(N) / 400
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("thm4", 2 * (0.5 * 2 + 1.5) * LNK * A * NOISE / 100),
        ("thm4_nonprivate", REACH * A * math.sqrt(LNK / N)),
        ("thm4_explicit", THM4),
        ("gg_moment", D * 0.09),
        ("gg_moment1", 0.3 * chi.mean(D)),
        ("gg_moment4", 0.3**4 * chi.moment(4, D)),
        ("lemma6_first", 2 * math.e * 1.5 * math.sqrt(2 * LNK / N)),
        ("lemma6", 2 * math.e * 1.5 * math.sqrt(2 * LNK / N) * 0.99**1024 + 0.04 * math.sqrt(1024 * LNK) * 2.5),
        ("lemma17_first", 6 * math.sqrt(2) / 100 + 16 * 1.5 * ROOT / (EPS * N)),
        ("lemma17", 6 * math.sqrt(2) / 100 + 0.256 + 16 * ROOT / EPS * (1.5 / N + 0.01 * 0.32)),
        ("claim20", math.sqrt(8)),
        ("thm10_erm", REACH * 2 * ROOT / (EPS * N)),
        ("thm10_erm_explicit", 5 * math.sqrt(2) * REACH * 2 * ROOT / (EPS * N)),
        ("thm10_sco", REACH * max(math.sqrt(2 * ROOT / N), 2 * ROOT / (EPS * N))),
        ("thm12_statistical", REACH / 100),
        ("thm12_private", THM12),
        ("thm12_first", THM12),
        ("thm12_printed", (6 + DRIFT * math.log(N)) / 100 + THM12_PRIVATE / 16),
        ("thm12_crossover", THM12),
        ("thm12_explicit", THM12),
        (
            "thm9",
            min(
                REACH * math.sqrt(2 * ROOT / N),
                (2 * REACH + DRIFT * math.log(N)) / 100 + 2 * DRIFT * math.log(N) * ROOT / (EPS * N**0.75),
            ),
        ),
        ("thm15", max(0.01, 0.5 * math.sqrt(D) / (EPS * N))),
        ("thm19", 0.5 * ROOT / (EPS * N)),
        ("poly_sfw_gradients", 15_000),
        ("noisy_smd_gradients", round(N * math.sqrt(EPS / (4 * T))) * (T - 1)),
        ("noisy_smd_fullbatch_gradients", N * (T - 1)),
        ("noisy_sfw_gradients", 5000 + 2 * 50 * 100),
        ("noisy_sgd_gradients", 1e8),
        ("noisy_sgd_minibatch_gradients", 110 * 1024),
        ("one_pass", 15_000),
        ("noisy_smd_rate", 0.5 * N * math.sqrt(EPS * T)),
    ],
)
def test_formulas(name, value):
    assert get_bound(f"bassily2021.{name}").value(CONTEXT) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("context", "statistical", "private", "lower"),
    [
        (ON_P4, REACH * D**0.25 / 100, REACH * D**0.75 * NOISE / N, min(D**0.25 / 100, 0.1)),
        (ON_CUBE, REACH * D**0.5 / 100, REACH * D * NOISE / N, math.sqrt(D) / 100),
    ],
)
def test_formulas_above_two(context, statistical, private, lower):
    found = [get_bound(f"bassily2021.prop13{end}").value(context) for end in ("_statistical", "_private", "")]
    assert found == pytest.approx([statistical, statistical + private, statistical + private], rel=1e-12)
    assert get_bound("bassily2021.prop13_private").named_term(context) == pytest.approx(private, rel=1e-12)
    sampling = get_bound("bassily2021.prop13_sampling")
    assert sampling.named_term(context) + private == pytest.approx(sampling.value(context), rel=1e-12)
    for name in ("lower_p_above_2", "lower_table1"):
        assert get_bound(f"bassily2021_law.{name}").value(context) == pytest.approx(lower)


def test_named_terms():
    assert get_bound("bassily2021.thm12_private").named_term(CONTEXT) == pytest.approx(THM12_PRIVATE)
    assert get_bound("bassily2021.thm12_crossover").named_term(CONTEXT) == pytest.approx(
        REACH * (1 + 8 * math.sqrt(2)) / 100
    )


def test_accounted_bounds_use_the_gaussian_parameter():
    accounted = replace(CONTEXT, calibration="accounted")
    assert get_bound("bassily2021.thm19").value(accounted) == pytest.approx(
        0.5 * math.sqrt(D) / (N * gdp_mu(EPS, 1e-6)), rel=1e-12
    )


@pytest.mark.parametrize(("K", "h"), [(32, 1.670), (128, 2.649), (512, 3.732), (2048, 4.879), (8192, 6.070)])
def test_check_vector_of_the_law(K, h):
    assert largest_excess(K) == pytest.approx(h, abs=6e-4)


def test_winning_probabilities_by_simulation():
    rng = np.random.default_rng(5)
    scores = rng.laplace(size=(200_000, 8))
    scores[:, 0] -= 1.2
    scores[:, 1] += 1.2
    counts = np.bincount(scores.argmin(axis=1), minlength=8) / len(scores)
    plus, minus = winning_probabilities(1.2, 8)
    assert plus == pytest.approx(counts[0], abs=5e-3) and minus == pytest.approx(counts[1], abs=2e-3)
    assert winning_probabilities(0.0, 8) == pytest.approx((1 / 8, 1 / 8), abs=1e-9)
    assert plus + minus + 6 * np.mean(counts[2:]) == pytest.approx(1.0, abs=5e-3)


def test_the_law_at_a_cell():
    assert get_bound("bassily2021_law.thm4").value(CONTEXT) == pytest.approx(4.0 * largest_excess(64))
    assert get_bound("bassily2021_law.lower_p1").value(CONTEXT) == pytest.approx(math.sqrt(math.log(D) / N))
    table = get_bound("bassily2021_law.lower_table1")
    assert table.value(CONTEXT) == pytest.approx(max(0.01, 0.5 * math.sqrt(D) / (EPS * N)))
    assert table.value(ON_L1) == pytest.approx(math.sqrt(math.log(D) / N))
    with pytest.raises(InputError, match="^vertices = 2: must be an integer >= 4"):
        largest_excess(2)


def test_the_law_without_noise_by_simulation():
    """Steps of Algorithm 1 on normal records, at the best of a grid of signals."""
    n, d, rng = 512, 8, np.random.default_rng(2)
    step, last = math.log(n / math.log(2 * d)) / n, n // 2
    signals = np.linspace(0.5, 2.0, 7)[:, None] * math.sqrt(step)
    estimate, x = rng.normal(size=(7, 4000, d)) * math.sqrt(2 / n), np.zeros((7, 4000))
    estimate[..., 0] += signals
    for t in range(last + 1):
        if t:
            record = rng.normal(size=(4000, d))
            estimate = (1 - step) * estimate + step * record
            estimate[..., 0] += step * signals
        chosen = np.abs(estimate).argmax(axis=-1) == 0
        x = (1 - step) * x + step * chosen * np.sign(estimate[..., 0])
    assert largest_excess_without_noise(n, d) == pytest.approx((signals[:, 0] * (1 - x.mean(axis=1))).max(), rel=0.03)
