import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.privacy.plan import PrivacySpec
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


def test_the_batches_are_disjoint_and_one_pass(sine):
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
