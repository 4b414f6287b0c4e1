"""What files expect is in the words that verdicts use."""

from pathlib import Path

import pytest

from dpsco_bench.analysis.record import read_record
from dpsco_bench.claims.kinds import get_kind
from dpsco_bench.claims.parsing import expected_slips, expected_words

RECORDED = Path(__file__).parents[2] / "workflows" / "recorded"
BOTH = ["paper", "accounted"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "shown"),
        ("match", "rate"),
        ("match or inconclusive", "rate"),
        ("not_observable (frozen)", "rate"),
        ("paper holds, accounted reversed", "ordering"),
        ("accounted holds", "privacy"),
    ],
)
def test_what_may_be_expected(text, kind):
    assert not [*expected_slips(text, get_kind(kind), BOTH, "part p")]


@pytest.mark.parametrize(
    "text", ["hold", "Holds", "holds.", "reversed", "holds or", "none holds", "paper", "paper: holds"]
)
def test_what_may_not(text):
    (slip,) = expected_slips(text, get_kind("privacy"), BOTH, "part p")
    assert slip.key == "part p: expected" and slip.allowed.startswith("empty, or for kind privacy one of holds, fails")


def test_every_recorded_verdict_is_a_word_of_its_kind():
    for path in RECORDED.glob("*.json"):
        for row in read_record(path):
            assert {row.word, row.verdict} & {*get_kind(row.kind).words, "skipped"}, row


@pytest.mark.parametrize(
    ("text", "calibration", "words"),
    [
        ("", "paper", ()),
        ("match or inconclusive", "none", ("match", "inconclusive")),
        ("paper holds, accounted reversed", "accounted", ("reversed",)),
        ("paper holds", "accounted", ()),
    ],
)
def test_words_of_one_calibration(text, calibration, words):
    assert expected_words(text, calibration) == words
