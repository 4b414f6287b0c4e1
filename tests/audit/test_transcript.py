"""The transcript statistic is the log-likelihood ratio that it claims to be."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from dpsco_bench.audit.auditor import candidate_weights, make_audit_cell, run_pairs
from dpsco_bench.audit.canaries import candidate_pairs
from dpsco_bench.audit.transcript import BINS, ForcedReplay, NeighbourRun, Recording, log_ratio
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.records import Poisson, SingleIndex
from dpsco_bench.problems.base import Data

SEED = 3


def setting_of(algorithm, calibration="accounted", canary="turning", scale=1.0, **keys):
    cell = make_audit_cell(algorithm, "canary_huber", {"canary": canary, "n": 40, **keys})
    _, plan = cell.plan(calibration, SEED)
    scales = {k: scale * v for k, v in calibrate(plan, cell.privacy, calibration).scales.items()}
    return next(candidate_pairs(cell, SEED, plan, scales))


def run_features(*given):
    return [features for features, *_ in run_pairs(*given)]


def ratios(setting, side, runs):
    return np.concatenate(run_features(setting, "transcript", side, 0, runs, SEED)).sum(axis=1)


@pytest.mark.parametrize("algorithm", ["wang2017.dp_gd_pl", "wang2017.output_perturbation_zhang17"])
def test_full_data_queries_give_the_gaussian_of_the_accountant(algorithm):
    """The steady canary attains the sensitivity: log ratios are Normal(+-mu^2/2, mu^2) with the accountant's mu."""
    setting = setting_of(algorithm, canary="steady")
    mu = sum(q.releases * (q.sensitivity / setting.scales[q.name]) ** 2 for q in setting.plan.queries) ** 0.5
    for side, sign in ((0, 1), (1, -1)):
        found = ratios(setting, side, 20_000)
        assert found.mean() == pytest.approx(sign * mu**2 / 2, abs=5 * mu / np.sqrt(20_000))
        assert found.std() == pytest.approx(mu, rel=0.03)


@pytest.mark.parametrize(
    ("calibration", "keys"),
    [
        ("accounted", {"epochs": 2, "inner_steps": 20}),
        ("accounted", {"epochs": 1, "inner_steps": 5, "batch": 40}),
        ("accounted", {"epochs": 1, "inner_steps": 10, "batch": 13, "d": 3}),
        ("paper", {"epochs": 1, "inner_steps": 10, "noise_constant": 60.0}),
    ],
)
def test_sampled_queries_give_a_likelihood_ratio(calibration, keys):
    """``E_Q[P/Q] = E_P[Q/P] = 1``, with Poisson batches and with single indices."""
    setting = setting_of("wang2017.dp_svrg", calibration, **keys)
    for side, sign in ((0, -1), (1, 1)):
        weights = np.exp(sign * ratios(setting, side, 10_000))
        assert weights.std() > 0.05
        assert weights.mean() == pytest.approx(1.0, abs=5 * weights.std() / 100)


@pytest.mark.parametrize("problem", ["canary_huber", "ridge_logistic"])
@pytest.mark.parametrize("records", [Poisson(0.3), Poisson(1.0), SingleIndex(5)])
def test_the_mixture_of_one_sampled_release_by_hand(register, problem, records):
    """The differing record is in with probability q; a single index that misses it looks at another record."""

    def run(objective, plan, mechanism):
        return mechanism.release("gradient", objective.batch_gradient(objective.start, mechanism.sample("gradient")))

    cell = make_audit_cell(register("audit_test.sampled", run, records), problem, {"n": 5, "d": 2})
    _, plan = cell.plan("paper", SEED)
    scales = {"gradient": 0.7}
    setting = next(candidate_pairs(cell, SEED, plan, scales))
    (found,) = run_features(setting, "transcript", 0, 0, 200, SEED)
    (released,) = run_features(setting, "output", 0, 0, 200, SEED)

    entry, start = setting.cell.problem_entry, setting.cell.problem_entry.start[None]
    single = isinstance(records, SingleIndex)
    q, size = (1 / 5, 1.0) if single else (records.rate, 5 * records.rate)

    def density(data):
        def at(index):
            one = Data(1, data.features[None, index : index + 1], data.labels[None, index : index + 1])
            return entry.batch_gradient(start, one, np.full((1, 1), 1 / size))[0]

        out = at(1) if single else np.zeros(2)
        mixture = ((1 - q, out), (q, at(0)))
        return sum(weight * multivariate_normal.pdf(released, mean, 0.49) for weight, mean in mixture)

    assert found.sum(axis=1).std() > 0.1
    exact = np.log(density(setting.pair[0]) / density(setting.pair[1]))
    np.testing.assert_allclose(found.sum(axis=1), exact, atol=1e-8)


def test_scores_do_not_depend_on_blocks(monkeypatch):
    setting = setting_of("wang2017.dp_svrg", epochs=1, inner_steps=10)
    whole = ratios(setting, 0, 500)
    monkeypatch.setattr("dpsco_bench.audit.auditor.BLOCK_BYTES", 1 << 16)
    blocks = run_features(setting, "transcript", 0, 0, 500, SEED)
    assert len(blocks) > 5 and {b.shape[1] for b in blocks} == {BINS}
    np.testing.assert_allclose(np.concatenate(blocks).sum(axis=1), whole, atol=1e-8)


def test_sides_and_streams_are_independent():
    setting = setting_of("wang2017.dp_gd_pl", canary="steady")
    first, second, third = (
        np.concatenate(run_features(setting, "transcript", side, stream, 2000, SEED)).sum(axis=1)
        for side, stream in ((0, 0), (1, 0), (0, 1))
    )
    for other in (second, third):
        assert abs(np.corrcoef(first, other)[0, 1]) < 5 / np.sqrt(2000)


def test_without_noise_the_transcript_identifies_its_data_set_and_one_data_set_twice_leaves_no_trace():
    setting = setting_of("wang2017.dp_gd_pl", canary="steady", scale=0.0)
    for side, value in ((0, np.inf), (1, -np.inf)):
        np.testing.assert_array_equal(ratios(setting, side, 10), value)
    setting = setting_of("wang2017.dp_svrg", epochs=1, inner_steps=10)
    same = NeighbourRun(setting.cell, setting.plan, setting.scales, (setting.pair[0],) * 2, 0)
    np.testing.assert_array_equal(ratios(same, 0, 50), 0.0)


def test_an_output_that_bypasses_the_releases_is_seen(register):
    def leaky(objective, plan, mechanism):
        x = objective.start
        gradient = objective.mean_gradient(x)
        return x - mechanism.release("gradient", gradient) - 1e-3 * gradient

    setting = setting_of(register("audit_test.leaky", leaky), canary="steady")
    for side, value in ((0, np.inf), (1, -np.inf)):
        np.testing.assert_array_equal(ratios(setting, side, 10), value)


class Listed(Mechanism):
    """It answers one release at a time, so that the listing runs as it does under a recorder."""


def test_a_recorder_changes_nothing():
    setting = setting_of("wang2017.dp_svrg", epochs=1, inner_steps=5)
    plain, wrapped = (
        make(Listed(setting.plan, setting.scales, "recorder", SEED, 0, 7)) for make in (lambda m: m, Recording)
    )
    outputs = [setting.execute(setting.pair[0], m, 7) for m in (plain, wrapped)]
    np.testing.assert_array_equal(*outputs)
    assert dict(wrapped.released) == dict(plain.released)
    assert len(wrapped.transcript) == sum(plain.released.values())
    features, strays = log_ratio(setting, wrapped, outputs[0])
    assert features.shape == (7, BINS) and not strays.any()


def test_weights():
    rng = np.random.default_rng(0)
    common = rng.standard_normal((5000, 1))
    features = np.hstack([common, -common, rng.standard_normal((5000, BINS - 2))])
    plain, learned = candidate_weights("transcript", features + 0.1, features)
    np.testing.assert_array_equal(plain, 1.0)
    # The first two features share their noise with opposite signs: their sum is free of it.
    assert (features @ learned).std() < 1e-3 * (0.1 * learned.sum())
    assert len(candidate_weights("transcript", np.full((10, BINS), np.inf), np.zeros((10, BINS)))) == 1
    assert len(candidate_weights("output", np.zeros((10, 2)), np.zeros((10, 2)))) == 1


def test_a_shuffled_record_is_tried_in_every_batch():
    """Replays put it at the head of each, or nowhere: releases of one batch look at no other."""
    cell = make_audit_cell("su2023.shuffled_truncated_md", None, {"n": 60})
    plan = cell.plan("accounted", SEED)[1]
    setting = next(candidate_pairs(cell, SEED, plan, {query.name: 1.0 for query in plan.queries}))
    recorded = Recording(Mechanism(setting.plan, setting.scales, "shuffled", SEED, 0, 3))
    setting.execute(setting.pair[0], recorded, 3)
    size = setting.plan.queries[0].records.size
    for drawn in (False, True):
        replay = ForcedReplay(setting.plan, setting.scales, recorded, 3, 5, drawn)
        order = replay.permutation("order", setting.cell.n)
        assert order.shape == (3, setting.cell.n)
        heads = np.zeros(setting.cell.n, dtype=bool)
        heads[::size] = drawn
        np.testing.assert_array_equal(order == 5, np.tile(heads, (3, 1)))
