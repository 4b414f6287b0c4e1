"""The Python API on every pair of an algorithm and a problem, fused and listing: a result, or an error of the input."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from dpsco_bench import run
from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms
from dpsco_bench.errors import DpscoError
from dpsco_bench.execution.request import known_keys
from dpsco_bench.problems.registry import list_problems, problem_class

from .calls import ODD_NUMBERS, ODD_WORDS, number_of_examples

PROBLEMS = [name for name in list_problems() if not problem_class(name).needs_data_root and name != "data_file"]
SHORT = {"steps": 6, "epochs": 2, "inner_steps": 5, "sweeps": 3}
"""Schedules of a few steps, where an algorithm has these options: what is fuzzed are values, not patience."""
VALUES = st.sampled_from([*ODD_NUMBERS[:11], *ODD_WORDS[:6], None, True, [1], float("nan"), float("inf")])
REPLICATES = 2


@st.composite
def calls(draw):
    algorithm, problem = draw(st.sampled_from(list_algorithms())), draw(st.sampled_from(PROBLEMS))
    keys = known_keys(get_algorithm(algorithm), problem_class(problem))
    options = {key: value for key, value in SHORT.items() if key in keys}
    options |= {"n": draw(st.sampled_from([1, 2, 7, 24, 64])), "d": draw(st.sampled_from([None, 1, 2, 3, 8]))}
    options |= {"calibration": draw(st.sampled_from(["accounted", "paper", "none"])), "fused": draw(st.booleans())}
    for key in draw(st.lists(st.sampled_from(keys), max_size=2, unique=True)):
        options[key] = draw(VALUES)
    return algorithm, problem, options


@number_of_examples(80)
@given(calls())
def test_a_result_or_an_error_of_the_input(call):
    algorithm, problem, options = call
    assume(not (isinstance(options["n"], int | float) and options["n"] > 1e4))
    try:
        found = run(algorithm, problem, replicates=REPLICATES, seed=1, **options)
    except DpscoError as error:
        assert len(str(error)) < 1500 and "Traceback" not in str(error)
        return
    assert found.risk.shape == (REPLICATES,) and len(found.output) == REPLICATES
    assert np.isfinite(found.risk).all() and np.isfinite(found.output).all() and np.isfinite(found.start_risk)
    assert (found.gradient_evaluations >= 0).all()
    calibration = found.calibration
    assert all(np.isfinite(scale) and scale >= 0 for scale in calibration.scales.values())
    real = calibration.epsilon_real  # NaN where no accountant gives one, and then nothing is proven
    assert real is None or real >= 0 or (np.isnan(real) and calibration.privacy_status != "proven")
