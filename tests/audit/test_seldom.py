"""What is dishonest in one run of a hundred is refuted by the audit and by the check, however it is decided."""

import numpy as np
import pytest

from dpsco_bench.audit.auditor import audit_cell, make_audit_cell
from dpsco_bench.audit.canaries import audit_cell_of
from dpsco_bench.audit.contract import Checks, check_algorithm
from dpsco_bench.audit.scorers import Scorer, find_atoms
from dpsco_bench.audit.subject import subject_of
from dpsco_bench.execution.calibration import calibrate_cell

RNG = np.random.default_rng(5)
DECIDED = {
    "by a public choice": lambda mechanism, y: mechanism.choose("which", 100) == 0,
    "by numbers of its own": lambda mechanism, y: RNG.integers(0, 100, len(y)) == 0,
    "by its noise": lambda mechanism, y: np.floor(np.abs(y[:, 0]) * 1e6) % 100 == 0,
}


@pytest.fixture(params=DECIDED)
def leaking(request, register):
    """A release of the mean gradient, which in a hundredth of the runs is the exact one."""
    decide = DECIDED[request.param]

    def run(objective, plan, mechanism):
        gradient = objective.mean_gradient(objective.start)
        released = mechanism.release("gradient", gradient)
        return np.where(decide(mechanism, released)[:, None], gradient, released)

    return register(f"audit_test.seldom_{list(DECIDED).index(request.param)}", run)


@pytest.mark.parametrize("statistic", [None, "output"])
def test_the_audit_refutes_it(leaking, statistic):
    result = audit_cell(make_audit_cell(leaking), runs=10_000, statistic=statistic)
    assert result.verdict == "refuted" and result.epsilon_lower > 1.5 * result.epsilon_claimed


def test_the_check_refutes_it(leaking):
    failed = {finding.check for finding in check_algorithm(leaking, d=3) if finding.passed is False}
    assert failed & {
        "given the released values the output does not depend on the data",
        "the mechanism is the only source of randomness",
    }


@pytest.mark.parametrize("id", ["wang2017.objective_perturbation_kst12", "su2023.objp", "gopi2022.gibbs"])
def test_a_hundredth_is_met_where_runs_are_solved_or_drawn_too(id):
    """With probability 0.99, on the canary of their audits."""
    cell = audit_cell_of(id, "accounted", {"n": 24})
    subject = subject_of(cell, calibrate_cell(cell, "accounted", 1), 1)
    assert 1 - 0.99 ** Checks(subject, None).many > 0.99


def test_the_honest_release_is_not_refuted(register):
    def honest(objective, plan, mechanism):
        return mechanism.release("gradient", objective.mean_gradient(objective.start))

    id = register("audit_test.never", honest)
    for statistic in (None, "output"):
        assert audit_cell(make_audit_cell(id), runs=10_000, statistic=statistic).verdict == "not refuted"
    wrong = {f.check for f in check_algorithm(id, d=3) if f.passed is False}
    assert wrong <= {"without noise and with a long schedule it goes half of the way to the minimum"}


def test_atoms_are_outputs_that_come_again_and_again():
    rng = np.random.default_rng(0)
    p, q = rng.standard_normal((50, 2)), rng.standard_normal((50, 2))
    p[:5], p[5:9], q[:8] = [1.0, 2.0], [0.0, 0.0], [1e-300, 0.0]
    q[8:10] = [3.0, 3.0]  # twice may be chance
    found = find_atoms(p, q, one_sided=False)
    values = sorted(found.values())
    assert len(found) == 3 and values[-1] == np.inf and values[0] == -np.inf
    scorer = Scorer("output, atoms", np.ones(2), None, find_atoms(p, q, one_sided=True))
    scores = scorer(np.array([[1e300, 0.0], [0.5, 0.5], [0.0, 0.0]]), np.array([[1.0, 2.0], [0.5, 0.5], [3.0, 3.0]]))
    assert scores[0] == np.inf and scores[1] == 1.0 and scores[2] == 0.0
