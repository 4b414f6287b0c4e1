import math
from dataclasses import replace

import pytest

from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.registry import BOUNDS as REGISTRY
from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.problems.base import Constants

BOUNDS = list(REGISTRY.of("su2023").values())

LOG = math.log(1e6)
ROOT = math.sqrt(16 * LOG)
G = feasible_set("k_support_ball:4", 1.0).width(16)
ON_SET = BoundContext(
    n=1000,
    d=16,
    epsilon=0.5,
    delta=1e-6,
    constants=Constants(2.0, 1.0, diameter=2.0, domain="k_support_ball:4", gauge_convexity=0.25),
    calibration="paper",
    schedule={},
    scales={"linear term": 30.0},
)
IN_LP = replace(
    ON_SET,
    constants=Constants(1.0, 1.0, initial_distance=2.0, norm=1.5),
    schedule={"kappa": 2.0, "steps": 10},
)
HEAVY = replace(ON_SET, constants=Constants(1.0, 1.0, diameter=3.0, domain="lp_ball:1.5", norm=1.5))
FLAT = replace(ON_SET, constants=Constants(2.0, 1.0, initial_distance=2.0, norm=4.0))
NE, RATIO = 500.0, 500.0 / math.sqrt(LOG)
VALUES = [
    ("thm2", ON_SET, 2 * G / RATIO + 4 / math.sqrt(1000)),
    ("thm2_privacy", ON_SET, 2 * G / RATIO),
    ("thm2_sampling", ON_SET, 4 / math.sqrt(1000)),
    ("width_noise", ON_SET, G * 0.03),
    ("width_noise_squared", ON_SET, (G * 0.03) ** 2),
    ("interior_law", ON_SET, 16 * 0.03**2 / 2),
    ("thm4", ON_SET, (2 * G / RATIO) ** 2 / 0.25 + 16 / 250),
    ("thm4_privacy", ON_SET, (2 * G / RATIO) ** 2 / 0.25),
    ("thm4_sampling", ON_SET, 16 / 250),
    ("thm5", ON_SET, max((G / NE) ** 2 * LOG / math.log(32) ** 4, 1e-3)),
    ("thm5_privacy", ON_SET, (G / NE) ** 2 * LOG / math.log(32) ** 4),
    ("thm7", IN_LP, 2**0.8 * (ROOT / NE) ** 0.4 * math.log2(100)),
    ("thm7_bare", IN_LP, 2**0.8 * (ROOT / NE) ** 0.4),
    ("thm7_gradients", IN_LP, 1000 * (NE * math.sqrt(2) / ROOT) ** 0.4),
    ("thm8", FLAT, 2 * 4 * (16**-0.5 * 4 + 1) * (1 / math.sqrt(1000) + ROOT / NE)),
    ("thm8_sampling", FLAT, 8 * (16**-0.5 * 4 + 1) / math.sqrt(1000)),
    ("thm8_privacy", FLAT, 8 * (16**-0.5 * 4 + 1) * ROOT / NE),
    ("one_pass", FLAT, 1000),
    ("thm10", HEAVY, 3 * (4 * 16 * LOG) ** 0.25 / math.sqrt(NE)),
    ("thm11", HEAVY, 3 ** (4 / 3) * 2 ** (2 / 3) * (16 * LOG) ** (1 / 6) / NE ** (1 / 3)),
    ("thm12", FLAT, 16**1.25 / math.sqrt(1000) + 16**1.375 / math.sqrt(NE)),
    ("stand_in", replace(FLAT, calibration="accounted"), 8 * math.sqrt(0.5 / 1000) / gdp_mu(0.5, 1e-6)),
    ("stand_in_gradients", FLAT, 1000 * math.sqrt(NE)),
    ("table1_gradients", FLAT, 250000),
    ("kj16", ON_SET, math.sqrt(G / NE)),
]


@pytest.mark.parametrize(("name", "context", "value"), VALUES, ids=[name for name, _, _ in VALUES])
def test_formulas(name, context, value):
    assert get_bound(f"su2023.{name}").value(context) == pytest.approx(value, rel=1e-12)


def test_every_formula_is_tested_and_written_out():
    assert sorted(bound.name for bound in BOUNDS) == sorted(f"su2023.{name}" for name, _, _ in VALUES)
    assert all(bound.text for bound in BOUNDS)
