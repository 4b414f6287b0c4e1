"""The row of a verdict and its JSON form; the regression check fails for a changed word and for nothing else."""

import json
import math
from dataclasses import fields

import numpy as np
import pytest

from dpsco_bench.analysis.noise import Noise
from dpsco_bench.analysis.record import SAME, merge, moved, read_record, record
from dpsco_bench.analysis.record import compare as compare_all
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import ROW_FIELDS, SAID_OF_CLAIMS, SHARED_FIELDS, all_kinds
from dpsco_bench.errors import InputError
from dpsco_bench.jsonio import dumps_canonical, loads
from dpsco_bench.paths import shared_dir
from tests.analysis.judging import verdict_schema


def row(verdict, claim="p.thm1", part="n", calibration="paper", profile="ci", **more):
    return Verdict(verdict, "rate", id=claim, part=part, calibration=calibration, profile=profile, **more)


def test_json_row_has_the_documented_keys_and_strict_values():
    made = row("match", slope=-1.0, values=(1.0, 2.0), mean=(np.inf, 0.5), ci=(-np.inf, 0.5)).to_json()
    assert "worst_ratio" not in made and Verdict("skipped: data absent", "explicit").to_json()["worst_ratio"] is None
    assert (made["mean"], made["ci"], made["runtime_s"]) == (["inf", 0.5], ["-inf", 0.5], None)
    assert tuple(made)[: len(ROW_FIELDS)] == ROW_FIELDS and json.dumps(made, allow_nan=False)


def test_every_field_of_a_row_is_listed_once_and_stands_in_the_schema():
    listed = (*ROW_FIELDS, *SHARED_FIELDS)
    assert sorted(listed) == sorted(field.name for field in fields(Verdict) if field.name != "own")
    schema, own = verdict_schema(), {name for kind in all_kinds() for name in kind.own_fields}
    assert set(schema["properties"]) == {*listed, *SAID_OF_CLAIMS, *own} and set(schema["required"]) == set(ROW_FIELDS)


@pytest.mark.parametrize(
    "verdict",
    [
        row("match", slope=-1.0, mean=(0.5, np.inf), notes=("a", "b"), reservations=("c",), key="k"),
        Verdict("fails (real eps inf)", "privacy", epsilon_real=np.inf, epsilon_real_kind="exact", epsilon_claimed=1.0),
        Verdict("holds", "ordering", ratio={"end": 0.5}, ratio_ci={"end": (0.4, 0.6)}),
        Verdict("not_observable", "rate", mean=(np.nan, 1.0)),
    ],
)
def test_json_round_trip(verdict):
    again = Verdict.from_json(loads(dumps_canonical(verdict.to_json())))
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


def test_words_in_parentheses_belong_to_the_word_and_numbers_do_not():
    for form in ("inconclusive (bent)", "not_observable (frozen)"):
        assert Verdict(form, "rate").form == form
    assert Verdict("fails (real eps 12.3)", "privacy").form == "fails"
    assert Verdict("unproven (no accountant covers it)", "privacy").form == "unproven"


def test_every_word_of_every_kind_says_something_of_its_claim():
    for kind in all_kinds():
        for word, meant in kind.words.items():
            assert Verdict(word, kind.name).meaning == meant
        assert Verdict("skipped: data absent", kind.name).meaning.outcome == "absent"
        assert Verdict("not measured", kind.name).meaning.outcome == "open"


def compare(recorded, fresh):
    return [row for row in compare_all(recorded, fresh) if row.what != SAME]


@pytest.mark.parametrize(
    ("recorded", "fresh", "what", "fails"),
    [
        ("match", "match", None, False),
        ("match", "fails", "changed", True),
        ("match", "inconclusive", "changed", True),
        ("inconclusive", "inconclusive (bent)", "changed", True),
        ("fails (real eps 12)", "fails (real eps 13)", None, False),
        ("fails", "fails (real eps 13)", None, False),
        ("unproven (upper bound 2)", "unproven (no accountant covers it)", None, False),
        ("unproven (upper bound 2)", "holds", "changed", True),
        ("match", "skipped: data absent", "skipped", False),
        ("skipped: data absent", "holds", "skipped", False),
        ("skipped: data absent", "skipped: no GPU", None, False),
        # with reservations behind a slash: numbers in them say nothing, and they take no change of the word back
        ("fails", "fails/schedule: 0.91", "reserved", False),
        ("match/schedule: 0.91", "match/schedule: 0.92", None, False),
        ("match/schedule: all of it", "fails/not private: eps is 12", "changed", True),
        ("match/schedule: all of it", "fails", "changed", True),
    ],
)
def test_pairs_of_verdicts(recorded, fresh, what, fails):
    old, new = (row(word, reservations=tuple(said)) for word, *said in (recorded.split("/"), fresh.split("/")))
    assert [(d.what, d.fails) for d in compare([old], [new])] == ([(what, fails)] if what else [])


@pytest.mark.parametrize(
    ("slope", "ci", "told"),
    [
        (-1.05, (-1.15, -0.95), ""),
        (-1.14, (-1.24, -1.04), ""),  # beyond each interval, within that of the difference
        (-1.15, (-1.25, -1.05), "slope -1 -> -1.15, beyond the joint interval of 0.14"),
        (-1.15, (-1.45, -0.85), ""),
        (np.nan, (np.nan, np.nan), ""),
        (-1.15, (np.nan, np.nan), ""),
    ],
)
def test_a_slope_beyond_the_joint_interval_is_told(slope, ci, told):
    before, after = row("match", slope=-1.0, ci=(-1.1, -0.9)), row("match", slope=slope, ci=ci)
    assert moved(before, after) == told
    assert compare([before], [after]) == []  # and fails nothing


def test_a_slope_without_an_interval_moves_by_more_than_its_digits():
    first, near, far, zero, rounded = (row("match", slope=x, ci=(x, x)) for x in (1.017, 1.01749, 1.02, 0.0, -4e-13))
    assert moved(zero, rounded) == moved(first, near) == ""
    assert moved(first, far).startswith("slope 1.02 -> 1.02, beyond")


APART = [row("match"), row("fails", calibration="accounted"), row("holds", part="d"), row("fails", profile="full")]


@pytest.mark.parametrize(
    ("recorded", "fresh", "found"),
    [
        ([], [row("match")], [("new", False)]),
        ([row("match"), row("match", part="d"), row("match", claim="p.other")], [row("match")], [("missing", True)]),
        ([row("match"), row("match", part="d")], [], []),
        ([row("holds"), row("holds", part="d")], [row("skipped: x")], [("skipped", False), ("missing", True)]),
        ([row("skipped: x", part="d"), row("match")], [row("match")], [("missing", False)]),
        ([row("match", slope=-1.0)], [row("match", slope=-1.2, runtime_s=3.0)], []),
        (APART, APART[::-1], []),
    ],
)
def test_new_and_missing_verdicts(recorded, fresh, found):
    assert [(d.what, d.fails) for d in compare(recorded, fresh)] == found


def test_duplicates_and_damaged_records_are_refused(tmp_path):
    with pytest.raises(InputError, match="one for each"):
        compare([row("match"), row("fails")], [])
    with pytest.raises(InputError):
        record(tmp_path / "x.json", [row("match"), row("match")])
    path = tmp_path / "ci.json"
    path.write_text('[{"id": "a')
    with pytest.raises(InputError, match=r"record = '.*ci\.json'"):
        read_record(path)


def test_record_is_stable_sorted_and_rounded(tmp_path):
    told = {"slope": -1.0000123, "ci": (-1.23456, np.inf), "runtime_s": 3.2, "key": "abc"}
    rows = [row("match", part=part, **told) for part in ("n", "d")]
    record(tmp_path / "a.json", rows)
    record(tmp_path / "b.json", rows[::-1])
    text, again = (tmp_path / "a.json").read_text(), read_record(tmp_path / "a.json")
    assert text == (tmp_path / "b.json").read_text() and len(text.splitlines()) == 4
    assert not {"runtime_s", "key", "mean"} & set(loads(text)[0])
    assert [entry.part for entry in again] == ["d", "n"] and compare(again, rows) == []
    assert (again[0].slope, again[0].ci) == (-1.0, (-1.234, np.inf)) and np.isnan(again[0].bound_slope)


def test_merge_updates_what_was_measured_and_keeps_the_rest():
    recorded = [row("match"), row("match", part="gone"), row("holds", claim="p.other"), row("holds", claim="p.data")]
    fresh = [row("fails"), row("match", part="added"), row("skipped: data absent", claim="p.data")]
    merged = {(r.id, r.part): r.verdict for r in merge(recorded, fresh)}
    kept = {("p.other", "n"): "holds", ("p.data", "n"): "holds"}
    assert merged == {("p.thm1", "n"): "fails", ("p.thm1", "added"): "match", **kept}
    assert merge([], fresh[2:]) == fresh[2:]


def kept(tmp_path, row):
    record(tmp_path / "ci.json", [row])
    return read_record(tmp_path / "ci.json")[0]


@pytest.mark.parametrize("value", [13.3501, 1.68473, 1.68501, 0.249951, 12_345.6, 1e-7 / 3, math.pi, -2.0])
def test_a_recorded_number_is_shown_as_the_run_shows_it(tmp_path, value):
    """Rounded to four digits and then to three, 13.3501 would be 13.3."""
    found = kept(tmp_path, row("match", slope=value))
    assert f"{found.slope:.3g}" == f"{value:.3g}" and found.slope == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize(
    ("value", "kind", "shown"),
    [(8_939.63, "lower", ">= 8,930"), (8_940.4, "upper", "<= 8,950"), (8_939.63, "exact", "= 8,940")],
)
def test_a_recorded_bound_is_still_one(tmp_path, value, kind, shown):
    """8,939.63 rounded to four digits is 8,940, which is no lower bound."""
    fresh = row("fails", noise=Noise("exceeds_claim", value, kind, 1.0))
    assert fresh.noise.shortfall == kept(tmp_path, fresh).noise.shortfall and f"eps {shown}," in fresh.noise.shortfall


def test_a_recorded_bound_compares_with_its_claim_as_the_run_does(tmp_path):
    """69.24396 to four digits is 69.25 upwards and 69.24 as a claim: a proven epsilon would exceed it."""
    value = 69.24396351258213
    noise = kept(tmp_path, row("holds", noise=Noise("proven", value, "upper", value))).noise
    assert 69.24 < noise.epsilon_real <= noise.epsilon_claimed < 69.25


def test_recording_a_record_changes_nothing(tmp_path):
    path = shared_dir("workflows") / "recorded" / "ci.json"
    record(tmp_path / "ci.json", read_record(path))
    assert (tmp_path / "ci.json").read_bytes() == path.read_bytes()
