"""Iterations of the theorems and the tables against vectors computed by hand, closed forms, and what plans promise."""

import math
from collections import Counter
from types import SimpleNamespace

import array_api_strict as strict
import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import run_block
from dpsco_bench.papers.wang2017.algorithms.svrg import barzilai_borwein_step
from dpsco_bench.privacy.accountants import fixed_size, gaussian
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.privacy.transcript import Recorder
from dpsco_bench.problems.base import Constants, Data
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import get_problem

from ..conftest import Batches, FourRecords, SineLeastSquares, execute, run_batches

PRIVACY, L = PrivacySpec(1.0, 1e-5), math.log(1e5)
NAMES = "dp_svrg dp_svrg_pp dp_accmd dp_gd_pl dp_sgd_zhang17 frank_wolfe_ttz15 noisy_md_ttz14 noisy_sgd_bst14"
SVRG, PP, ACCMD, GD, ZHANG, FW, MD, SGD = (get_algorithm(f"wang2017.{name}") for name in NAMES.split())
ORDER = [[record] for record in (0, 2, 3, 1, 1, 0)]


def planned(entry, constants, n, d, variant="standard", **options):
    return entry.plan(constants, n, d, PRIVACY, variant, **options)


BALL = {"diameter": 2.0, "domain": "l2_ball"}
FROM_THE_CENTRE, IN_A_BALL = FourRecords(0.0, start=(0.0, 0.0), **BALL), FourRecords(**BALL)
RIDGE, PRINTED = FourRecords(), FourRecords(regularisation=0.0, offset=1.0, sign=1.0)
NEAR = Constants(1.0, 0.25, initial_distance=1.0)
THREE, ONE = {"inner_steps": 3, "step": 0.5}, {"inner_steps": 1}
LEAKY = {"literal": {}, "poisson": {"batch": 1}}
PROOF, ACSA = (-0.290287882234, 0.388709387083), (-0.195759990282, 0.259442041576)
VECTORS = [
    # V1: both snapshots, the ridge in the prox
    (SVRG, RIDGE, "literal", {"epochs": 1, **THREE}, (0.299448205841, -0.079754515922)),
    (SVRG, RIDGE, "literal", {"epochs": 2, **THREE}, (0.135238150692, 0.072479476135)),
    # V2: the printed loss, without a regulariser
    *((PP, PRINTED, v, {"epochs": 1, **ONE, **o}, (0.566140299748, -0.359383218225)) for v, o in LEAKY.items()),
    *((PP, PRINTED, v, {"epochs": 2, **ONE, **o}, (0.688602238356, -0.574787039509)) for v, o in LEAKY.items()),
    # V3
    *((ACCMD, FROM_THE_CENTRE, variant, {"steps": 3}, PROOF) for variant in ("proof", "literal")),
    *((ACCMD, FROM_THE_CENTRE, variant, {"steps": 3}, ACSA) for variant in ("acsa", "noisy_y")),
    # V6
    (SGD, IN_A_BALL, "standard", {"steps": 3}, (-0.816875923378, 0.576813423738)),
]


@pytest.mark.parametrize(("entry", "problem", "variant", "options", "expected"), VECTORS)
def test_check_vectors(entry, problem, variant, options, expected):
    """Records in the order (0, 2, 3), (1, 1, 0)."""
    made = planned(entry, NEAR if entry is PP else problem.constants, 4, 2, variant, **options)
    np.testing.assert_allclose(run_batches(entry, made, problem, ORDER)[0], expected, rtol=0, atol=1e-12)
    assert entry is not PP or made.step == pytest.approx(4 / 13)
    assert entry is not ACCMD or made.norm_smoothness == 1.0


def test_check_vector_v5():
    problem, rows = SineLeastSquares(8, "l1_ball", 2.0), np.cos(np.outer(np.arange(1, 6), np.arange(1, 9))) / 3
    data = Data(5, rows, np.array([1.0, -1.0, 1.0, 1.0, -1.0]))
    made = planned(FW, problem.constants, 5, 8, steps=4)
    output = execute(FW, made, problem, data, replicates=2)
    np.testing.assert_allclose(output, np.tile([0, 0, 0, 0, 0, 0, 0, 0.9], (2, 1)), atol=1e-15)


def test_the_leak_of_the_literal_variant_is_the_one_its_plan_names():
    """A replaced record that is *not* sampled still moves the released value, by the uncharged anchor: up to 2G/n."""

    class Kept(Recorder, Batches):
        pass

    made, data = planned(SVRG, RIDGE.constants, 4, 2, "literal", epochs=1, **THREE), RIDGE.draw(4, None)
    neighbour = Data(4, np.concatenate([data.features[:3], [[0.0, -1.0]]]), data.labels)
    sources = [Kept([[0], [1], [2]], made) for _ in range(2)]
    for records, source in zip((data, neighbour), sources, strict=True):
        SVRG.run_function(Objective(RIDGE, records, 1), made, source)
    moved = np.linalg.norm(np.subtract(*(source.transcript.values["inner"][0] for source in sources)))
    anchors = [RIDGE.mean_gradient(RIDGE.start[None], records) for records in (data, neighbour)]
    assert moved == pytest.approx(np.linalg.norm(np.subtract(*anchors)), rel=1e-12) and 0 < moved <= 2 / 4
    assert "exact full gradient" in made.leaks[0]


def test_snapshot_averages_are_accumulated_in_double_precision(draw):
    """Even where the state is float32, whose running sum of thousands of iterates would lose digits."""
    problem, iterates = get_problem("ridge_logistic", 3), []
    made = planned(SVRG, problem.constants, 32, 3, "poisson", epochs=1, inner_steps=2000, batch=1)
    given = {"dtype": "float32", "scale": 0.1, "observer": lambda objective, x: iterates.append(x)}
    snapshot = execute(SVRG, made, problem, draw(problem, 32), **given)
    assert snapshot.dtype == np.float32 and len(iterates) == 2001
    exact = np.mean([x.astype(np.float64) for x in iterates[:-1]], axis=0)
    np.testing.assert_array_equal(snapshot, exact.astype(np.float32))


def test_iterates_run_on_and_snapshots_are_means():
    """Epoch s has 2^s m steps; on a linear loss the iterate moves straight on, the snapshot is half an epoch back."""
    problem, seen = get_problem("l1_linear", 16, ball="l2_ball"), []
    near = Constants(1.0, 1.0, initial_gap=1.0, initial_distance=1.0)
    made = planned(PP, near, 4, 10, "literal", epochs=3, inner_steps=2, step=1e-3)
    output = execute(PP, made, problem, Data(4), observer=lambda _, x: seen.append(x[0, 0]))
    slope = problem.mean_record()[0]
    np.testing.assert_allclose(seen[:-1], 1e-3 * slope * np.arange(1, 29))
    np.testing.assert_allclose(output[0, 0], 1e-3 * slope * np.mean(np.arange(13, 29)))


@pytest.mark.parametrize("xp", [np, strict])
def test_steps_of_barzilai_and_borwein(xp):
    """``<s, s>/(m <s, y>)`` where the anchor is exact; noise cannot take the private step out of its range."""
    lam, m = 0.1, 20
    low, high = 1 / (m * (0.25 + lam)), 5 / (m * lam)

    def steps(move, change, exact):
        made = SimpleNamespace(inner_steps=m, exact_anchor=exact, bb_range=(low, high))
        return np.asarray(barzilai_borwein_step(xp.asarray(move), xp.asarray(change), lam, made))

    move, change = np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([[0.5, 0.25], [-1.0, 7.0]])
    np.testing.assert_allclose(steps(move, change, True), [[5 / (m * 1.0)], [9 / (m * 3.0)]])
    move, change = np.random.default_rng(0).standard_normal((2, 1000, 3))
    free = steps(move, change, True)
    assert np.all(free > 0) and free.max() > high and free.min() < low
    np.testing.assert_array_equal(steps(move, change, False), np.clip(free, low, high))


def test_the_optimal_horizon_is_that_of_the_noise_in_force():
    """Under accounted noise c is 4 eps^2/(mu^2 l), 4.835 here: T is shorter by its fourth root and the bound least."""
    n, unit = 10**6, Constants(1.0, 1.0, diameter=2.0, domain="l2_ball")
    both = (planned(ACCMD, unit, n, 64, "acsa", calibration=c, horizon="optimal") for c in ("paper", "accounted"))
    printed, made = both
    sigma = calibrate(made, PRIVACY, "accounted").scales["gradient"]
    constant = sigma**2 * n**2 / (made.steps * L)
    assert constant == pytest.approx(4.835, abs=1e-3)
    assert printed.steps / made.steps == pytest.approx(constant**0.25, rel=5e-3)

    def bound(T):
        return 8 * 4 * 0.5 / T**2 + constant * T * L / n**2 * 64 * T / (6 * 4)

    assert bound(made.steps) <= min(bound(made.steps - 3), bound(made.steps + 3))
    assert bound(printed.steps) / bound(made.steps) == pytest.approx(1.33, abs=0.01)


def test_one_step_of_the_proof_ignores_its_noise():
    """Erratum E6: for T = 1 the output is a deterministic function of the data."""
    problem = get_problem("l1_geometric", 32)
    made = planned(ACCMD, problem.constants, 4096, 32, "proof", steps=1)
    assert len(np.unique(execute(ACCMD, made, problem, Data(4), scale=10.0, replicates=3), axis=0)) == 1


def test_descent_is_that_written_out(draw):
    problem = get_problem("ridge_logistic", 4, radius=1.5)
    data, made = draw(problem, 30), planned(MD, problem.constants, 30, 4, steps=9)
    step = math.sqrt(2 * 0.5 / (9 * (1.0 * 3.0) ** 2)) * 1.5**2
    z, total = np.zeros((1, 4)), np.zeros((1, 4))
    for _ in range(9):
        z = z - step * (problem.mean_gradient(z, data) + 0.1 * z)
        z = z * min(1.0, 1.5 / np.linalg.norm(z))
        total = total + z
    np.testing.assert_allclose(execute(MD, made, problem, data), total / 9, rtol=1e-12)
    # One step from the origin moves along the losses alone; the next one feels the ridge.
    problem = get_problem("ridge_logistic", 3)
    data = draw(problem, 16)
    one, two = (execute(GD, planned(GD, problem.constants, 16, 3, steps=T), problem, data) for T in (1, 2))
    eta, zero = 1 / 0.35, np.zeros((1, 3))
    np.testing.assert_allclose(one, -eta * problem.mean_gradient(zero, data), rtol=1e-14)
    np.testing.assert_allclose(two, one - eta * (problem.mean_gradient(one, data) + 0.1 * one), rtol=1e-13)


QUADRATIC, FORMS = get_problem("sgd_closed_form", curvature=0.5), [(4.0, None, 9), (16.0, 0.5, 40), (1.0, 0.3, 3)]
CLOSED = [(GD, get_problem("diag_quadratic", kappa=k), {"steps": steps, "step": step}, 0.2) for k, step, steps in FORMS]


@pytest.mark.parametrize(("entry", "problem", "options", "sigma"), [*CLOSED, (SGD, QUADRATIC, {"steps": 12}, 0.3)])
def test_closed_forms_of_quadratics(entry, problem, options, sigma):
    """The formulas that claims use against simulated runs, mean within five standard errors."""
    made = planned(entry, problem.constants, 8, problem.dimension, **options)
    risk = problem.risk(execute(entry, made, problem, Data(8), scale=sigma, replicates=4000), None)
    expected = problem.expected_gap(entry.law if entry is GD else entry.id, made.schedule, {"gradient": sigma})
    assert abs(risk.mean() - expected) < 5 * risk.std() / math.sqrt(len(risk))
    if entry is SGD:  # d sigma^2/(2 mu T) after T steps of 1/(mu t): the first one forgets the start
        assert expected == pytest.approx(problem.dimension * 0.09 / (2 * 0.5 * 12))


def test_the_output_is_a_uniform_iterate():
    """Indices 0..T-1 alike often, and the iterate that was observed at that index is returned."""
    cell = Cell("wang2017.dp_gd_nonconvex", "isotropic_quadratic", 64, 1.0, 1e-5, d=3, options={"steps": 5})
    problem, (_, made) = cell.problem_entry, cell.plan("none", 0)
    source = Mechanism(made, {"gradient": 0.0}, cell.run_key(0), 3, 0, 4000)
    chosen = source.choose("output", 5)
    counts = Counter(chosen.tolist())
    assert sorted(counts) == [0, 1, 2, 3, 4]
    assert sum((counts[i] - 800) ** 2 / 800 for i in range(5)) < 30  # chi-square with 4 degrees of freedom
    np.testing.assert_array_equal(source.choose("output", 5), chosen)
    trace = run_block(cell, cell.plan("none", 1)[1], {"gradient": 0.0}, Data(64), root_seed=3, replicates=200)
    expected = np.where(chosen[:200, None] == 0, problem.start, problem.optimum)  # eta = 1/L lands on the optimum
    np.testing.assert_allclose(trace.output, expected, atol=1e-15)
    np.testing.assert_allclose(trace.risk[:, -1], problem.expected_mean_squared_gradient(made.step, 5, 0.0), rtol=1e-12)


def test_the_mean_along_the_run_is_the_sum_over_its_steps():
    """In closed form, against every step's ``a^k e^2 + sigma^2 eta^2 (1 - a^k)/(1 - a)``."""
    problem = get_problem("diag_quadratic", d=5)
    h, error = problem.spectrum, problem.start - problem.optimum
    for step, sigma in ((1.0, 0.0), (1.0, 0.3), (0.01, 0.3)):
        k, a = np.arange(50)[:, None], (1 - step * h) ** 2
        squares = a**k * error**2 + (sigma * step) ** 2 * (1 - a**k) / (1 - a)
        expected = float((h**2 * squares).sum(axis=1).mean())
        assert problem.expected_mean_squared_gradient(step, 50, sigma) == pytest.approx(expected, rel=1e-12)


def test_the_accounted_step_is_made_for_the_accounted_noise():
    made = planned(ZHANG, Constants(0.5, 2.0, initial_gap=0.4), 256, 8, calibration="accounted")
    sigma = calibrate(made, PRIVACY, "accounted").scales["gradient"]
    assert made.step == pytest.approx(math.sqrt(0.8 / (2 * 256**2 * (0.25 + 8 * sigma**2))), rel=0.15)


def test_convex_steps_shrink_with_the_noise_in_force():
    """eta_1 = diam/sqrt(G^2 + d sigma^2): the first step of a linear loss in closed form, noise off and on."""
    constants = Constants(1.0, 0.25, diameter=2e3, domain="l2_ball")
    problem, data = get_problem("logistic_plain", 8, radius=1e3), Data(1, np.eye(8)[:1], np.array([1.0]))
    made = planned(SGD, constants, 1, 8, steps=1)
    np.testing.assert_allclose(execute(SGD, made, problem, data), 0.5 * 2e3 * np.eye(8)[:1], rtol=1e-12)
    far = execute(SGD, made, problem, data, scale=1e6, replicates=500)
    assert np.all(np.linalg.norm(far, axis=1) <= 1e3 * (1 + 1e-12))


# Theorems 4.1 and 4.3 inside their range of eps: the law of the output, and the proof's two parts

LINEAR = get_problem("signed_linear", ridge=0.05)
EPOCHS = [(SVRG, {"epochs": 3, "inner_steps": 4}), (PP, {"epochs": 2, "inner_steps": 3})]


def literal(entry, n=5, problem=LINEAR, **options):
    return planned(entry, entry.visible_constants(problem.constants, problem), n, 1, "literal", **options)


@pytest.mark.parametrize(("entry", "options"), EPOCHS)
def test_the_law_of_the_output_is_that_of_the_literal_run(entry, options):
    """Mean and variance of 40,000 literal runs on linear losses, a step of 1/2 and a ridge of 1/20."""
    made, law = (literal(entry, step=0.5, charge=charge, **options) for charge in ("query", "output"))
    data = LINEAR.draw(5, None)
    runs = execute(entry, made, LINEAR, data, scale=0.7, replicates=40_000)
    spread = 0.7 * law.queries[0].paper_scale / made.queries[0].paper_scale * law.reach
    assert abs(runs.mean() + law.reach * 0.2) < 5 * spread / 200  # three signs of five are +
    assert abs(runs.std() / spread - 1) < 5 / math.sqrt(2 * 40_000)
    outputs = [execute(entry, plan, LINEAR, data)[0, 0] for plan in (made, law)]
    assert outputs[1] == pytest.approx(outputs[0], rel=1e-12)


def test_what_the_output_and_both_parts_are_charged():
    """A flat average of many steps has the level ``2 eps sqrt(3/4)/sqrt(l)``: 2.039 for 1, and 1 from c = 3.62 on."""
    flat, options = get_problem("signed_linear", ridge=1e-9), {"epochs": 10, "inner_steps": 6000, "charge": "output"}
    for c, expected in ((1.0, 2.039), (3.62, 1.001)):
        found = calibrate(literal(SVRG, 100, flat, noise_constant=c, **options), PRIVACY, "paper", attained=True).charge
        assert found.kind == "exact" and found.epsilon == pytest.approx(expected, abs=2e-3)
    options = {"epochs": 10, "inner_steps": 800, "noise_constant": 48.0}
    whole, parts = (literal(SVRG, n=64, charge=charge, **options) for charge in ("query", "parts"))
    d, v = parts.queries
    assert math.hypot(d.paper_scale, v.paper_scale) == pytest.approx(whole.queries[0].paper_scale)
    found = calibrate(parts, PRIVACY, "paper").charge
    alone = fixed_size.batch_epsilon(4 / d.paper_scale, 64, 1, 8000, 1e-5)
    rest = gaussian.gdp_epsilon(2 / 64 * math.sqrt(8000) / v.paper_scale, 1e-5)
    assert found.kind == "upper" and max(alone, rest) < found.epsilon < alone + rest
    assert fixed_size.batch_epsilon(0.3, 1, 1, 4, 1e-5, gdp_mu=0.8) == pytest.approx(gaussian.gdp_epsilon(1.0, 1e-5))


def test_parts_move_iterates_as_sums_do():
    made = [planned(SVRG, RIDGE.constants, 4, 2, "literal", charge=c, epochs=2, **THREE) for c in ("query", "parts")]
    np.testing.assert_allclose(*(run_batches(SVRG, one, RIDGE, ORDER)[0] for one in made), rtol=0, atol=1e-14)
