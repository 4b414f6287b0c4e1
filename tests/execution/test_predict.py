"""What decides a prediction: the fitted constants, the size of a cell, and whether its fused run may run."""

import pytest

from dpsco_bench.claims.compose import make_plan
from dpsco_bench.execution import predict
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.predict import Predictor, predicted_seconds, slower

CONSTANTS = {
    False: ("ROUND_SECONDS", "NUMBER_SECONDS"),
    True: (
        "CELL_SECONDS",
        "ROW_SECONDS",
        "STEP_SECONDS",
        "STEP_NUMBER_SECONDS",
        "GRADIENT_SECONDS",
        "GRADIENT_NUMBER_SECONDS",
        "RECORD_SECONDS",
    ),
}
CLAIM = "zhang2022.thm8"


def seconds(fused, n=64, d=5, replicates=3):
    cell = Cell("zhang2022.dp_otb", "quad", n, 1.0, 1e-6, d)
    return predicted_seconds(cell, cell.plan("none", 0)[1], replicates, fused)


@pytest.mark.parametrize(("fused", "name"), [(fused, name) for fused, names in CONSTANTS.items() for name in names])
def test_every_constant_counts(fused, name, monkeypatch):
    """For its kind of run, and for no other."""
    before = seconds(fused), seconds(not fused)
    monkeypatch.setattr(predict, name, 2 * getattr(predict, name))
    assert before[0] < seconds(fused) < 2.001 * before[0]
    assert seconds(not fused) == before[1]


def test_all_constants_are_tested():
    assert {name for name in vars(predict) if name.endswith("_SECONDS")} - {"LEAST_SECONDS"} == {
        "UNKNOWN_SECONDS",
        *sum(CONSTANTS.values(), ()),
    }


@pytest.mark.parametrize(("took", "told"), [(3.9, ""), (4.1, "4.1 s of CPU, recorded 2 s"), (0.4, ""), (None, "")])
def test_a_run_time_beyond_twice_the_recorded_one_is_told(took, told):
    job = next(job for job in make_plan("smoke", (), [CLAIM]).claims[0].jobs if job.has_run)

    class Took:
        def cost(self, step, job):
            return None if took is None else (took if step == "run" else 0.0, 1.0)

    before = 0.1 if took == 0.4 else 2.0
    assert slower({job.claim: {job.name: (0.0, before, 1.0)}}, job, Took()) == told
    assert slower({}, job, Took()) == ""


def test_timing_takes_a_replicate_of_the_recorded_run():
    job = next(job for job in make_plan("smoke", (), [CLAIM]).claims[0].jobs if job.has_run)
    known = (0.0, 100.0 * job.replicates, float(f"{predict.modelled_seconds(job):.2g}"))
    predict_known = Predictor({job.claim: {job.name: known}})
    assert predict_known("time", job) == predict.TIMED_RUNS * 100.0
    assert Predictor()("time", job) == predict.UNKNOWN_SECONDS["time"]


@pytest.mark.parametrize("fused", [False, True])
def test_larger_cells_take_longer(fused):
    base = seconds(fused)
    assert all(seconds(fused, **{key: value}) > base for key, value in (("n", 128), ("d", 50), ("replicates", 30)))


def test_what_a_plan_prints_follows_the_constants(monkeypatch):
    """Jobs have what the model said when they were planned, and without a record that is what is predicted of them."""
    before = {job.name: job for job in make_plan("smoke", (), [CLAIM]).claims[0].jobs if job.has_run}
    for name in CONSTANTS[True]:
        monkeypatch.setattr(predict, name, 10 * getattr(predict, name))
    after = [job for job in make_plan("smoke", (), [CLAIM]).claims[0].jobs if job.has_run]
    assert after
    for job in after:
        assert job.seconds == pytest.approx([10 * s for s in before[job.name].seconds])
        assert Predictor()("run", job) == pytest.approx(min(sum(job.seconds), predict.MODEL_LIMIT))
        assert job.key == before[job.name].key
