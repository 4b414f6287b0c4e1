"""The errata ledger: every entry says in a word what it changes, words are explained once, and counts are of words."""

import math
import re
from dataclasses import fields
from pathlib import Path

import pytest

from dpsco_bench.claims.catalogue import errata_papers, find_errata, load_errata
from dpsco_bench.claims.erratum import CHANGES, WEIGHTIEST, Erratum, counted_changes, parse_erratum
from dpsco_bench.claims.files import read_yaml
from dpsco_bench.errors import InputError
from dpsco_bench.report.wording import symbols

ROOT = Path(__file__).resolve().parents[2]
ENTRY = {
    "id": "E1",
    "title": "T",
    "changes": "constant",
    "printed": "as printed\n  here",
    "calculation": "c",
    "consequence": "d",
}
CHANGED = {
    "guarantee": {
        "bassily2021": ["E1", "E2", "E3", "E5"],
        "gopi2022": ["E1", "E2", "E3"],
        "su2023": ["E1", "E4"],
        "wang2017": ["E1", "E2", "E3", "E6"],
        "zhang2022": ["E1"],
    },
    "rate": {"bassily2021": ["E12"]},
    "constant": {
        "bassily2021": ["E6", "E10"],
        "gopi2022": ["E8"],
        "su2023": ["E2", "E5", "E10"],
        "wang2017": ["E4", "E8", "E12"],
        "zhang2022": ["E6", "E8"],
    },
}
"""What is said of five papers' authors is changed here too, or not at all."""


@pytest.mark.parametrize("word", CHANGED)
def test_which_entries_change_what(word):
    found = {paper: [e.id for e in load_errata(paper) if e.changes == word] for paper in errata_papers()}
    assert {paper: ids for paper, ids in found.items() if ids} == CHANGED[word]


def test_an_entry_is_read_with_its_word():
    entry = parse_erratum("mine", ENTRY)
    assert entry.changes == "constant" and entry.printed == "as printed here" and entry.check.startswith("by hand")
    assert "changes" in {f.name for f in fields(Erratum)}


@pytest.mark.parametrize("changes", ["missing", "rates", "", "Rate", ["rate"], None])
def test_a_missing_or_unknown_word_is_one_line(changes):
    entry = {key: value for key, value in ENTRY.items() if key != "changes"}
    if changes != "missing":
        entry["changes"] = changes
    with pytest.raises(InputError) as refused:
        parse_erratum("mine", entry)
    said = str(refused.value)
    assert said.startswith("errata of mine, E1: changes = ") and "\n" not in said
    assert said.endswith("must be one of rate, constant, guarantee, text")


def test_other_keys_are_still_checked():
    with pytest.raises(InputError, match="errata of mine, E1: title = 'missing'"):
        parse_erratum("mine", {key: value for key, value in ENTRY.items() if key != "title"})
    with pytest.raises(InputError, match="errata of mine, E1: key = 'change'"):
        parse_erratum("mine", {**ENTRY, "change": "rate"})


def test_counts_are_a_sentence():
    entry = parse_erratum("mine", ENTRY)
    one = (
        "Of 1 entry 0 change a rate of a paper's own methods, 1 a constant, 0 a privacy guarantee and 0 none of these."
    )
    assert counted_changes([entry]) == one
    rate = parse_erratum("mine", {**ENTRY, "changes": "rate"})
    assert counted_changes([rate, entry, entry]).startswith(
        "Of 3 entries 1 changes a rate of a paper's own methods, 2 a "
    )
    everything = [e for paper in errata_papers() for e in load_errata(paper)]
    numbers = list(map(int, re.findall(r"\d+", counted_changes(everything))))
    assert numbers[0] == len(everything) == sum(numbers[1:]) and len(numbers) == 1 + len(CHANGES)


def test_meanings_are_short_sentences_and_stand_in_the_documentation():
    page = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8")
    for word, change in CHANGES.items():
        assert f"| `{word}` | {symbols(change.meaning)} |" in page
        for sentence in re.split(r"(?<=\.) ", change.meaning):
            assert len(sentence.split()) <= 31, sentence
    assert WEIGHTIEST in page


def test_the_example_of_a_paper_has_the_word():
    file = ROOT / "examples" / "paper" / "example2026" / "conf" / "errata" / "example2026.yaml"
    assert [parse_erratum("example2026", entry).changes for entry in read_yaml(file)] == ["guarantee"]


def test_the_determinants_of_su2023_e4():
    """On a disk of radius R with r beta = eps n Delta: beta/(n m_l) = eps R^2/r, with r = 2 in the plane."""
    epsilon, radius, n, delta = 1.0, 4.0, 10**6, 1.0
    beta, modulus = delta * epsilon * n / 2, delta / radius**2
    reached = math.log1p((beta - modulus) / (n * modulus))
    (entry,) = find_errata("su2023", ["E4"])
    assert f"{reached:.2f} for eps = 1 and R = 4" in entry.calculation and reached > epsilon
