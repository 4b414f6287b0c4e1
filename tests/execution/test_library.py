from __future__ import annotations

import numpy as np
import pytest

from dpsco_bench import get_problem, run
from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.execution.plugins import load_plugins
from dpsco_bench.execution.request import make_cell, place_of
from dpsco_bench.problems.registry import problem_class


def test_result_has_arrays_per_replicate():
    result = run("wang2017.dp_gd_pl", "ridge_logistic", 64, 3, replicates=5, steps=4)
    assert result.risk.shape == (5,) and result.output.shape == (5, 3) and result.risk.min() > -1e-12
    assert np.array_equal(result.gradient_evaluations, np.full(5, 256.0))
    assert result.calibration.epsilon_sequence == pytest.approx(1) and result.calibration.calibration == "accounted"
    assert result.calibration.scales["gradient"] > 0


def test_replicates_are_the_same_however_many_are_run():
    """Up to rounding: a product of 2 rows may be rounded differently from one of 6. A block repeats bit for bit."""
    many, few = (run("wang2017.dp_gd_pl", "ridge_logistic", 64, 3, replicates=r) for r in (6, 2))
    np.testing.assert_allclose(many.output[:2], few.output, rtol=1e-12, atol=1e-12)
    many, few = (run("wang2017.dp_gd_pl", "ridge_logistic", 64, 3, replicates=6) for _ in range(2))
    assert np.array_equal(many.output, few.output), "the same block on one machine"


def test_seeds_and_data_sets_change_the_draw():
    base = run("wang2017.dp_gd_pl", "ridge_logistic", 64, replicates=1)
    for change in ({"seed": 1}, {"data_set": 1}):
        assert run("wang2017.dp_gd_pl", "ridge_logistic", 64, replicates=1, **change).risk != base.risk
    assert np.isnan(base.stderr)


def test_objects_serve_as_ids():
    by_id = run("wang2017.dp_gd_pl", "diag_quadratic", 64, replicates=2, kappa=8)
    by_object = run(get_algorithm("wang2017/dp_gd_pl"), problem_class("diag_quadratic"), 64, replicates=2, kappa=8.0)
    assert np.array_equal(by_id.output, by_object.output)


def test_noise_off_needs_no_noise():
    assert run("wang2017.dp_gd_pl", "diag_quadratic", 64, calibration="none").calibration.scales == {"gradient": 0.0}


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"n": 0}, "n = 0"),
        ({"n": 2**33}, "n = 8589934592"),
        ({"replicates": 0}, "replicates = 0"),
        ({"replicates": 2**33}, "replicates"),
        ({"seed": -1}, "seed = -1"),
        ({"seed": True}, "seed = True"),
        ({"data_set": -1}, "data_set = -1"),
        ({"calibration": "exact"}, "calibration = 'exact'"),
        ({"epsilon": 0}, "epsilon = 0"),
        ({"backend": "tpu"}, "backend = 'tpu'"),
        ({"nothing": 1}, "nothing = 1"),
        ({"lipschitz": 0}, "lipschitz = 0"),
        ({"fused": "x"}, "fused = 'x': must be true or false"),
    ],
)
def test_bad_arguments_are_named(keys, named):
    with pytest.raises(InputError, match=named.replace("(", r"\(")):
        run("wang2017.dp_gd_pl", "ridge_logistic", **{"n": 64, **keys})


def test_impossible_pairs_are_refused():
    with pytest.raises(Refusal, match="strongly convex"):
        run("wang2017.dp_svrg", "rank8_least_squares", 64)


def test_every_key_has_one_place():
    svrg, covertype = get_algorithm("wang2017.dp_svrg"), problem_class("covertype")
    assert place_of("theta", svrg, covertype) == "algorithm.options"
    assert place_of("loss", svrg, covertype) == "problem.options"
    assert place_of("regularisation", svrg, covertype) == "problem.options"  # the option builds the objective
    assert place_of("smoothness", svrg, covertype) == "problem.options.constants"
    assert place_of("variant", svrg, covertype) == "algorithm"
    assert place_of("nothing", svrg, covertype) == ""


def test_a_key_of_both_is_ambiguous(monkeypatch):
    class Stepped(problem_class("diag_quadratic")):  # type: ignore[misc]
        def __init__(self, d=None, step: float = 1.0, constants=None):
            super().__init__(d, constants=constants)

    with pytest.raises(InputError, match=r"algorithm\.options\.step or problem\.options\.step"):
        place_of("step", get_algorithm("wang2017.dp_gd_pl"), Stepped)


def test_text_options_stay_text():
    cell = make_cell("wang2017.dp_gd_pl", "covertype", {"n": 10, "root": 2017})
    assert cell.problem_options["root"] == "2017"


def test_get_problem_refuses_unknown_options():
    with pytest.raises(InputError, match="kapa"):
        get_problem("diag_quadratic", kapa=3)


def test_plugins_are_imported_once(tmp_path):
    path = tmp_path / "counted.py"
    path.write_text("import builtins\nbuiltins.counted = getattr(builtins, 'counted', 0) + 1\n")
    load_plugins([path])
    load_plugins([str(path)])
    import builtins

    assert builtins.counted == 1  # type: ignore[attr-defined]
    (tmp_path / "broken.py").write_text("raise RuntimeError('own bug')\n")
    for _ in range(2):
        with pytest.raises(InputError, match=r"be imported \(RuntimeError: own bug, line 1\)"):
            load_plugins([tmp_path / "broken.py"])
