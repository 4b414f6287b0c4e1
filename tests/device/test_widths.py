"""Kernels of one warp and of several in a block against the listings: over the emulation, and on a card."""

import numpy as np
import pytest

from dpsco_bench.fused import device

from . import standin
from .test_fused import FRANK_WOLFE, OTB, SGD, SVRG, trial

METHODS = {"steps": (SGD, {}), "vertices": (FRANK_WOLFE, {}), "epochs": (SVRG, {"epochs": 1, "inner_steps": 2})}
METHODS["rounds"] = (OTB, {})
WIDTHS = (150, 300, 1030)
"""A warp with two blocks of four coordinates a thread, 128 threads, and 256."""
ALL = [pytest.param(*METHODS[name], d, id=f"{name}-{d}") for name in METHODS for d in WIDTHS]


def both(cupy, method, options, d):
    n = 18 if method == FRANK_WOLFE else 8
    return [trial(cupy, *method, n, d, backend=backend, options=options)[0] for backend in ("cupy", "numpy")]


def test_there_is_a_width_for_each_size_of_a_block():
    sizes = {next(size for most, size in device.WIDTHS.items() if d <= most) for d in WIDTHS}
    assert {threads for threads, _ in sizes} == {threads for threads, _ in device.WIDTHS.values()}


@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize(("method", "options", "d"), ALL)
def test_blocks_of_every_size_emulated_in_either_order(method, options, d, backwards, cupy, monkeypatch):
    monkeypatch.setattr(standin.RawModule, "BACKWARDS", backwards)
    got, expected = both(cupy, method, options, d)
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


@pytest.mark.gpu
@pytest.mark.parametrize(("method", "options", "d"), ALL)
def test_gpu_blocks_of_every_size(method, options, d):
    there = pytest.importorskip("cupy", reason="CuPy is not installed")
    if not there.is_available():
        pytest.skip("CuPy finds no usable GPU")
    got, expected = both(there, method, options, d)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
