"""What files expect is in the words that verdicts use."""

from pathlib import Path

import pytest

from dpsco_bench.analysis.record import read_record
from dpsco_bench.claims.kinds import get_kind
from dpsco_bench.claims.parsing import expected_words

RECORDED = Path(__file__).parents[2] / "workflows" / "recorded"


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
