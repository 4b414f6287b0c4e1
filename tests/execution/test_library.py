import numpy as np
import pytest

from dpsco_bench import run
from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import InputError
from dpsco_bench.execution.request import place_of
from dpsco_bench.problems.registry import problem_class


def test_result_has_arrays_per_replicate():
    result = run("wang2017.dp_gd_pl", "ridge_logistic", 64, 3, replicates=5, steps=4)
    assert result.risk.shape == (5,) and result.output.shape == (5, 3) and result.risk.min() > -1e-12
    assert np.array_equal(result.gradient_evaluations, np.full(5, 256.0))
    assert result.calibration.epsilon_sequence == pytest.approx(1) and result.calibration.calibration == "accounted"
    assert result.calibration.scales["gradient"] > 0
    base = run("wang2017.dp_gd_pl", "ridge_logistic", 64, replicates=1)
    for change in ({"seed": 1}, {"data_set": 1}):
        assert run("wang2017.dp_gd_pl", "ridge_logistic", 64, replicates=1, **change).risk != base.risk
    assert np.isnan(base.stderr)
    by_id = run("wang2017.dp_gd_pl", "diag_quadratic", 64, replicates=2, kappa=8)
    by_object = run(get_algorithm("wang2017/dp_gd_pl"), problem_class("diag_quadratic"), 64, replicates=2, kappa=8.0)
    assert np.array_equal(by_id.output, by_object.output)


def test_replicates_are_the_same_however_many_are_run():
    """Up to rounding: a product of 2 rows may be rounded differently from one of 6. A block repeats bit for bit."""
    many, few = (run("wang2017.dp_gd_pl", "ridge_logistic", 64, 3, replicates=r) for r in (6, 2))
    np.testing.assert_allclose(many.output[:2], few.output, rtol=1e-12, atol=1e-12)
    many, few = (run("wang2017.dp_gd_pl", "ridge_logistic", 64, 3, replicates=6) for _ in range(2))
    assert np.array_equal(many.output, few.output), "the same block on one machine"


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"n": 0}, "n = 0"),
        ({"replicates": 0}, "replicates = 0"),
        ({"seed": -1}, "seed = -1"),
        ({"calibration": "exact"}, "calibration = 'exact'"),
        ({"nothing": 1}, "nothing = 1"),
        ({"lipschitz": 0}, "lipschitz = 0"),
        ({"fused": "x"}, "fused = 'x': must be true or false"),
    ],
)
def test_bad_arguments_are_named(keys, named):
    with pytest.raises(InputError, match=named):
        run("wang2017.dp_gd_pl", "ridge_logistic", **{"n": 64, **keys})


def test_every_key_has_one_place():
    svrg, covertype = get_algorithm("wang2017.dp_svrg"), problem_class("covertype")
    assert place_of("theta", svrg, covertype) == "algorithm.options"
    assert place_of("loss", svrg, covertype) == "problem.options"
    assert place_of("regularisation", svrg, covertype) == "problem.options"  # the option builds the objective
    assert place_of("smoothness", svrg, covertype) == "problem.options.constants"
    assert place_of("variant", svrg, covertype) == "algorithm"
    assert place_of("nothing", svrg, covertype) == ""
