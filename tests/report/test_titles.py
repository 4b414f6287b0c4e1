"""Titles of claims: over all claims in the recorded runs no two say something else of one subject."""

import re
from types import SimpleNamespace

import pytest

from dpsco_bench.analysis.answer import STANDINGS, answer
from dpsco_bench.analysis.record import read_record
from dpsco_bench.analysis.verdict import Noise, Verdict
from dpsco_bench.claims.catalogue import read_claims
from dpsco_bench.paths import shared_dir
from dpsco_bench.report.messages import HOLDS, NOISE_IS, RUNS, claim_title, place, title_parts

CLAIMS = {claim.id: claim for claim in read_claims()}
BROKEN = Noise("exceeds_claim", 12.0, "lower", 1.0)


def recorded(profile):
    """Claim -> its rows in the record of a profile."""
    found = {}
    for row in read_record(shared_dir("workflows") / "recorded" / f"{profile}.json"):
        found.setdefault(row.id, []).append(row)
    return found


@pytest.mark.parametrize("profile", ["ci", "full"])
def test_no_two_titles_of_a_paper_speak_of_the_same_subject(profile):
    """So none can contradict another, and what two quantities of one theorem come to may differ."""
    seen = {}
    for claim, rows in recorded(profile).items():
        subject, said = title_parts(CLAIMS[claim], rows)
        if not said:
            assert subject == RUNS and answer(rows).standing == "audited"
            continue
        key = CLAIMS[claim].paper, subject
        assert key not in seen, f"{claim} and {seen.get(key)}: {subject}"
        seen[key] = claim


@pytest.mark.parametrize("profile", ["ci", "full"])
def test_a_title_names_a_quantity_and_a_place_that_a_reader_finds(profile):
    for claim, rows in recorded(profile).items():
        title = claim_title(CLAIMS[claim], rows)
        assert title == RUNS or re.match(
            r"The (?:[a-z]+ ){0,3}[a-z]+ of (?:Theorem|Table|Corollar|Proposition|Lemma|Algorithm|Figure|Section"
            r"|Appendix|Remark|the comparison table)",
            title,
        ), title
        assert not re.search(r"[;_]|  |,,|claims nothing|cited by", title) and len(title) <= 150, title


@pytest.mark.parametrize(
    ("source", "title", "said"),
    [
        ("A, B 2020, Theorem 4.1, equation (3)", "x", "Theorem 4.1"),
        ("A 2020, Corollary 5 (part 2, with Theorem 4)", "x", "Corollary 5, part 2"),
        ("A 2020, Proposition 8(a)", "x", "Proposition 8(a)"),
        ("A 2020, Figure 1 and Appendix A", "x", "Figure 1"),
        ("A 2020, Theorems 3 and 4", "x", "Theorems 3 and 4"),
        ("A 2020, Appendix C.2; derived here", "x", "Appendix C.2 (derived here)"),
        ("A 2020, Table 1", "Table 1, ERM, row p = 1", "Table 1, ERM, row p = 1"),
        ("B 2019, as cited by A 2020", "Comparison table, phased SGD", "the comparison table, phased SGD"),
    ],
)
def test_the_place_of_a_statement(source, title, said):
    assert place(SimpleNamespace(source=source, title=title)) == said


def claim_of(rows, title="A bound"):
    parts = [SimpleNamespace(id=row.part, quantity="risk", kind=row.kind, beside=row.beside) for row in rows]
    return SimpleNamespace(source="A 2020, Theorem 1", title=title, parts=parts)


def row(word, kind, part="a", calibration="paper", **more):
    return Verdict(word, kind, "why", id="p.thm", part=part, calibration=calibration, **more)


@pytest.mark.parametrize(
    ("rows", "title"),
    [
        ([row("match", "complexity")], "The gradient count of Theorem 1 is as stated"),
        (
            [row("match", "complexity"), row("fails", "complexity", calibration="accounted")],
            "The gradient count of Theorem 1 is as stated for the printed method, not with accounted noise",
        ),
        (
            [row("match", "rate", parameter="n", noise=BROKEN), row("fails", "complexity", slope=2.0, parameter="n")],
            "The gradient count of Theorem 1 is not as stated in n",
        ),
        (
            [row("match", "rate", parameter="n"), row("fails", "rate", "b", parameter="d")],
            "The rate of Theorem 1 does not hold as stated in d",
        ),
        ([row("reversed", "ordering")], "The ordering of Theorem 1 does not hold as stated"),
        ([row("shown", "lower_bound")], "The lower bound of Theorem 1 is shown, not judged"),
        ([row("shown", "shown")], "The measured risk of Theorem 1 is shown, not judged"),
        (
            [row("holds", "privacy", calibration="accounted")],
            "The noise of Theorem 1 is private by construction in our version, the only one run",
        ),
        (
            [row("match", "rate", parameter="n", calibration="none")],
            "The bound of Theorem 1 holds without noise",
        ),
        (
            [row("match", "rate", parameter="n", noise=BROKEN, reservations=("schedule: 0.9 of the risk",))],
            "The bound of Theorem 1 holds, with at least half of the risk there without noise",
        ),
        ([row("skipped: data absent", "ordering")], "The ordering of Theorem 1 was not run"),
        ([], "The bound of Theorem 1 was not run"),
    ],
)  # fmt: skip
def test_titles_by_what_was_judged(rows, title):
    assert claim_title(claim_of(rows), rows) == title


def test_every_standing_is_told_of_a_quantity_or_of_noise():
    told = {*HOLDS, *NOISE_IS, "holds without noise", "audited"}
    assert told == set(STANDINGS)
