"""What the noise of the online-to-batch reduction hides and costs (chapter zhang2022, sections 2.1, 7 and 8)."""

from functools import partial

import numpy as np
import pytest

from dpsco_bench.papers.zhang2022.algorithms.reduction import NodeUnits, weights
from dpsco_bench.privacy.transcript import Recorder, Replay

from ...privacy.test_tree import block, record_nodes

OTB, PURE, LP = "zhang2022.dp_otb", "zhang2022.dp_otb_pure", "zhang2022.dp_otb_lp"
N, DELTA = 4096, 1e-6


def unit_vectors(n, d, seed, q=2.0):
    z = np.random.default_rng(seed).standard_normal((n, d))
    return z / np.linalg.norm(z, ord=q, axis=1, keepdims=True)


def node_changes(points, algorithm, records, position, other, **keys):
    """Change of every node's value in units of Delta_t, ``(nodes, R)``, as one record changes and answers do not."""
    run = partial(points.run, algorithm, calibration="accounted", replicates=4, **keys)
    recorded = run(records, factory=Recorder)
    neighbour = records.copy()
    neighbour[position] = other
    replayed = run(neighbour, factory=partial(Replay, recorded.mechanism.transcript))
    np.testing.assert_array_equal(replayed.output, recorded.output)
    values = [t.mechanism.transcript.values["node"] for t in (recorded, replayed)]
    order = recorded.plan.queries[0].norm
    return np.stack([np.linalg.norm(values[0][s] - values[1][s], ord=order, axis=-1) for s in sorted(values[0])])


@pytest.mark.parametrize("k", [1.0, 1.7, 3.0])
@pytest.mark.parametrize("n", [2, 6, 13])
def test_reversing_a_linear_record_moves_its_nodes_by_exactly_what_is_declared(points, k, n):
    """``s_q`` in the nodes of IN(q), nothing elsewhere: the tight units are attained, n a power of two or not."""
    records = unit_vectors(n, 3, 1)
    beta, _ = weights(k, n)
    s = np.diff(beta) * 2.0
    units = [max(s[q - 1] for q in block(t)) for t in range(1, n)]
    for q in range(1, n + 1):
        changes = node_changes(points, OTB, records, q - 1, -records[q - 1], k=k)
        expected = np.zeros(n - 1)
        for t in record_nodes(q, n - 1):
            expected[t - 1] = s[q - 1] / units[t - 1]
        np.testing.assert_allclose(changes, np.tile(expected[:, None], 4), atol=1e-12)


@pytest.mark.parametrize("algorithm", [OTB, PURE])
@pytest.mark.parametrize("sensitivity", ["eq6", "tight"])
@pytest.mark.parametrize("radius", ["adaptive", "D"])
def test_no_record_found_moves_a_node_of_smooth_losses_by_more_than_declared(points, algorithm, sensitivity, radius):
    """Quadratic losses with records in the unit ball: G = 2, H = 1; large noise drives the iterates about."""
    rng, worst = np.random.default_rng(2), 0.0
    for seed in range(6):
        records = unit_vectors(11, 2, seed)
        position = int(rng.integers(11))
        changes = node_changes(
            points, algorithm, records, position, -records[position], k=2.0, curvature=1.0, epsilon=0.05,
            sensitivity=sensitivity, radius=radius,
        )  # fmt: skip
        elsewhere = [t for t in range(1, 11) if t not in record_nodes(position + 1, 10)]
        assert np.all(changes[[t - 1 for t in elsewhere]] == 0.0)
        worst = max(worst, float(changes.max()))
    assert 0.1 < worst <= 1.0 + 1e-12


def test_the_charge_is_that_of_the_nodes_of_the_dearest_record():
    """Whatever the radii do: shares of eq. (6) and of the tight units are never above their bound, found by search."""
    rng = np.random.default_rng(3)
    for sensitivity in ("eq6", "tight"):
        units = NodeUnits(2.0, 16, 1.0, 0.7, 2.0, sensitivity, "adaptive")
        a, b = units.parts
        bound = {}
        for q in range(1, 16):
            for t in record_nodes(q, 15):
                bound[q, t] = float(units.shares(np.array([q]), np.array([t]))[0])
        closest = dict.fromkeys(bound, 0.0)
        for trial in range(300):
            r = rng.uniform(0, 2, 17) * rng.integers(0, 2, 17) if trial % 2 else 2.0 * rng.integers(0, 2, 17)
            stream = units.stream(2.0)
            delta = [float(stream(t, np.array([[r[t]]]))[0, 0]) for t in range(1, 16)]
            for (q, t), limit in bound.items():
                share = (a[q - 1] + b[q - 1] * r[q]) / delta[t - 1]
                assert share <= limit * (1 + 1e-12)
                closest[q, t] = max(closest[q, t], share / limit)
        assert np.median(list(closest.values())) > 0.9


def test_the_last_round_is_idle(points):
    short = points.run(OTB, unit_vectors(16, 2, 0), "accounted")
    long = points.run(OTB, unit_vectors(16, 2, 0), "accounted", run_last_round=True)
    np.testing.assert_array_equal(short.output, long.output)
    assert short.calibrated == long.calibrated
    assert (short.plan.levels, short.mechanism.released["node"], long.mechanism.released["node"]) == (4, 15, 16)


CLIPPED = [(OTB, {}), (OTB, {"sensitivity": "eq6"}), (OTB, {"radius": "D", "sensitivity": "path"}), (PURE, {}),
           (LP, {"norm": 1.5, "learner": "lp_ftrl"})]  # fmt: skip


@pytest.mark.parametrize(("algorithm", "keys"), CLIPPED)
def test_clipped_differences_keep_every_record_within_its_declared_share(points, algorithm, keys):
    """Search over neighbours with gradients up to fifty times the declared G (trap 9): only clipping holds them."""
    rng, worst, unclipped = np.random.default_rng(7), 0.0, 0.0
    for seed in range(8):
        records = unit_vectors(13, 3, seed) * rng.choice([0.2, 1.0, 25.0], size=(13, 1))
        position = int(rng.integers(13))
        other = -records[position] * rng.choice([0.5, 1.0, 3.0])
        settings = {"k": 1.0 + seed % 3, "curvature": 1.0, "lipschitz": 0.5, "epsilon": 0.2, **keys}
        changes = node_changes(points, algorithm, records, position, other, clip_differences=True, **settings)
        elsewhere = [t for t in range(1, 13) if t not in record_nodes(position + 1, 12)]
        assert np.all(changes[[t - 1 for t in elsewhere]] == 0.0)
        worst = max(worst, float(changes.max()))
        unclipped = max(unclipped, float(node_changes(points, algorithm, records, position, other, **settings).max()))
    assert 0.5 < worst <= 1.0 + 1e-12 < 2.0 < unclipped
