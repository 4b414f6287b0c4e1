"""Compiled draws: they have the bits of the reference; their cache on disk; what draws without Numba."""

import hashlib
import os
import subprocess
import sys

import pytest

import dpsco_bench.rng
from dpsco_bench.rng import reference, streams
from dpsco_bench.rng.counters import Box
from dpsco_bench.rng.transforms import shape_table

pytest.importorskip("numba", reason="Numba is not installed: draws use the NumPy reference")

from dpsco_bench.rng import kernels

KEY = (0x243F6A88, 0x85A308D3)
BOXES = [
    *(Box(0, 1, 0, 1, 1), Box(3, 2, 5, 7, 3), Box(0, 3, 2, 5, 10), Box(1, 1, 1, 300, 64)),
    Box(2**32 - 2, 2, 2**32 - 3, 3, 5),
    Box(7, 2, 0, 2, 6001),  # a row longer than a tile
    Box(1, 2, 0, 9, 128),  # rows of whole vectors, several in a tile
    Box(3, 5, 2, 17, 68),  # rows abreast, the last ones not a vector
    Box(0, 1, 2, 3, 4100),  # rows cut in parts
    *(Box(0, 900, 0, 1, 2), Box(0, 900, 0, 3, 2), Box(0, 2, 0, 0, 4), Box(0, 2, 0, 3, 0)),
]


def assert_same_bits(compiled, expected):
    assert (compiled.dtype, compiled.shape) == (expected.dtype, expected.shape)
    assert compiled.tobytes() == expected.tobytes()


DRAWS = [(name, ()) for name in ("normal", "laplace", "uniform")]
DRAWS += [("generalised_gaussian", (shape_table(r), r)) for r in (2.0, 3.0, 7.155, 1000.0)]
DRAWS += [("integers", (high,)) for high in (1, 10, 581012, 2**32, 2**63 - 1)]


@pytest.mark.parametrize(("name", "further"), DRAWS, ids=lambda value: value if isinstance(value, str) else "")
def test_draws_have_the_bits_of_the_reference(name, further):
    for box in (*BOXES, *[Box(11, 4, 100, 256, 1024)] * (name in ("normal", "laplace"))):
        assert_same_bits(getattr(kernels, name)(KEY, box, *further), getattr(reference, name)(KEY, box, *further))


def test_scaled_draws_have_the_bits_of_the_reference():
    """Each kernel is compiled for one set of types."""
    for values in (kernels.normal(KEY, BOXES[3]), kernels.normal(KEY, BOXES[2])[1:2], kernels.normal(KEY, BOXES[-1])):
        for scale in (0.1, 1.0, 3e7):
            assert_same_bits(kernels.scaled(values, scale), reference.scaled(values, scale))
    for box in BOXES:
        kernels.scaled(kernels.normal(KEY, box), 2)
        kernels.integers(KEY, box, 5)
        kernels.generalised_gaussian(KEY, box, shape_table(3.0), 3)
    for kernel in (kernels._normals, kernels._scale, kernels._integers, kernels._generalised):
        assert len(kernel.signatures) == 1


NORMAL = """
import hashlib, dpsco_bench.rng.kernels as k, dpsco_bench.rng.counters as c
print(hashlib.sha256(k.normal((1, 2), c.Box(0, 2, 0, 9, 33))).hexdigest())
"""


def process(draw, folder):
    """A new process that prints a draw, with Numba's cache in a folder."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", draw], env=environment, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.slow
def test_processes_may_compile_at_the_same_time(tmp_path):
    running = [process(NORMAL, tmp_path) for _ in range(3)]
    answers = [process.communicate(timeout=300)[0].strip() for process in running]
    answers.append(process(NORMAL, tmp_path).communicate(timeout=300)[0].strip())
    assert answers == [hashlib.sha256(reference.normal((1, 2), Box(0, 2, 0, 9, 33))).hexdigest()] * 4
    assert list(tmp_path.rglob("*.nbi"))


def test_without_numba_the_reference_draws(monkeypatch):
    streams.cpu_implementation.cache_clear()
    monkeypatch.delenv("DPSCO_NO_NUMBA", raising=False)
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "dpsco_bench.rng.kernels")
    monkeypatch.delattr(dpsco_bench.rng, "kernels")
    assert streams.cpu_implementation() is reference
    streams.cpu_implementation.cache_clear()
