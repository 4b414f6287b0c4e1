"""What is dishonest in one run of a hundred is refuted by the audit and by the check, however it is decided."""

import re

import numpy as np
import pytest

from dpsco_bench.audit.auditor import audit_cell, make_audit_cell
from dpsco_bench.audit.by_hand import audit
from dpsco_bench.audit.canaries import audit_cell_of
from dpsco_bench.audit.contract import Checks, check_algorithm
from dpsco_bench.audit.scorers import Scorer, find_atoms
from dpsco_bench.audit.seldom import all_replaced, copied, farthest
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


SENSITIVITY = "no neighbour found changes a released value by more than declared"
POST_PROCESSING = "given the released values the output does not depend on the data"
STEPS = 8


def wrong(id):
    return {finding.check: finding.detail for finding in check_algorithm(id, d=3) if finding.passed is False}


def hundredfold_by_choice(objective, plan, mechanism):
    factor = np.where(mechanism.choose("which", 100) == 0, 100.0, 1.0)[:, None]
    return mechanism.release("gradient", factor * objective.mean_gradient(objective.start)) / factor


def hundredfold_in_a_late_step(objective, plan, mechanism):
    """In the step before the last, in the runs that the noise before it decides."""
    x, factor = objective.start, 1.0
    for step in range(STEPS):
        y = mechanism.release("gradient", factor * objective.mean_gradient(x), step) / factor
        factor = np.where(DECIDED["by its noise"](mechanism, y), 100.0, 1.0)[:, None] if step == STEPS - 3 else 1.0
        x = x - 0.5 * y
    return x


def twofold_by_choice(objective, plan, mechanism):
    """Of records that change a release by half of what is declared nothing is seen; of the canary it is."""
    factor = np.where(mechanism.choose("which", 100) == 0, 2.0, 1.0)[:, None]
    return mechanism.release("gradient", factor * objective.mean_gradient(objective.start)) / factor


@pytest.mark.parametrize(
    ("run", "releases"),
    [(hundredfold_by_choice, 1), (hundredfold_in_a_late_step, STEPS), (twofold_by_choice, 1)],
)
def test_the_check_refutes_what_is_released_too_large_in_a_hundredth(register, run, releases):
    """Divided again by as much, so that no output tells."""
    found = wrong(register(f"audit_test.{run.__name__}", run, releases=releases))
    few = re.search(r"gradient 100$", found[SENSITIVITY])  # of eight runs one may be of the hundredth
    assert few or re.search(r"in \d+ of 1024 runs gradient", found[SENSITIVITY])
    assert POST_PROCESSING not in found


@pytest.mark.parametrize("place", [5, 17, -1])
@pytest.mark.parametrize("often", ["seldom", "always"])
def test_the_check_refutes_a_leak_of_any_one_record(register, place, often):
    def run(objective, plan, mechanism):
        y = mechanism.release("gradient", objective.mean_gradient(objective.start))
        hit = DECIDED["by its noise"](mechanism, y) if often == "seldom" else np.ones(len(y), dtype=bool)
        return y + hit[:, None] * np.asarray(objective.data.features)[place, : y.shape[1]]

    assert POST_PROCESSING in wrong(register(f"audit_test.{often}_of_{place % 24}", run))


def test_every_record_is_replaced_by_another():
    cell = audit_cell_of("wang2017.dp_gd_pl", "accounted", {"n": 24})
    data, domain = cell.draw_data(1, 0), cell.problem_entry.domain_records(64, 1)
    other = all_replaced(data, domain)
    assert other.n == data.n and np.any(other.features != data.features, axis=-1).all()
    for place in (0, 23):
        gaps = np.abs(domain.features - data.features[place]).sum(-1) + np.abs(domain.labels - data.labels[place])
        assert farthest(data, place, domain) == gaps.argmax()


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


THRESHOLDS = {
    "more than half": lambda count, n: count > n // 2,
    "less than a fifth": lambda count, n: count < n / 5,
    "all": lambda count, n: count == n,
}


def counting(threshold):
    """A release beside which the output tells whether a count of records is beyond a threshold."""

    def run(objective, plan, mechanism):
        y = mechanism.release("gradient", objective.mean_gradient(objective.start))
        count = int(np.sum(np.asarray(objective.data.features)[:, 0] > 0.1))
        return y + 10.0 * threshold(count, objective.data.n)

    return run


@pytest.mark.parametrize("name", THRESHOLDS)
def test_a_threshold_of_a_count_is_named_by_the_check_and_refuted_by_the_audit(register, name):
    id = register(f"audit_test.threshold_{list(THRESHOLDS).index(name)}", counting(THRESHOLDS[name]))
    assert "the data are used without noise" in wrong(id)[POST_PROCESSING]
    result = audit(make_audit_cell(id), runs=500)
    assert result.verdict == "refuted" and result.statistic == "forced outputs"


def test_data_of_copies():
    data = make_audit_cell("wang2017.dp_gd_pl", None, {"n": 9}).draw_data(1, 0)
    domain = make_audit_cell("wang2017.dp_gd_pl", None, {"n": 9}).problem_entry.domain_records(16, 1)
    far = farthest(domain, 0, domain)
    for other, (count, which) in zip(copied(data, domain), [(4, 0), (9, 0), (4, far), (9, far)], strict=True):
        assert (np.asarray(other.features)[:count] == domain.features[which]).all()
        assert (np.asarray(other.labels)[:count] == domain.labels[which]).all()
        np.testing.assert_array_equal(other.features[count:], data.features[count:])
