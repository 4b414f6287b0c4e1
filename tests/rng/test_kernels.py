import hashlib
import os
import subprocess
import sys

import pytest

import dpsco_bench.rng
from dpsco_bench.rng import reference, streams
from dpsco_bench.rng.counters import KINDS, Box

pytest.importorskip("numba", reason="Numba is not installed: draws use the NumPy reference")

from dpsco_bench.rng import kernels

from .boxes import BOXES, KEY, assert_same_bits


@pytest.mark.parametrize("box", BOXES, ids=str)
@pytest.mark.parametrize("name", ["normal", "laplace", "uniform"])
def test_variates_have_the_bits_of_the_reference(name, box):
    assert_same_bits(getattr(kernels, name)(KEY, box), getattr(reference, name)(KEY, box))


@pytest.mark.parametrize("box", BOXES, ids=str)
@pytest.mark.parametrize("kind", range(len(KINDS)))
def test_words_are_those_of_the_reference(kind, box):
    assert_same_bits(kernels.words(KEY, box, kind), reference.words(KEY, box, kind))


@pytest.mark.parametrize("high", [1, 10, 581012, 2**32, 2**63 - 1])
def test_integers_are_those_of_the_reference(high):
    for box in BOXES:
        assert_same_bits(kernels.integers(KEY, box, high), reference.integers(KEY, box, high))


def test_a_million_variates_have_the_bits_of_the_reference():
    box = Box(11, 4, 100, 256, 1024)
    for name in ("normal", "laplace"):
        assert_same_bits(getattr(kernels, name)(KEY, box), getattr(reference, name)(KEY, box))


@pytest.mark.parametrize("scale", [0.1, 1.0, 3e7])
def test_scaled_draws_have_the_bits_of_the_reference(scale):
    for values in (kernels.normal(KEY, BOXES[3]), kernels.normal(KEY, BOXES[2])[1:2], kernels.normal(KEY, BOXES[-1])):
        assert_same_bits(kernels.scaled(values, scale), reference.scaled(values, scale))


def test_one_set_of_types_per_kernel():
    for box in BOXES:
        kernels.scaled(kernels.normal(KEY, box), 2)
        kernels.integers(KEY, box, 5)
    assert len(kernels._normals.signatures) == 1
    assert len(kernels._scale.signatures) == 1
    assert len(kernels._integers.signatures) == 1


@pytest.mark.slow
def test_processes_may_compile_at_the_same_time(tmp_path):
    draw = (
        "import hashlib, dpsco_bench.rng.kernels as k, dpsco_bench.rng.counters as c; "
        "print(hashlib.sha256(k.normal((1, 2), c.Box(0, 2, 0, 9, 33))).hexdigest())"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", draw]
    running = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    answers = [process.communicate(timeout=300)[0].strip() for process in running]
    answers.append(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip())
    expected = hashlib.sha256(reference.normal((1, 2), Box(0, 2, 0, 9, 33))).hexdigest()
    assert answers == [expected] * 4
    assert list(tmp_path.rglob("*.nbi"))


@pytest.fixture
def fresh_choice():
    streams.cpu_implementation.cache_clear()
    yield
    streams.cpu_implementation.cache_clear()


@pytest.mark.usefixtures("fresh_choice")
def test_without_numba_the_reference_draws(monkeypatch):
    monkeypatch.delenv("DPSCO_NO_NUMBA", raising=False)
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "dpsco_bench.rng.kernels")
    monkeypatch.delattr(dpsco_bench.rng, "kernels")
    assert streams.cpu_implementation() is reference


def test_results_are_contiguous_and_writable():
    for dim in (4, 5):
        values = kernels.normal(KEY, Box(0, 2, 0, 3, dim))
        assert values.flags.c_contiguous and values.flags.writeable
