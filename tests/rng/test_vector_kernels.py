import pytest

from dpsco_bench.rng import reference
from dpsco_bench.rng.counters import Box
from dpsco_bench.rng.quantiles import shape_table

pytest.importorskip("numba", reason="Numba is not installed: draws use the NumPy reference")

from dpsco_bench.rng import vector_kernels

KEY = (0x243F6A88, 0x85A308D3)
BOXES = [
    Box(0, 1, 0, 1, 1),
    Box(3, 2, 5, 7, 3),
    Box(0, 3, 2, 5, 10),
    Box(1, 1, 1, 300, 64),
    Box(2**32 - 2, 2, 2**32 - 3, 3, 5),
    Box(7, 2, 0, 2, 6001),  # a row longer than a tile
    Box(0, 900, 0, 3, 2),
    Box(0, 2, 0, 0, 4),
    Box(0, 2, 0, 3, 0),
]


@pytest.mark.parametrize("box", BOXES, ids=str)
@pytest.mark.parametrize("r", [2.0, 3.0, 7.155, 1000.0])
def test_vectors_have_the_bits_of_the_reference(box, r):
    compiled = vector_kernels.generalised_gaussian(KEY, box, shape_table(r), r)
    expected = reference.generalised_gaussian(KEY, box, shape_table(r), r)
    assert compiled.dtype == expected.dtype and compiled.shape == expected.shape
    assert compiled.tobytes() == expected.tobytes()


def test_one_set_of_types():
    """Processes that compile at the same time may then only write equal cache entries."""
    for box in BOXES:
        vector_kernels.generalised_gaussian(KEY, box, shape_table(3.0), 3)
    assert len(vector_kernels._generalised.signatures) == 1
