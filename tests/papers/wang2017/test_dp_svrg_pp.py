import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.base import Constants, Data
from dpsco_bench.problems.registry import get_problem

PP = get_algorithm("wang2017.dp_svrg_pp")
PRIVACY = PrivacySpec(1.0, 1e-5)
CONSTANTS = Constants(1.0, 1.0, initial_gap=1.0, initial_distance=1.0)


def plan(constants=CONSTANTS, n=4096, d=10, privacy=PRIVACY, variant="literal", **options):
    return PP.plan(constants, n, d, privacy, variant, **options)


@pytest.mark.parametrize(("variant", "options"), [("literal", {}), ("poisson", {"batch": 1})])
def test_v2_trajectory(vectors, variant, options):
    """Loss `literal`, no regulariser, T=2, m=1, eta=4/13, order (0,2),(3,1,1,0): snapshots and last iterate."""
    problem = vectors.FourRecords(regularisation=0.0, offset=1.0, sign=1.0)
    constants = Constants(1.0, 0.25, initial_distance=1.0)
    for epochs, expected in ((1, (0.566140299748, -0.359383218225)), (2, (0.688602238356, -0.574787039509))):
        made = PP.plan(constants, 4, 2, PRIVACY, variant, epochs=epochs, inner_steps=1, **options)
        assert made.step == pytest.approx(4 / 13)
        snapshot = vectors.run(PP, made, problem, (0, 2, 3, 1, 1, 0))
        np.testing.assert_allclose(snapshot, expected, rtol=0, atol=1e-12)
    seen = []
    vectors.run(PP, made, problem, (0, 2, 3, 1, 1, 0), lambda objective, x: seen.append(x[0]))
    assert len(seen) == 6 + 1  # every inner iterate, then the output
    np.testing.assert_allclose(seen[-2], (0.751228208502, -0.678900446128), rtol=0, atol=1e-12)


def test_iterates_run_on_and_snapshots_are_means(execute):
    """Epoch s has 2^s m steps; on a linear loss the iterate moves straight on, the snapshot is half an epoch back."""
    problem = get_problem("l1_linear", 16, ball="l2_ball")
    made = plan(epochs=3, inner_steps=2, step=1e-3, n=4)
    seen = []
    output = execute(PP, made, problem, Data(4), observer=lambda _, x: seen.append(x[0, 0]))
    slope = problem.slope[0]
    np.testing.assert_allclose(seen[:-1], 1e-3 * slope * np.arange(1, 29))
    np.testing.assert_allclose(output[0, 0], 1e-3 * slope * np.mean(np.arange(13, 29)))


def test_the_constraint_is_kept(execute):
    problem = get_problem("geometric_quadratic", 16, radius=0.5)
    made = plan(epochs=2, inner_steps=4, n=8)
    norms = []
    execute(PP, made, problem, Data(8), scale=3.0, observer=lambda _, x: norms.append(np.linalg.norm(x)))
    assert max(norms) == pytest.approx(0.5)


def test_noise_of_a_linear_loss_adds_up(execute):
    """Steps with a constant gradient: after N steps the iterate has variance N eta^2 sigma^2 per coordinate."""
    problem = get_problem("isotropic_quadratic", 4, constants=None)
    made = plan(epochs=1, inner_steps=1, step=1e-6, n=4)
    seen = []
    execute(PP, made, problem, Data(4), scale=2.0, replicates=20_000, observer=lambda _, x: seen.append(x))
    variance = seen[1].var(axis=0)
    np.testing.assert_allclose(variance, 2 * 1e-12 * 4, rtol=5 * math.sqrt(2 / 20_000))
