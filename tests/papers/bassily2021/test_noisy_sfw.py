import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.records import Disjoint
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants

SFW = get_algorithm("bassily2021.noisy_sfw")
PRIVACY = PrivacySpec(1.0, 1e-6)


def constants(p=1.5, L0=1.0, L1=1.0):
    return Constants(L0, L1, diameter=2.0, domain="l2_ball" if p == 2 else f"lp_ball:{p}", norm=p)


def planned(n, d=32, privacy=PRIVACY, c=None, **options):
    return SFW.plan(c or constants(), n, d, privacy, "standard", norm_rule="q", **options)


def test_check_vector(sine):
    problem = sine.problem(3, "lp_ball:1.5", 1.5)
    made = planned(16, 3, c=problem.constants)
    assert (made.n0, made.steps, made.batch) == (8, 4, 2) and made.step == pytest.approx(math.log(16) / 8)
    output, objective = sine.run(SFW, made, problem)
    np.testing.assert_allclose(output, [0.509774938037, 0.212695167852, 0.017227686051], atol=1e-12)
    assert objective.evaluations[0] == made.gradient_evaluations == 8 + 2 * 2 * 4


@pytest.mark.parametrize("n", [1000, 4096, 10001])
def test_schedule_and_queries(n):
    made = planned(n, c=constants(L0=1.5, L1=0.5))
    first, increment = made.queries
    n0, T, eta = n // 2, math.isqrt(n), math.log(n) / (2 * math.sqrt(n))
    b, l = T // 2, math.log(1e6)
    assert (made.n0, made.steps, made.batch, made.step) == (n0, T, b, eta)
    assert (first.records, first.releases, increment.records, increment.releases) == (Disjoint(n0), 1, Disjoint(b), T)
    assert n0 + T * b <= n, "the batches are disjoint"
    assert first.sensitivity == pytest.approx(2 * 1.5 / n0)
    assert increment.sensitivity == pytest.approx(2 * eta * 0.5 * 2 / b)
    assert first.paper_scale == pytest.approx(math.sqrt(32 * 2 * l) * 1.5 / n)
    assert increment.paper_scale == pytest.approx(math.sqrt(32 * 2 * l / n) * 0.5 * 2 * eta)


@pytest.mark.parametrize(
    ("epsilon", "real", "ratio"),
    [(0.5, 0.376, 0.766), (1, 0.790, 0.804), (2, 1.672, 0.849), (4, 3.590, 0.908), (8, 7.941, 0.994)],
)
def test_privacy_facts_of_one_query(epsilon, real, ratio):
    """n the square of a multiple of 4: both queries have the printed sensitivities."""
    privacy = PrivacySpec(epsilon, 1e-6)
    made = planned(4096, privacy=privacy)
    paper, accounted = (calibrate(made, privacy, kind) for kind in ("paper", "accounted"))
    assert paper.charge.epsilon == pytest.approx(real, rel=1e-3)
    assert (paper.charge.kind, paper.privacy_status) == ("upper", "proven")
    for name, scale in accounted.scales.items():
        assert scale / paper.scales[name] == pytest.approx(ratio, rel=1e-3)
    normal = calibrate(planned(4096, privacy=privacy, c=constants(2.0)), privacy, "paper")
    assert normal.charge.kind == "exact"
    assert normal.charge.epsilon == pytest.approx(gdp_epsilon(epsilon / math.sqrt(2 * math.log(1e6)), 1e-6))


def test_refusals():
    with pytest.raises(InputError, match="^n = 3: must be an integer >= 4"):
        planned(3)
    on_l1 = Constants(1.0, 1.0, diameter=2.0, domain="l1_ball", norm=1.0)
    with pytest.raises(InputError, match=r"^p = 1.0: must be in \(1, 2\]"):
        SFW.plan(on_l1, 100, 3, PRIVACY, "standard")
    with pytest.raises(InputError, match="^smoothness = 0.0: must be > 0"):
        planned(100, c=constants(L1=0.0))


def test_the_batches_are_disjoint_and_one_pass(sine):
    """Records beyond the last batch are never looked at, every other one is looked at as declared."""
    problem, seen = sine.problem(3, "lp_ball:1.5", 1.5), []
    made = planned(30, 3, c=problem.constants)
    data = problem.draw(30, None)

    class Watched:
        def __init__(self):
            from dpsco_bench.problems.objective import Objective

            self.inner = Objective(problem, data, 1)

        def __getattr__(self, name):
            return getattr(self.inner, name)

        def range_gradient(self, x, first, count):
            seen.append((first, count))
            return self.inner.range_gradient(x, first, count)

        def range_gradient_difference(self, x, other, first, count):
            seen.append((first, count))
            return self.inner.range_gradient_difference(x, other, first, count)

    from dpsco_bench.privacy.mechanism import Mechanism

    SFW.run_function(Watched(), made, Mechanism(made, {q.name: 0.0 for q in made.queries}, "t", 0, 0, 1))
    assert seen == [(0, 15), (15, 2), (17, 2), (19, 2), (21, 2), (23, 2)]
