"""The canary that an algorithm is audited on, the canaries themselves, and where in a data set they are put."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms
from dpsco_bench.audit import canaries
from dpsco_bench.audit.auditor import audit_cell, make_audit_cell
from dpsco_bench.audit.canaries import CALIBRATIONS, CANARIES, MOST_WORK, TRAJECTORIES, moved, trials, work_of
from dpsco_bench.audit.subject import replaced
from dpsco_bench.audit.transcript import NeighbourRun, replayed
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.geometry.norms import SmoothNorm, dual_exponent
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.plan import GaussianQuery
from dpsco_bench.privacy.queries import GeneralisedGaussianQuery
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.registry import get_problem

from .pairs import SEED, Weak, pairs_of, recorded

NONE = {"bassily2021.sample_minimiser", "gopi2022.mirror_descent_nonprivate", "gopi2022.radial_exact"}
TRIALS, KNOWN = list(trials()), set(list_algorithms())
"""As they are when this is read: other tests may make more known."""


def test_every_private_algorithm_variant_and_calibration_has_a_short_canary():
    assert {trial.algorithm for trial in TRIALS} == KNOWN
    assert {trial.algorithm for trial in TRIALS if trial.reason} == NONE
    assert not any("\n" in trial.reason for trial in TRIALS)
    tried = {(own.algorithm, own.variant, own.calibration): own.problem for own in TRIALS if not own.reason}
    for id in KNOWN - NONE:
        for variant, allowed in get_algorithm(id).variants.items():
            assert {(id, variant, c) for c in allowed if c in CALIBRATIONS} <= tried.keys()
    for (id, variant, calibration), problem in tried.items():
        plan = make_audit_cell(id, None, {"variant": variant}, calibration).plan(calibration, 0, twice=False)[1]
        assert problem.startswith("canary_") and (work_of(plan) <= 2 * MOST_WORK or plan.schedule.get("sweeps")), id


@pytest.mark.parametrize(
    ("algorithm", "keys", "error", "message"),
    [
        ("wang2017.dp_gd_pl", {"stepz": 3}, InputError, "^stepz = 3: must be a known key"),
        ("wang2017.dp_svrg", {"variant": "literal"}, Refusal, "^wang2017.dp_svrg variant literal with calibration"),
        ("gopi2022.radial_exact", {}, Refusal, "^audit of gopi2022.radial_exact refused: it takes none of the can"),
        ("bassily2021.sample_minimiser", {}, Refusal, "^audit of bassily2021.sample_minimiser refused: it is not pri"),
    ],
)
def test_what_cannot_be_audited_is_one_line(algorithm, keys, error, message):
    with pytest.raises(error, match=message):
        make_audit_cell(algorithm, None, keys)


@pytest.mark.parametrize(("name", "options"), CANARIES, ids=str)
def test_canaries_keep_what_they_declare(name, options):
    """Gradients of all records are within G in the dual norm and G is nearly attained; curvature is within L."""
    problem = get_problem(name, **{"d": None, **options})
    c, rng = problem.constants, np.random.default_rng(0)
    records, order = problem.domain_records(32, 1), dual_exponent(problem.constants.norm)
    for scale in (0.0, 0.1, 1.0, 10.0):
        points = problem.start + scale * rng.standard_normal((4, problem.dimension))
        if problem.feasible_set is not None:
            points = np.asarray(problem.feasible_set.project(points))
        gradients = problem.record_gradients(points, records, 0, records.n)
        sizes = np.linalg.norm(gradients, ord=order, axis=-1)
        if name != "canary_heavy":
            assert sizes.max() <= c.lipschitz * (1 + 1e-9)
        if scale == 0.0 and name not in ("canary_heavy", "canary_public", "canary_quadratic"):
            assert sizes.max() >= 0.99 * c.lipschitz
        moved = points + 1e-4 * rng.standard_normal(points.shape)
        change = problem.record_gradients(moved, records, 0, records.n) - gradients
        lengths = np.linalg.norm(moved - points, ord=c.norm, axis=-1)[:, None]
        assert (np.linalg.norm(change, ord=order, axis=-1) <= c.smoothness * lengths * (1 + 1e-6) + 1e-12).all()
    risk = problem.risk(points[:1] * 0, records) if name != "canary_public" else np.zeros(1)
    assert np.isfinite(risk).all()


@pytest.mark.parametrize(
    ("algorithm", "names"),
    [
        ("wang2017.dp_gd_pl", {"turning canary", "steady canary"}),
        ("bassily2021.noisy_sfw", {"canary", "even canary"}),
        ("zhang2022.dp_sgd", {"canary"}),
    ],
)
def test_pairs_are_replacement_removal_and_replacement_among_copies(algorithm, names):
    pairs = pairs_of(algorithm, n=12)
    found = {pair.name.split(": ")[1].replace(" among 11 copies", "") for pair in pairs}
    assert found >= {f"{name} and its mirror image" for name in names}
    assert found >= {f"{name} and its removal" for name in names - {"even canary"}}
    assert sum("among 11 copies" in pair.name for pair in pairs) >= 1
    for pair in pairs:
        differ = np.any(np.asarray(pair.pair[0].features) != pair.pair[1].features, axis=-1)
        assert pair.pair[0].n == pair.pair[1].n == 12 and np.flatnonzero(differ).tolist() == [0]
        order = dual_exponent(pair.cell.problem_entry.constants.norm)
        assert np.linalg.norm(pair.pair[0].features, ord=order, axis=-1).max() <= 1 + 1e-12
        assert max(np.linalg.norm(own.features[0], ord=order) for own in pair.pair) == pytest.approx(1.0)


def test_a_record_just_below_the_level_is_found_for_methods_that_cut():
    """Truncated mirror descent makes longer gradients zero: the search along runs finds nearly the longest kept one."""
    (pair,) = pairs_of("su2023.truncated_batched_md")
    lengths, most = sorted(own.labels[0] for own in pair.pair), pair.plan.threshold
    assert lengths[0] == -lengths[1] and 0.7 * most <= lengths[1] <= most


def test_the_list_shows_what_is_tried_and_why_the_rest_is_not(dpsco):
    found = dpsco("list", "audits", "--json").rows
    assert len(found) == len(list(trials())) == len({own["id"] for own in found})
    assert all({"algorithm", "problem", "reason", "statistic", "source", "summary"} <= set(own) for own in found)


def test_neighbours_are_compared_in_the_norm_of_their_query():
    """Along an axis l2 sees as much as l_3, along a diagonal more: the pair of largest change is another one."""
    exposed = np.array([[0.0, 0.0, 0.0], [1.1, 0.0, 0.0], [0.7, 0.7, 0.7]])[:, None, :]
    smooth = SmoothNorm(1.5, 3)
    query = GeneralisedGaussianQuery("sum", 1.0, 1, smooth=smooth)
    found, plain = canaries._squares(query, exposed), canaries._squares(GaussianQuery("sum", 1.0, 1), exposed)
    assert query.norm == pytest.approx(3.0)
    assert found[0, 1] == pytest.approx(1.21) and found[0, 2] == pytest.approx((3 * 0.7**3) ** (2 / 3))
    assert found[0, 2] < found[0, 1] and plain[0, 2] > plain[0, 1]


def losses(pair, place=None):
    """Squared shift of all releases together, in units of the noise, and the largest in units of its sensitivity."""
    plan, data = pair.plan, pair.pair if place is None else tuple(moved(own, place) for own in pair.pair)
    setting = replace(pair, pair=data)
    recorder = recorded(setting)
    one, two = (replayed(setting, own, recorder, TRAJECTORIES).out for own in data)
    total, most = 0.0, 0.0
    for name, step in recorder.transcript:
        query, factor = plan.query(name), plan.query(name).factors(step, 1)
        noise = pair.scales[name] * (1.0 if factor is None else float(factor[0]))
        change = float(np.linalg.norm(one[name, step] - two[name, step], ord=query.norm, axis=-1).mean())
        total, most = total + (change / noise) ** 2, max(most, change / query.sensitivity)
    return total, most


@pytest.mark.parametrize("algorithm", ["bassily2021.projected_gd", "zhang2022.dp_sgd", "zhang2022.dp_otb"])
def test_it_stays_first_where_the_order_says_nothing_or_the_first_record_pays_most(algorithm):
    assert all(pair.record == 0 and "place" not in pair.name for pair in pairs_of(algorithm, n=32))


def test_a_record_that_the_method_weakens_is_replaced_by_the_one_that_it_weakens_least():
    """The projection shortens the canary to half; another direction keeps the whole of what is declared."""
    pairs = pairs_of("su2023.kj16", n=40)
    assert losses(pairs[0])[1] < 0.5 and pairs[-1].alone and losses(pairs[-1])[1] > 0.95
    assert all("differ most" not in pair.name for pair in pairs_of("bassily2021.projected_gd", n=20))


def test_noise_that_is_too_small_is_refuted_where_a_late_record_shows_it_and_sound_noise_never():
    cell = make_audit_cell("zhang2022.parameter_free", None, {"variant": "accounted", "n": 64})
    leaky = audit_cell(cell, runs=1000, seed=SEED, mechanism=Weak)
    assert leaky.verdict == "refuted" and "in place" in leaky.neighbours
    for seed in range(4):
        sound = audit_cell(cell, runs=1000, seed=seed)
        assert sound.epsilon_lower <= sound.epsilon_real and sound.verdict == "not refuted"


@pytest.mark.parametrize(
    ("work", "keys", "chosen"),
    [
        (lambda n, epsilon: 1.0, {}, (200, 1.0)),
        (lambda n, epsilon: MOST_WORK * n / 60, {}, (60, 1.0)),  # the most work is allowed
        (lambda n, epsilon: 1.001 * MOST_WORK * n / 20, {}, (20, 1.0)),  # all are too long: the shortest
        (lambda n, epsilon: None if epsilon > 0.3 else 1e9 / n, {}, (200, 0.25)),  # outside of the paper's range
        (lambda n, epsilon: 1e9, {"n": 77, "epsilon": 3.0}, (77, 3.0)),
        (lambda n, epsilon: None if n != 20 else 1.0, {"epsilon": 0.7}, (20, 0.7)),
    ],
)
def test_the_first_fitting_records_and_claim_are_taken_or_else_the_shortest_run(monkeypatch, work, keys, chosen):
    def cell(algorithm, calibration, canary, keys):
        found = work(keys["n"], keys["epsilon"])
        if found is None or canary[0] != "canary_curved":
            raise Refusal("a plan", "it does not fit")
        return found, (keys["n"], keys["epsilon"])

    monkeypatch.setattr("dpsco_bench.audit.canaries._cell", cell)
    assert make_audit_cell("wang2017.dp_gd_pl", None, keys) == chosen


def test_a_record_is_moved_and_moved_back():
    rng = np.random.default_rng(0)
    data = Data(5, rng.standard_normal((5, 2)), np.arange(5.0))
    there = moved(data, 3)
    assert there.labels.tolist() == [3, 1, 2, 0, 4] and data.labels.tolist() == list(range(5))
    np.testing.assert_array_equal(there.features[[0, 3]], data.features[[3, 0]])
    np.testing.assert_array_equal(moved(there, 3).features, data.features)
    np.testing.assert_array_equal(moved(data, 0).features, data.features)


def test_the_worst_place_is_that_of_the_largest_sum_in_units_of_the_noise():
    """By trying all places; the share is the largest change of a release over its sensitivity there."""
    pair = pairs_of("bassily2021.poly_sfw", n=20)[0]
    tried = replace(pair, pair=tuple(moved(own, pair.record) for own in pair.pair), record=0)
    place, share = canaries.worst_place(tried, SEED)
    found = [losses(tried, k) for k in range(20)]
    assert found[place][0] == pytest.approx(max(own for own, _ in found)) and share == pytest.approx(found[place][1])


def test_the_two_records_that_differ_most_by_trying_all_pairs(monkeypatch):
    """Only drawn batches that hold the record count, and squares are in units of each query's noise."""
    monkeypatch.setattr("dpsco_bench.audit.canaries.MOST_TRIED", 1.0)  # eight records
    cell = make_audit_cell("wang2017.dp_svrg", "ridge_logistic", {"n": 12, "d": 3, "epochs": 2, "inner_steps": 3})
    plan = cell.plan("accounted", SEED)[1]
    scales = calibrate(plan, cell.privacy, "accounted").scales
    found = canaries.along_trajectories(cell, SEED, plan, scales, 4)
    data, domain = cell.draw_data(SEED, 0), cell.problem_entry.domain_records(8, SEED)
    sets = [moved(replaced(data, 0, domain, which), 4) for which in range(8)]
    setting = NeighbourRun(cell, plan, scales, (data, data), 4)
    recorder = recorded(setting, what=cell.run_key(0))
    seen = [replayed(setting, own, recorder, TRAJECTORIES).drawn for own in sets]

    def loss(one, two):
        apart = {where: np.sum((seen[one][where] - seen[two][where]) ** 2, axis=-1).mean() for where in seen[0]}
        return sum(square / scales[name] ** 2 for (name, _), square in apart.items())

    one, two = max(combinations(range(8), 2), key=lambda pair: loss(*pair))
    assert loss(one, two) > 0.0 and found.record == 4 and not found.alone
    for own, which in zip(found.pair, (one, two), strict=True):
        np.testing.assert_array_equal(own.features, sets[which].features)
        np.testing.assert_array_equal(own.labels, sets[which].labels)
