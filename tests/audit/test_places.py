"""Where in a data set the canary is put, and which record stands in for one that a method weakens."""

from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench.audit.auditor import audit_cell, make_audit_cell
from dpsco_bench.audit.canaries import TRAJECTORIES, candidate_pairs, moved
from dpsco_bench.audit.transcript import Recording, replayed
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.mechanism import Mechanism

SEED = 3


def pairs_of(algorithm, **keys):
    cell = make_audit_cell(algorithm, None, keys)
    _, plan = cell.plan("accounted", SEED)
    scales = calibrate(plan, cell.privacy, "accounted").scales
    return plan, scales, list(candidate_pairs(cell, SEED, plan, scales))


def losses(pair, plan, scales, place=None):
    """Squared shift of all releases together, in units of the noise, and the largest in units of its sensitivity."""
    data = pair.pair if place is None else tuple(moved(own, place) for own in pair.pair)
    setting = replace(pair, pair=data)
    recorder = Recording(Mechanism(plan, scales, "runs", SEED, 0, TRAJECTORIES))
    setting.execute(data[0], recorder, TRAJECTORIES)
    one, two = (replayed(setting, own, recorder, TRAJECTORIES).out for own in data)
    total, most = 0.0, 0.0
    for name, step in recorder.transcript:
        query, factor = plan.query(name), plan.query(name).factors(step, 1)
        noise = scales[name] * (1.0 if factor is None else float(factor[0]))
        change = float(np.linalg.norm(one[name, step] - two[name, step], ord=query.norm, axis=-1).mean())
        total, most = total + (change / noise) ** 2, max(most, change / query.sensitivity)
    return total, most


@pytest.mark.parametrize(
    ("algorithm", "keys", "gain"),
    [("zhang2022.parameter_free", {"variant": "accounted", "n": 64}, 3.0), ("bassily2021.poly_sfw", {"n": 200}, 2.0)],
)
def test_the_canary_stands_where_it_changes_the_releases_most(algorithm, keys, gain):
    """Records enter these methods in an order, and the first is not the one that pays most."""
    plan, scales, pairs = pairs_of(algorithm, **keys)
    pair = pairs[0]
    assert pair.record > 0 and f"in place {pair.record} and its mirror image" in pair.name
    found, first = losses(pair, plan, scales)[0], losses(pair, plan, scales, pair.record)[0]
    assert found > gain * first  # `moved` again puts it back in place 0


@pytest.mark.parametrize("algorithm", ["bassily2021.projected_gd", "zhang2022.dp_sgd", "zhang2022.dp_otb"])
def test_it_stays_first_where_the_order_says_nothing_or_the_first_record_pays_most(algorithm):
    pairs = pairs_of(algorithm, n=32)[2]
    assert all(pair.record == 0 and "place" not in pair.name for pair in pairs)


def test_a_record_that_the_method_weakens_is_replaced_by_the_one_that_it_weakens_least():
    """The projection shortens the canary to half; another direction keeps the whole of what is declared."""
    plan, scales, pairs = pairs_of("su2023.kj16", n=40)
    assert losses(pairs[0], plan, scales)[1] < 0.5
    assert pairs[-1].alone and losses(pairs[-1], plan, scales)[1] > 0.95
    assert all("differ most" not in pair.name for pair in pairs_of("bassily2021.projected_gd", n=20)[2])


class Weak(Mechanism):
    """A tenth of the noise."""

    def __init__(self, plan, scales, *args):
        super().__init__(plan, {name: 0.1 * scale for name, scale in scales.items()}, *args)


def test_noise_that_is_too_small_is_refuted_where_a_late_record_shows_it_and_sound_noise_never():
    cell = make_audit_cell("zhang2022.parameter_free", None, {"variant": "accounted", "n": 64})
    leaky = audit_cell(cell, runs=1000, seed=SEED, mechanism=Weak)
    assert leaky.verdict == "refuted" and "in place" in leaky.neighbours
    for seed in range(4):
        sound = audit_cell(cell, runs=1000, seed=seed)
        assert sound.epsilon_lower <= sound.epsilon_real and sound.verdict == "not refuted"
