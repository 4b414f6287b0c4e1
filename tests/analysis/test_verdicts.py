"""The row of a verdict: its words, and its JSON form."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest

from dpsco_bench import jsonio
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import ROW_FIELDS, SAID_OF_CLAIMS, SHARED_FIELDS, all_kinds
from dpsco_bench.cli.verbs.list import verdict_schema
from dpsco_bench.errors import InputError


def rate(word="match", noise_off=-1.02):
    return Verdict(word, "rate", slope=-1.0, bound_slope=-1.0, noise_off_slope=noise_off, tolerance=0.15)


SPECIFIED = {
    *("id", "part", "kind", "calibration", "profile", "parameter", "values", "mean", "stderr", "bound", "slope", "ci"),
    *("bound_slope", "claimed_exponent", "noise_off_slope", "verdict", "replicates", "runtime_s", "key"),
    *("expected", "reason", "sentence", "reservations"),
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
    assert tuple(row)[: len(ROW_FIELDS)] == ROW_FIELDS


def test_every_field_of_a_row_is_listed_once_and_stands_in_the_schema():
    listed = (*ROW_FIELDS, *SHARED_FIELDS)
    assert sorted(listed) == sorted(field.name for field in fields(Verdict) if field.name != "own")
    schema, own = verdict_schema(), {name for kind in all_kinds() for name in kind.own_fields}
    assert set(schema["properties"]) == {*listed, *SAID_OF_CLAIMS, *own} and set(schema["required"]) == set(ROW_FIELDS)


@pytest.mark.parametrize(
    ("kind", "key"),
    [("explicit", "worst_ratio"), ("privacy", "epsilon_real"), ("ordering", "ratio_ci"), ("law", "worst_value")],
)
def test_extras_appear_for_the_kinds_that_have_them_even_when_skipped(kind, key):
    assert Verdict("skipped: data absent", kind).to_json()[key] is None


@pytest.mark.parametrize(
    "verdict",
    [
        replace(rate(), values=(1.0, 2.0), mean=(0.5, np.inf), notes=("a", "b"), reservations=("c",), key="k"),
        Verdict("fails (real eps inf)", "privacy", epsilon_real=np.inf, epsilon_real_kind="exact", epsilon_claimed=1.0),
        Verdict("holds", "ordering", ratio={"end": 0.5}, ratio_ci={"end": (0.4, 0.6)}),
        Verdict("not_observable", "rate", mean=(np.nan, 1.0)),
    ],
)
def test_json_round_trip(verdict):
    text = jsonio.dumps_canonical(verdict.to_json())
    again = Verdict.from_json(jsonio.loads(text))
    assert repr(again) == repr(verdict)  # repr, because NaN differs from itself


@pytest.mark.parametrize("row", [{"verdict": "match"}, {"verdict": "match", "kind": "rate", "unknown": 1}])
def test_rows_with_other_keys_are_refused(row):
    with pytest.raises(InputError, match="key of a verdict row"):
        Verdict.from_json(row)


@pytest.mark.parametrize(
    ("text", "reservations", "word", "counted", "said"),
    [
        ("match", (), "match", "match", "match"),
        ("match", ("counts are doubled",), "match", "match, qualified", "match, qualified"),
        ("match", ("schedule: 0.9", "not private: x"), "match", "match, qualified", "match, schedule, not private"),
        ("match", ("not shown private: x",), "match", "match, qualified", "match, not shown private"),
        ("fails", ("not private: x",), "fails", "fails", "fails, not private"),
        ("inconclusive (bent)", (), "inconclusive", "inconclusive", "inconclusive (bent)"),
        ("fails (real eps 12.3)", (), "fails", "fails", "fails (real eps 12.3)"),
        ("unproven (upper bound 2)", (), "unproven", "unproven", "unproven (upper bound 2)"),
        ("skipped: data absent: dpsco data x", (), "skipped", "skipped", "skipped: data absent"),
        ("not_observable (frozen)", (), "not_observable", "not observable", "not observable (frozen)"),
        ("not measured", (), "not measured", "not measured", "not measured"),
    ],
)
def test_the_words_of_a_row(text, reservations, word, counted, said):
    row = Verdict(text, "rate", reservations=reservations)
    assert (row.word, row.counted_as, row.said) == (word, counted, said)
    assert row.short == (said.partition(" (")[0] if "real eps" in said or "bound" in said else said)


@pytest.mark.parametrize(
    ("text", "kind", "form"),
    [
        ("inconclusive (bent)", "rate", "inconclusive (bent)"),
        ("not_observable (frozen)", "rate", "not_observable (frozen)"),
        ("fails (real eps 12.3)", "privacy", "fails"),
        ("unproven (no accountant covers it)", "privacy", "unproven"),
    ],
)
def test_words_in_parentheses_belong_to_the_word_and_numbers_do_not(text, kind, form):
    assert Verdict(text, kind).form == form


def test_every_word_of_every_kind_says_something_of_its_claim():
    for kind in all_kinds():
        for word, meant in kind.words.items():
            assert Verdict(word, kind.name).meaning == meant
        assert Verdict("skipped: data absent", kind.name).meaning.outcome == "absent"
        assert Verdict("not measured", kind.name).meaning.outcome == "open"
