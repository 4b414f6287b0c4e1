"""What files expect is in the words that verdicts use."""

import json
from pathlib import Path

import pytest

from dpsco_bench.analysis.verdict import verdict_word
from dpsco_bench.claims.expected import WORDS, check_expected
from dpsco_bench.claims.model import KINDS
from dpsco_bench.errors import InputError

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
    assert check_expected(text, kind, BOTH, "part p") is None


@pytest.mark.parametrize(
    "text", ["hold", "Holds", "holds.", "reversed", "holds or", "none holds", "paper", "paper: holds"]
)
def test_what_may_not(text):
    with pytest.raises(
        InputError, match="^part p: expected = .*: must be empty, or for kind privacy one of holds, fails"
    ):
        check_expected(text, "privacy", BOTH, "part p")


def test_every_kind_has_words_and_every_recorded_verdict_is_one_of_them():
    assert set(WORDS) == set(KINDS)
    for path in RECORDED.glob("*.json"):
        for row in json.loads(path.read_text()):
            words = {*WORDS[row["kind"]], "skipped"}
            assert verdict_word(row["verdict"]) in words or row["verdict"] in words, row
