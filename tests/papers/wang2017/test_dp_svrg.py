import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.privacy.transcript import Recorder
from dpsco_bench.problems.base import Constants
from dpsco_bench.problems.objective import Objective
from dpsco_bench.problems.registry import get_problem

SVRG = get_algorithm("wang2017.dp_svrg")
PRIVACY = PrivacySpec(1.0, 1e-5)
RIDGE = get_problem("ridge_logistic").constants


def plan(constants=RIDGE, n=4096, d=10, privacy=PRIVACY, variant="literal", **options):
    return SVRG.plan(constants, n, d, privacy, variant, **options)


def test_v1_trajectory(vectors):
    """T=2, m=3, eta=.5, lam=.1 in the prox, record order (0,2,3),(1,1,0): both snapshots."""
    problem = vectors.FourRecords()
    for epochs, expected in ((1, (0.299448205841, -0.079754515922)), (2, (0.135238150692, 0.072479476135))):
        made = SVRG.plan(problem.constants, 4, 2, PRIVACY, "literal", epochs=epochs, inner_steps=3, step=0.5)
        snapshot = vectors.run(SVRG, made, problem, (0, 2, 3, 1, 1, 0))
        np.testing.assert_allclose(snapshot, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("bound", ["printed", "corrected"])
@pytest.mark.parametrize("kappa", [1.0, 2.5, 10.0, 26.0, 1000.0])
def test_inner_steps_are_the_least_that_contract_by_half(bound, kappa):
    constants, variance = Constants(1.0, kappa, strong_convexity=1.0), {"printed": 8, "corrected": 4}[bound]
    made = plan(constants, inner_bound=bound)
    theta = made.step * kappa

    def factor(m):
        return (kappa / theta + variance * theta * (m + 1)) / (m * (1 - variance * theta))

    assert made.contraction == pytest.approx(factor(made.inner_steps), rel=1e-12)
    assert factor(made.inner_steps) < 0.5 <= factor(made.inner_steps - 1)


def test_the_leak_of_the_literal_variant_is_the_one_its_plan_names(vectors):
    """A replaced record that is *not* sampled still moves the released value, by the uncharged anchor: up to 2G/n."""
    problem = vectors.FourRecords()
    made = SVRG.plan(problem.constants, 4, 2, PRIVACY, "literal", epochs=1, inner_steps=3, step=0.5)
    data = problem.draw(4, None)
    changed = data.features.copy()
    changed[3] = (0.0, -1.0)
    neighbour = type(data)(4, changed, data.labels)
    values = []
    for records in (data, neighbour):
        objective = Objective(problem, records, 1)

        class Kept(Recorder, vectors.Scripted):
            pass

        source = Kept((0, 1, 2), made)
        SVRG.run_function(objective, made, source)
        values.append(source.transcript)
    first = np.linalg.norm(values[0].values["inner"][0] - values[1].values["inner"][0])
    anchor = np.linalg.norm(
        problem.mean_gradient(problem.start[None], data) - problem.mean_gradient(problem.start[None], neighbour)
    )
    assert first == pytest.approx(anchor, rel=1e-12) and 0 < first <= 2 / 4
    assert "exact full gradient" in made.leaks[0]


def test_snapshot_averages_are_accumulated_in_double_precision(execute, draw):
    """Even where the state is float32, whose running sum of thousands of iterates would lose digits."""
    problem = get_problem("ridge_logistic", 3)
    data, iterates = draw(problem, 32), []
    made = SVRG.plan(problem.constants, 32, 3, PRIVACY, "poisson", epochs=1, inner_steps=2000, batch=1)
    snapshot = execute(
        SVRG, made, problem, data, dtype="float32", scale=0.1, observer=lambda objective, x: iterates.append(x)
    )
    assert snapshot.dtype == np.float32 and len(iterates) == 2001
    exact = np.mean([x.astype(np.float64) for x in iterates[:-1]], axis=0)
    np.testing.assert_array_equal(snapshot, exact.astype(np.float32))


def test_noise_free_epochs_halve_the_gap(execute, draw):
    problem = get_problem("ridge_logistic", 5)
    data = draw(problem, 256)
    start = float(Objective(problem, data, 1).excess_risk(problem.start[None])[0])
    for variant in ("literal", "poisson"):
        made = SVRG.plan(problem.constants, 256, 5, PRIVACY, variant, epochs=4)
        output = execute(SVRG, made, problem, data, replicates=4)
        gap = Objective(problem, data, 4).excess_risk(output)
        assert gap.mean() <= made.contraction**4 * start
