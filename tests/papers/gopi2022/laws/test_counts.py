import numpy as np
import pytest
from scipy.stats import binom, multinomial

from dpsco_bench.papers.gopi2022.laws.quadrature import signed_count_law


@pytest.mark.parametrize(("n", "chance"), [(1, 0.3), (7, 0.9), (1000, 0.5), (256_000, 0.51)])
def test_without_zeros_a_binomial_law(n, chance):
    values, law = signed_count_law(n, chance, 1.0 - chance)
    heads = (values + n) / 2
    wanted = np.where(heads == np.floor(heads), binom.pmf(np.floor(heads), n, chance), 0.0)
    assert np.abs(law - wanted).max() <= 1e-9 * wanted.max()


def test_against_the_multinomial_law():
    values, law = signed_count_law(12, 0.2, 0.5)
    wanted = {s: 0.0 for s in range(-12, 13)}
    for plus in range(13):
        for minus in range(13 - plus):
            wanted[plus - minus] += multinomial.pmf([plus, minus, 12 - plus - minus], 12, [0.2, 0.5, 0.3])
    assert [law[values == s].sum() for s in wanted] == pytest.approx(list(wanted.values()), abs=1e-14)
