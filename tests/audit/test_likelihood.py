"""Log densities of what queries release: each kind's ratio is one, and audits of known mechanisms stay below them."""

import math

import numpy as np
import pytest
from scipy.stats import laplace

from dpsco_bench.audit.auditor import audit_cell, make_audit_cell, run_pairs
from dpsco_bench.audit.canaries import candidate_pairs
from dpsco_bench.audit.transcript import allocated, mean_deviation, mixed, noisy_minimum
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.privacy.mechanism import generalised_gaussian_mean as draw_mean
from dpsco_bench.privacy.plan import GaussianQuery
from dpsco_bench.privacy.records import Poisson, RandomAllocation, SingleIndex, WithoutReplacement, WithReplacement
from dpsco_bench.rng.streams import Stream, stream_key
from tests.marks import rest_at_night

SEED = 3
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
]


def setting_of(algorithm, keys, factor=0.5):
    """A canary and its mirror image, with half of the noise so that something is to be seen."""
    cell = make_audit_cell(algorithm, None, keys)
    calibrated = calibrate_cell(cell, "accounted", SEED)
    plan, scales = calibrated.plan_for(cell), {k: factor * s for k, s in calibrated.scales.items()}
    return next(candidate_pairs(cell, SEED, plan, scales))


@pytest.mark.parametrize(
    ("algorithm", "keys", "runs"), KINDS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_the_density_ratio_of_every_kind_of_query(algorithm, keys, runs):
    """``E_P[Q/P] = E_Q[P/Q] = 1`` up to five standard errors, and the ratio tells the data sets apart."""
    setting = setting_of(algorithm, keys)
    means = []
    for side, sign in ((0, -1), (1, 1)):
        found = np.concatenate([own for own, *_ in run_pairs(setting, "transcript", side, 0, runs, SEED)]).sum(axis=1)
        weights = np.exp(sign * found)
        assert np.isfinite(found).all() and weights.std() > 0.0
        assert weights.mean() == pytest.approx(1.0, abs=5 * weights.std() / math.sqrt(runs) + 0.01)
        means.append(float(found.mean()))
    assert means[0] > 0 > means[1] or abs(means[0] - means[1]) < 0.1


def test_a_noisy_minimum_by_hand():
    """Of two scores the difference of two Laplace variables decides; probabilities add up to 1 for any number."""
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
    """Of 8 draws in 3 dimensions, against the sampler's own."""
    drawn = draw_mean(Stream(stream_key(1, "test", "mean"), np), 0, 4000, 0, 1, 3, r, 8).reshape(-1, 3)
    assert mean_deviation(3, r, 8) ** 2 == pytest.approx(drawn.var(), rel=0.05)


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
    assert math.exp(mixed(query, 0.7, 0, (out, once), released)[0]) == pytest.approx(exact)


def test_shuffled_batches_by_hand():
    """Three batches of two of seven records, one of which is left over."""
    without, drawn = np.log(np.array([[0.2], [0.3], [0.5]])), np.log(np.array([[0.4], [0.1], [0.5]]))
    exact = (2 / 7) * (0.4 * 0.3 * 0.5 + 0.2 * 0.1 * 0.5 + 0.2 * 0.3 * 0.5) + (1 / 7) * 0.2 * 0.3 * 0.5
    assert math.exp(allocated(RandomAllocation(7, 2), without, drawn)[0]) == pytest.approx(exact)


KNOWN = [
    ("gopi2022.axis_exact", {"n": 60}),
    ("zhang2022.dp_otb_pure", {"n": 20}),
    ("bassily2021.gg_lmo", {}),
    ("zhang2022.bftt19_noisy_sgd", {"n": 20, "epsilon": 4.0, "delta": 1e-2}),
    ("wang2017.frank_wolfe_ttz15", {"steps": 2, "epsilon": 2.0, "delta": 1e-2}),
    ("su2023.app_objp_sc", {}),
    ("su2023.shuffled_truncated_md", {"n": 20, "epsilon": 4.0, "delta": 1e-2}),
]


@pytest.mark.parametrize("known", rest_at_night(KNOWN, *range(6)), ids=[algorithm for algorithm, _ in KNOWN])
def test_a_bound_stays_below_what_an_accountant_proves(known):
    algorithm, keys = known
    """At confidence 1 - 1e-5: an excess would be no accident."""
    result = audit_cell(make_audit_cell(algorithm, None, keys), runs=4000, confidence=1 - 1e-5)
    assert result.verdict == "not refuted" and result.epsilon_lower <= result.epsilon_real
