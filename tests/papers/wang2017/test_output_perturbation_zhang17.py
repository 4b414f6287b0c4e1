import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.base import Constants, Data, Trait
from dpsco_bench.problems.glm import GeneralisedLinear

ZHANG = get_algorithm("wang2017.output_perturbation_zhang17")
PRIVACY = PrivacySpec(1.0, 1e-5)
STRONG = Constants(1.0, 0.25, strong_convexity=0.1, regularisation=0.1)


class LinearRecords(GeneralisedLinear):
    """``f_i(x) = y_i <a_i, x>``: gradients of norm G wherever the iterate is, the worst case of the coupling."""

    name = "linear_records"
    traits = frozenset({Trait.CONVEX, Trait.SMOOTH, Trait.LIPSCHITZ})

    def __init__(self, constants):
        self.declared = constants
        super().__init__(3)

    @property
    def own_constants(self):
        return self.declared

    def loss(self, margins, labels):
        return labels * margins

    def slope(self, margins, labels):
        return labels + 0.0 * margins

    def curvature(self, margins, labels):
        return 0.0 * margins


def final_distance(execute, constants, **options):
    """Distance of coupled runs on neighbours with opposite records, over the declared sensitivity."""
    n, problem = 10, LinearRecords(constants)
    rows = np.tile([0.0, 1.0, 0.0], (n, 1))
    made = ZHANG.plan(constants, n, 3, PRIVACY, "standard", **options)
    data, other = Data(n, rows, np.ones(n)), Data(n, rows, np.where(np.arange(n) == 4, -1.0, 1.0))
    outputs = [execute(ZHANG, made, problem, records) for records in (data, other)]
    return float(np.linalg.norm(outputs[0] - outputs[1])) / made.query("output").sensitivity


@pytest.mark.parametrize("steps", [1, 2, 7, 60])
@pytest.mark.parametrize("share", [0.25, 1.0])
def test_coupled_runs_attain_the_sensitivity_of_the_strongly_convex_case(execute, steps, share):
    """Linear losses and a ridge: shrinking by 1 - eta mu per step is exact, so is 2G(1-(1-eta mu)^T)/(n mu).

    With the step 2/(L + mu) of this ridge's own curvature, 1 - eta mu is the contraction; the bound is attained.
    """
    limit = 2 / (STRONG.total_smoothness + STRONG.strong_convexity)
    ratio = final_distance(execute, STRONG, steps=steps, step=share * limit)
    assert ratio == pytest.approx(1.0, rel=1e-12)
