"""The errata ledger: every entry says in a word what it changes, words are explained once, and counts are of words."""

import math
from pathlib import Path

import pytest

from dpsco_bench.claims.catalogue import errata_papers, find_errata, load_errata

ROOT = Path(__file__).resolve().parents[2]
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


def test_the_determinants_of_su2023_e4():
    """On a disk of radius R with r beta = eps n Delta: beta/(n m_l) = eps R^2/r, with r = 2 in the plane."""
    epsilon, radius, n, delta = 1.0, 4.0, 10**6, 1.0
    beta, modulus = delta * epsilon * n / 2, delta / radius**2
    reached = math.log1p((beta - modulus) / (n * modulus))
    (entry,) = find_errata("su2023", ["E4"])
    assert f"{reached:.2f} for eps = 1 and R = 4" in entry.calculation and reached > epsilon
