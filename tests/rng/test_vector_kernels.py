import pytest

from dpsco_bench.rng import reference
from dpsco_bench.rng.transforms import shape_table

pytest.importorskip("numba", reason="Numba is not installed: draws use the NumPy reference")

from dpsco_bench.rng import kernels

from .boxes import BOXES, KEY, assert_same_bits


@pytest.mark.parametrize("box", BOXES, ids=str)
@pytest.mark.parametrize("r", [2.0, 3.0, 7.155, 1000.0])
def test_vectors_have_the_bits_of_the_reference(box, r):
    compiled = kernels.generalised_gaussian(KEY, box, shape_table(r), r)
    expected = reference.generalised_gaussian(KEY, box, shape_table(r), r)
    assert_same_bits(compiled, expected)


def test_one_set_of_types():
    for box in BOXES:
        kernels.generalised_gaussian(KEY, box, shape_table(3.0), 3)
    assert len(kernels._generalised.signatures) == 1
