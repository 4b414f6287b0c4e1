"""The observer of online-to-batch rounds: its sums against a loop that keeps everything, and bounds that can fail."""

from fractions import Fraction

import numpy as np
import pytest

from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import make_objective
from dpsco_bench.papers.zhang2022.observers import Rounds, remembered_rounding
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.mechanism import Mechanism

from ...runs import run as short

EPSILON = 4.886554117462212
CASES = {
    "ogd_adagrad": ("linear_ball", {"spread": 0.5}, {"k": 3.0}),
    "optimistic_ftrl": ("quad", {"spread": 0.25}, {"k": 1.0}),
    "osd": ("quad", {"spread": 0.25, "mu": 2.0}, {"k": 2.0}),
}


class Kept(Rounds):
    """Keeps every round besides, with what the run then notes."""

    def __init__(self):
        super().__init__()
        self.rounds = []

    def __call__(self, objective, **state):
        super().__call__(objective, **state)
        vectors = ("w", "x", "gradient_sum", "released", "loss")
        self.rounds.append({**state, **{name: np.array(state[name]) for name in vectors}})


def run(learner, calibration="paper"):
    """A run of 3 replicates with an observer, by hand."""
    problem, problem_options, own = CASES[learner]
    keys = {"options": {"learner": learner, "run_last_round": True, "rho": 1.0, **own}}
    cell = Cell("zhang2022.dp_otb", problem, 101, EPSILON, 1e-6, 3, problem_options=problem_options, **keys)
    plan, observer = cell.plan(calibration, 5)[1], Kept()
    scales = calibrate(plan, cell.privacy, calibration, "global").scales
    objective = make_objective(cell, cell.draw_data(5, 0), (5, 0, 0, 3), rounds=observer)
    output = cell.algorithm_entry.run_function(objective, plan, Mechanism(plan, scales, "test", 5, 0, 3))
    return objective, observer, output, observer.finish(objective, output)


@pytest.mark.parametrize("learner", CASES)
@pytest.mark.parametrize("calibration", ["paper", "accounted", "none"])
def test_the_sums_are_those_of_a_loop_over_all_rounds_and_obey_their_bounds(learner, calibration):
    """Theorem 1, Lemma 7 and the learners' bounds hold on every path."""
    objective, kept, output, notes = run(learner, calibration)
    problem, data = objective.problem, objective.host_data
    best, mu, regret, left, linear, squares = problem.optimum(data), problem.constants.strong_convexity, 0, 0, 0, 0
    for s in kept.rounds:
        away = s["w"] - best
        true = s["weight"] * problem.population_gradient(s["x"], data)
        regret = regret + np.sum(s["released"] * away, axis=1)
        left = left + np.sum((true - s["released"]) * away, axis=1)
        linear = linear + np.sum(s["loss"] * away, axis=1)
        squares = squares + s["weight"] * np.sum(away * away, axis=1)
    total, quarter = sum(s["weight"] for s in kept.rounds), kept.rounds[len(kept.rounds) // 4 - 1]
    gap = quarter["weight"] * problem.population_gradient(quarter["x"], data) - quarter["gradient_sum"]
    known = {"regret": regret, "theorem1": regret + left, "excess": total * objective.excess_risk(output)}
    known |= {"moment_quarter": np.sum(quarter["released"] ** 2, axis=1), "statistical_quarter": np.sum(gap**2, axis=1)}
    known |= {"regret_over_weights": regret / total, "learner_regret": linear}
    losses = np.array([np.sum(s["loss"] ** 2, axis=1) for s in kept.rounds])
    if learner == "osd":
        own, strengths = linear - mu / 4 * squares, mu / 2 * np.cumsum([s["weight"] for s in kept.rounds])
        known |= {"regularised_regret": own, "learner_regret": own, "lemma7": own + left - mu / 8 * squares}
        known["learner_bound"] = np.sum(losses / (2 * strengths[:, None]), axis=0)
    if learner == "ogd_adagrad":
        known["learner_bound"] = problem.constants.diameter * np.sqrt(2 * losses.sum(axis=0))
    for name, expected in known.items():
        np.testing.assert_allclose(notes[name], expected, rtol=1e-8, err_msg=name)
    assert (notes["excess"] <= notes["theorem1"]).all()
    assert (notes["learner_regret"] <= notes["learner_bound"]).all()
    if learner == "osd":
        assert (notes["excess"] <= notes["lemma7"]).all()
        assert (notes["lemma7"] <= notes["theorem1"] + 1e-9 * abs(notes["theorem1"])).all()


def test_parameter_free_runs_note_theorem_10():
    options = {"confidence_constants": "certified", "radius": "D", "run_last_round": True, "rho": 1.0}
    cell = Cell("zhang2022.parameter_free", "anchored_ball", n=128, d=3, epsilon=EPSILON, delta=1e-6, options=options)
    scales = calibrate(cell.plan("paper", 1)[1], cell.privacy, "paper", "global").scales
    trace = short(cell, scales, "paper", replicates=4, rounds="zhang2022")
    notes = trace.extras
    assert (trace.risk[:, -1] <= 4 * notes["theorem10"] / 128**4).all()
    assert (notes["theorem10"] >= notes["regularised_regret"]).all() and (notes["clips"] == 0).all()
    assert (notes["largest_loss"] > 0).all() and (notes["largest_loss"] < 1).all()
    assert (notes["moved"] >= 0).all()


@pytest.mark.parametrize(("n", "k"), [(512, 1), (4096, 3)])
def test_the_room_for_rounding_covers_that_of_the_weighted_average(n, k):
    """Of iterates that all lie at one point but the first: in exact arithmetic ``bsum_n ||x_n - w||`` is 1."""
    x, total = 0.0, 1.0
    for t in range(2, n + 1):
        total += float(t) ** k
        x += (1.0 / 3.0 - x) * (float(t) ** k / total)
    whole = sum(t**k for t in range(1, n + 1))
    exact = Fraction(whole - 1, whole) * Fraction(1.0 / 3.0)
    assert abs(Fraction(x) - exact) <= remembered_rounding(n, k)
