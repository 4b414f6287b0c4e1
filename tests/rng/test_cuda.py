"""The CUDA source: run on the CPU through a shim, compiled by nvcc and run on a GPU where they exist."""

import ctypes
import importlib.util
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from dpsco_bench.rng import cuda, reference
from dpsco_bench.rng.counters import INTEGER, KINDS, LAPLACE, NORMAL, UNIFORM, Box
from dpsco_bench.rng.streams import Stream

KEY = (0x243F6A88, 0x85A308D3)
BOXES = [Box(0, 1, 0, 1, 1), Box(3, 2, 5, 7, 10), Box(2**32 - 2, 2, 2**32 - 3, 3, 5), Box(1, 4, 1, 64, 129)]
TYPES = {
    "words": (np.uint32, "dpsco_word"),
    "normal": (np.float32, "float"),
    "laplace": (np.float32, "float"),
    "uniform": (np.float64, "double"),
    "integers": (np.int64, "long long"),
}
INTEGER_BOUND = 581012
CALLS = [("normal", NORMAL), ("laplace", LAPLACE), ("uniform", UNIFORM), ("integers", INTEGER)]
CALLS += [("words", kind) for kind in range(len(KINDS))]


def expected(name, kind, box):
    parameters = {"words": (kind,), "integers": (INTEGER_BOUND,)}.get(name, ())
    return getattr(reference, name)(KEY, box, *parameters)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("cuda")
    launchers = "".join(f"SHIM_LAUNCHER(dpsco_draw_{name}, {c_type})\n" for name, (_, c_type) in TYPES.items())
    source = folder / "draws.c"
    source.write_text(Path(__file__).with_name("cuda_shim.h").read_text() + cuda.SOURCE + launchers)
    target = folder / "draws.so"
    flags = ["-std=c11", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-Wall", "-Werror"]
    subprocess.run([compiler, *flags, str(source), "-o", str(target), "-lm"], check=True)
    return ctypes.CDLL(str(target))


def launch(library, name, kind, box, grid=3, block=32):
    dtype = TYPES[name][0]
    guard = 8  # values beyond the box that must stay as they are
    size = box.steps * box.replicates * box.dim
    out = np.full(size + guard, 77, dtype=dtype)
    arguments = cuda.kernel_arguments(KEY, kind, box, INTEGER_BOUND)
    as_c = [np.ctypeslib.as_ctypes_type(value.dtype)(value.item()) for value in arguments]
    getattr(library, f"launch_dpsco_draw_{name}")(grid, block, out.ctypes.data_as(ctypes.c_void_p), *as_c)
    assert np.all(out[size:] == 77)
    return out[:size].reshape(box.shape)


@pytest.mark.parametrize("box", BOXES, ids=str)
@pytest.mark.parametrize(("name", "kind"), CALLS)
def test_source_run_on_the_cpu_has_the_bits_of_the_reference(library, name, kind, box):
    assert launch(library, name, kind, box).tobytes() == expected(name, kind, box).tobytes()


def test_a_million_variates_of_the_source_have_the_bits_of_the_reference(library):
    box = Box(11, 4, 100, 256, 1024)
    for name, kind in (("normal", NORMAL), ("laplace", LAPLACE)):
        assert launch(library, name, kind, box).tobytes() == expected(name, kind, box).tobytes()


def test_the_grid_does_not_matter(library):
    box = BOXES[1]
    assert launch(library, "normal", NORMAL, box, grid=1, block=1).tobytes() == reference.normal(KEY, box).tobytes()


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_source_compiles_for_a_gpu_without_spills(tmp_path):
    source = tmp_path / "draws.cu"
    source.write_text(cuda.SOURCE)
    flags = [*cuda.OPTIONS, "-arch=sm_90", "-cubin", "-Xptxas", "-v"]
    command = ["nvcc", *flags, str(source), "-o", str(tmp_path / "draws.cubin")]
    report = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    assert report.count("0 bytes spill stores") == len(TYPES)


def no_gpu():
    """Why CuPy cannot be used here; None where it can."""
    if importlib.util.find_spec("cupy") is None:
        return "CuPy is not installed"
    import cupy

    return None if cupy.is_available() else "CuPy finds no GPU"


@pytest.mark.gpu
def test_gpu_draws_have_the_bits_of_the_reference():
    reason = no_gpu()
    if reason:
        pytest.skip(reason)
    import cupy

    stream = Stream(KEY, cupy)
    for box in BOXES:
        for name, kind in CALLS:
            parameters = {"integers": (INTEGER_BOUND,)}.get(name, ())
            values = stream.words(kind, *box) if name == "words" else getattr(stream, name)(*box, *parameters)
            assert isinstance(values, cupy.ndarray)
            assert cupy.asnumpy(values).tobytes() == expected(name, kind, box).tobytes()
