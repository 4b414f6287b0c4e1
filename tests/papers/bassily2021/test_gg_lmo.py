import math

import numpy as np
import pytest

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import InputError
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.run import run_block
from dpsco_bench.privacy.calibrate import calibrate
from dpsco_bench.privacy.spec import PrivacySpec
from dpsco_bench.problems.base import Constants

LMO, MECHANISM = get_algorithm("bassily2021.gg_lmo"), get_algorithm("bassily2021.gg_mechanism")
PRIVACY = PrivacySpec(1.0, 1e-6)
ON_LP = Constants(1.0, 1.0, diameter=2.0, domain="lp_ball:1.5", norm=1.5)


def test_the_minimiser_of_a_linear_loss_without_noise():
    """cube_fixed has the same mean everywhere: x = d^(-1/p) everywhere, with no excess risk."""
    cell = Cell(LMO.id, "cube_fixed", n=1000, epsilon=1.0, delta=1e-6, d=8, problem_options={"signal": 3.0})
    _, made = cell.plan("none", 0)
    trace = run_block(cell, cell.plan("none", 1)[1], {"gradient": 0.0}, cell.draw_data(0, 0), root_seed=1, replicates=2)
    np.testing.assert_allclose(trace.output, 8 ** (-1 / 1.5), rtol=1e-12)
    assert np.abs(trace.risk).max() < 1e-15 and made.gradient_evaluations == 1000


@pytest.mark.parametrize("entry", [LMO, MECHANISM])
def test_noise_of_one_release(entry):
    constants = ON_LP if entry is LMO else Constants(1.0, 1.0, norm=1.5)
    made = entry.plan(constants, 1000, 32, PRIVACY, "standard", norm_rule="q")
    (query,) = made.queries
    assert query.sensitivity == 2 / 1000 and query.smooth.r == pytest.approx(3)
    assert query.paper_scale == pytest.approx(math.sqrt(4 * math.log(1e6)) * 2 / 1000)
    assert calibrate(made, PRIVACY, "paper").charge.epsilon == pytest.approx(0.790, rel=0.01)


@pytest.mark.parametrize(("d", "real"), [(64, 1.148), (256, 1.475), (1024, 1.897), (4096, 2.444)])
def test_privacy_facts_of_the_printed_exponent(d, real):
    """Erratum E3: l2 noise at p = 1.5, where the l2 sensitivity is d^(1/6) s."""
    made = LMO.plan(ON_LP, 1000, d, PRIVACY, "literal")
    found = calibrate(made, PRIVACY, "paper")
    assert found.charge.epsilon == pytest.approx(real, rel=0.01)
    assert (found.charge.kind, found.privacy_status) == ("exact", "exceeds_claim")


def test_refusals():
    with pytest.raises(InputError, match="^p = 1.25: must be 1.5 for variant literal"):
        LMO.plan(Constants(1.0, 1.0, diameter=2.0, domain="lp_ball:1.25", norm=1.25), 100, 64, PRIVACY, "literal")
    with pytest.raises(InputError, match="^d = 20: must be an integer >= 21"):
        LMO.plan(ON_LP, 100, 20, PRIVACY, "literal")
    with pytest.raises(InputError, match="^domain = 'k_support_ball:2': must be an l_p ball"):
        LMO.plan(Constants(1.0, 1.0, diameter=2.0, domain="k_support_ball:2"), 100, 20, PRIVACY, "standard")
