"""One code for all arrays: strict namespaces, single precision, leading axes, and replicates one by one."""

import array_api_strict as strict
import numpy as np
import pytest

from dpsco_bench.geometry.ball import feasible_set
from dpsco_bench.geometry.mirror import SmoothMirror
from dpsco_bench.geometry.norms import SmoothNorm

D = 12
NAMES = (
    "l1_ball", "l2_ball", "linf_ball", "lp_ball:1.01", "lp_ball:1.5", "lp_ball:4", "k_support_ball:1",
    "k_support_ball:5", "k_support_ball:12", "group_ball:4", "subspace_ball:5", "schatten_ball:1.5:3",
)  # fmt: skip
MIRRORS = ((1.0, "best"), (1.01, "best"), (1.5, "q"), (1.3, "sec2"), (2.0, "best"))


def operations():
    """Name -> function of one array ``(R, d)``."""
    calls = {}
    for name in NAMES:
        C = feasible_set(name, 1.0)
        for method in ("norm", "project", "support", "minimise_linear"):
            calls[f"{name}.{method}"] = getattr(C, method)
    for p, rule in MIRRORS:
        mirror = SmoothMirror(SmoothNorm(p, D, rule))
        calls |= {f"mirror {p}.{method}": getattr(mirror, method) for method in ("gradient", "inverse")}
        calls[f"mirror {p}.step"] = lambda y, mirror=mirror, p=p: mirror.step(y, p, 1.0)
    return calls


CALLS = operations()


def sample(dtype=np.float64):
    """Replicates inside and outside all sets, sparse, tied, zero, tiny and huge."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((9, D))
    x[1] *= rng.random(D) < 0.4
    x[2] = np.sign(x[2])
    x[3] = 0.0
    x *= np.array([0.01, 1.0, 3.0, 1.0, 1e-8, 0.3, 30.0, 1e6, 1e15])[:, None]
    return x.astype(dtype)


@pytest.mark.parametrize("name", CALLS)
def test_replicates_are_independent_and_nothing_overflows(name):
    x = sample()
    whole = CALLS[name](x)
    np.testing.assert_array_equal(whole, np.concatenate([CALLS[name](x[i : i + 1]) for i in range(len(x))]))
    x = np.concatenate([sample(), 1e-300 * sample()[:4], 1e280 * sample()])
    with np.errstate(all="raise", under="ignore"):
        assert np.isfinite(CALLS[name](x)).all() or "subspace_ball" in name


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", CALLS)
def test_strict_array_api_gives_the_numbers_of_numpy(name, dtype):
    x = sample(dtype)
    found = CALLS[name](strict.asarray(x))
    assert found.__array_namespace__() is strict
    expected = CALLS[name](x)
    assert expected.dtype == dtype
    np.testing.assert_allclose(np.asarray(found), expected, rtol=4 * np.finfo(dtype).eps, atol=0)
