"""Numbers that the errata ledger of bassily2021 states and no other test covers."""

import math

import pytest

from dpsco_bench.geometry.norms import SmoothNorm
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon

L = math.log(1e6)


def test_e5_closed_forms_for_kappa():
    best, paper = SmoothNorm(1.0, 64), SmoothNorm(1.0, 64, "two_ln_d")
    assert (best.r, best.kappa) == pytest.approx((7.15530467158, 19.6834022139))
    assert paper.kappa == pytest.approx(20.3, rel=0.01) and 2 * math.log(64) == pytest.approx(8.3, rel=0.01)
    assert paper.kappa < math.e * 2 * math.log(64)
    for rule, real in (("two_ln_d", 1.223), ("best", 1.203)):
        ratio = SmoothNorm(1.01, 64, rule).kappa / (2 * math.log(64))
        assert gdp_epsilon(math.sqrt(ratio / (2 * L)), 1e-6) == pytest.approx(real, abs=6e-4)
