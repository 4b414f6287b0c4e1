"""The stand-in for CuPy, where a compiler can build kernels for it."""

import sys

import pytest

from dpsco_bench.backend import device
from dpsco_bench.rng import cuda

from . import emulated, standin


@pytest.fixture(scope="module")
def cupy():
    """The stand-in, imported as CuPy until the module's tests are done."""
    if emulated.COMPILER is None:
        pytest.skip("no C++ compiler")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cupy", standin.module())
        forget()
        yield sys.modules["cupy"]
    forget()


@pytest.fixture
def card():
    """A card where CuPy finds one; the stand-in where it is imported as CuPy."""
    found = pytest.importorskip("cupy", reason="CuPy is not installed")
    if not found.is_available():
        pytest.skip("CuPy finds no usable GPU")
    return found


def forget():
    """Compile anew from here on, as for another device."""
    device.kernel.cache_clear()
    device._module.cache_clear()
    cuda._uploaded.cache_clear()
