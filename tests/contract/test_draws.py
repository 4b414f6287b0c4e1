"""Outputs that are draws: what is declared, charged and drawn agree, and no sampler proves more than it may."""

from dataclasses import replace
from functools import partial

import numpy as np

from dpsco_bench.algorithms.info import split
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon
from dpsco_bench.privacy.transcript import Recorder, Replay


def test_the_law_is_charged_with_the_true_range_of_differences(drawn_case):
    """Theorem 2: t = S sqrt(k/mu)/n with the S of the problem, whatever S the schedule believes in."""
    query, n = drawn_case.plan.queries[0], drawn_case.n
    k, mu = query.temperature.at(drawn_case.scales["draw"])
    t = drawn_case.problem.constants.loss_difference * np.sqrt(k / mu) / n
    np.testing.assert_allclose(drawn_case.calibrated.charge.epsilon_law, gdp_epsilon(t, 1e-5), rtol=1e-9)


UNPROVEN = ("gopi2022.gibbs", "gopi2022.hit_and_run", "gopi2022.proximal_sampler", "gopi2022.radial_exact")
"""Samplers of whose draws nothing is proven."""


def test_only_a_proof_is_called_proven(drawn_case):
    charge, status = drawn_case.calibrated.charge, drawn_case.calibrated.privacy_status
    assert charge.sampler_status == "target_law_only" or drawn_case.algorithm.id not in UNPROVEN
    if charge.sampler_status == "target_law_only":
        assert np.isnan(charge.epsilon)
        assert status == ("target_law_only" if drawn_case.problem.constants.status == "global" else "unproven")
    else:
        assert charge.sampler_status == "exact" and charge.epsilon == charge.epsilon_law


def test_outputs_differ_and_lie_in_the_domain(drawn_case):
    ball, output = drawn_case.problem.feasible_set, drawn_case.run(replicates=16).output
    assert len(np.unique(output, axis=0)) == 16 and np.all(ball.norm(output) <= ball.radius * (1 + 1e-12))


def test_a_sampler_that_looks_at_the_data_again_is_caught(drawn_case):
    problem, data = drawn_case.problem, drawn_case.data
    if problem.shares_records or problem.draws_per_replicate or data.features is None:
        return
    honest = drawn_case.algorithm.run_function

    def run(objective, plan, source):
        x, _ = split(honest(objective, plan, source))
        return x - 0.1 * objective.mean_gradient(x)

    case = drawn_case.altered(run=run)
    recorded = case.run(Recorder)
    other = replace(data, features=-data.features)
    replayed = case.run(partial(Replay, recorded.mechanism.transcript), data=other)
    assert not np.array_equal(replayed.output, recorded.output)
