import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.records import Poisson, SingleIndex
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.privacy.transcript import Recorder
from dpsco_bench.problems.base import Constants
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import get_problem

SVRG = get_algorithm("wang2017.dp_svrg")
PRIVACY = PrivacySpec(1.0, 1e-5)
RIDGE = get_problem("ridge_logistic").constants


def plan(constants=RIDGE, n=4096, d=10, privacy=PRIVACY, variant="literal", **options):
    return SVRG.plan(constants, n, d, privacy, variant, **options)


# --- check vectors ---------------------------------------------------------------------------------------------


def test_v1_trajectory(vectors):
    """T=2, m=3, eta=.5, lam=.1 in the prox, record order (0,2,3),(1,1,0): both snapshots."""
    problem = vectors.FourRecords()
    for epochs, expected in ((1, (0.299448205841, -0.079754515922)), (2, (0.135238150692, 0.072479476135))):
        made = SVRG.plan(problem.constants, 4, 2, PRIVACY, "literal", epochs=epochs, inner_steps=3, step=0.5)
        snapshot = vectors.run(SVRG, made, problem, (0, 2, 3, 1, 1, 0))
        np.testing.assert_allclose(snapshot, expected, rtol=0, atol=1e-12)


def test_v1_does_not_depend_on_where_the_noise_would_enter(vectors):
    """The private variant releases the anchor separately; without noise that is the same trajectory."""
    problem = vectors.FourRecords()
    made = SVRG.plan(problem.constants, 4, 2, PRIVACY, "poisson", epochs=2, inner_steps=3, step=0.5, batch=1)
    snapshot = vectors.run(SVRG, made, problem, (0, 2, 3, 1, 1, 0))
    np.testing.assert_allclose(snapshot, (0.135238150692, 0.072479476135), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("bound", "expected"), [("printed", (481, 1921, 4993)), ("corrected", (241, 961, 2497))])
def test_v8_inner_steps(bound, expected):
    for kappa, m in zip((2.5, 10, 26), expected, strict=True):
        constants = Constants(1.0, kappa, strong_convexity=1.0)
        assert plan(constants, inner_bound=bound).inner_steps == m


@pytest.mark.parametrize("bound", ["printed", "corrected"])
@pytest.mark.parametrize("kappa", [1.0, 2.5, 10.0, 26.0, 1000.0])
def test_inner_steps_are_the_least_that_contract_by_half(bound, kappa):
    constants, variance = Constants(1.0, kappa, strong_convexity=1.0), {"printed": 8, "corrected": 4}[bound]
    made = plan(constants, inner_bound=bound)
    theta = made.step * kappa

    def factor(m):
        return (kappa / theta + variance * theta * (m + 1)) / (m * (1 - variance * theta))

    assert made.contraction == pytest.approx(factor(made.inner_steps), rel=1e-12)
    assert factor(made.inner_steps) < 0.5 <= factor(made.inner_steps - 1)


def test_default_theta_minimises_the_inner_steps():
    for bound, best in (("printed", 1 / 48), ("corrected", 1 / 24)):
        least = plan(inner_bound=bound).inner_steps
        assert plan(inner_bound=bound, theta=best).inner_steps == least
        for theta in (0.7 * best, 1.4 * best):
            assert plan(inner_bound=bound, theta=theta).inner_steps > least


# --- schedule --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [64, 1024, 2**17])
@pytest.mark.parametrize("epsilon", [0.25, 4.0])
def test_literal_schedule(n, epsilon):
    made, l = plan(n=n, privacy=PrivacySpec(epsilon, 1e-5)), math.log(1e5)
    T = max(1, math.ceil(math.log2(n**2 * epsilon**2 * 0.1 * 0.1 / (10 * l))))
    N = T * 481
    assert (made.epochs, made.inner_steps, made.step) == (T, 481, pytest.approx(1 / 12))
    assert made.gradient_evaluations == T * (n + 2 * 481)
    (query,) = made.queries
    assert query.paper_scale == pytest.approx(math.sqrt(N * l) / (n * epsilon))
    assert (query.sensitivity, query.releases, query.records) == (4.0, N, SingleIndex(n))
    assert made.leaks


@pytest.mark.parametrize("n", [64, 1024, 2**17])
def test_private_schedule(n):
    made, l = plan(n=n, variant="poisson"), math.log(1e5)
    N = made.epochs * made.inner_steps
    b = min(n, math.ceil(0.5 * n / math.sqrt(N * l)))
    assert made.batch == b and made.gradient_evaluations == made.epochs * n + 2 * b * N
    anchor, inner = made.queries
    assert (anchor.sensitivity, anchor.releases, anchor.share) == (2 / n, made.epochs, 0.3)
    assert (inner.contribution, inner.releases) == (2 / b, N)
    assert isinstance(inner.records, Poisson) and inner.records.rate == b / n
    assert not made.leaks


def test_private_calibration_splits_the_budget_as_specified():
    made = plan(n=512, variant="poisson", epochs=2, inner_steps=20)
    result = calibrate(made, PRIVACY, "accounted")
    mu = gdp_mu(1.0, 1e-5)
    assert result.scales["anchor"] == pytest.approx(2 / 512 * math.sqrt(2) / (mu * math.sqrt(0.3)))
    assert result.charge.epsilon <= 1 + 1e-9 and result.privacy_status == "proven"


def test_noise_constant_scales_the_variance():
    assert plan(noise_constant=4.0).queries[0].paper_scale == pytest.approx(2 * plan().queries[0].paper_scale)


def test_given_schedule_values_replace_the_theorems():
    made = plan(variant="poisson", epochs=3, inner_steps=7, batch=1, step=0.01)
    assert (made.epochs, made.inner_steps, made.batch, made.step) == (3, 7, 1, 0.01)
    assert made.query("inner").releases == 21
    # The contraction factor is that of the step in use, and void beyond inequality (4).
    assert plan(step=1 / 12).contraction == pytest.approx(plan().contraction)
    assert plan(step=1.0).contraction == math.inf


def test_noise_off_runs_the_private_variant_by_default():
    assert SVRG.variant_for("none") == SVRG.variant_for("accounted") == "poisson"
    assert SVRG.variant_for("paper") == "literal"


# --- refusals --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"theta": 1 / 24}, r"^theta = .*: must be in \(0, 1/24\), or inequality \(4\) has no m .*E4"),
        ({"theta": 0.0}, "^theta = "),
        ({"theta": 1 / 12, "inner_bound": "corrected"}, r"^theta = .*\(0, 1/12\)"),
        ({"inner_bound": "exact"}, "^inner_bound = 'exact': must be printed or corrected"),
        ({"variant": "poisson", "batch": 4097}, r"^batch = 4097: must be an integer in 1..4096"),
        ({"variant": "poisson", "batch": 0}, "^batch = 0"),
        ({"epochs": 0}, "^epochs = 0: must be an integer >= 1"),
        ({"inner_steps": -1}, "^inner_steps = -1"),
        ({"step": 0.0}, "^step = 0.0: must be > 0"),
        ({"step_rule": "adam"}, "^step_rule = 'adam': must be constant or bb"),
        ({"noise_constant": 0.0}, "^noise_constant = 0.0: must be a number > 0 or advanced"),
        ({"constants": Constants(1.0, 1.0)}, "^strong_convexity = 0.0: must be > 0"),
        (
            {"constants": Constants(1.0, 1.0, strong_convexity=0.1), "variant": "poisson", "step_rule": "bb"},
            "^regularisation = 0.0: must be > 0",
        ),
    ],
)
def test_conditions_of_the_theorem(options, message):
    with pytest.raises(InputError, match=message):
        plan(**options)


def test_undefined_combinations():
    with pytest.raises(Refusal, match="^batch with variant literal refused"):
        plan(batch=5)
    with pytest.raises(Refusal, match="variant literal with calibration accounted refused: only paper, none"):
        SVRG.variant_for("accounted", "literal")
    with pytest.raises(Refusal, match="variant poisson with calibration paper refused: only accounted, none"):
        SVRG.variant_for("paper", "poisson")


@pytest.mark.parametrize("constant", [1.0, 1e4, 1e8])
def test_literal_runs_are_never_proven(constant):
    made = plan(n=1024, epochs=2, inner_steps=10, noise_constant=constant)
    result = calibrate(made, PRIVACY, "paper")
    assert result.charge.kind == "lower" and result.privacy_status == "unproven"


# --- runs ------------------------------------------------------------------------------------------------------


def test_the_leak_of_the_literal_variant_is_the_one_its_plan_names(vectors):
    """A replaced record that is *not* sampled still moves the released value, by the uncharged anchor: up to 2G/n."""
    problem = vectors.FourRecords()
    made = SVRG.plan(problem.constants, 4, 2, PRIVACY, "literal", epochs=1, inner_steps=3, step=0.5)
    data = problem.draw(4, None)
    changed = data.features.copy()
    changed[3] = (0.0, -1.0)
    neighbour = type(data)(4, changed, data.labels)
    values = []
    for records in (data, neighbour):
        objective = Objective(problem, records, 1)

        class Kept(Recorder, vectors.Scripted):
            pass

        source = Kept((0, 1, 2), made)
        SVRG.run_function(objective, made, source)
        values.append(source.transcript)
    first = np.linalg.norm(values[0].values["inner"][0] - values[1].values["inner"][0])
    anchor = np.linalg.norm(
        problem.mean_gradient(problem.start[None], data) - problem.mean_gradient(problem.start[None], neighbour)
    )
    assert first == pytest.approx(anchor, rel=1e-12) and 0 < first <= 2 / 4
    assert "exact full gradient" in made.leaks[0]


def test_snapshot_averages_are_accumulated_in_double_precision(execute, draw):
    """Even where the state is float32, whose running sum of thousands of iterates would lose digits."""
    problem = get_problem("ridge_logistic", 3)
    data, iterates = draw(problem, 32), []
    made = SVRG.plan(problem.constants, 32, 3, PRIVACY, "poisson", epochs=1, inner_steps=2000, batch=1)
    snapshot = execute(
        SVRG, made, problem, data, dtype="float32", scale=0.1, observer=lambda objective, x: iterates.append(x)
    )
    assert snapshot.dtype == np.float32 and len(iterates) == 2001
    exact = np.mean([x.astype(np.float64) for x in iterates[:-1]], axis=0)
    np.testing.assert_array_equal(snapshot, exact.astype(np.float32))


def test_noise_free_epochs_halve_the_gap(execute, draw):
    problem = get_problem("ridge_logistic", 5)
    data = draw(problem, 256)
    start = float(Objective(problem, data, 1).excess_risk(problem.start[None])[0])
    for variant in ("literal", "poisson"):
        made = SVRG.plan(problem.constants, 256, 5, PRIVACY, variant, epochs=4)
        output = execute(SVRG, made, problem, data, replicates=4)
        gap = Objective(problem, data, 4).excess_risk(output)
        assert gap.mean() <= made.contraction**4 * start


def test_evaluations_of_the_default_schedule(execute, draw):
    problem = get_problem("ridge_logistic", 5)
    data = draw(problem, 64)
    made = SVRG.plan(problem.constants, 64, 5, PRIVACY, "literal", epochs=2)
    counted = []
    execute(SVRG, made, problem, data, observer=lambda objective, x: counted.append(objective.evaluations[0]))
    assert counted[-1] == made.gradient_evaluations == 2 * (64 + 2 * 481)
