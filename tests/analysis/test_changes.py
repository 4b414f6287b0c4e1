"""Every recorded word that differs from the earlier record has a line that says why."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from dpsco_bench.analysis.changes import (
    BEFORE,
    REMOVED,
    RULES,
    Change,
    because,
    changed,
    read_before,
    read_changes,
    read_reserved,
    record_changes,
    unexplained,
)
from dpsco_bench.analysis.record import read_record
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.grids import PROFILES
from dpsco_bench.errors import InputError

RECORDED = Path(__file__).parents[2] / "workflows" / "recorded"
HEADER = "profile,claim,part,calibration,old,new,because,reason\n"


def test_every_recorded_word_that_changed_has_a_line():
    """`dpsco compare --record` writes those of the rules; a correction's is written by hand, in a file of its own."""
    rows = [row for profile in PROFILES for row in read_record(RECORDED / f"{profile}.json")]
    folder = RECORDED / "changes"
    assert unexplained(read_before(folder), rows, read_changes(folder)) == []


def test_lines_begin_with_the_word_of_the_earlier_record():
    folder = RECORDED / "changes"
    before = read_before(folder)
    assert all(before.get(line.place) == line.old != line.new for line in read_changes(folder))


def test_replicates_that_a_reason_names_are_those_of_the_record():
    ran = {
        (row.profile, row.id, row.part, row.calibration): row.replicates
        for profile in PROFILES
        for row in read_record(RECORDED / f"{profile}.json")
    }
    named = [
        (line.place, int(found[1]))
        for line in read_changes(RECORDED / "changes")
        if (found := re.match(r"(\d+) replicates", line.reason)) and ran.get(line.place)
    ]
    assert named and [pair for pair in named if ran[pair[0]] != pair[1]] == []


def test_what_got_a_reservation_by_a_rule_is_what_the_record_says():
    rows = {
        (row.profile, row.id, row.part, row.calibration): row
        for profile in PROFILES
        for row in read_record(RECORDED / f"{profile}.json")
    }
    lines = read_reserved(RECORDED / "changes")
    assert lines and all(line.new.startswith(f"{line.old}, ") for line in lines)
    found = [line for line in lines if line.place in rows and rows[line.place].said == line.new]
    assert len(found) > 0.9 * len(lines) and all(line.reason in rows[line.place].reservations for line in found)


def row(part, word, kind="rate", **more):
    return Verdict(
        word, kind, "a reason, with a comma", id="p.thm1", part=part, calibration="paper", profile="ci", **more
    )


@pytest.fixture
def folder(tmp_path):
    words = {"n": "match", "d": "match", "eps": "fails", "gone": "match", "far": "holds", "data": "skipped"}
    lines = [f"ci,p.thm1,{part},paper,{word}" for part, word in words.items()]
    (tmp_path / BEFORE).write_text(
        "profile,claim,part,calibration,word\n" + "\n".join(lines) + "\nfull,p.thm1,n,paper,match\n"
    )
    (tmp_path / RULES).write_text(HEADER + "full,p.thm1,n,paper,match,faster,equivalence,kept\n")
    (tmp_path / "p.csv").write_text(HEADER + "ci,p.thm1,d,paper,match,fails,formula,the private term is named\n")
    return tmp_path


NOW = [
    row("n", "inconclusive (bent)"),
    row("d", "fails"),
    row("eps", "fails"),
    row("far", "violated", "explicit"),
    row("data", "match"),
    row("new", "match"),
]


def test_changed_words_are_found_whatever_stands_in_parentheses(folder):
    assert changed(read_before(folder), NOW) == {
        ("ci", "p.thm1", "n", "paper"): ("match", "inconclusive (bent)"),
        ("ci", "p.thm1", "d", "paper"): ("match", "fails"),
        ("ci", "p.thm1", "far", "paper"): ("holds", "violated"),
    }
    numbers = [row("far", "holds (12.3)", "explicit")]
    assert changed(read_before(folder), numbers) == {}


def test_recording_writes_a_line_for_what_has_none(folder):
    assert [place[2] for place in unexplained(read_before(folder), NOW, read_changes(folder))] == ["far", "gone", "n"]
    record_changes(folder, "ci", NOW)
    lines = {(line.profile, line.part): line for line in read_changes(folder)}
    assert lines["ci", "n"].because == "power law" and lines["ci", "n"].reason == "a reason, with a comma"
    assert lines["ci", "far"].because == "simultaneous intervals" and lines["full", "n"].reason == "kept"
    assert unexplained(read_before(folder), NOW, lines.values()) == [("ci", "p.thm1", "gone", "paper")]
    text = (folder / RULES).read_text()
    record_changes(folder, "ci", NOW)
    assert (folder / RULES).read_text() == text


def test_a_verdict_without_a_reason_keeps_its_line(folder):
    """Of claims that were not run again the record has the word alone."""
    record_changes(folder, "ci", NOW)
    text = (folder / RULES).read_text()
    record_changes(folder, "ci", [replace(verdict, reason="") for verdict in NOW])
    assert (folder / RULES).read_text() == text


def test_a_line_goes_when_its_word_is_the_old_one_again_or_somebody_explains_it(folder):
    record_changes(folder, "ci", NOW)
    (folder / "q.csv").write_text(HEADER + "ci,p.thm1,far,paper,holds,violated,instance,larger signals\n")
    record_changes(folder, "ci", [row("n", "match"), *NOW[1:]])
    assert [(line.profile, line.part) for line in read_changes(folder, ["p.csv", "q.csv"])] == [("full", "n")]


def test_a_verdict_that_is_gone_needs_a_line_of_its_own(folder):
    (folder / "q.csv").write_text(HEADER + f"ci,p.thm1,gone,paper,match,{REMOVED},instance,it measured nothing\n")
    record_changes(folder, "ci", NOW)
    assert unexplained(read_before(folder), NOW, read_changes(folder)) == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("ci,p.thm1,n,paper,match,fails,mood,x", "^bad.csv, line 2: because = 'mood'"),
        ("ci,p.thm1,n,paper,match,fails,equivalence,", "^bad.csv, line 2: because"),
        ("ci,p.thm1,n,paper,match,fails", "^bad.csv, line 2 = "),
        ("ci,p.thm1,d,paper,match,fails,formula,again", "^p.csv, line 2 = .*one line for each change"),
    ],
)
def test_bad_lines_are_named(folder, line, told):
    (folder / "bad.csv").write_text(HEADER + line + "\n")
    with pytest.raises(InputError, match=told):
        read_changes(folder)


@pytest.mark.parametrize(
    ("old", "verdict", "rule"),
    [
        ("match", row("n", "not_observable"), "asymptotic cells"),
        ("match", row("n", "faster", fitted=(False, True, True, True)), "asymptotic cells"),
        ("match", row("n", "inconclusive", fitted=(True,) * 4), "equivalence"),
        ("inconclusive", row("n", "match", fitted=(True,) * 4), "joint resampling"),
        ("match", row("n", "inconclusive (edge)"), "signal grid"),
        ("holds", row("n", "vacuous", "explicit"), "vacuous bound"),
        ("violated", row("n", "inconclusive", "explicit"), "simultaneous intervals"),
        ("fails", row("n", "fewer", "complexity"), "smaller count"),
        ("inconclusive", row("n", "holds", "control"), "joint resampling"),
        ("holds", row("n", "inconclusive", "control"), "equivalence"),
        ("fails", row("n", "unproven", "privacy"), "privacy"),
        ("match", Verdict("inconclusive", "rate", "chains not certified: R-hat 2"), "certificate"),
    ],
)
def test_which_rule_changed_a_word(old, verdict, rule):
    assert because(old, verdict) == (rule, verdict.reason)


def test_lines_know_their_place():
    assert Change("ci", "p.thm1", "n", "paper", "match", "fails", "formula", "x").place == (
        "ci",
        "p.thm1",
        "n",
        "paper",
    )
