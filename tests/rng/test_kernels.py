import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from dpsco_bench.rng import kernels
from dpsco_bench.rng.counters import Box
from dpsco_bench.rng.shapes import shape_table

from .words import KINDS, expected

KEY = (0x243F6A88, 0x85A308D3)
BOXES = [
    Box(0, 1, 0, 1, 1),
    Box(3, 2, 5, 7, 3),
    Box(0, 3, 2, 5, 10),
    Box(1, 1, 1, 300, 64),
    Box(2**32 - 2, 2, 2**32 - 3, 3, 5),
    Box(7, 2, 0, 2, 6001),  # a row longer than a tile
    Box(1, 2, 0, 9, 128),  # rows of whole vectors, several in a tile
    Box(3, 5, 2, 17, 68),  # rows abreast, the last ones not a vector
    Box(0, 1, 2, 3, 4100),  # rows cut in parts
    Box(0, 900, 0, 1, 2),
    Box(0, 900, 0, 3, 2),
    Box(0, 2, 0, 0, 4),
    Box(0, 2, 0, 3, 0),
]


def assert_same_bits(compiled, expected):
    """Arrays of one type, shape and content."""
    assert compiled.dtype == expected.dtype
    assert compiled.shape == expected.shape
    assert compiled.tobytes() == expected.tobytes()


@pytest.mark.parametrize("box", [*BOXES, Box(11, 4, 100, 256, 1024)], ids=str)
@pytest.mark.parametrize("name", KINDS)
def test_tiles_hold_the_values_of_their_counters(name, box):
    for high in (1, 10, 581012, 2**32, 2**63 - 1) if name == "integers" else (None,):
        given = () if high is None else (high,)
        assert_same_bits(getattr(kernels, name)(KEY, box, *given), expected(name, KEY, box, *given))


@pytest.mark.parametrize("box", BOXES, ids=str)
@pytest.mark.parametrize("r", [2.0, 3.0, 7.155, 1000.0])
def test_vectors_do_not_depend_on_what_is_drawn_beside_them(box, r):
    whole = kernels.generalised_gaussian(KEY, box, shape_table(r), r)
    assert whole.shape == box.shape
    for s, t in np.ndindex(whole.shape[:2]):
        alone = box._replace(first_step=box.first_step + s, steps=1, first_replicate=box.first_replicate + t)
        row = kernels.generalised_gaussian(KEY, alone._replace(replicates=1), shape_table(r), r)
        assert row.tobytes() == whole[s, t].tobytes()


@pytest.mark.parametrize("scale", [0.1, 1.0, 3e7])
def test_scaled_draws_are_rounded_once(scale):
    for values in (kernels.normal(KEY, BOXES[3]), kernels.normal(KEY, BOXES[2])[1:2], kernels.normal(KEY, BOXES[-1])):
        assert_same_bits(kernels.scaled(values, scale), scale * values.astype(np.float64))


def test_one_set_of_types_per_kernel():
    for box in BOXES:
        kernels.scaled(kernels.normal(KEY, box), 2)
        kernels.integers(KEY, box, 5)
        kernels.generalised_gaussian(KEY, box, shape_table(3.0), 3)
    for kernel in (kernels._normals, kernels._scale, kernels._integers, kernels._generalised):
        assert len(kernel.signatures) == 1


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
    known = hashlib.sha256(expected("normal", (1, 2), Box(0, 2, 0, 9, 33)).copy()).hexdigest()
    assert answers == [known] * 4
    assert list(tmp_path.rglob("*.nbi"))
