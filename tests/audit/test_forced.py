"""What leaks past the releases in one run of a hundred is refuted by the verb, in any step, however it is decided."""

import os
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta

from dpsco_bench.algorithms.registry import ALGORITHMS, get_algorithm
from dpsco_bench.audit import forced
from dpsco_bench.audit.auditor import make_audit_cell
from dpsco_bench.audit.bounds import BOUNDS
from dpsco_bench.audit.by_hand import Outcome, _bound, audit
from dpsco_bench.audit.contract import check_algorithm
from dpsco_bench.audit.forced import Counts, Look, first_of, look
from dpsco_bench.audit.placed import Placed, Rows
from dpsco_bench.audit.replay import ForcedReplay, Recorder
from dpsco_bench.audit.transcript import Setting, replayed
from dpsco_bench.cli.main import main
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.records import Poisson
from tests.marks import rest_at_night

RUNS = 10_000
RNG = np.random.default_rng(12)
DECIDED = {
    "own": lambda mechanism, y: RNG.random(len(y)) < 0.01,
    "system": lambda mechanism, y: np.frombuffer(os.urandom(4 * len(y)), dtype=np.uint32) % 100 == 0,
    "choice": lambda mechanism, y: mechanism.choose("which", 100) == 0,
    "noise": lambda mechanism, y: np.floor(np.abs(y[:, 0]) * 1e6) % 100 == 0,
    "call": lambda mechanism, y: np.full(len(y), RNG.random() < 0.01),
}
"""Which runs are dishonest: by numbers of each run's own, or of all runs of a call, by a choice, or by the noise."""


def descent(steps, leak=None, decide=None, start=lambda x: x):
    """Gradient descent that in one of its steps, in some runs, takes the exact gradient."""

    def run(objective, plan, mechanism):
        x = start(objective.start)
        for step in range(steps):
            gradient = objective.mean_gradient(x)
            y = mechanism.release("gradient", gradient, step)
            if step == leak:
                y = np.where(decide(mechanism, y)[:, None], gradient, y)
            x = x - 0.5 * y
        return x

    return run


def returning(place, decide):
    """One release, or in some runs a record itself."""

    def run(objective, plan, mechanism):
        y = mechanism.release("gradient", objective.mean_gradient(objective.start))
        return np.where(decide(mechanism, y)[:, None], np.asarray(objective.data.features)[place, : y.shape[1]], y)

    return run


HONEST = {
    "its own start": descent(2, start=lambda x: x + RNG.normal(size=x.shape)),
    "one start for all runs of a call": descent(2, start=lambda x: x + RNG.normal(size=x.shape[1])),
    "one of two starts": descent(2, start=lambda x: x + (RNG.random(len(x)) < 0.5)[:, None]),
    "a start that is seldom another one": descent(2, start=lambda x: x + (RNG.random(len(x)) < 0.01)[:, None]),
    "one of two starts for all runs of a call": descent(2, start=lambda x: x + (RNG.random() < 0.5)),
    "no random numbers": descent(2),
}


def seen(id, **keys):
    cell = make_audit_cell(id, None, keys)
    return look(cell, calibrate_cell(cell, "accounted", 1), 1, Mechanism)


def check_refuted(id, runs=RUNS, **keys):
    result = audit(make_audit_cell(id, None, keys), runs=runs)
    assert isinstance(result, Outcome) and result.verdict == "refuted" and result.statistic == "forced outputs"
    assert result.epsilon_lower > result.epsilon_claimed and 0.0 < result.power <= 1.0
    assert any(remark.startswith("Data leak past the releases: ") for remark in result.remarks)
    return result


@pytest.mark.parametrize("how", ["own", "noise"])
@pytest.mark.parametrize(("steps", "leak"), rest_at_night([(2, 0), (2, 1), (8, 0), (8, 3), (8, 7)], 0, 3, several=True))
def test_the_exact_gradient_in_any_step_is_refuted(register, how, steps, leak):
    id = register(f"forced.{how}_{leak}_of_{steps}", descent(steps, leak, DECIDED[how]), releases=steps)
    result = check_refuted(id)
    own = any("Its releases do not explain its outputs" in remark for remark in result.remarks)
    assert own == (how == "own")


@pytest.mark.parametrize("how", ["system", "choice"])
def test_however_the_runs_are_chosen(register, how):
    check_refuted(register(f"forced.{how}", descent(8, 4, DECIDED[how]), releases=8))


def test_a_number_that_all_runs_of_a_call_share_decides(register):
    """Then each run is called alone, or a call's runs would count as so many."""
    id = register("forced.call", descent(2, 1, DECIDED["call"]), releases=2)
    result = check_refuted(id, 3000, epsilon=0.5)
    assert "Runs of one call share random numbers, so each was called alone." in result.remarks


@pytest.mark.parametrize("place", [0, 61])
def test_a_record_that_is_returned_is_refuted_in_its_place(register, place):
    id = register(f"forced.record_{place}", returning(place, DECIDED["own"]))
    assert seen(id).place == place
    result = check_refuted(id)
    assert result.neighbours.endswith(f", in place {place}") == bool(place)


def test_the_verb_says_what_was_found_and_how(register, capsys):
    id = register("forced.verb", descent(8, 7, DECIDED["own"]), releases=8)
    assert main(["audit", id, "--runs", str(RUNS), "--statistic", "output"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert ": refuted (epsilon >= " in shown and "neighbour, which differs in record 0, does not" in shown
    assert "forced up to 200 times on both" in shown and "Not refuted is no proof" not in shown


@pytest.mark.parametrize("what", HONEST)
def test_own_random_numbers_that_know_no_data_are_named_and_not_refuted(register, what):
    id = register(f"forced.honest_{list(HONEST).index(what)}", HONEST[what], releases=2)
    result = audit(make_audit_cell(id), runs=200)
    assert result.verdict == "not refuted"
    assert bool(result.remarks) == (what != "no random numbers")
    apart = "Runs of one call share random numbers, so each was called alone." in result.remarks
    assert apart == ("all runs of a call" in what)


def test_what_always_leaks_refutes_any_claim_by_few_runs(register):
    """Counts bound epsilon by less than 20; that a run is a function of data and releases decides."""

    def run(objective, plan, mechanism):
        return mechanism.release("gradient", objective.mean_gradient(objective.start)) + objective.data.features[0, :2]

    result = audit(make_audit_cell(register("forced.always", run), None, {"epsilon": 20.0}), runs=100)
    assert result.verdict == "refuted" and result.epsilon_lower < 20.0
    assert "whatever epsilon is" in result.remarks[-1]


def test_a_leak_beside_hidden_batches_is_refuted(register):
    def run(objective, plan, mechanism):
        batch = mechanism.sample("gradient")
        y = mechanism.release("gradient", objective.batch_gradient(objective.start, batch))
        return np.where(DECIDED["own"](mechanism, y)[:, None], np.asarray(objective.data.features)[3, :2], y)

    found = check_refuted(register("forced.hidden", run, Poisson(0.5)), n=20)
    assert found.neighbours.endswith("in place 3")


ASKED = {
    "a choice": lambda mechanism, count: 0 * mechanism.choose("which", 1 + count) + 1,
    "an order": lambda mechanism, count: mechanism.permutation("order", 1 + count).shape[1],
    "an order by chance": lambda mechanism, count: mechanism.permutation("order", 1 + count + RNG.integers(2)).shape[1],
    "whether it is made": lambda mechanism, count: mechanism.choose("which", 2) if count > 1 else 1,
}


@pytest.mark.parametrize("what", rest_at_night(ASKED, 0, 1, 3))
def test_data_in_the_range_of_a_choice_or_an_order_are_refuted(register, what):
    """A count that anyone reads who sees the choice, whether or not the output tells of it."""

    def run(objective, plan, mechanism):
        y = mechanism.release("gradient", objective.mean_gradient(objective.start))
        features = np.asarray(objective.data.features)
        return y + 100.0 * np.reshape(ASKED[what](mechanism, int(np.sum(features[:, 0] > 0.0))), (-1, 1))

    result = check_refuted(register(f"forced.asked_{list(ASKED).index(what)}", run), 500)
    said = "The range of a public choice, or the size of a public order, is another one on the neighbour."
    assert said in result.remarks
    if what != "a choice":  # of which the output says nothing: the check compares outputs
        failed = [finding.check for finding in check_algorithm(result.algorithm, d=3) if finding.passed is not True]
        assert "given the released values the output does not depend on the data" in failed


@pytest.mark.parametrize("apart", [False, True])
def test_ranges_that_releases_decide_are_no_leak(register, apart):
    """Nor are orders as long as the data, which are public by their number."""

    def run(objective, plan, mechanism):
        y = mechanism.release("gradient", objective.mean_gradient(objective.start))
        which = mechanism.choose("which", 2 + (len(y) == 1 and bool(y[0, 0] > 0.0)))
        order = mechanism.permutation("order", objective.data.n)
        own = RNG.random() < 0.5 if apart else 0.0
        return y + which[:, None] + order[:, :1] + own

    found = seen(register(f"forced.ranges_{apart}", run))
    assert found.apart == apart and not found.leaking and found.pair is None


def test_the_look_at_a_shipped_method_is_that_at_ones_own_and_finds_nothing():
    shipped = get_algorithm("wang2017.dp_gd_pl")
    ALGORITHMS.add("mine.copy", replace(shipped, id="mine.copy", module=__name__), __name__)
    found = seen("wang2017.dp_gd_pl", n=64)
    assert found.runs and found == Look(found.runs) == seen("mine.copy", n=64)


def test_work_has_one_limit_whoever_has_written_the_method(monkeypatch):
    """A shipped method whose run is so long that fewer than all are looked at."""
    monkeypatch.setattr(forced, "cost_of", lambda plan, apart: forced.FORCED_WORK / 100)
    assert seen("wang2017.dp_gd_pl", n=64).runs == 100


def test_runs_of_a_shipped_method_are_called_alone_too(monkeypatch):
    asked = []
    varied = forced._varied

    def counted(setting, *rest):
        asked.append(getattr(setting.cell, "apart", False))
        return varied(setting, *rest)

    monkeypatch.setattr(forced, "_varied", counted)
    seen("wang2017.dp_gd_pl", n=64)
    assert asked == [False, True]


def test_runs_that_are_called_alone_are_those_of_a_block(register):
    """Noise, choices and orders, what is recorded of them, and what forced runs expose."""

    def run(objective, plan, mechanism):
        order, which = mechanism.permutation("order", 5), mechanism.choose("which", 7)
        y = mechanism.release("gradient", objective.mean_gradient(objective.start))
        return y + order[:, :1] + which[:, None]

    cell = make_audit_cell(register("forced.alone", run))
    calibrated = calibrate_cell(cell, "accounted", 1)
    data = cell.draw_data(1, 0)
    found = []
    for own in (cell, Placed.of(cell, apart=True)):
        setting = Setting(own, calibrated.plan_for(cell), calibrated.scales, (data, data), 0)
        recorder = Recorder(Mechanism(setting.plan, setting.scales, "x", 1, 3, 6))
        output = setting.execute(data, recorder, 6)
        replay = ForcedReplay(setting.plan, setting.scales, recorder, 6, 0, False)
        again = setting.execute(data, replay, 6)
        np.testing.assert_allclose(again, output, rtol=1e-12)
        some = replayed(setting, data, Rows(recorder, [4, 1]), 2).outputs[0]
        np.testing.assert_allclose(some, output[[4, 1]], rtol=1e-12)
        found.append({"output": output, **recorder.transcript, **recorder.public, **replay.exposed})
    assert found[0].keys() == found[1].keys()
    for key, own in found[0].items():
        np.testing.assert_allclose(found[1][key], own, rtol=1e-12, atol=1e-12)


def test_prefixes_of_two_data_sets():
    cell = make_audit_cell("wang2017.dp_gd_pl", None, {"n": 8})
    data, other = cell.draw_data(1, 0), cell.draw_data(1, 0)
    other.features[:] += 1.0
    for count in (0, 3, 8):
        changed = np.asarray(first_of(data, other, count).features) != np.asarray(data.features)
        assert changed.any(axis=1).tolist() == [True] * count + [False] * (8 - count)


@pytest.mark.parametrize(
    ("alone", "direction"),
    [([[80, 0], [0, 0]], "P over Q"), ([[0, 0], [0, 80]], "Q over P"), ([[2, 0], [0, 80]], "Q over P")],
)
def test_the_bound_is_that_of_the_data_set_whose_outputs_the_other_explains_less(alone, direction):
    """With 80 of 1,000 on one of them and none on the other, by limits of Clopper and Pearson that are written out."""
    bound, low = _bound(Counts(1000, np.array(alone), True), 0.0, 0.04)
    least = beta.ppf(0.04 / BOUNDS, 80, 921)
    most = 1.0 - (0.04 / BOUNDS) ** (1 / 1000)
    assert bound.direction == direction and low == bound.power_low == pytest.approx(least)
    assert bound.epsilon == pytest.approx(np.log(least / most))
