"""Noise that is generalised Gaussian or that of a noisy minimum: laws, moments, and what they depend on."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from dpsco_bench.privacy.mechanism import generalised_gaussian_mean
from dpsco_bench.privacy.plan import NoisyMinimumQuery
from dpsco_bench.privacy.queries import DecayingNoisyMinimumQuery
from dpsco_bench.rng import reference
from dpsco_bench.rng.streams import Stream, stream_key
from dpsco_bench.samplers.draws import lazy_minima, lazy_rows

from ..privacy.plans import plan_of, source

VECTORS = Stream(stream_key(3, "tests", "generalised gaussian"))
LAWS = [(2.0, 5), (2.4, 2), (3.0, 6), (7.155, 3), (60.0, 4), (500.0, 2), (3.0, 33)]


def vectors(r, d, count=40_000, stream=VECTORS):
    return stream.generalised_gaussian(0, 1, 0, count, d, r)[0].astype(np.float64)


def norm(z, r):
    largest = np.abs(z).max(axis=-1, keepdims=True)
    return (largest * (np.abs(z / largest) ** r).sum(axis=-1, keepdims=True) ** (1 / r))[..., 0]


@pytest.mark.parametrize(("r", "d"), LAWS)
def test_radius_and_direction(r, d):
    """``||z||_r ~ chi_d``; ``|z_1|^r/||z||_r^r ~ Beta(1/r, (d-1)/r)``; independent; signs fair and independent."""
    z = vectors(r, d)
    radius = norm(z, r)
    assert stats.kstest(radius, stats.chi(d).cdf).pvalue > 1e-3
    share = np.abs(z[:, 0] / radius)
    # Much of the law of |z_1|^r lies where |z_1| rounds to the norm: look below that, and above where v^r is zero.
    v = np.linspace(0.3 if r > 100 else 0.0, 1.0 - 1e-5, 4001)
    distance = np.searchsorted(np.sort(share), v) / len(z) - stats.beta(1 / r, (d - 1) / r).cdf(v**r)
    assert np.abs(distance).max() < 1.95 / math.sqrt(len(z))
    assert abs(np.corrcoef(radius, share)[0, 1]) < 5 / math.sqrt(len(z))
    signs = (z > 0) @ (1 << np.arange(min(d, 6))) if d <= 6 else (z[:, :6] > 0) @ (1 << np.arange(6))
    assert stats.chisquare(np.bincount(signs, minlength=1 << min(d, 6))).pvalue > 1e-3


def test_moments_of_the_chapters():
    """Check vectors: bassily2021 section 10 (r = 10, d = 3) and su2023 section 10 (r = 3, d = 6, sigma = 1.3)."""
    first, several = np.abs(vectors(10.0, 3, 200_000)[:, 0]), 1.3 * vectors(3.0, 6, 200_000)
    known = [(first, 1.0385517304), (first**2, 1.5922222527), (first**4, 6.4406743063), (several[:, 0] ** 2, 2.51571)]
    known += [(norm(several, 3.0) ** 2, 10.14), (norm(several, 3.0) ** 4, 137.093)]
    for values, moment in known:
        assert abs(values.mean() - moment) < 4 * values.std() / math.sqrt(200_000)
    for r, d in ((1000.0, 1), (1000.0, 2), (20.0, 5000)):
        assert np.mean(norm(vectors(r, d, 2000), r) ** 2) == pytest.approx(d, rel=0.15)  # and finite


DRAWN = {
    "vector": lambda *where: VECTORS.generalised_gaussian(*where, 5, 3.0),
    "mean": lambda *where: generalised_gaussian_mean(VECTORS, *where, 5, 3.0, 7),
}


@pytest.mark.parametrize("drawn", DRAWN.values(), ids=DRAWN)
def test_steps_and_replicates_may_be_split(drawn):
    whole = drawn(4, 6, 2, 9)
    np.testing.assert_array_equal(whole[2:5], drawn(6, 3, 2, 9))
    np.testing.assert_array_equal(whole[:, 3:4], drawn(4, 6, 5, 1))


def test_the_mean_is_the_mean_of_successive_steps(monkeypatch):
    """A mean of normals takes one draw."""
    expected = VECTORS.generalised_gaussian(35, 14, 1, 3, 4, 6.0).reshape(2, 7, 3, 4).astype(float).mean(axis=1)
    for most in (1, 1 << 17):
        monkeypatch.setattr("dpsco_bench.privacy.mechanism.BLOCK_VALUES", most)
        np.testing.assert_allclose(generalised_gaussian_mean(VECTORS, 5, 2, 1, 3, 4, 6.0, 7), expected, rtol=1e-13)
    mean = generalised_gaussian_mean(VECTORS, 0, 4, 0, 5000, 3, 2.0, 9)
    np.testing.assert_allclose(mean, VECTORS.normal(0, 4, 0, 5000, 3) / 3.0, rtol=1e-7)


STREAM = Stream(stream_key(5, "tests", "noisy minimum"))
SCORES = {
    "two": [0.0, 0.5],
    "ties": [0.3, 0.3, 0.3, 0.3, 0.3],
    "spread": [0.0, 0.2, 0.9, -0.4, 2.5, 0.1],
    "one far below": [3.0, 3.0, 0.0, 3.0, 3.0, 3.0, 3.0],
}


def minima(step, first, scores, scale, rows=None):
    rows = np.arange(len(scores)) if rows is None else rows
    return lazy_minima(STREAM, step, first, scores, scale, rows, scores.min(axis=1))


def probabilities(scores, scale):
    """P(score k + Laplace is the least), by quadrature over that sum."""
    law = stats.laplace(scale=scale)

    def density(x, k):
        return law.pdf(x - scores[k]) * math.prod(law.sf(x - score) for j, score in enumerate(scores) if j != k)

    edges = np.unique([-60.0 * scale, *scores, max(scores) + 60.0 * scale])
    pieces = [*zip(edges, edges[1:], strict=False)]
    return np.array([sum(quad(density, *piece, args=(k,))[0] for piece in pieces) for k in range(len(scores))])


@pytest.mark.parametrize("scale", [0.3, 1.0, 20.0])
@pytest.mark.parametrize("name", SCORES)
def test_the_law_is_that_of_drawing_everything(name, scale):
    scores, runs = SCORES[name], 60_000
    chosen = minima(2, 0, np.tile(scores, (runs, 1)), scale)
    expected = runs * probabilities(scores, scale)
    assert expected.sum() == pytest.approx(runs, rel=1e-6)
    kept = expected > 5
    counts = np.bincount(chosen, minlength=len(scores))
    rest = [counts[~kept].sum()], [expected[~kept].sum()]
    assert rest[0][0] <= rest[1][0] + 6 * math.sqrt(rest[1][0]) + 3
    assert stats.chisquare(counts[kept], expected[kept] * counts[kept].sum() / expected[kept].sum()).pvalue > 1e-3


def test_lazy_minima_are_those_of_the_reference():
    rng = np.random.default_rng(2)
    for rows, count, scale in ((40, 2, 1.0), (60, 17, 0.1), (30, 700, 2.0)):
        scores = rng.normal(size=(rows, count))
        expected, some = np.zeros(rows, dtype=np.int64), np.flatnonzero(rng.random(rows) < 0.5)
        reference.noisy_minima(expected, scores, some, scores.min(axis=1), scale, 9, 4, STREAM.key)
        np.testing.assert_array_equal(minima(9, 4, scores, scale, some), expected)
    scores = np.random.default_rng(3).normal(size=(50, 400))
    whole = minima(1, 10, scores, 1.0)
    parts = [minima(1, 10, scores[:20], 1.0), minima(1, 30, scores[20:], 1.0)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert not np.array_equal(minima(2, 10, scores, 1.0), whole)


def test_rows_are_chosen_by_range_and_number_of_scores():
    wide = np.zeros((3, 512))
    wide[1, 5] = -100.0
    wide[2, 0] = math.nan
    rows, lowest = lazy_rows(wide, 1.0)
    assert rows.tolist() == [0] and lowest[1] == -100.0
    assert lazy_rows(wide, 0.0)[0].size == 0
    spread = np.linspace(0.0, 2.0, 32)[None, :]
    assert lazy_rows(spread, 1.0)[0].size == 0 and lazy_rows(np.tile(spread, 8), 1.0)[0].size == 1
    scores = np.random.default_rng(5).normal(size=(24, 300)) * 0.2
    scores[::3, 7] -= 50.0 * np.random.default_rng(6).random(8)
    scores[::3, 8] = scores[::3, 7] + 0.1
    lazy, eager = NoisyMinimumQuery("v", 1.0, 4, lazy=True), NoisyMinimumQuery("v", 1.0, 4)
    whole = source(plan_of(lazy), 0.5, 24).release("v", scores, 2)
    wide = np.setdiff1d(np.arange(24), lazy_rows(scores, 0.5)[0])
    assert 3 < wide.size < 9
    np.testing.assert_array_equal(whole[wide], source(plan_of(eager), 0.5, 24).release("v", scores, 2)[wide])
    for rows in (slice(10), slice(10, 24)):
        part = source(plan_of(lazy), 0.5, len(scores[rows]), rows.start or 0).release("v", scores[rows], 2)
        np.testing.assert_array_equal(part, whole[rows])


def group_probabilities(levels, size, scale):
    """P(the least noisy score is one of a level's), for so many equal scores at each level, by the trapezoidal rule."""
    law, x = stats.laplace(scale=scale), np.linspace(min(levels) - 30 * scale, max(levels) + 5 * scale, 40_001)
    survival = np.array([law.logsf(x - level) for level in levels])
    others = size * survival.sum(axis=0)
    densities = [size * law.pdf(x - s) * np.exp(others - own) for s, own in zip(levels, survival, strict=True)]
    return np.trapezoid(densities, x, axis=1)


@pytest.mark.parametrize("lazy", [True, False], ids=["lazy", "eager"])
def test_noise_that_changes_has_the_law_of_its_factors(lazy):
    """Chi-square over eight levels of 32 scores each, release by release, whichever way the answer is drawn."""
    factors = {"decay": 0.1, "first": 1.0, "later": 1.0, "start": 10.0, "floor": 0.2}
    query = DecayingNoisyMinimumQuery("v", 1.0, 3, lazy=lazy, **factors)
    levels, runs = np.linspace(0.0, 0.25, 8), 6000
    drawing = source(plan_of(query), 0.5, runs)
    for release, factor in enumerate((10.0, 1.0, 0.2)):
        expected = runs * group_probabilities(levels, 32, 0.5 * factor)
        assert expected.sum() == pytest.approx(runs, rel=1e-3)
        chosen = drawing.release("v", np.tile(np.repeat(levels, 32), (runs, 1)), release) // 32
        counts = np.bincount(chosen, minlength=8)
        assert stats.chisquare(counts, expected * runs / expected.sum()).pvalue > 1e-4
