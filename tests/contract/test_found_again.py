"""Defects that once stood in a method, a problem or a charge, planted as small copies: the checks find each of them."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import ALGORITHMS, get_algorithm
from dpsco_bench.audit.contract import attained_epsilon, check_algorithm
from dpsco_bench.audit.subject import subject_of
from dpsco_bench.backend.namespace import cast, cast_like, float64_zeros
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.request import make_cell
from dpsco_bench.papers.su2023.algorithms.table1 import Projected
from dpsco_bench.problems.base import Constants, Data, Problem, Trait
from dpsco_bench.problems.registry import problem

LONG_RUN = "without noise and with a long schedule it goes half of the way to the minimum"
SENSITIVITY = "no neighbour found changes a released value by more than declared"
LOSS_CLASS = "the losses are of the class that their problem declares"


def planted(id, run):
    """A registered method with another run."""
    entry = replace(get_algorithm(id), id=f"mine.{id.partition('.')[2]}", run_function=run)
    ALGORITHMS.add(entry.id, entry, __name__)
    return entry


def failed(algorithm, problem_name, **keys):
    return {found.check: found.detail for found in check_algorithm(algorithm, problem_name, **keys) if not found.passed
            and found.passed is not None}  # fmt: skip


def without_the_ridge(objective, plan, mechanism):
    """Phased SGD whose steps leave the regulariser out."""
    w, position = objective.start, 0
    for i, size in enumerate(plan.sizes, start=1):
        u, total = w, cast(w, objective.xp.float64)
        for t in range(position, position + size):
            u = u - plan.step / 4**i * objective.range_gradient(u, t, 1)
            total = total + u
        position += size
        w = mechanism.release(f"phase {i}", cast_like(total / (size + 1), w))
    return w


class Unclipped(Projected):
    """The projected problem with slopes as steep as they come."""

    def mean_gradient(self, v):
        self.objective.count(self.objective.n)
        return self.objective.problem.mean_gradient(v, self.data)


def without_the_clip(objective, plan, mechanism):
    """Descent in a random projection, whose points leave the set on which the loss is Lipschitz."""
    m = plan.projection
    small, v = Unclipped(objective, m, 1.0), objective.xp.zeros((objective.replicates, m), dtype=objective.dtype)
    step = plan.diameter / sqrt(plan.steps * (plan.slope**2 + m * mechanism.scales["gradient"] ** 2))
    total = float64_zeros(v)
    for t in range(plan.steps):
        v = small.project(v - step * mechanism.release("gradient", small.mean_gradient(v), t))
        total = total + v
    return small.lift(cast_like(total / plan.steps, v))


class TurningHessian(Problem):
    """``(x_1 - z)^2/(x_2 + 3)`` on the unit l2 ball: Hessians of rank one, whose range turns with x."""

    name = "turning_hessian"
    default_dimension = 2
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ, Trait.TWICE_DIFFERENTIABLE})

    @property
    def own_constants(self):
        return Constants(3.0, 4.0, hessian_rank=1.0, diameter=2.0, domain="l2_ball")

    def draw(self, n, streams):
        z = streams("z").uniform(0, 1, 0, n, 1)[0].astype(np.float64)
        return Data(n, z, np.zeros(n))

    def _gradients(self, x, z):
        """Of records ``z (n,)`` at points ``x (R, d)``, shape ``(R, n, d)``."""
        share = (x[:, :1] - z) / (x[:, 1:] + 3.0)
        return np.stack([2.0 * share, -(share**2)], axis=-1)

    def mean_gradient(self, x, data):
        return self._gradients(x, data.features[:, 0]).mean(axis=1)

    def batch_gradient(self, x, batch, weights):
        share = (x[:, :1] - batch.features[:, :, 0]) / (x[:, 1:] + 3.0)
        return np.sum(np.stack([2.0 * share, -(share**2)], axis=-1) * weights[:, :, None], axis=1)

    def risk(self, x, data):
        return np.mean((x[:, :1] - data.features[:, 0]) ** 2 / (x[:, 1:] + 3.0), axis=1)

    def domain_records(self, count, seed):
        return Data(count, np.linspace(0.0, 1.0, count)[:, None], np.zeros(count))


@pytest.fixture(autouse=True)
def problems():
    problem(TurningHessian)


def test_a_regulariser_that_the_steps_forget():
    entry = planted("su2023.phased_dp_sgd", without_the_ridge)
    assert failed(entry, "ridge_logistic", d=3).keys() == {LONG_RUN}
    assert not failed("su2023.phased_dp_sgd", "ridge_logistic", d=3)
    detail = failed(entry, "ridge_logistic", d=100)[LONG_RUN]  # it falls, and begins to rise again
    assert "of the gap to the minimum is left" in detail and "it goes elsewhere" in detail


def test_a_loss_that_is_steep_beyond_its_set():
    """The largest change is 1.97 times the declared one; a search at random points and records finds less than half."""
    keys = {"d": 256, "projection": 8, "steps": 3}
    found = failed(planted("su2023.kj16", without_the_clip), "public_quadratic", **keys)
    assert found.keys() == {SENSITIVITY}
    assert float(found[SENSITIVITY].rpartition(" ")[2]) == pytest.approx(1.97, abs=0.02)
    assert not failed("su2023.kj16", "public_quadratic", **keys)


def test_a_rank_one_hessian_that_turns_is_no_generalised_linear_loss():
    assert not failed("su2023.app_objp", "turning_hessian")
    TurningHessian.traits = TurningHessian.traits | {Trait.GENERALISED_LINEAR}
    try:
        assert failed("su2023.app_objp", "turning_hessian").keys() == {LOSS_CLASS}
    finally:
        TurningHessian.traits = TurningHessian.traits - {Trait.GENERALISED_LINEAR}


def test_a_draw_whose_bound_is_called_exact():
    """Theorem 2 of Gopi et al. is attained for p = 2; elsewhere its value is an upper bound."""
    cell = make_cell("gopi2022.reg_exp_mech", "axis_linear", {"n": 24, "d": 3, "p": 1.5})
    honest = subject_of(cell, calibrate_cell(cell, "accounted", 0), 0)
    assert honest.charge.kind == "upper"
    planted_charge = replace(honest, charge=replace(honest.charge, kind="exact"))
    assert attained_epsilon(planted_charge)[0] is False
