"""The transcript statistic is the log-likelihood ratio that it claims to be, for each kind of query."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import laplace

from dpsco_bench.audit import transcript
from dpsco_bench.audit.auditor import candidate_scores, run_pairs
from dpsco_bench.audit.transcript import BINS, NeighbourRun, Recording, noisy_minimum
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.mechanism import generalised_gaussian_mean as draw_mean
from dpsco_bench.privacy.plan import GaussianQuery
from dpsco_bench.privacy.queries import PerturbedObjectiveQuery
from dpsco_bench.privacy.records import Poisson, RandomAllocation, SingleIndex, WithoutReplacement, WithReplacement
from dpsco_bench.problems.registry import get_problem
from dpsco_bench.rng.streams import Stream, stream_key

from .pairs import SEED, pairs_of, recorded


def setting_of(algorithm, calibration="accounted", canary="turning", scale=1.0, **keys):
    return pairs_of(algorithm, "canary_huber", calibration, scale, canary=canary, **{"n": 40, **keys})[0]


def features_of(setting, side, runs, stream=0):
    return [features for features, *_ in run_pairs(setting, "transcript", side, stream, runs, SEED)]


def ratios(*given):
    return np.concatenate(features_of(*given)).sum(axis=1)


@pytest.mark.parametrize("algorithm", ["wang2017.dp_gd_pl", "wang2017.output_perturbation_zhang17"])
def test_full_data_queries_give_the_gaussian_of_the_accountant(algorithm):
    """The steady canary attains the sensitivity: log ratios are Normal(+-mu^2/2, mu^2) with the accountant's mu."""
    setting = setting_of(algorithm, canary="steady")
    mu = sum(q.releases * (q.sensitivity / setting.scales[q.name]) ** 2 for q in setting.plan.queries) ** 0.5
    for side, sign in ((0, 1), (1, -1)):
        found = ratios(setting, side, 20_000)
        assert found.mean() == pytest.approx(sign * mu**2 / 2, abs=5 * mu / np.sqrt(20_000))
        assert found.std() == pytest.approx(mu, rel=0.03)


def test_scores_do_not_depend_on_blocks(monkeypatch):
    setting = setting_of("wang2017.dp_svrg", epochs=1, inner_steps=10)
    whole = ratios(setting, 0, 500)
    monkeypatch.setattr("dpsco_bench.audit.auditor.BLOCK_BYTES", 1 << 16)
    blocks = features_of(setting, 0, 500)
    assert len(blocks) > 5 and {b.shape[1] for b in blocks} == {BINS}
    np.testing.assert_allclose(np.concatenate(blocks).sum(axis=1), whole, atol=1e-8)


def test_sides_and_streams_are_independent():
    setting = setting_of("wang2017.dp_gd_pl", canary="steady")
    first, second, third = (ratios(setting, *where) for where in ((0, 2000), (1, 2000), (0, 2000, 1)))
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


def test_a_recorder_changes_nothing():
    """Beside a mechanism of another class: under either of them the reference implementation runs."""
    setting, listed = setting_of("wang2017.dp_svrg", epochs=1, inner_steps=5), type("Listed", (Mechanism,), {})
    plain, inner = (listed(setting.plan, setting.scales, "recorder", SEED, 0, 7) for _ in range(2))
    wrapped = Recording(inner)
    outputs = [setting.execute(setting.pair[0], m, 7) for m in (plain, wrapped)]
    np.testing.assert_array_equal(*outputs)
    assert dict(wrapped.released) == dict(plain.released)
    assert len(wrapped.transcript) == sum(plain.released.values())
    features, strays = transcript.log_ratio(setting, wrapped, outputs[0])
    assert features.shape == (7, BINS) and not strays.any()


def test_weights():
    rng, outputs, strays = np.random.default_rng(0), np.zeros((5000, 2)), np.zeros(5000, dtype=bool)
    common = rng.standard_normal((5000, 1))
    features = np.hstack([common, -common, rng.standard_normal((5000, BINS - 2))])
    sides = (features + 0.1, outputs, strays), (features, outputs, strays)
    plain, learned = candidate_scores("transcript", *sides).values()
    np.testing.assert_allclose(plain(features, outputs, strays), features.sum(axis=1))
    # The first two features share their noise with opposite signs: their sum is free of it.
    assert learned(features, outputs, strays).std() < 1e-3 * learned(0.1 * np.ones((1, BINS)), 0, 0)[0]
    for own in (np.full((5000, BINS), np.inf), 0.0 * features):  # nothing to learn from
        assert len(candidate_scores("transcript", (own, outputs, strays), (0.0 * features, outputs, strays))) == 1


def test_a_shuffled_record_is_tried_in_every_batch():
    """Replays put it at the head of each, or nowhere: releases of one batch look at no other."""
    setting = pairs_of("su2023.shuffled_truncated_md", n=60)[0]
    recorder, size = recorded(setting, 3), setting.plan.queries[0].records.size
    for drawn in (False, True):
        replay = transcript.ForcedReplay(replace(setting, record=5), recorder, 3, drawn)
        order = replay.permutation("order", setting.cell.n)
        assert order.shape == (3, setting.cell.n)
        heads = np.zeros(setting.cell.n, dtype=bool)
        heads[::size] = drawn
        np.testing.assert_array_equal(order == 5, np.tile(heads, (3, 1)))


@pytest.mark.parametrize(
    ("algorithm", "options", "left"),
    [("wang2017.noisy_sgd_bst14", {"steps": 3}, (6, 1.0)), ("zhang2022.bftt19_noisy_sgd", {"n": 60}, (None, 0.0))],
    ids=["a single index", "a batch"],
)
def test_a_sampled_record_is_tried_in_every_batch(algorithm, options, left):
    """Without it a batch is of no record, and a single index is that of another one."""
    setting = pairs_of(algorithm, **{"n": 40, **options})[0]
    recorder, name = recorded(setting, 3), setting.plan.queries[0].name
    for drawn, (record, share) in ((True, (5, 1.0)), (False, left)):
        batch = transcript.ForcedReplay(replace(setting, record=5), recorder, 3, drawn).sample(name)
        assert (batch.mask == share).all() and (record is None or (batch.indices == record).all())


HUBER = {"problem": "canary_huber", "canary": "turning", "n": 40, "factor": 1.0}
KINDS = [
    ("bassily2021.gg_mechanism", {}, 2000),  # generalised Gaussian
    ("bassily2021.noisy_sfw", {}, 2000),
    ("bassily2021.poly_sfw", {"n": 20}, 500),  # noisy minimum whose noise decays
    ("wang2017.frank_wolfe_ttz15", {"steps": 6}, 1000),  # noisy minimum
    ("zhang2022.dp_otb", {"n": 20}, 2000),  # tree nodes
    ("zhang2022.dp_otb_pure", {"n": 20}, 2000),  # tree nodes, pure
    ("zhang2022.dp_sgd", {"n": 60}, 2000),  # subsets
    ("zhang2022.bftt19_noisy_sgd", {"n": 60}, 2000),  # batches with replacement
    ("su2023.shuffled_truncated_md", {"n": 60}, 1000),  # permuted batches, means of generalised Gaussians
    ("su2023.truncated_batched_md", {"n": 60}, 1000),  # disjoint batches
    ("su2023.app_objp_sc", {}, 2000),  # objective perturbation on a ball, in closed form, and what covers it
    ("su2023.objp", {}, 1000),  # objective perturbation on a ball, solved
    ("wang2017.objective_perturbation_kst12", {}, 300),  # objective perturbation on the whole space
    ("wang2017.objective_perturbation_cms11", {}, 300),  # the same with Gamma-distributed norm
    ("gopi2022.axis_exact", {}, 2000),  # draws
    ("gopi2022.cube_exact", {}, 2000),
    ("gopi2022.exp_mech_sc", {}, 2000),
    ("wang2017.dp_gd_nonconvex", {"steps": 5}, 2000),  # a public choice of the iterate
    *(("wang2017.dp_svrg", {**HUBER, **keys}, 10_000) for keys in (  # Poisson batches, and single indices
        {"epochs": 2, "inner_steps": 20},
        {"epochs": 1, "inner_steps": 5, "batch": 40},
        {"epochs": 1, "inner_steps": 10, "batch": 13, "d": 3},
        {"epochs": 1, "inner_steps": 10, "noise_constant": 60.0, "calibration": "paper"},
    )),
]  # fmt: skip


@pytest.mark.parametrize(
    ("algorithm", "keys", "runs"), KINDS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_the_density_ratio_of_every_kind_of_query(algorithm, keys, runs):
    """``E_P[Q/P] = E_Q[P/Q] = 1``, and the ratio tells the data sets apart, with half of the noise if that is large."""
    setting = pairs_of(algorithm, **{"factor": 0.5, **keys})[0]
    means = []
    for side, sign in ((0, -1), (1, 1)):
        found = ratios(setting, side, runs)
        weights = np.exp(sign * found)
        assert np.isfinite(found).all() and weights.std() > 0.0
        assert weights.mean() == pytest.approx(1.0, abs=5 * weights.std() / math.sqrt(runs) + 0.01)
        means.append(float(found.mean()))
    assert means[0] > 0 > means[1] or abs(means[0] - means[1]) < 0.1


def test_a_noisy_minimum_by_hand():
    """Between two scores the difference of two Laplace variables decides; probabilities add up to 1 for any number."""
    for gap in (0.0, 0.3, 2.0):
        scores = np.array([[0.0, gap]])
        exact = 1.0 - (0.5 + 0.25 * gap) * math.exp(-gap)  # of Z_1 - Z_2 < gap
        assert math.exp(noisy_minimum(scores, np.array([0]), 1.0)[0]) == pytest.approx(exact, rel=2e-3)
    scores = np.random.default_rng(0).standard_normal((5, 7))
    total = sum(np.exp(noisy_minimum(scores, np.full(5, k), 0.4)) for k in range(7))
    np.testing.assert_allclose(total, 1.0, atol=5e-3)
    noise = laplace.rvs(scale=0.4, size=(200_000, 7), random_state=1)
    shares = np.bincount(np.argmin(scores[0] + noise, axis=1), minlength=7) / 200_000
    found = [math.exp(noisy_minimum(scores[:1], np.array([k]), 0.4)[0]) for k in range(7)]
    np.testing.assert_allclose(found, shares, atol=6e-3)


@pytest.mark.parametrize("r", [2.0, 3.0, 6.0])
def test_the_variance_that_stands_in_for_a_mean(r):
    """Frequencies of 8 draws in 3 dimensions, against the sampler's own."""
    drawn = draw_mean(Stream(stream_key(1, "test", "mean"), np), 0, 4000, 0, 1, 3, r, 8).reshape(-1, 3)
    assert transcript.mean_deviation(3, r, 8) ** 2 == pytest.approx(drawn.var(), rel=0.05)


@pytest.mark.parametrize(
    ("records", "chances"),
    [
        (WithoutReplacement(7, 3), [4 / 7, 3 / 7]),
        (SingleIndex(7), [6 / 7, 1 / 7]),
        (Poisson(0.3), [0.7, 0.3]),
        (WithReplacement(7, 3), [(6 / 7) ** 3, 3 * 36 / 343, 3 * 6 / 343, 1 / 343]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_drawn_batch_by_hand(records, chances):
    """A mixture over how often a batch has the record, whose part of the value is (0.5, 0) each time."""
    query = GaussianQuery("sum", 1.0, 1, records)
    out, once, released = np.array([[0.1, 0.2]]), np.array([[0.6, 0.2]]), np.array([[0.9, -0.3]])
    exact = sum(
        chance * math.exp(-((0.8 - 0.5 * copies) ** 2 + 0.25) / (2 * 0.7**2)) for copies, chance in enumerate(chances)
    )
    assert math.exp(transcript.mixed(query, 0.7, 0, (out, once), released)[0]) == pytest.approx(exact)


def test_shuffled_batches_by_hand():
    """Three batches of two of seven records, one of which is left over."""
    without, drawn = np.log(np.array([[0.2], [0.3], [0.5]])), np.log(np.array([[0.4], [0.1], [0.5]]))
    exact = (2 / 7) * (0.4 * 0.3 * 0.5 + 0.2 * 0.1 * 0.5 + 0.2 * 0.3 * 0.5) + (1 / 7) * 0.2 * 0.3 * 0.5
    assert math.exp(transcript.allocated(RandomAllocation(7, 2), without, drawn)[0]) == pytest.approx(exact)


@pytest.mark.parametrize("along", [-2.0, 0.0, 1.5])
def test_a_minimiser_on_the_sphere_by_integration(along):
    """On a ball's sphere the linear term is known up to a multiple of x: its normal density is integrated over that."""
    query, domain = SimpleNamespace(law="normal", law_parameters=()), SimpleNamespace(radius=2.0)
    domain.norm = lambda x: np.linalg.norm(x, axis=-1, keepdims=True)
    data_part, scale, weight, n = np.array([[along, 0.7]]), 0.8, 0.1, 5

    def found(x):
        return transcript.minimiser(query, scale, data_part, x, weight, domain, n)[0]

    def normal_density(t, x):
        inside = data_part + n * weight * x + t * x / np.linalg.norm(x)
        return np.exp(-np.sum(inside**2) / (2 * scale**2))

    sphere, inner = np.array([[2.0, 0.0]]), np.array([[1.2, 0.4]])
    exact = quad(normal_density, 0.0, np.inf, args=(sphere,))[0] / (scale * math.sqrt(2 * math.pi))
    assert math.exp(found(sphere)) == pytest.approx(exact, rel=1e-6)
    assert math.exp(found(inner)) == pytest.approx(normal_density(0.0, inner))
    domain = None
    assert math.exp(found(sphere)) == pytest.approx(normal_density(0.0, sphere))


@pytest.mark.parametrize(
    ("law", "parameters", "exponent"),
    [
        ("normal", (), lambda z: np.sum(z**2, axis=1) / 2),
        *(("generalised_gaussian", (r,), lambda z, r=r: np.linalg.norm(z, ord=r, axis=1) ** 2 / 2) for r in (2.0, 3.5)),
        *(("gamma_norm", (q,), lambda z, q=q: np.linalg.norm(z, ord=q, axis=1)) for q in (1.0, 2.0)),
    ],
)
def test_densities_of_laws_at_a_scale(law, parameters, exponent):
    z = np.random.default_rng(0).standard_normal((9, 3))
    np.testing.assert_allclose(transcript.LAWS[law](z, 0.7, *parameters), -exponent(z / 0.7))


def test_a_release_without_noise_is_certain_or_impossible():
    query, value = GaussianQuery("sum", 1.0, 1), np.array([[1.0, 2.0], [1.0, 2.5]])
    assert transcript.log_density(query, 0.0, 0, value, np.array([[1.0, 2.0]] * 2)).tolist() == [0.0, -np.inf]
    assert noisy_minimum(np.array([[1.0, 0.0]] * 2), np.array([1, 0]), 0.0).tolist() == [0.0, -np.inf]


@pytest.mark.parametrize("radius", [None, 0.02])
def test_the_public_quadratic_of_an_objective_is_measured_where_minimisers_are_inside(radius):
    """``b + g + n w x = 0`` inside the domain; on its sphere the slope would be another one."""
    query, weight, n, g = object.__new__(PerturbedObjectiveQuery), 0.3, 20, np.array([0.05, -0.02])
    object.__setattr__(query, "name", "objective")
    domain = None if radius is None else get_problem("ridge_logistic", 2, radius=radius).feasible_set

    def solve(b):
        x = -(b + g) / (n * weight)
        return x if domain is None else np.asarray(domain.project(x))

    plan = SimpleNamespace(queries=[query], query=lambda name: query)
    cell = SimpleNamespace(n=n, problem_entry=SimpleNamespace(feasible_set=domain))
    probe = transcript.Probe(SimpleNamespace(plan=plan, scales={"objective": 2.0}, cell=cell))
    x = probe.release("objective", SimpleNamespace(shape=(16, 2), solve=solve, data_part=lambda x: g + 0.0 * x))
    assert x.shape == (16, 2) and probe.weights["objective"] == pytest.approx(weight)
