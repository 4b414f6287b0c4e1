"""Draws of the mechanisms against the quadrature of their laws, their costs, the table of queries, refusals."""

import csv
import io
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.claims.catalogue import table_texts
from dpsco_bench.claims.jobs import claim_plan
from dpsco_bench.cli.verbs.claim import run_claim
from dpsco_bench.errors import Refusal
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.run import run_block
from dpsco_bench.jsonio import dumps_canonical, sealed, write_atomic
from dpsco_bench.papers.gopi2022.samplers import truncated
from dpsco_bench.papers.gopi2022.tables import projected_queries, queries_table
from dpsco_bench.report.inputs import ClaimResults
from dpsco_bench.report.tables import to_csv

SEED = 2022


def cell(algorithm, problem, n=200, d=4, epsilon=1.0, delta=1e-6, problem_options=None, **options):
    own = problem_options or {}
    return Cell(f"gopi2022.{algorithm}", problem, n, epsilon, delta, d, options=options, problem_options=own)


def run(given, calibration="accounted", replicates=3000):
    found = calibrate_cell(given, calibration, SEED)
    data = given.draw_data(SEED, 0)
    return run_block(given, found.plan, found.scales, data, root_seed=SEED, replicates=replicates), found


def expected(given, calibrated):
    return given.problem_entry.expected_gap(given.algorithm_entry.id, calibrated.schedule, calibrated.scales)


EXACT = [
    cell("reg_exp_mech", "axis_linear", problem_options={"p": 1.5}),
    cell("reg_exp_mech", "axis_linear", n=2000, d=16, problem_options={"p": 1.2}),
    cell("reg_exp_mech", "axis_linear", problem_options={"p": 2.0}, schedule="sco", theta_convention="diameter"),
    cell("axis_exact", "axis_linear", d=2, problem_options={"p": 1.5}),
    cell("reg_exp_mech", "axis_linear", n=100000, d=128, problem_options={"p": 1.5}),
    cell("reg_exp_mech", "axis_linear", n=100000, d=128, problem_options={"p": 2.0}),
    cell("lp_exact", "axis_linear", problem_options={"p": 1.5}),
    cell("lp_exact", "axis_linear", n=20000, d=16, problem_options={"p": 1.05}, schedule="sco"),
    cell("lp_exact", "axis_linear", n=1000, d=32, epsilon=8.0, problem_options={"p": 1.9}),
    cell("cube_exact", "cube_onehot"),
    cell("reg_exp_mech", "cube_onehot", n=4000, schedule="sco"),
    cell("exp_mech_sc", "quadratic_ball", n=400),
    cell("exp_mech_sc", "norm_plus_quadratic", sampler="radial_exact"),
    cell("radial_exact", "radial_norm", problem_options={"p": 1.5}),
    cell("radial_exact", "radial_norm", n=2000, problem_options={"p": 1.0}),
    cell("radial_exact", "radial_norm", n=50, problem_options={"p": 4.0}),
]
NOT_RADIAL = [given for given in EXACT if "radial" not in given.algorithm]
CHAINS = [
    cell("gibbs", "axis_linear", problem_options={"p": 1.5}, sweeps=200),
    cell("gibbs", "cube_onehot", sweeps=40),
    cell("hit_and_run", "axis_linear", problem_options={"p": 1.5}, sweeps=400),
    cell("hit_and_run", "schatten_radial", d=6, problem_options={"columns": 2}, sweeps=250),
]


@pytest.mark.parametrize("calibration", ["paper", "accounted"])
@pytest.mark.parametrize("given", EXACT, ids=lambda c: f"{c.algorithm}-{c.problem}-{c.n}-{c.d}")
def test_risks_of_exact_draws_are_those_of_the_quadrature(score, given, calibration):
    trace, calibrated = run(given, calibration)
    assert score(trace.risk[:, -1], expected(given, calibrated)) < 4
    assert np.all(trace.extras["value_queries"] == 0)
    np.testing.assert_allclose(trace.extras["expected_gap"], expected(given, calibrated), rtol=1e-12)


@pytest.mark.parametrize("given", CHAINS, ids=lambda c: f"{c.algorithm}-{c.problem}")
def test_chains_arrive_at_the_quadrature(score, given):
    """The target's law by its own quadrature; the last states and the chains' means."""
    trace, calibrated = run(given, replicates=400)
    mean = expected(replace(given, algorithm="gopi2022.reg_exp_mech"), calibrated)
    assert score(trace.risk[:, -1], mean) < 4
    assert score(trace.extras["chain_risk"], mean) < 5
    assert 0.99 < trace.extras["rhat"][0] < 1.3 and trace.extras["ess"][0] > 1000
    np.testing.assert_allclose(trace.extras["expected_gap"], mean, rtol=1e-12)
    assert abs(trace.extras["z_score"][0]) == pytest.approx(score(trace.extras["chain_risk"], mean))


def test_a_capped_draw_is_demoted(monkeypatch):
    monkeypatch.setattr(truncated, "MOST_ATTEMPTS", 1)
    given = cell("proximal_sampler", "quadratic_ball", sweeps=5, delta_in=0.05)
    trace, _ = run(given, replicates=40)
    assert trace.demoted.any()
    assert np.all(np.linalg.norm(trace.output, axis=1) <= 1 + 1e-12)
    monkeypatch.undo()
    trace, _ = run(given, replicates=40)
    assert not trace.demoted.any()
    calls = trace.extras["queries_per_call"]
    np.testing.assert_array_equal(trace.extras["value_queries"], 5 * calls)
    assert 2 * np.e < calls.mean() <= 4 * np.e + 3 * calls.std() / np.sqrt(40)  # Proposition 9, and rounds of 2 e each


@pytest.mark.parametrize("given", NOT_RADIAL, ids=lambda c: f"{c.algorithm}-{c.problem}")
def test_without_noise_the_limit_of_the_law_remains(given):
    """Scale 0 is the regularised minimiser, and draws at a small scale come close to it."""
    trace, calibrated = run(given, "none", replicates=2)
    assert trace.risk[0, -1] == pytest.approx(expected(given, calibrated), abs=1e-9)
    made, data = given.plan("accounted", SEED)[1], given.draw_data(SEED, 0)
    drawn = run_block(given, made, {"draw": 2e-3}, data, root_seed=SEED, replicates=50)
    assert np.abs(drawn.output - trace.output[0]).mean() < 0.03


def test_pairs_in_a_plane_refute_the_printed_draw_of_losses_in_any_direction_and_those_of_two_points_keep_it():
    options = {"schedule": "erm", "accountant": "pairs", "n": 10_000, "epsilon": 4.0, "delta": 1e-6}
    options["problem_options"] = {"p": 1.5}
    own = {"lp_onehot": {}, "axis_linear": {"sampler": "axis_exact"}}
    cells = [cell("reg_exp_mech", problem, **options, **more) for problem, more in own.items()]
    plane, axis = (calibrate_cell(given, "paper", SEED) for given in cells)
    assert (plane.privacy_status, plane.epsilon_real_kind) == ("exceeds_claim", "lower") and plane.attained
    assert plane.epsilon_real == pytest.approx(4.199, abs=1e-3)
    assert (axis.privacy_status, axis.epsilon_real_kind) == ("proven", "exact") and "two points" in axis.accountant
    with pytest.raises(Refusal, match="p > 1"):
        calibrate_cell(cell("reg_exp_mech", "vertex_linear_p1", **options | {"problem_options": {}}), "paper", SEED)


def test_counts_stand_beside_projections_of_their_own_cell(tmp_path):
    claim = "gopi2022.prop9"
    entry, files = claim_plan(claim, "smoke"), Layout("smoke", tmp_path)
    rows = run_claim(entry, files.measured)
    write_atomic(files.verdicts(claim), sealed(dumps_canonical({"claim": claim, "digest": "d", "verdicts": rows})))
    results = ClaimResults(files.measured.present(entry), files)
    text = next(text for text in table_texts() if text.id == "gopi2022.queries")
    table = to_csv(queries_table(text, SimpleNamespace(claims=[results])))
    rows = csv.DictReader(io.StringIO(table))
    (call,) = [row for row in rows if row["counted_is"] == "queries per call of the oracle"]
    assert (call["n"], call["d"], call["calibration"], call["verdict"]) == ("16", "4", "paper", "match")
    assert 2 * math.e < float(call["counted"]) <= float(call["limit"]) + 3 * float(call["error"])
    assert float(call["limit"]) == pytest.approx(4 * math.e)
    assert float(call["projected"]) == projected_queries(16, 4, 1.0, 1e-3, "printed")
