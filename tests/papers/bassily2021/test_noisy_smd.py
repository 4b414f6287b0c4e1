import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.execution.cell import Cell
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.records import Full, WithReplacement
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants

SMD = get_algorithm("bassily2021.noisy_smd")
PRIVACY = PrivacySpec(1.0, 1e-6)
L = math.log(1e6)


def constants(p=1.5):
    return Constants(1.0, 1.0, diameter=2.0, domain="l2_ball" if p == 2 else f"lp_ball:{p}", norm=p)


def planned(n, d, variant="corrected", p=1.5, privacy=PRIVACY, **options):
    return SMD.plan(constants(p), n, d, privacy, variant, norm_rule="q", **options)


def test_check_vector(sine):
    problem = sine.problem(4, "lp_ball:1.5", 1.5)
    made = SMD.plan(problem.constants, 6, 4, PRIVACY, "corrected", norm_rule="q", steps=6, batch=2, step=0.3)
    assert (made.r, made.kappa) == pytest.approx((3.0, 2.0))
    batches = [[t % 6, 2 * t % 6] for t in range(1, 6)]
    output, objective = sine.run(SMD, made, problem, batches)
    expected = [-0.009947463449, -0.050263886151, -0.022422710831, 0.005268959215]
    np.testing.assert_allclose(output, expected, atol=1e-12)
    assert objective.evaluations[0] == made.gradient_evaluations == 10


def test_schedule_of_the_chapter():
    made = planned(4000, 32)
    (query,) = made.queries
    assert (made.steps, made.batch, query.releases) == (1130, 59, 1129)
    assert query.paper_scale == pytest.approx(0.124946096099, rel=1e-11)
    assert made.step == pytest.approx(0.0594964117309, rel=1e-11)
    assert query.records == WithReplacement(4000, 59) and query.sensitivity == pytest.approx(2 / 59)
    assert made.gradient_evaluations == 59 * 1129


def test_variants_differ_in_noise_and_records_alone():
    literal, corrected, full = (planned(4000, 32, v) for v in ("literal", "corrected", "fullbatch"))
    T = corrected.steps
    assert literal.steps == full.steps == T and literal.step == corrected.step == full.step
    scales = [plan.queries[0].paper_scale for plan in (literal, corrected, full)]
    np.testing.assert_allclose(np.array(scales) / scales[0], [1, math.sqrt(T), math.sqrt(T)])
    assert full.queries[0].records == Full() and full.queries[0].sensitivity == 2 / 4000
    assert full.gradient_evaluations == 4000 * (T - 1)
    assert literal.leaks and not corrected.leaks


@pytest.mark.parametrize("p", [1.5, 2.0])
def test_full_batches_are_accounted_as_the_chapter_says(p):
    """sigma^2 = 4 kappa_q T L0^2/(n mu)^2, with the T - 1 releases made."""
    made = planned(4000, 32, "fullbatch", p)
    variance = calibrate(made, PRIVACY, "accounted").scales["gradient"] ** 2
    releases = made.steps - 1
    assert variance == pytest.approx(4 * made.kappa * releases / (4000 * gdp_mu(1.0, 1e-6)) ** 2, rel=1e-9)
    paper = calibrate(made, PRIVACY, "paper")
    assert paper.charge.epsilon == pytest.approx(0.790, rel=0.01)
    assert paper.privacy_status == "proven"


def test_population_risk_runs_everything_with_a_smaller_epsilon():
    made = planned(64000, 32, risk="population")
    kappa, root = 2.0, math.sqrt(32 * L)
    prime = math.sqrt(kappa * root / 64000)
    T = math.floor((prime * 64000) ** 2 / (16 * 32 * kappa * L))
    assert made.working_epsilon == pytest.approx(prime) and made.steps == T
    assert made.batch == round(64000 * math.sqrt(prime / (4 * T)))
    assert made.queries[0].paper_scale == pytest.approx(math.sqrt(8 * kappa * T * L) / (prime * 64000))
    few = planned(10, 32, risk="population")
    assert few.working_epsilon == 1.0, "eps' is never above eps"
    with pytest.raises(Refusal, match="risk population with variant fullbatch"):
        planned(64000, 32, "fullbatch", risk="population")


def test_degenerate_schedules_are_flagged():
    made = planned(50, 32)
    assert made.steps == 1 and not made.queries and made.gradient_evaluations == 0
    assert any("degenerate" in text for text in made.warnings)
    silent = calibrate(planned(50, 32, "fullbatch"), PRIVACY, "accounted")
    assert silent.scales == {} and silent.charge.epsilon == 0.0 and silent.privacy_status == "proven"
    assert not planned(4000, 32).warnings and not planned(50, 32, steps=5).warnings


def test_refusals():
    for variant in ("corrected", "literal"):
        with pytest.raises(InputError, match="^epsilon = 2.0: must be at most 1"):
            planned(4000, 32, variant, privacy=PrivacySpec(2.0, 1e-6))
    large = planned(4000, 32, "fullbatch", privacy=PrivacySpec(2.0, 1e-6))
    for made in (large, planned(4, 32, "fullbatch", privacy=PrivacySpec(2.0, 1e-6))):
        with pytest.raises(InputError, match="^epsilon = 2.0: must be at most 1 for the paper's noise .Bassily"):
            calibrate(made, PrivacySpec(2.0, 1e-6), "paper")
    assert calibrate(large, PrivacySpec(2.0, 1e-6), "accounted").privacy_status == "proven"
    with pytest.raises(InputError, match="^p = 3.0: must be in"):
        planned(4000, 32, p=3.0)
    with pytest.raises(InputError, match="^norm = 2.0: must be 1.5"):
        SMD.plan(Constants(1.0, 1.0, diameter=2.0, domain="lp_ball:1.5"), 100, 3, PRIVACY, "corrected")
    with pytest.raises(InputError, match="^risk = 'both'"):
        planned(4000, 32, risk="both")
    with pytest.raises(Refusal, match="batch with variant fullbatch"):
        planned(4000, 32, "fullbatch", batch=5)
    cell = Cell(SMD.id, "cube_fixed", n=4000, epsilon=1.0, delta=1e-6, variant="corrected")
    with pytest.raises(Refusal, match="only paper, none; accounted has fullbatch"):
        cell.plan("accounted", 0)


def test_p_equal_to_one_takes_the_best_norm(sine):
    problem = sine.problem(4, "l1_ball", 1.0)
    made = SMD.plan(problem.constants, 400, 4, PRIVACY, "fullbatch")
    output, _ = sine.run(SMD, made, problem)
    assert np.abs(output).sum() <= 1 + 1e-12 and made.r >= 2
