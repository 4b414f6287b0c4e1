"""Every run: dtypes, namespaces, reproducibility; declared = charged = drawn, and planned = counted."""

from dataclasses import replace

import array_api_strict as strict
import numpy as np
import pytest

from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.privacy import mechanism
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon
from dpsco_bench.privacy.calibrate import decisive_charge
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.privacy.records import Poisson
from dpsco_bench.privacy.transcript import Recorder
from dpsco_bench.problems.base import Data
from dpsco_bench.rng.streams import Stream


def test_single_precision_stays_and_replicates_may_be_split(case):
    run = case.run(replicates=3, dtype="float32")
    assert run.raw.shape == (3, case.problem.dimension) and run.raw.dtype == np.float32
    risk = run.objective.excess_risk(run.raw)
    assert risk.shape == (3,) and risk.dtype == np.float64 and np.isfinite(risk).all()
    whole = case.run(replicates=6).output
    parts = np.concatenate([case.run(replicates=2).output, case.run(first=2, replicates=4).output])
    np.testing.assert_allclose(parts, whole, rtol=1e-12, atol=1e-12 * np.abs(whole).max())


def test_noise_off_draws_no_noise(silent_case, monkeypatch):
    class Forbidden(Stream):
        def normal(self, *_):
            raise AssertionError("noise was drawn")

        laplace = generalised_gaussian = normal

    monkeypatch.setattr(mechanism, "Stream", Forbidden)
    silent_case.run()


def test_order_of_the_records_does_not_matter_where_the_algorithm_says_so(symmetric_case):
    data, order = symmetric_case.data, np.random.default_rng(0).permutation(symmetric_case.n)
    permuted = Data(data.n, data.features[order], data.labels[order])
    expected = symmetric_case.run().output
    np.testing.assert_allclose(symmetric_case.run(data=permuted).output, expected, rtol=1e-10, atol=1e-12)


def test_strict_array_api_gives_the_numbers_of_numpy(case):
    expected, outcome = case.run(), case.run(xp=strict)
    assert outcome.raw.__array_namespace__() is strict
    np.testing.assert_allclose(outcome.output, expected.output, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(np.asarray(outcome.objective.evaluations), expected.objective.evaluations)
    risks = [run.objective.excess_risk(run.raw) for run in (outcome, expected)]
    np.testing.assert_allclose(*risks, rtol=1e-9, atol=1e-14)
    outcome = case.run(xp=strict, dtype="float32")
    assert outcome.raw.dtype == strict.float32
    np.testing.assert_allclose(outcome.output, case.run(dtype="float32").output, rtol=1e-5, atol=1e-6)


def test_evaluations_are_those_of_the_drawn_batches(law_case):
    """Counted is a constant plus a multiple of each Poisson query's drawn sizes, and at their means what is planned."""
    run, n = law_case.run(Recorder, replicates=32), law_case.n
    counted, batches = to_numpy(run.objective.evaluations), run.mechanism.transcript.batches
    random = [q for q in law_case.plan.queries if isinstance(q.records, Poisson)]
    drawn = [sum(to_numpy(b.sizes) for b in batches[q.name].values()) for q in random]
    design = np.column_stack([np.ones(32), *drawn])
    fit = np.linalg.lstsq(design, counted, rcond=None)[0]
    np.testing.assert_allclose(design @ fit, counted, rtol=1e-9)
    expected = fit @ [1.0, *(q.releases * n * q.records.rate for q in random)]
    assert expected == pytest.approx(law_case.plan.gradient_evaluations, rel=1e-9)


def test_what_is_charged_is_what_the_run_draws_with(noisy_case):
    """An exact value of other problems may be an upper bound on this one."""
    source, charged = noisy_case.mechanism(), noisy_case.calibrated.charge
    assert source.scales == noisy_case.scales
    recharged = decisive_charge(source.plan, source.scales, PrivacySpec(1.0, 1e-5))
    assert charged.kind in (recharged.kind, "upper")
    np.testing.assert_equal(vars(replace(recharged, kind=charged.kind)), vars(charged))
    # Noise has the size of its law at the charged scale; the laws themselves are held by tests/rng and samplers.
    passed, detail = noisy_case.checks.check_released()
    assert passed, detail


def test_the_law_is_charged_and_only_a_proof_is_called_proven(drawn_case):
    """Theorem 2: t = S sqrt(k/mu)/n with the S of the problem, whatever S the schedule believes in."""
    query, n = drawn_case.plan.queries[0], drawn_case.n
    k, mu = query.temperature.at(drawn_case.scales["draw"])
    t = drawn_case.problem.constants.loss_difference * np.sqrt(k / mu) / n
    np.testing.assert_allclose(drawn_case.calibrated.charge.epsilon_law, gdp_epsilon(t, 1e-5), rtol=1e-9)
    charge, status = drawn_case.calibrated.charge, drawn_case.calibrated.privacy_status
    assert charge.sampler_status == "target_law_only" or drawn_case.algorithm.id not in UNPROVEN
    if charge.sampler_status == "target_law_only":
        assert np.isnan(charge.epsilon)
        assert status == ("target_law_only" if drawn_case.problem.constants.status == "global" else "unproven")
    else:
        assert charge.sampler_status == "exact" and charge.epsilon == charge.epsilon_law
    ball, output = drawn_case.problem.feasible_set, drawn_case.run(replicates=16).output
    assert len(np.unique(output, axis=0)) == 16 and np.all(ball.norm(output) <= ball.radius * (1 + 1e-12))


UNPROVEN = ("gopi2022.gibbs", "gopi2022.hit_and_run", "gopi2022.proximal_sampler", "gopi2022.radial_exact")
"""Samplers of whose draws nothing is proven."""
