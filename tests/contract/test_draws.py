"""Outputs that are draws: what is declared, charged and drawn agree, and no sampler proves more than it may."""

import numpy as np

from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon


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
