"""Samples per replicate and free signals: one run of all rows gives what runs one by one give, bit for bit."""

from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench.audit.canaries import candidate_pairs
from dpsco_bench.audit.contract import check_algorithm
from dpsco_bench.errors import Refusal
from dpsco_bench.execution import job as job_module
from dpsco_bench.execution import run as run_module
from dpsco_bench.execution.calibration import calibrate_job
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.run import SharedNoise, signal_groups
from dpsco_bench.papers.su2023.problems.smooth import CoordPseudoHuber
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import GaussianQuery, NoisyMinimumQuery, Plan
from dpsco_bench.privacy.records import WithReplacement
from dpsco_bench.problems.registry import PROBLEMS

from .parts import table_of

SIGNALS = [0.25, 1.0, 4.0, 16.0]


class SpreadCoins(CoordPseudoHuber):
    name = "spread_coins"

    @property
    def own_constants(self):
        return replace(super().own_constants, initial_gap=float(self.strengths.max()))


def planned(number, signal, algorithm, n, **more):
    made = {"problem": "coord_pseudo_huber", "problem_options": {"signal": signal}, "d": 3, "signal": signal}
    made |= {"cell": number, "method": "m", "parameter": "n", "value": float(n)}
    return Cell(algorithm, n=n, epsilon=1.0, delta=1e-5, **made | more)


def job(algorithm="wang2017.dp_gd", **more):
    grid = [(n, signal) for n in (32, 64) for signal in SIGNALS]
    cells = tuple(planned(number, signal, algorithm, n, **more) for number, (n, signal) in enumerate(grid))
    made = {"claim": "c.c", "part": "p", "kind": "rate", "calibration": "accounted", "seed": 5, "replicates": 5}
    return Job(**made, data_sets=2, cells=cells)


def rows(given):
    return table_of(given).to_pylist()


def one_by_one(given):
    return [row for cell in given.cells for row in rows(replace(given, cells=(cell,)))]


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        ("wang2017.dp_gd", {"options": {"steps": 4}}),  # full batches
        ("wang2017.dp_gd_nonconvex", {}),  # a measure along the run, and a chosen iterate
        ("wang2017.dp_svrg_pp", {}),  # full and Poisson batches
    ],
)
def test_signals_run_at_once_give_what_they_give_one_by_one(algorithm, options, fused):
    given = replace(job(algorithm, **options), fused=fused)
    together = rows(given)
    assert together == one_by_one(given) and len(together) == 8 * 2 * 5
    assert len({row["risk"] for row in together}) > 75 and len({row["start_risk"] for row in together}) > 1


def test_memory_bounds_the_rows_of_all_signals(monkeypatch):
    given = job(options={"steps": 4})
    expected, seen = rows(given), []
    true = run_module.make_objective
    monkeypatch.setattr(run_module, "make_objective", lambda *a: seen.append(true(*a)) or seen[-1])
    for bound, largest in ((16 * 8, 16), (16 * 3, 4), (1, 1)):
        seen.clear()
        for module in (run_module, job_module):
            monkeypatch.setattr(module, "BLOCK_SCORES", bound)
        assert rows(given) == expected
        assert max(objective.replicates for objective in seen) == largest
        assert all(o.replicates == 1 or o.replicates * o.n / 4 <= bound for o in seen)


def test_random_numbers_are_common_to_signals_and_to_nothing_else():
    first, second = (planned(0, s, "wang2017.dp_gd", 32) for s in (0.25, 1.0))
    assert first.data_key() == second.data_key() and first.run_key(0) == second.run_key(0)
    other = planned(0, 0.25, "wang2017.dp_gd", 32, d=4)
    assert other.data_key() != first.data_key()
    sample, again, elsewhere, stronger = (
        cell.problem_entry.sample(32, cell.draws(5, *place)).uniforms.T
        for cell, *place in ((first, 0, 0, 3), (first, 0, 1, 2), (first, 1, 0, 3), (second, 0, 0, 3))
    )
    np.testing.assert_array_equal(again, sample[1:])
    np.testing.assert_array_equal(stronger, sample)
    assert (elsewhere != sample).any()


def test_cells_whose_schedules_differ_are_run_one_by_one():
    PROBLEMS.add(SpreadCoins.name, SpreadCoins, __name__)
    given = job("wang2017.dp_gd_nonconvex", problem="spread_coins")
    calibrated = calibrate_job(given)
    assert len({c.schedule["steps"] for c in calibrated[:4]}) > 1
    groups = [[cell.cell for cell, _ in g] for g in signal_groups(zip(given.cells, calibrated, strict=True))]
    assert sum(groups, []) == list(range(8)) and all(len(g) < 4 for g in groups)
    assert rows(given) == one_by_one(given)


def test_calibrations_say_where_the_signal_is_capped():
    assert [c.signal_capped for c in calibrate_job(job())] == [False, False, False, True] * 2


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("spread", [0.1, 30.0])
def test_every_kind_of_draw_is_the_same_at_every_signal(lazy, spread):
    queries = [NoisyMinimumQuery("least", 1.0, 3, lazy=lazy), GaussianQuery("mean", 1.0, 3)]
    queries += [GaussianQuery("batch", 1.0, 3, WithReplacement(40, 5))]
    plan, scales = Plan(tuple(queries), 0.0, {"n": 40}), {"least": 1.0, "mean": 2.0, "batch": 1.0}
    scores = spread * np.random.default_rng(0).standard_normal((3, 4, 600))
    shared = SharedNoise(3, plan, scales, "x", 1, 2, 4)
    apart = [Mechanism(plan, scales, "x", 1, 2, 4) for _ in range(3)]
    for step in range(3):
        least = shared.release("least", scores.reshape(12, 600), step)
        expected = [one.release("least", scores[s], step) for s, one in enumerate(apart)]
        np.testing.assert_array_equal(least, np.concatenate(expected))
        batch, batches = shared.sample("batch", step), [one.sample("batch", step) for one in apart]
        for name in ("indices", "mask", "sizes"):
            rows = np.concatenate([getattr(one, name) for one in batches])
            np.testing.assert_array_equal(getattr(batch, name), rows)
        zeros = np.zeros((4, 7))
        mean = shared.release("mean", np.zeros((12, 7)), step)
        np.testing.assert_array_equal(mean, np.concatenate([one.release("mean", zeros, step) for one in apart]))
    np.testing.assert_array_equal(shared.choose("pick", 9), np.concatenate([one.choose("pick", 9) for one in apart]))


def test_the_checks_of_an_algorithm_run_on_samples_of_its_own():
    findings = check_algorithm("wang2017.dp_gd", "coord_pseudo_huber", steps=4)
    assert False not in {finding.passed for finding in findings}
    assert "every replicate has a sample of its own" in {finding.detail for finding in findings}
    with pytest.raises(Refusal, match="every run has a sample of its own"):
        next(candidate_pairs(planned(0, 1.0, "wang2017.dp_gd", 32), 5, None, {}))
