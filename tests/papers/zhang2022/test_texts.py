"""The text of every bound against the function that judges, at random cells."""

import inspect
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.registry import BOUNDS, get_bound
from dpsco_bench.papers.zhang2022.algorithms.parameter_free import confidence
from dpsco_bench.papers.zhang2022.bounds.theorems import ADAPTIVE, OPTIMISTIC
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.problems.base import Constants

NAMES = [name for name in BOUNDS.names() if BOUNDS.module(name).startswith("dpsco_bench.papers.zhang2022.")]
MEASURED = {
    "zhang2022.learner": ("learner_bound", "test_the_sums_are_those_of_a_loop_over_all_rounds"),
    "zhang2022.theorem1": ("theorem1", "test_the_sums_are_those_of_a_loop_over_all_rounds"),
    "zhang2022.lemma7": ("lemma7", "test_the_sums_are_those_of_a_loop_over_all_rounds"),
}
"""Bounds in words: what a run measures, and the test in test_rounds.py that computes it from every round."""
COMPUTED = {
    "zhang2022.expected_noise_quarter": ("test_moments.py",),
    "zhang2022.expected_noise_half": ("test_moments.py",),
    "zhang2022.expected_noise_last": ("test_moments.py",),
}
"""Expectations in words, and the tests that hold them against the streaming tree and against (7)."""
RHO = 0.7


def contexts(name, calibration):
    rng = np.random.default_rng(2022)
    learners = (
        (*OPTIMISTIC, *OPTIMISTIC) if "thm6" in name else ("osd",) if "thm8" in name else (*ADAPTIVE, *OPTIMISTIC)
    )
    for number, learner in enumerate(learners):
        for k in (1.0, 2.0, 3.0):
            n, d, epsilon, delta = int(rng.integers(8, 60)), int(rng.integers(2, 9)), rng.uniform(0.1, 3.0), 1e-6
            G, H, D, mu, sigma, distance = rng.uniform(0.2, 3.0, 6)
            c = Constants(
                G, H, diameter=D, domain="l2_ball", norm=(1.3, 1.8, 2.0)[number % 3], strong_convexity=mu,
                gradient_deviation=sigma, initial_distance=distance,
            )  # fmt: skip
            rho = gdp_mu(epsilon, delta) if calibration == "accounted" else RHO
            made = confidence(c, n, d, rho, 0.05, None)
            schedule = {"k": k, "learner": learner, "rho": RHO, "A": made.A, "A_noise": made.A_noise}
            schedule |= {"Phi": made.Phi, "private": made.private}
            extras = dict(zip(("regret", "regularised_regret", "theorem10"), rng.uniform(1.0, 99.0, 3), strict=True))
            yield BoundContext(n, d, epsilon, delta, c, calibration, schedule, {}, extras=extras)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in {**MEASURED, **COMPUTED}])
@pytest.mark.parametrize("calibration", ["paper", "accounted"])
def test_the_text_is_what_judges(as_written, name, calibration):
    for context in contexts(name, calibration):
        as_written(name, context, printed=calibration == "paper")


@pytest.mark.parametrize(
    "name", [f"zhang2022.{end}" for end in ("thm4", "thm4_a_priori", "thm6", "thm8", "moment_half")]
)
def test_the_text_is_what_judges_with_noise_off(as_written, name):
    for context in contexts(name, "none"):
        as_written(name, context)


@pytest.mark.parametrize("name", COMPUTED)
def test_expectations_in_words_are_held_against_an_independent_computation(name):
    (tests,) = COMPUTED[name]
    assert name.rpartition("_")[0] in Path(inspect.getfile(contexts)).with_name(tests).read_text()


@pytest.mark.parametrize("name", MEASURED)
def test_bounds_in_words_are_what_a_run_measured(name):
    """They return it; an independent computation of it stands in test_rounds.py."""
    extra, test = MEASURED[name]
    context = next(contexts(name, "paper"))
    assert get_bound(name).extras == (extra,)
    assert get_bound(name).value(replace(context, extras={extra: math.pi})) == math.pi
    rounds = Path(inspect.getfile(contexts)).with_name("test_rounds.py").read_text()
    body = rounds[rounds.index(f"def {test}(") :].partition("\n\n\n")[0]
    assert f'notes["{extra}"]' in body
