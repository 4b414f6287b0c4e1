import pytest

from dpsco_bench.claims.grids import expanded
from dpsco_bench.claims.model import parse_claim
from dpsco_bench.errors import InputError


def test_all_combinations_the_last_fastest():
    found = expanded(
        {"ci": {"n": [10, 100], "problem.p": [1.5, 2.0, 1.2]}, "full": {"n": [5], "problem.p": [2.0]}}, "x"
    )
    assert found["sweep"] == {"parameter": "cell", "values": {"ci": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "full": [1.0]}}
    assert found["along"]["n"] == {"ci": [10, 10, 10, 100, 100, 100], "full": [5]}
    assert found["along"]["problem.p"]["ci"] == [1.5, 2.0, 1.2, 1.5, 2.0, 1.2]


@pytest.mark.parametrize("bad", [[1], {"ci": [1, 2]}, {"ci": {}}, {"ci": {"n": [1]}, "full": {"d": [1]}}])
def test_bad_grids(bad):
    with pytest.raises(InputError, match="^x"):
        expanded(bad, "x")


def test_a_part_with_a_grid():
    part = {
        "id": "all", "kind": "shown", "calibrations": ["paper"], "algorithm": "gopi2022.reg_exp_mech",
        "problem": "axis_linear", "fixed": {"delta": 1e-6}, "evaluation": "closed_form",
        "grid": {"ci": {"n": [100, 1000], "d": [2, 4], "epsilon": [1.0]}},
    }  # fmt: skip
    claim = parse_claim({"id": "x.y", "title": "", "source": "", "statement": "", "parts": [part]})
    assert claim.parts[0].sweep.values == {"ci": [1.0, 2.0, 3.0, 4.0]} and claim.parts[0].in_profile("ci")
