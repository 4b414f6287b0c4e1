"""Audits end to end: what is private survives, what is not is caught; the verb."""

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from dpsco_bench.audit import auditor, bounds
from dpsco_bench.audit.auditor import Audit, audit_cell, candidate_scores, default_runs, make_audit_cell, normal_sides
from dpsco_bench.audit.canaries import trials
from dpsco_bench.audit.transcript import BINS
from dpsco_bench.cli.verbs.audit import AuditPace
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.mechanism import Mechanism

from .pairs import Weak

OWN_KEYS = ("runs", "confidence", "statistic", "seed", "mechanism")


def audit(algorithm, calibration="accounted", problem="canary_huber", **keys):
    own = {key: keys.pop(key) for key in OWN_KEYS if key in keys}
    return audit_cell(make_audit_cell(algorithm, problem, keys), calibration, **own)


class Repeating(Mechanism):
    def _noise(self, query, step, dim):
        return super()._noise(query, 0, dim)


@pytest.mark.slow
def test_literal_svrg_is_refuted():
    """Each pick of the canary moves one release by far more than its noise (erratum E2)."""
    result = audit("wang2017.dp_svrg", "paper", runs=4000)
    assert result.verdict == "refuted" and result.epsilon_lower > 2
    assert result.epsilon_lower <= result.epsilon_real and result.epsilon_real_kind == "lower"
    assert "turning" in result.neighbours
    assert repr(result).startswith("AuditResult(wang2017.dp_svrg paper: refuted, epsilon >= ")


@pytest.mark.long
def test_the_papers_noise_for_gradient_descent_is_refuted():
    """Claimed 1, truly 2.40 (section 8 of the chapter, c = 1): the audit finds more than half of it."""
    result = audit("wang2017.dp_gd_pl", "paper", runs=100_000)
    assert result.verdict == "refuted"
    assert 1.2 < result.epsilon_lower <= result.epsilon_real == pytest.approx(2.40, abs=0.01)
    assert result.of == "sequence" and 0.9 * result.mu_charged < result.mu_lower <= result.mu_charged


AT_NIGHT = {
    *("wang2017.dp_svrg", "wang2017.noisy_sgd_bst14", "bassily2021.noisy_sgd", "bassily2021.poly_sfw", "su2023.kj16"),
    *("su2023.pda_dpmd", "su2023.shuffled_truncated_md", "zhang2022.dp_otb_lp", "zhang2022.parameter_free"),
}
"""Of which a run takes longest. So are printed calibrations, but for `dp_accmd`, one of which releases nothing."""


def listed():
    for trial in trials():
        night = trial.algorithm in AT_NIGHT or trial.calibration == "paper" and trial.algorithm != "wang2017.dp_accmd"
        if not trial.reason and not trial.fused:
            name = f"{trial.algorithm}-{trial.variant}-{trial.calibration}"
            yield pytest.param(trial, marks=[pytest.mark.long] * night, id=name)


@pytest.mark.parametrize("trial", [*listed()])
def test_whatever_is_listed_can_be_audited_and_accounted_noise_is_not_refuted(trial):
    cell = make_audit_cell(trial.algorithm, None, {"variant": trial.variant}, trial.calibration)
    result = audit_cell(cell, trial.calibration, runs=100, confidence=0.999)
    assert 0 <= result.power <= 1 and result.epsilon_lower >= 0 and result.statistic.startswith("transcript")
    if trial.calibration == "accounted":
        assert result.verdict == "not refuted" and result.epsilon_lower <= result.epsilon_claimed


@pytest.mark.parametrize("statistic", ["transcript", "output"])
@pytest.mark.parametrize(
    ("algorithm", "steps"), [("wang2017.dp_gd_pl", {"steps": 1}), ("wang2017.output_perturbation_zhang17", {})]
)
def test_accounted_noise_is_found_to_be_about_what_it_claims(algorithm, steps, statistic):
    """At (2, 1e-3) a single release, seen whole or as the output, loses half of its epsilon or more to an adversary."""
    result = audit(algorithm, epsilon=2, delta=1e-3, runs=40_000, statistic=statistic, **steps)
    assert result.verdict == "not refuted" and 1 < result.epsilon_lower < 2
    assert result.statistic.startswith(statistic)


@pytest.mark.parametrize("method", ["dp_gd_pl", "output_perturbation_zhang17", "dp_svrg"])
def test_too_little_noise_is_refuted(method):
    keys = {"runs": 2000, "epochs": 3} if method == "dp_svrg" else {"runs": 1000}  # sampled queries
    assert audit(f"wang2017.{method}", mechanism=Weak, **keys).verdict == "refuted"


def test_noise_that_is_drawn_once_and_used_again_is_refuted():
    """Releases with the same noise cancel it: learned weights find that, the declared likelihood would not."""
    result = audit("wang2017.dp_gd_pl", runs=1000, mechanism=Repeating)
    assert result.verdict == "refuted" and result.epsilon_lower > 3
    assert "weighted" in result.statistic and "turning" in result.neighbours


def test_an_algorithm_that_ignores_its_data_shows_nothing_and_one_that_leaks_them_is_refuted(register):
    id = register("audit_test.null", lambda objective, plan, m: m.release("gradient", 0.0 * objective.start))
    for statistic in ("transcript", "output"):
        assert audit(id, runs=5000, statistic=statistic).epsilon_lower < 0.05
    assert audit(id, runs=5000).epsilon_lower == 0
    id = register("audit_test.leak", lambda objective, plan, m: objective.mean_gradient(objective.start))
    for statistic in ("transcript", "output"):
        assert audit(id, runs=1000, statistic=statistic).epsilon_lower > 4


@pytest.mark.parametrize(
    ("keys", "error", "message"),
    [
        ({"calibration": "none"}, InputError, "^calibration = 'none'"),
        ({"runs": 99}, InputError, "^runs = 99"),
        ({"confidence": 1.0}, InputError, "^confidence = 1.0"),
        ({"statistic": "mean"}, InputError, "^statistic = 'mean'"),
        ({"seed": -1}, InputError, "^seed = -1"),
        ({"kappa": 3}, InputError, "^kappa = 3"),
        ({"problem": "diag_quadratic"}, Refusal, "its constants are nominal"),
        ({"lipschitz": 0.5}, Refusal, "its constants are nominal"),
    ],
)
def test_refusals_are_one_line(keys, error, message):
    with pytest.raises(error, match=message):
        audit("wang2017.dp_gd_pl", **{"runs": 200, **keys})


def test_what_has_no_likelihood_is_judged_by_its_output(monkeypatch):
    monkeypatch.setattr("dpsco_bench.audit.auditor.supports", lambda plan: False)
    assert audit("wang2017.dp_gd_pl", runs=200).statistic.startswith("output")
    with pytest.raises(Refusal, match="^statistic transcript"):
        audit("wang2017.dp_gd_pl", runs=200, statistic="transcript")


@pytest.mark.slow
def test_an_audit_of_outputs_looks_for_the_instance_that_tells_most():
    """With a ridge of 10 the output has .79 for 1; a small ridge and few steps leave 2.39 in it."""
    cell = make_audit_cell("wang2017.dp_gd_pl", calibration="paper")
    plain = audit_cell(cell, "paper", runs=2000, statistic="output")
    told = audit_cell(cell, "paper", runs=2000, statistic="output", searched=auditor.INSTANCES)
    assert plain.epsilon_real < 0.8 and 2.3 < told.epsilon_real < 2.4 and plain.of == told.of == "output"
    assert plain.mu_lower < told.mu_lower <= told.mu_charged and told.mu_charged > 2 * plain.mu_charged


def test_screen_and_json(dpsco):
    call = ("audit", "wang2017.dp_gd_pl", "--runs", "500", "epsilon=2", "delta=1e-3")
    out = dpsco(*call).out
    assert out.startswith("wang2017.dp_gd_pl, calibration accounted: not refuted (epsilon >= ") and "claimed 2)" in out
    found = json.loads(dpsco(*call, "--json").out)
    assert (found["algorithm"], found["calibration"]) == ("wang2017.dp_gd_pl", "accounted")
    assert (found["verdict"], found["runs"], found["epsilon_claimed"]) == ("not refuted", 500, 2)
    keys = "algorithm calibration epsilon_claimed epsilon_lower confidence runs neighbours statistic verdict power "
    keys += "against of mu_lower mu_charged epsilon_real epsilon_real_kind remarks"
    assert " ".join(found) == keys and found["confidence"] == 0.95
    assert found["mu_charged"] == pytest.approx(gdp_mu(found["epsilon_real"], 1e-3), rel=1e-9)


def test_the_same_call_gives_the_same_result_whether_it_is_seen_or_not():
    cell, pace = make_audit_cell("wang2017.dp_gd_pl", keys={"steps": 2}), AuditPace()
    first, again, other = (audit_cell(cell, runs=200, seed=seed) for seed in (1, 1, 2))
    assert audit_cell(cell, runs=200, seed=1, progress=pace.progress) == first == again and first.bound != other.bound
    assert str(pace).startswith("400 of 400 runs done")


def test_further_events_are_likelier_on_their_own_side(monkeypatch):
    """Both directions are tested: large scores of the first data set, and small ones of the second."""
    seen, honest = {}, bounds.lower_bound

    def recorded(p, q, *target, thresholds):
        seen.update(p=p, q=q, first=thresholds[0], second=thresholds[1])
        return honest(p, q, *target, thresholds=thresholds)

    monkeypatch.setattr(bounds, "lower_bound", recorded)
    found = audit("wang2017.dp_gd_pl", runs=4000, epsilon=4, delta=1e-3, steps=1)
    large, small = ([np.mean(sign * seen[own] >= sign * seen[key]) for own in "pq"] for key, sign in
                    (("first", 1), ("second", -1)))  # fmt: skip
    assert large[0] > 5 * large[1] and small[1] > 5 * small[0]
    assert len(seen["p"]) == len(seen["q"]) == found.runs == 4000


@pytest.mark.parametrize(("work", "runs"), [(1.0, 100_000), (2000.0, 100_000), (10_000.0, 20_000), (1e9, 5_000)])
def test_default_runs_take_a_fixed_work_within_limits(monkeypatch, work, runs):
    monkeypatch.setattr("dpsco_bench.audit.auditor.work_of", lambda plan: work)
    assert default_runs(None) == runs


@pytest.mark.parametrize(
    ("status", "sequence", "kept"), [("proven", 1.0, True), ("proven", 1.01, False), ("unproven", 0.5, False)]
)
def test_what_is_charged_is_what_is_charged_for_what_is_seen(status, sequence, kept):
    cell = make_audit_cell("wang2017.dp_gd_pl")
    known = replace(
        calibrate_cell(cell, "accounted", 1), privacy_status=status, epsilon_of="output", epsilon_real=0.4,
        epsilon_sequence=sequence, epsilon_sequence_kind="upper",
    )  # fmt: skip
    whole, output, alone = (
        Audit(cell, own, 100, 0.95, seen)
        for own, seen in ((known, None), (known, "output"), (replace(known, epsilon_sequence=math.nan), None))
    )
    assert (whole.seen, whole.of, whole.proven) == ("transcript", "sequence", kept)
    assert (whole.charged, whole.kind) == (sequence, "upper")
    assert (output.seen, output.of, output.charged, alone.of) == ("output", "output", 0.4, "output")
    assert output.proven == alone.proven == (status == "proven")


@pytest.mark.parametrize("d", [1, 3])
def test_normal_sides_give_the_ratio_of_their_densities(d):
    rng = np.random.default_rng(d)
    first, second = rng.standard_normal((500, d)), 1.0 + 2.0 * rng.standard_normal((500, d))
    sides = [(own, own, np.zeros(500, dtype=bool)) for own in (first, second)]
    found = candidate_scores("output", *sides)["output, density ratio"](first, first, None)
    log = [multivariate_normal.logpdf(first, own.mean(axis=0), np.cov(own.T)) for own in (first, second)]
    constant = 0.5 * np.diff([np.linalg.slogdet(np.atleast_2d(np.cov(own.T)))[1] for own in (first, second)])
    np.testing.assert_allclose(found, log[0] - log[1] - constant, rtol=1e-6, atol=1e-6)
    assert found.mean() > candidate_scores("output", *sides)["output, density ratio"](second, second, None).mean()


def test_unexplained_outputs_are_judged_by_themselves_and_no_infinity_is_taken():
    rng = np.random.default_rng(0)
    features, strays = np.zeros((400, BINS)), np.arange(400) % 2 == 0
    features[:200] = np.inf
    sides = [(features, shift + rng.standard_normal((400, 2)), strays) for shift in (0.0, 9.0)]
    scores = candidate_scores("transcript", *sides)
    assert list(scores) == ["transcript", "transcript, unexplained outputs"]
    first, second = (scores["transcript, unexplained outputs"](*side) for side in sides)
    assert np.isfinite(first).all() and (first[strays] > 10).all() and (second[strays] < -10).all()
    assert (first[~strays] == 0.0).all()


def test_covariances_are_learned_from_ten_outputs_a_dimension():
    rng = np.random.default_rng(0)
    few, enough, wide = (rng.standard_normal(shape) for shape in ((29, 3), (30, 3), (5000, 65)))
    assert normal_sides(few, enough) is normal_sides(enough, few) is normal_sides(wide, wide) is None
    for mean, inverse in normal_sides(enough, 2.0 * enough + 1.0):
        assert mean.shape == (3,) and inverse.shape == (3, 3)


def test_the_score_that_was_chosen_is_learned_anew_with_less_noise(monkeypatch):
    monkeypatch.setattr(auditor, "_weaker", lambda setting, fault: (setting, fault))
    given = []

    def learned(setting, stream, size):
        given.append((setting, size))
        return (SimpleNamespace(label=label) for label in "abc")

    for label, found in (("b", "b"), ("c", "c"), ("other", "a")):
        choice = SimpleNamespace(setting="s", label=label, scores=(np.zeros(7), np.zeros(7)))
        assert auditor.Audit.weakened(SimpleNamespace(learned=learned), choice).label == found
    assert given == [(("s", auditor.FAULT), 14)] * 3


@pytest.mark.parametrize(
    ("promised", "chosen"),
    [("5", 0), ("5 5.9", 0), ("5 6.1", 1), ("5 6.1 7 7.2", 3), ("9 7 99!", 0), ("9! 1", 1), ("3 4.5 5 5.6 1", 3)],
)
def test_another_instance_is_audited_only_if_it_promises_clearly_more_and_is_short(monkeypatch, promised, chosen):
    """By the better one of its two pairs of data sets; promises are in steps that count as equal."""
    cells = [SimpleNamespace(word=word, plan=lambda *given, word=word, **keys: (0, word)) for word in promised.split()]
    monkeypatch.setattr(auditor, "_instances", lambda *given: cells)
    monkeypatch.setattr(auditor, "work_of", lambda word: auditor.SHORT_WORK + word.endswith("!"))
    monkeypatch.setattr(auditor, "calibrate_cell", lambda *given: SimpleNamespace(scales=(), calibration="paper"))

    def pair(cell, *given):
        better = float(cell.word)
        return [better, 0.0] if len(cells) % 2 else [0.0, better]

    monkeypatch.setattr(auditor, "candidate_pairs", pair)
    monkeypatch.setattr(auditor.Audit, "__post_init__", lambda audit: vars(audit).update(plan=None, promise=float))
    monkeypatch.setattr(auditor.Audit, "learned", lambda audit, pair, *given: [pair * auditor.STEP])
    assert auditor.Audit(cells[0], auditor.calibrate_cell(), 100, 0.95).telling(()).cell is cells[chosen]
