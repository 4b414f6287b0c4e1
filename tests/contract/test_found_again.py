"""Defects that once stood in a method, a problem or a charge, planted as small copies: the checks find each of them."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import ALGORITHMS, get_algorithm
from dpsco_bench.algorithms.shared import run_phases
from dpsco_bench.audit import contract
from dpsco_bench.audit.contract import attained_epsilon, check_algorithm
from dpsco_bench.audit.subject import subject_of
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.request import make_cell
from dpsco_bench.papers.su2023.algorithms.table1 import Projected, kj16

LONG_RUN = "without noise and with a long schedule it goes half of the way to the minimum"
SENSITIVITY = "no neighbour found changes a released value by more than declared"


def planted(id, run):
    """A registered method with another run."""
    entry = replace(get_algorithm(id), id=f"mine.{id.partition('.')[2]}", run_function=run)
    ALGORITHMS.add(entry.id, entry, __name__)
    return entry


def failed(algorithm, problem_name, **keys):
    found = check_algorithm(algorithm, problem_name, **keys)
    return {one.check: one.detail for one in found if one.passed is False}


def without_the_ridge(objective, plan, mechanism):
    """Phased SGD whose steps leave the regulariser out."""
    objective.regulariser_gradient = np.zeros_like
    return run_phases(objective, plan, mechanism)


class Unclipped(Projected):
    """The projected problem with slopes as steep as they come."""

    def mean_gradient(self, v):
        self.objective.count(self.objective.n)
        return self.objective.problem.mean_gradient(v, self.data)


def test_a_regulariser_that_the_steps_forget():
    entry = planted("su2023.phased_dp_sgd", without_the_ridge)
    assert failed(entry, "ridge_logistic", d=3).keys() == {LONG_RUN}
    assert not failed("su2023.phased_dp_sgd", "ridge_logistic", d=3)
    detail = failed(entry, "ridge_logistic", d=100)[LONG_RUN]  # it falls, and begins to rise again
    assert "of the gap to the minimum is left" in detail and "it goes elsewhere" in detail


def test_a_loss_that_is_steep_beyond_its_set():
    """Points of a random projection leave the set on which the loss is Lipschitz; at random ones little is found."""
    keys = {"d": 256, "projection": 8, "steps": 3}
    found = failed(planted("su2023.kj16", partial(kj16, projected=Unclipped)), "public_quadratic", **keys)
    assert found.keys() == {SENSITIVITY}
    assert float(found[SENSITIVITY].rpartition(" ")[2]) == pytest.approx(1.97, abs=0.02)
    assert not failed("su2023.kj16", "public_quadratic", **keys)


@pytest.mark.parametrize("name", contract.CLASSES)
def test_gradients_that_leave_their_class(monkeypatch, name):
    """A Hessian of rank one whose range turns with the point is that of no generalised linear loss."""
    rng = np.random.default_rng(0)
    one, two = rng.standard_normal((2, 4))
    gradients = {
        "linear": rng.standard_normal((6, 1, 4)) + rng.standard_normal((1, 5, 4)),
        "glm": rng.standard_normal((6, 5, 1)) * rng.standard_normal((1, 5, 4)),
        "plane": rng.standard_normal((6, 1, 4)) + rng.standard_normal((6, 5, 1)) * one + rng.random((6, 5, 1)) * two,
    }
    turned = gradients[name] + 0.0
    turned[3, 2] += 1e-3 * rng.standard_normal(4)
    for given, kept in ((gradients[name], True), (turned, False)):
        monkeypatch.setattr(contract, "record_gradients", lambda subject, records, given=given: given)
        assert (contract.deviation(None, name) <= contract.CLASS_TOLERANCE) == kept


@pytest.mark.parametrize(("calibration", "kind"), [("paper", "exact"), ("accounted", "upper")])
def test_a_draw_whose_bound_is_called_exact(calibration, kind):
    """Theorem 2 of Gopi et al. is an upper bound; where it exceeds the claim, the worst pair of data sets is found."""
    cell = make_cell("gopi2022.reg_exp_mech", "axis_linear", {"n": 24, "d": 3, "p": 1.5, "accountant": "pairs"})
    honest = subject_of(cell, calibrate_cell(cell, calibration, 0), 0)
    assert honest.charge.kind == kind
    for factor, passed in ((1.0, kind == "exact"), (1.5, False)):
        planted = replace(honest.charge, kind="exact", epsilon=factor * honest.charge.epsilon)
        assert attained_epsilon(replace(honest, charge=planted))[0] is passed
