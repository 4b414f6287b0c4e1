import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.execution.cell import Cell
from dpsco_bench.geometry.mirror import mean_largest_square
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.add_remove import add_remove
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants, Data
from dpsco_bench.problems.registry import get_problem

ACCMD = get_algorithm("wang2017.dp_accmd")
PRIVACY = PrivacySpec(1.0, 1e-5)
UNIT = Constants(1.0, 1.0, diameter=2.0, domain="l2_ball")
UNIT_L1 = Constants(1.0, 1.0, diameter=2.0, domain="l1_ball")
L = math.log(1e5)


def plan(constants=UNIT, n=4096, d=64, privacy=PRIVACY, variant="acsa", **options):
    return ACCMD.plan(constants, n, d, privacy, variant, **options)


# --- check vectors ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("proof", (-0.290287882234, 0.388709387083)),
        ("literal", (-0.290287882234, 0.388709387083)),
        ("noisy_y", (-0.195759990282, 0.259442041576)),
        ("acsa", (-0.195759990282, 0.259442041576)),
    ],
)
def test_v3_outputs(vectors, variant, expected):
    """Unit l2 ball, T=3, Lc=1, start 0, the usual logistic loss."""

    class OnBall(vectors.FourRecords):
        @property
        def own_constants(self):
            return Constants(1.0, 0.25, diameter=2.0, domain="l2_ball")

        @property
        def start(self):
            return np.zeros(2)

    problem = OnBall(0.0)
    made = ACCMD.plan(problem.constants, 4, 2, PRIVACY, variant, steps=3)
    assert made.norm_smoothness == 1.0
    np.testing.assert_allclose(vectors.run(ACCMD, made, problem, ()), expected, rtol=0, atol=1e-12)


# --- schedule --------------------------------------------------------------------------------------------------


def test_schedule_on_the_l2_ball():
    made = plan()
    assert (made.norm_smoothness, made.bregman_radius, made.squared_width) == (4.0, 0.5, 64.0)
    assert made.steps == round(math.sqrt(4 * math.sqrt(0.5) * 4096 / math.sqrt(L * 64)))
    query = made.query("gradient")
    assert query.sensitivity == 2 / 4096 and query.releases == made.steps
    assert query.paper_scale == pytest.approx(math.sqrt(made.steps * L) / 4096)
    assert made.gradient_evaluations == 4096 * made.steps


def test_schedule_on_the_l1_ball():
    made = plan(UNIT_L1)
    s = math.e * (2 * math.log(64) - 1)
    assert made.bregman_radius == pytest.approx(s / 2)
    assert made.squared_width == pytest.approx(mean_largest_square(64))
    assert made.steps == round(math.sqrt(4 * math.sqrt(s / 2) * 4096 / math.sqrt(L * mean_largest_square(64))))


def test_conventions():
    assert plan(norm_smoothness="radius").norm_smoothness == 1.0
    ratio = plan(horizon="optimal", n=10**7).steps / plan(n=10**7).steps
    assert ratio == pytest.approx(48**0.25, rel=1e-3)
    ratio = plan(horizon="optimal", noise_constant=3.0, n=10**7).steps / plan(n=10**7).steps
    assert ratio == pytest.approx(16**0.25, rel=1e-3)


def test_the_optimal_horizon_minimises_the_bound():
    """8 Lc B/T^2 + sigma^2 W T/(6 Lc), whose least value is 2 sqrt(4c/3) G sqrt(B W l)/(n eps)."""
    n, best = 10**6, plan(horizon="optimal", n=10**6).steps

    def bound(T):
        return 8 * 4 * 0.5 / T**2 + T * L / n**2 * 64 * T / (6 * 4)

    assert bound(best) <= min(bound(best - 3), bound(best + 3))
    assert bound(best) == pytest.approx(2 * math.sqrt(4 / 3) * math.sqrt(0.5 * 64 * L) / n, rel=1e-4)


def test_the_optimal_horizon_is_that_of_the_noise_in_force():
    """Under accounted noise c is 4 eps^2/(mu^2 l), 4.835 here: T is shorter by its fourth root and the bound least."""
    n = 10**6
    printed, made = plan(horizon="optimal", n=n), plan(horizon="optimal", n=n, calibration="accounted")
    sigma = calibrate(made, PRIVACY, "accounted").scales["gradient"]
    constant = sigma**2 * n**2 / (made.steps * L)
    assert constant == pytest.approx(4.835, abs=1e-3)
    assert printed.steps / made.steps == pytest.approx(constant**0.25, rel=5e-3)

    def bound(T):
        return 8 * 4 * 0.5 / T**2 + constant * T * L / n**2 * 64 * T / (6 * 4)

    assert bound(made.steps) <= min(bound(made.steps - 3), bound(made.steps + 3))
    assert bound(printed.steps) / bound(made.steps) == pytest.approx(1.33, abs=0.01)
    assert plan(n=n, calibration="accounted").steps == plan(n=n).steps


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "^steps = 0: must be an integer >= 1"),
        ({"norm_smoothness": "width"}, "^norm_smoothness = 'width': must be diameter or radius"),
        ({"horizon": "long"}, "^horizon = 'long': must be literal or optimal"),
        ({"noise_constant": 0.0}, "^noise_constant = 0.0: must be a number > 0 or renyi"),
        ({"constants": Constants(1.0, 1.0)}, "^domain = 'space': must be a ball"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(InputError, match=message):
        plan(**options)


@pytest.mark.parametrize(("problem", "reason"), [("logistic_plain", "ball as domain"), ("ridge_logistic", "without")])
def test_unbounded_and_regularised_problems_are_refused(problem, reason):
    with pytest.raises(Refusal, match=f"^wang2017.dp_accmd on {problem} refused: .*{reason}"):
        Cell("wang2017.dp_accmd", problem, n=64, epsilon=1.0, delta=1e-5).plan("accounted", 0)


def test_methods_without_projection_refuse_balls():
    for id in ("wang2017.dp_gd", "wang2017.dp_gd_nonconvex", "wang2017.output_perturbation_zhang17"):
        with pytest.raises(Refusal, match="the whole space as domain"):
            get_algorithm(id).check_problem(get_problem("logistic_plain", radius=1.0))


# --- the run ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["acsa", "noisy_y", "proof"])
@pytest.mark.parametrize("ball", ["l1_ball", "l2_ball"])
def test_noise_free_convergence_obeys_the_bound(execute, variant, ball):
    """8 Lc B/(T+1)^2 with the exact B, and feasibility of every iterate."""
    problem = get_problem("l1_geometric", 32, ball=ball)
    made = plan(problem.constants, d=32, variant=variant, steps=60)
    norms = []
    output = execute(ACCMD, made, problem, Data(4), observer=lambda o, x: norms.append(float(o.domain.norm(x).max())))
    gap = problem.risk(output, Data(4))[0]
    assert 0 <= gap <= 8 * made.norm_smoothness * made.bregman_radius / 61**2
    assert max(norms) <= 1 + 1e-12


@pytest.mark.parametrize("ball", ["l1_ball", "l2_ball"])
def test_variants_agree_without_noise_where_y_is_a_common_step(execute, ball):
    """proof and literal are the same function of the data; noise in z alone does not make them private."""
    problem = get_problem("l1_geometric", 32, ball=ball)
    outputs = [
        execute(ACCMD, plan(problem.constants, d=32, variant=v, steps=9), problem, Data(4))
        for v in ("proof", "literal")
    ]
    np.testing.assert_array_equal(*outputs)


def test_one_step_of_the_proof_ignores_its_noise(execute):
    """Erratum E6: for T = 1 the output is a deterministic function of the data."""
    problem = get_problem("l1_geometric", 32)
    made = plan(problem.constants, d=32, variant="proof", steps=1)
    outputs = execute(ACCMD, made, problem, Data(4), scale=10.0, replicates=3)
    np.testing.assert_array_equal(outputs, np.broadcast_to(outputs[0], outputs.shape))


# --- privacy ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["proof", "literal"])
def test_exact_gradients_have_no_finite_epsilon(variant):
    made = plan(variant=variant)
    result = calibrate(made, PRIVACY, "paper")
    assert (result.charge.epsilon, result.charge.kind) == (math.inf, "exact")
    assert result.privacy_status == "exceeds_claim" and made.unprotected
    assert add_remove(made, result.scales, 1e-5).epsilon == math.inf
    with pytest.raises(Refusal, match="only paper, none"):
        ACCMD.variant_for("accounted", variant)
    with pytest.raises(Refusal, match="no noise makes the plan private: .*E6"):
        calibrate(made, PRIVACY, "accounted")


def test_defaults():
    assert [ACCMD.variant_for(c) for c in ("paper", "accounted", "none")] == ["proof", "acsa", "acsa"]


@pytest.mark.parametrize("variant", ["acsa", "noisy_y"])
def test_accounted_noise_is_exact(variant):
    made = plan(variant=variant)
    result = calibrate(made, PRIVACY, "accounted")
    assert result.scales["gradient"] == pytest.approx(2 * math.sqrt(made.steps) / (4096 * gdp_mu(1.0, 1e-5)))
    assert result.privacy_status == "proven" and result.charge.kind == "exact"


@pytest.mark.parametrize(
    ("epsilon", "c1", "renyi"),
    [(0.2, 0.41, 0.131), (0.5, 1.11, 0.352), (1, 2.40, 0.742), (2, 5.30, 1.554), (4, 12.3, 3.24)],
)
def test_printed_constants(epsilon, c1, renyi):
    privacy = PrivacySpec(float(epsilon), 1e-5)
    for constant, published, status in ((1.0, c1, "unproven"), ("renyi", renyi, "proven")):
        result = calibrate(plan(privacy=privacy, noise_constant=constant), privacy, "paper")
        assert result.charge.epsilon == pytest.approx(published, rel=0.02) and result.privacy_status == status
