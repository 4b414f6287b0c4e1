"""The regression check fails for a changed word and for nothing else."""

import math

import numpy as np
import pytest

from dpsco_bench.analysis.noise import Noise
from dpsco_bench.analysis.record import SAME, merge, moved, read_record, record
from dpsco_bench.analysis.record import compare as compare_all
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.errors import InputError
from dpsco_bench.jsonio import loads
from dpsco_bench.paths import shared_dir


def compare(*arguments, **more):
    return [row for row in compare_all(*arguments, **more) if row.what != SAME]


def row(verdict, claim="p.thm1", part="n", calibration="paper", profile="ci", **more):
    return Verdict(verdict, "rate", id=claim, part=part, calibration=calibration, profile=profile, **more)


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
    ],
)
def test_pairs_of_verdicts(recorded, fresh, what, fails):
    differences = compare([row(recorded)], [row(fresh)])
    assert [(d.what, d.fails) for d in differences] == ([(what, fails)] if what else [])


@pytest.mark.parametrize("fresh", [("not private: eps is 12",), ()])
def test_a_changed_word_fails_whatever_its_reservations(fresh):
    (found,) = compare([row("match", reservations=("schedule: all of it",))], [row("fails", reservations=fresh)])
    assert (found.what, found.fails) == ("changed", True)


def test_matching_is_on_profile_claim_part_and_calibration():
    recorded = [
        row("match"),
        row("fails", calibration="accounted"),
        row("holds", part="d"),
        row("fails", profile="full"),
    ]
    assert compare(recorded, list(reversed(recorded))) == []


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
    before = row("match", slope=-1.0, ci=(-1.1, -0.9))
    assert moved(before, row("match", slope=slope, ci=ci)) == told
    assert compare([before], [row("match", slope=slope, ci=ci)]) == []  # and fails nothing


def test_a_slope_without_an_interval_moves_by_more_than_its_digits():
    exact = [row("match", slope=slope, ci=(slope, slope)) for slope in (1.017, 1.01749, 1.02)]
    assert moved(row("match", slope=0.0, ci=(0.0, 0.0)), row("match", slope=-4e-13, ci=(-4e-13, -4e-13))) == ""
    assert moved(exact[0], exact[1]) == "" and moved(exact[0], exact[2]).startswith("slope 1.02 -> 1.02, beyond")


@pytest.mark.parametrize(
    ("recorded", "fresh", "found"),
    [
        ([], [row("match")], [("new", False)]),
        ([row("match"), row("match", part="d"), row("match", claim="p.other")], [row("match")], [("missing", True)]),
        ([row("match"), row("match", part="d")], [], []),
        ([row("holds"), row("holds", part="d")], [row("skipped: data absent")], [("skipped", False)]),
        ([row("skipped: x", part="d"), row("match")], [row("match")], [("missing", False)]),
        ([row("match", slope=-1.0)], [row("match", slope=-1.2, runtime_s=3.0)], []),
    ],
)
def test_new_and_missing_verdicts(recorded, fresh, found):
    assert [(d.what, d.fails) for d in compare(recorded, fresh)] == found


def test_missing_verdicts_of_claims_that_were_run_fail():
    listed = compare([row("match", claim="p.other")], [row("match")], claims_run=["p.other"])
    assert [(d.id, d.what, d.fails) for d in listed if d.what != "new"] == [("p.other", "missing", True)]


def test_a_reservation_that_came_or_went_is_noted():
    (difference,) = compare([row("fails")], [row("fails", reservations=("schedule: 0.91",))])
    assert (difference.what, difference.fails) == ("reserved", False)
    told = [row("match", reservations=(text,)) for text in ("schedule: 0.91", "schedule: 0.92")]
    assert compare(told[:1], told[1:]) == []


def test_duplicates_and_damaged_records_are_refused(tmp_path):
    with pytest.raises(InputError, match="one for each"):
        compare([row("match"), row("fails")], [])
    with pytest.raises(InputError):
        record(tmp_path / "x.json", [row("match"), row("match")])
    path = tmp_path / "ci.json"
    path.write_text('[{"id": "a')
    with pytest.raises(InputError, match=r"record = '.*ci\.json'"):
        read_record(path)


def verdict(**changes):
    given = {"id": "p.thm1", "part": "n", "calibration": "paper", "profile": "ci"} | changes
    return Verdict("match", "rate", slope=-1.0000123, ci=(-1.23456, np.inf), runtime_s=3.2, key="abc", **given)


def test_record_is_stable_sorted_and_rounded(tmp_path):
    rows = [verdict(part=part) for part in ("n", "d")]
    record(tmp_path / "a.json", rows)
    record(tmp_path / "b.json", rows[::-1])
    text = (tmp_path / "a.json").read_text()
    assert text == (tmp_path / "b.json").read_text()
    assert len(text.splitlines()) == 4
    again = read_record(tmp_path / "a.json")
    assert [entry.part for entry in again] == ["d", "n"]
    assert (again[0].slope, again[0].ci) == (-1.0, (-1.234, np.inf)) and np.isnan(again[0].bound_slope)
    assert not {"runtime_s", "key", "mean"} & set(loads(text)[0])
    assert compare(again, rows) == []


def test_merge_updates_what_was_measured_and_keeps_the_rest():
    recorded = [row("match"), row("match", part="gone"), row("holds", claim="p.other"), row("holds", claim="p.data")]
    fresh = [row("fails"), row("match", part="added"), row("skipped: data absent", claim="p.data")]
    merged = {(r.id, r.part): r.verdict for r in merge(recorded, fresh)}
    kept = {("p.other", "n"): "holds", ("p.data", "n"): "holds"}
    assert merged == {("p.thm1", "n"): "fails", ("p.thm1", "added"): "match", **kept}
    skipped = row("skipped: data absent")
    assert merge([], [skipped]) == [skipped]


@pytest.mark.parametrize("value", [13.3501, 1.68473, 1.68501, 0.249951, 12_345.6, 1e-7 / 3, math.pi, -2.0])
def test_a_recorded_number_is_shown_as_the_run_shows_it(tmp_path, value):
    """Rounded to four digits and then to three, 13.3501 would be 13.3."""
    record(tmp_path / "ci.json", [row("match", slope=value)])
    (found,) = read_record(tmp_path / "ci.json")
    assert f"{found.slope:.3g}" == f"{value:.3g}" and found.slope == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize(
    ("value", "kind", "shown"),
    [(8_939.63, "lower", ">= 8,930"), (8_940.4, "upper", "<= 8,950"), (8_939.63, "exact", "= 8,940")],
)
def test_a_recorded_bound_is_still_one(tmp_path, value, kind, shown):
    """8,939.63 rounded to four digits is 8,940, which is no lower bound."""
    fresh = row("fails", noise=Noise("exceeds_claim", value, kind, 1.0))
    record(tmp_path / "ci.json", [fresh])
    (found,) = read_record(tmp_path / "ci.json")
    assert f"eps {shown}," in found.noise.said and found.noise.said == fresh.noise.said


def test_a_recorded_bound_compares_with_its_claim_as_the_run_does(tmp_path):
    """69.24396 to four digits is 69.25 upwards and 69.24 as a claim: a proven epsilon would exceed it."""
    value = 69.24396351258213
    record(tmp_path / "ci.json", [row("holds", noise=Noise("proven", value, "upper", value))])
    (found,) = read_record(tmp_path / "ci.json")
    assert 69.24 < found.noise.epsilon_real <= found.noise.epsilon_claimed < 69.25


def test_recording_a_record_changes_nothing(tmp_path):
    path = shared_dir("workflows") / "recorded" / "ci.json"
    record(tmp_path / "ci.json", read_record(path))
    assert (tmp_path / "ci.json").read_bytes() == path.read_bytes()
