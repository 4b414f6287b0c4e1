import math
from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench.claims.bounds.registry import BoundContext, get_bound
from dpsco_bench.errors import InputError
from dpsco_bench.papers.bassily2021.laws import largest_excess, largest_excess_without_noise, winning_probabilities
from dpsco_bench.problems.base import Constants

N, D, EPS = 10_000, 32, 0.5
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
