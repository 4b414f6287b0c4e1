"""Verdicts that are made up, and whether an answer is told as it should be."""

import re

from dpsco_bench.analysis.answer_text import sentences, words
from dpsco_bench.analysis.verdict import Noise, Verdict

WORDS = {"yes": "match", "no": "fails", "undecided": "inconclusive"}
PROVEN = Noise("proven", 0.25, "upper", 1.0)
BROKEN = Noise("exceeds_claim", 12_900.0, "lower", 1.0)
UNSHOWN = Noise("unproven", 8.456, "upper", 8.0)
NOISES = {"private": PROVEN, "not private": BROKEN, "not shown": UNSHOWN}


def is_told(text):
    """Sentences, at most one of each noise and one of rows beside the statement: capital, full stop, brackets."""
    ends = re.findall(r"[.!?](?=\s|$)", text)
    return (
        all(one[:1].isupper() or one[:1].isdigit() for one in sentences(text))
        and len(ends) == len(sentences(text)) <= 8
        and text.endswith(".")
        and text.count("(") == text.count(")")
        and all(text.count(noise) <= 1 for noise in ("the printed noise", "ithout noise", "ith private noise"))
    )


def longest(text):
    """Words of its longest sentence."""
    return max(map(words, sentences(text)))


def rate(says, calibration="paper", noise=None, parameter="n", kind="rate", **more):
    word = says if kind != "rate" else WORDS.get(says, says)
    noise = NOISES.get(noise)
    return Verdict(word, kind, "why", calibration=calibration, parameter=parameter, noise=noise, id="p.thm", **more)


def privacy(word, calibration="paper", real=0.25):
    status = {"holds": "proven", "fails": "exceeds_claim"}.get(word, "unproven")
    kind = {"holds": "upper", "fails": "lower"}.get(word, "upper")
    return Verdict(word, "privacy", calibration=calibration, noise=Noise(status, real, kind, 1.0), id="p.thm")
