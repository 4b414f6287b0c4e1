"""The smooth norms: which exponent each rule takes, and the two inequalities that define kappa_plus and kappa."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_bench.geometry.norms import RULES, SmoothNorm, lp_norm, square_gradient

from .vectors import KINDS, vectors

EXPONENTS = (1.0, 1.01, 1.2, 1.5, 1.999, 2.0)
DIMENSIONS = (1, 2, 7, 8, 64, 4096)


def test_check_vector_of_the_best_rule():
    norm = SmoothNorm(1.0, 64)
    assert norm.r == pytest.approx(7.15530467158, abs=1e-11)
    assert norm.kappa == pytest.approx(19.6834022139, abs=1e-10)
    assert norm.kappa_plus == norm.r - 1 and norm.dual == pytest.approx(norm.r / (norm.r - 1))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("p", EXPONENTS)
@pytest.mark.parametrize("d", DIMENSIONS)
def test_every_rule_keeps_the_exponent_in_range(rule, p, d):
    if rule == "q" and p == 1:
        return
    norm = SmoothNorm(p, d, rule)
    assert 2 <= norm.r <= norm.q and math.isfinite(norm.r)
    assert p <= norm.dual <= 2 and norm.kappa >= norm.kappa_plus * (1 - 1e-12) > 0


@pytest.mark.parametrize("p", EXPONENTS)
@pytest.mark.parametrize("d", DIMENSIONS)
def test_best_is_best(p, d):
    norm = SmoothNorm(p, d)
    grid = 2 + (min(norm.q, 60.0) - 2) * np.linspace(0, 1, 2001)
    kappas = (grid - 1) * d ** (2 * (1 / grid - 1 / norm.q))
    assert norm.kappa <= kappas.min() * (1 + 1e-12)
    if norm.q <= math.log(d):
        assert norm.r == norm.q and norm.kappa == pytest.approx(1 / (p - 1)) and norm.dual == p


def test_the_euclidean_norm_is_its_own_smooth_norm():
    for rule in RULES:
        norm = SmoothNorm(2, 100, rule)
        assert (norm.r, norm.kappa, norm.kappa_plus, norm.dual) == (2.0, 1.0, 1.0, 2.0)


@given(
    seed=st.integers(0, 10**6), p=st.sampled_from(EXPONENTS), d=st.sampled_from([1, 2, 9, 64]),
    rule=st.sampled_from(RULES), kinds=st.tuples(st.sampled_from(KINDS), st.sampled_from(KINDS)),
    scale=st.sampled_from([1e-6, 1.0, 1e6]),
)  # fmt: skip
def test_smoothness_and_norm_equivalence(seed, p, d, rule, kinds, scale):
    norm = SmoothNorm(p, d, rule if p > 1 or rule != "q" else "best")
    rng = np.random.default_rng(seed)
    x, y = vectors(rng, d, kinds[0], rows=1), scale * vectors(rng, d, kinds[1], rows=1)

    def square(z):
        return float(lp_norm(z, norm.r)[0, 0] ** 2)

    bound = square(x) + float((square_gradient(x, norm.r, 2.0) * y).sum()) + norm.kappa_plus * square(y)
    assert square(x + y) <= bound + 1e-11 * (square(x) + square(y)) * norm.kappa
    dual = float(lp_norm(x, norm.q)[0, 0] ** 2)
    assert dual <= square(x) * (1 + 1e-12)
    assert square(x) <= norm.kappa / norm.kappa_plus * dual * (1 + 1e-12)
