"""Draws on a device: kernels run over the emulation, and on a GPU where there is one."""

import numpy as np
import pytest

from dpsco_bench.rng import cuda, reference
from dpsco_bench.rng.counters import Box
from dpsco_bench.rng.streams import Stream
from dpsco_bench.rng.transforms import shape_table
from dpsco_bench.samplers import draws

from .standin import RawModule

KEY = (0x243F6A88, 0x85A308D3)
BOXES = [Box(0, 1, 0, 1, 1), Box(3, 2, 5, 7, 10), Box(2**32 - 2, 2, 2**32 - 3, 3, 5), Box(1, 4, 1, 16, 129)]
INTEGER_BOUND = 581012
DRAWS = ("normal", "laplace", "uniform", "integers")


def equal(stream, name, box):
    given = (INTEGER_BOUND,) if name == "integers" else ()
    drawn = getattr(stream, name)(*box, *given)
    return drawn.get().tobytes() == getattr(reference, name)(KEY, box, *given).tobytes()


@pytest.mark.parametrize("on", ["cupy", pytest.param("card", marks=pytest.mark.gpu)])
def test_draws_have_the_bits_of_the_reference(on, request):
    """Draws of every kind, and vectors; a million, too."""
    stream = Stream(KEY, request.getfixturevalue(on))
    vectors, many = Box(1, 2, 3, 3, 301), Box(11, 4, 100, 256, 1024)
    assert [(name, box) for box in BOXES for name in DRAWS if not equal(stream, name, box)] == []
    assert equal(stream, "normal", many) and equal(stream, "laplace", many)
    expected = reference.generalised_gaussian(KEY, vectors, shape_table(1.25), 1.25)
    assert stream.generalised_gaussian(*vectors, 1.25).get().tobytes() == expected.tobytes()


@pytest.mark.parametrize("r", [1.0, 1.25, 3.0, 60.0])
def test_generalised_gaussian_vectors_have_the_bits_of_the_reference(cupy, r, monkeypatch):
    """Odd and even widths, several rounds of 32 threads, and rows whose powers are tiny."""
    stream, boxes = Stream(KEY, cupy), (Box(2, 5, 7, 11, 1), Box(0, 30, 0, 20, 2), Box(1, 1, 3, 3, 301))
    for backwards in (False, True):
        monkeypatch.setattr(RawModule, "BACKWARDS", backwards)
        for box in boxes:
            expected = reference.generalised_gaussian(KEY, box, shape_table(r), r)
            assert stream.generalised_gaussian(*box, r).get().tobytes() == expected.tobytes()


def test_noisy_minima_are_those_of_the_listing(cupy):
    rng, scale, count = np.random.default_rng(3), 0.7, 600
    scores = rng.random((8, count)) * np.repeat([0.5, 1.0, 2.0, 40.0], 2)[:, None]
    rows, lowest = draws.lazy_rows(scores, scale)
    assert 0 < rows.size < 8
    expected = np.argmin(scores + scale * reference.laplace(KEY, Box(5, 1, 9, 8, count))[0].astype(np.float64), axis=-1)
    reference.noisy_minima(expected, scores, rows, lowest, scale, 5, 9, KEY)
    widest = draws.widest(scale, count)
    assert cuda.noisy_minima(cupy.asarray(scores), scale, widest, 5, 9, KEY).get().tolist() == expected.tolist()
