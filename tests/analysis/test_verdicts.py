"""Privacy verdicts, controls, skipped parts, notes, and the JSON form of a verdict."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench import jsonio
from dpsco_bench.analysis.verdict import IDENTITY, OUTCOME, Verdict, verdict_from_json, verdict_word
from dpsco_bench.analysis.verdicts import (
    expected_chance_deviations,
    privacy_verdict,
    skipped_verdict,
    wrong_reason_notes,
)
from dpsco_bench.errors import InputError


@pytest.mark.parametrize(
    ("real", "kind", "verdict"),
    [
        (0.9, "upper", "holds"),
        (0.9, "exact", "holds"),
        (1.0009, "exact", "holds"),
        (1.0011, "exact", "fails (real eps 1)"),
        (2.4, "exact", "fails (real eps 2.4)"),
        (14646.0, "lower", "fails (real eps 1.46e+04)"),
        (np.inf, "exact", "fails (real eps inf)"),
        (2.4, "upper", "unproven (upper bound 2.4)"),
        (np.inf, "upper", "unproven (upper bound inf)"),
        (0.9, "lower", "unproven (lower bound 0.9)"),
        (np.nan, "", "unproven (no accountant covers it)"),
    ],
)
def test_privacy_of_one_cell(real, kind, verdict):
    judged = privacy_verdict([real], [kind], [1.0])
    assert judged.verdict == verdict
    assert judged.epsilon_real == real or np.isnan(real)
    assert judged.epsilon_real_kind == kind


def test_worst_cell_decides_relative_to_its_claim():
    judged = privacy_verdict([0.5, 3.0, 7.0, 9.0], ["exact", "exact", "exact", "upper"], [1, 1, 4, 1])
    assert judged.verdict == "fails (real eps 3)"
    assert judged.epsilon_claimed == 1.0
    assert "2 of 4" in judged.reason
    assert privacy_verdict([0.5, 9.0], ["exact", "upper"], [1, 1]).verdict == "unproven (upper bound 9)"
    assert privacy_verdict([0.5, 3.9], ["exact", "upper"], [1, 4]).verdict == "holds"
    assert privacy_verdict([np.nan, 9.0], ["", "upper"], [1, 1]).verdict == "unproven (upper bound 9)"


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [
        ("exact", "unproven (value 0.5)"),
        ("upper", "unproven (upper bound 0.5)"),
        ("lower", "unproven (lower bound 0.5)"),
    ],
)
def test_nothing_is_proven_where_proof_is_withheld(kind, verdict):
    judged = privacy_verdict([0.5], [kind], [1.0], unproven="nominal constants")
    assert (judged.verdict, judged.reason) == (verdict, "nominal constants")


@pytest.mark.parametrize(
    ("real", "kinds", "claimed"),
    [([1.0], ["guess"], [1.0]), ([1.0], [], [1.0]), ([1.0], ["exact"], [0.0]), ([], [], []), ([1, 2], ["exact"], [1])],
)
def test_bad_privacy_cells_are_refused(real, kinds, claimed):
    with pytest.raises(InputError):
        privacy_verdict(real, kinds, claimed)


def test_skipped_verdicts_name_the_reason():
    judged = skipped_verdict("ordering", "data absent")
    assert (judged.verdict, judged.word) == ("skipped: data absent", "skipped")


def rate(word="match", noise_off=-1.02):
    return Verdict(word, "rate", slope=-1.0, bound_slope=-1.0, noise_off_slope=noise_off, tolerance=0.15)


@pytest.mark.parametrize(
    ("noise_off", "status", "epsilon", "notes"),
    [
        (-2.0, "proven", 1.0, ()),
        (np.nan, "none", np.nan, ()),
        (-1.02, "proven", 1.0, ("schedule alone gives slope -1.02 with noise off",)),
        (-2.0, "exceeds_claim", 173.4, ("calibration not private (real eps 173)",)),
        (-2.0, "exceeds_claim", np.nan, ("calibration not private",)),
        (-2.0, "unproven", np.nan, ("calibration not shown to be private (unproven)",)),
        (
            -1.1,
            "target_law_only",
            np.nan,
            (
                "schedule alone gives slope -1.10 with noise off",
                "calibration not shown to be private (target_law_only)",
            ),
        ),
    ],
)
def test_matches_for_a_wrong_reason_are_noted(noise_off, status, epsilon, notes):
    assert wrong_reason_notes(rate(noise_off=noise_off), status, epsilon) == notes
    assert wrong_reason_notes(rate("faster", noise_off), status, epsilon) == ()


def test_expected_chance_deviations():
    assert expected_chance_deviations(0) == 0
    assert expected_chance_deviations(120) == pytest.approx(6.0)
    with pytest.raises(InputError):
        expected_chance_deviations(-1)


SPECIFIED = {
    *("id", "part", "kind", "calibration", "profile", "parameter", "values", "mean", "stderr", "bound", "slope", "ci"),
    *("bound_slope", "claimed_exponent", "noise_off_slope", "verdict", "replicates", "runtime_s", "key"),
    *("expected", "reason"),
}


def test_json_row_has_the_documented_keys_and_strict_values():
    verdict = replace(rate(), values=(1.0, 2.0), mean=(np.inf, 0.5), id="p.thm1", ci=(-np.inf, 0.5))
    row = verdict.to_json()
    assert set(row) >= SPECIFIED
    assert "worst_ratio" not in row
    assert row["mean"] == ["inf", 0.5]
    assert row["ci"] == ["-inf", 0.5]
    assert row["runtime_s"] is None
    json.dumps(row, allow_nan=False)
    assert tuple(row)[:5] == IDENTITY
    assert set(OUTCOME) <= set(row)


@pytest.mark.parametrize(
    ("kind", "key"),
    [("explicit", "worst_ratio"), ("privacy", "epsilon_real"), ("ordering", "ratio_ci"), ("law", "worst_value")],
)
def test_extras_appear_for_the_kinds_that_have_them_even_when_skipped(kind, key):
    assert skipped_verdict(kind, "data absent").to_json()[key] is None


@pytest.mark.parametrize(
    "verdict",
    [
        replace(rate(), values=(1.0, 2.0), mean=(0.5, np.inf), notes=("a", "b"), key="k", replicates=4),
        privacy_verdict([np.inf], ["exact"], [1.0]),
        Verdict("holds", "ordering", ratio={"end": 0.5}, ratio_ci={"end": (0.4, 0.6)}),
        Verdict("not_observable", "rate", mean=(np.nan, 1.0)),
    ],
)
def test_json_round_trip(verdict):
    text = jsonio.dumps_canonical(verdict.to_json())
    again = verdict_from_json(jsonio.loads(text) | {"unknown": 1})
    assert repr(again) == repr(verdict)  # repr, because NaN differs from itself


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("match", "match"),
        ("fails (real eps 12.3)", "fails"),
        ("unproven (upper bound 2)", "unproven"),
        ("skipped: data absent", "skipped"),
        ("not_observable (frozen)", "not_observable"),
        ("", ""),
    ],
)
def test_bare_words(text, word):
    assert verdict_word(text) == word
