import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.records import Poisson, SingleIndex
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants, Data
from dpsco_bench.problems.registry import get_problem

PP = get_algorithm("wang2017.dp_svrg_pp")
PRIVACY = PrivacySpec(1.0, 1e-5)
CONSTANTS = Constants(1.0, 1.0, initial_gap=1.0, initial_distance=1.0)


def plan(constants=CONSTANTS, n=4096, d=10, privacy=PRIVACY, variant="literal", **options):
    return PP.plan(constants, n, d, privacy, variant, **options)


# --- check vectors ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("variant", "options"), [("literal", {}), ("poisson", {"batch": 1})])
def test_v2_trajectory(vectors, variant, options):
    """Loss `literal`, no regulariser, T=2, m=1, eta=4/13, order (0,2),(3,1,1,0): snapshots and last iterate."""
    problem = vectors.FourRecords(regularisation=0.0, offset=1.0, sign=1.0)
    constants = Constants(1.0, 0.25, initial_distance=1.0)
    for epochs, expected in ((1, (0.566140299748, -0.359383218225)), (2, (0.688602238356, -0.574787039509))):
        made = PP.plan(constants, 4, 2, PRIVACY, variant, epochs=epochs, inner_steps=1, **options)
        assert made.step == pytest.approx(4 / 13)
        snapshot = vectors.run(PP, made, problem, (0, 2, 3, 1, 1, 0))
        np.testing.assert_allclose(snapshot, expected, rtol=0, atol=1e-12)
    seen = []
    vectors.run(PP, made, problem, (0, 2, 3, 1, 1, 0), lambda objective, x: seen.append(x[0]))
    assert len(seen) == 6 + 1  # every inner iterate, then the output
    np.testing.assert_allclose(seen[-2], (0.751228208502, -0.678900446128), rtol=0, atol=1e-12)


# --- schedule --------------------------------------------------------------------------------------------------


def test_schedule():
    made = plan(Constants(1.0, 0.25, initial_gap=0.5, initial_distance=3.0))
    T = round(math.log2(4096 / math.sqrt(10 * math.log(1e5))))
    assert (made.epochs, made.inner_steps, made.step) == (T, math.ceil(0.25 * 9 / 0.5), pytest.approx(4 / 13))
    N = (2 ** (T + 1) - 2) * 5
    query = made.query("inner")
    assert query.releases == N and query.records == SingleIndex(4096) and query.sensitivity == 4
    assert query.paper_scale == pytest.approx(math.sqrt(2**T * 5 * math.log(2e5)) / 4096)
    assert made.gradient_evaluations == T * 4096 + 2 * N


def test_strong_convexity_gives_the_distance_that_is_not_declared():
    assert plan(Constants(1.0, 1.0, strong_convexity=0.5, initial_gap=1.0)).inner_steps == 4
    with pytest.raises(InputError, match="^initial_distance = 0.0: must be > 0 here"):
        plan(Constants(1.0, 1.0))
    assert plan(Constants(1.0, 1.0), inner_steps=3).inner_steps == 3


@pytest.mark.parametrize(("n", "epsilon"), [(1024, 1.0), (65536, 0.25), (16, 0.1)])
def test_batch_rule(n, epsilon):
    privacy = PrivacySpec(epsilon, 1e-5)
    made = plan(n=n, privacy=privacy, variant="poisson")
    N = (2 ** (made.epochs + 1) - 2) * made.inner_steps
    b = min(n, math.ceil(0.5 * n * epsilon / math.sqrt(N * math.log(1e5))))
    assert made.batch == b and made.query("inner").records == Poisson(b / n)
    assert made.query("inner").sensitivity == pytest.approx(4 / b) and made.query("inner").releases == N
    assert made.query("anchor").releases == made.epochs
    assert made.gradient_evaluations == made.epochs * n + 2 * b * N


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": 0}, "^epochs = 0: must be an integer >= 1"),
        ({"epochs": 300}, "^epochs = 300: must be at most 200"),
        ({"inner_steps": 0}, "^inner_steps = 0"),
        ({"step": -0.1}, "^step = -0.1: must be > 0"),
        ({"noise_constant": 0.0}, "^noise_constant = 0.0"),
        ({"batch": 5000, "variant": "poisson"}, r"^batch = 5000: must be an integer in 1..4096"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(InputError, match=message):
        plan(**options)


def test_the_literal_variant_samples_single_records():
    with pytest.raises(Refusal, match="batch with variant literal"):
        plan(batch=2)


# --- the run ---------------------------------------------------------------------------------------------------


def test_iterates_run_on_and_snapshots_are_means(execute):
    """Epoch s has 2^s m steps; on a linear loss the iterate moves straight on, the snapshot is half an epoch back."""
    problem = get_problem("l1_linear", 16, ball="l2_ball")
    made = plan(epochs=3, inner_steps=2, step=1e-3, n=4)
    seen = []
    output = execute(PP, made, problem, Data(4), observer=lambda _, x: seen.append(x[0, 0]))
    slope = problem.slope[0]
    np.testing.assert_allclose(seen[:-1], 1e-3 * slope * np.arange(1, 29))
    np.testing.assert_allclose(output[0, 0], 1e-3 * slope * np.mean(np.arange(13, 29)))


def test_the_constraint_is_kept(execute):
    problem = get_problem("geometric_quadratic", 16, radius=0.5)
    made = plan(epochs=2, inner_steps=4, n=8)
    norms = []
    execute(PP, made, problem, Data(8), scale=3.0, observer=lambda _, x: norms.append(np.linalg.norm(x)))
    assert max(norms) == pytest.approx(0.5)


def test_noise_of_a_linear_loss_adds_up(execute):
    """Steps with a constant gradient: after N steps the iterate has variance N eta^2 sigma^2 per coordinate."""
    problem = get_problem("isotropic_quadratic", 4, constants=None)
    made = plan(epochs=1, inner_steps=1, step=1e-6, n=4)
    seen = []
    execute(PP, made, problem, Data(4), scale=2.0, replicates=20_000, observer=lambda _, x: seen.append(x))
    variance = seen[1].var(axis=0)
    np.testing.assert_allclose(variance, 2 * 1e-12 * 4, rtol=5 * math.sqrt(2 / 20_000))


# --- privacy ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("log_n", "published"), [(10, 1.3e3), (12, 5.4e3), (14, 2.2e4), (17, 1.7e5)])
def test_printed_noise_is_not_private(log_n, published):
    """c = 1, m = 13, T rounded up: the real epsilon of the charged queries, a lower bound."""
    n = 2**log_n
    T = math.ceil(math.log2(n / math.sqrt(10 * math.log(1e5))))
    result = calibrate(plan(n=n, inner_steps=13, epochs=T), PRIVACY, "paper")
    assert result.charge.kind == "lower" and result.privacy_status == "unproven"
    assert result.charge.epsilon == pytest.approx(published, rel=0.05)


@pytest.mark.parametrize(("epsilon", "published"), [(0.2, 1.3e4), (0.5, 8.0e4), (1.0, 3.2e5)])
def test_printed_noise_of_figure_2(epsilon, published):
    privacy = PrivacySpec(epsilon, 1e-3)
    made = plan(n=200_000, d=54, privacy=privacy, epochs=15, inner_steps=10, step=0.01)
    assert calibrate(made, privacy, "paper").charge.epsilon == pytest.approx(published, rel=0.05)


def test_accounted_noise():
    made = plan(n=2048, variant="poisson")
    result = calibrate(made, PRIVACY, "accounted")
    assert result.privacy_status == "proven" and 0.97 < result.charge.epsilon <= 1.0
    share = (2 / 2048) * math.sqrt(made.epochs) / (gdp_mu(1.0, 1e-5) * math.sqrt(0.3))
    assert result.scales["anchor"] == pytest.approx(share)


def test_literal_runs_are_never_proven():
    result = calibrate(plan(noise_constant=1e9), PRIVACY, "paper")
    assert result.charge.epsilon < 1.0 and result.privacy_status == "unproven"
