"""Declared = charged = drawn, and planned = counted."""

from dataclasses import replace
from math import gamma

import numpy as np
import pytest

from dpsco_bench.privacy.calibrate import decisive_charge
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.privacy.records import Poisson, SingleIndex
from dpsco_bench.privacy.transcript import Recorder

from .checks import ROUNDING, evaluations

VALUES = 6000
"""Least number of noise values behind each statistical statement."""
_NOISE = {}


def normalised_noise(case):
    """Noise of every release of a run over its declared scale, by query: ``(steps, R, d)``; kept, as two tests ask."""
    if case not in _NOISE:
        fewest = min(q.releases for q in case.plan.queries) * case.problem.dimension
        transcript = case.run(Recorder, replicates=-(-VALUES // fewest)).mechanism.transcript
        queries = case.plan.queries
        _NOISE[case] = {q.name: transcript.noise(q.name) / release_scales(q, case.scales[q.name]) for q in queries}
    return _NOISE[case]


def release_scales(query, scale):
    """Scale of each release, to be held against noise ``(steps, R, d)``."""
    factors = query.factors(0, query.releases)
    return scale if factors is None else scale * factors[:, None, None]


def test_evaluations_are_those_of_the_drawn_batches(law_case):
    found = evaluations(law_case)
    np.testing.assert_allclose(found.explained, found.counted, rtol=ROUNDING)
    assert found.expected == pytest.approx(law_case.plan.gradient_evaluations, rel=ROUNDING)


def test_what_is_charged_is_what_the_run_draws_with(noisy_case):
    """An exact value of other problems may be an upper bound on this one."""
    source, charged = noisy_case.mechanism(), noisy_case.calibrated.charge
    assert source.scales == noisy_case.scales
    recharged = decisive_charge(source.plan, source.scales, PrivacySpec(1.0, 1e-5))
    assert charged.kind in (recharged.kind, "upper")
    np.testing.assert_equal(vars(replace(recharged, kind=charged.kind)), vars(charged))


def gamma_moments(d, q=2.0):
    """E|z_1|^k of a vector of density ~ exp(-||z||_q): of its Gamma(d) norm, times those of the cone measure."""
    radius = [gamma(d + k) / gamma(d) for k in (2, 4)]
    shape = [gamma((k + 1) / q) * gamma(d / q) / (gamma(1 / q) * gamma((d + k) / q)) for k in (2, 4)]
    return tuple(np.multiply(radius, shape))


def generalised_gaussian_moments(d, r):
    """E|z_1|^k of a vector of density ~ exp(-||z||_r^2/2) (chapter bassily2021, G2)."""
    radius = [2 ** (k / 2) * gamma((d + k) / 2) / gamma(d / 2) for k in (2, 4)]
    shape = [gamma((k + 1) / r) * gamma(d / r) / (gamma(1 / r) * gamma((d + k) / r)) for k in (2, 4)]
    return tuple(np.multiply(radius, shape))


def mean_moments(d, r, draws):
    """Those of the mean of so many independent vectors."""
    second, fourth = generalised_gaussian_moments(d, r)
    return second / draws, (fourth + 3 * (draws - 1) * second**2) / draws**3


MOMENTS = {
    "normal": lambda d: (1, 3),
    "laplace": lambda d: (2, 24),
    "gamma_norm": gamma_moments,
    "generalised_gaussian": generalised_gaussian_moments,
    "generalised_gaussian_mean": mean_moments,
}
"""Second and fourth moment of a coordinate of noise of scale 1, by law, dimension and the law's parameters."""


def test_noise_has_the_calibrated_law(law_case):
    for name, z in normalised_noise(law_case).items():
        query, d, z = law_case.plan.query(name), z.shape[-1], z.ravel()
        assert abs(z.mean()) < 5 * z.std() / np.sqrt(z.size), name
        for power, moment in zip((2, 4), MOMENTS[query.law](d, *query.law_parameters), strict=True):
            assert abs(np.mean(z**power) - moment) < 5 * np.std(z**power) / np.sqrt(z.size / d**0.5), (name, power)


def test_noise_of_queries_steps_replicates_and_coordinates_is_independent(law_case):
    noise = normalised_noise(law_case)
    rows = np.concatenate([z.reshape(-1, z.shape[-1]) for z in noise.values()])
    assert len(np.unique(rows, axis=0)) == len(rows)
    pairs = [
        (np.take(z, range(z.shape[k] - 1), axis=k), np.take(z, range(1, z.shape[k]), axis=k))
        for z in noise.values()
        for k in range(3)
        if z.shape[k] > 1
    ]
    names = list(noise)
    for first, second in zip(names[:-1], names[1:], strict=True):
        steps = min(len(noise[first]), len(noise[second]))
        pairs.append((noise[first][:steps], noise[second][:steps]))
    for left, right in pairs:
        assert abs(np.mean(left * right)) < 5 * np.std(left * right) / np.sqrt(left.size)


def test_released_values_are_the_exposed_ones_with_the_noise_that_was_charged(noisy_case):
    passed, detail = noisy_case.checks.check_released()
    assert passed, detail


def test_batches_have_the_declared_law(law_case):
    case, replicates = law_case, 400
    source = case.mechanism(replicates=replicates)
    for query in case.plan.queries:
        if not isinstance(query.records, Poisson | SingleIndex):
            continue
        rate = query.records.rate if isinstance(query.records, Poisson) else 1 / query.records.population
        hits, sizes = np.zeros(case.n), []
        for step in range(query.releases):
            batch = source.sample(query.name, step)
            np.add.at(hits, batch.indices[batch.mask > 0], 1)
            np.testing.assert_array_equal(batch.sizes, batch.mask.sum(axis=-1))
            sizes.append(batch.sizes)
        draws = replicates * query.releases
        deviation = np.sqrt(draws * rate * (1 - rate))
        assert np.abs(hits - draws * rate).max() <= 5 * deviation
        if isinstance(query.records, SingleIndex):
            assert np.all(np.concatenate(sizes) == 1)
        else:
            mean = case.n * rate
            assert abs(np.mean(sizes) - mean) <= 5 * np.sqrt(mean * (1 - rate) / draws)
            np.testing.assert_allclose(source.sample(query.name, 0).expected_size, mean)
