"""The opening: every claim of every paper is counted once, and the headline adds up."""

from types import SimpleNamespace

from dpsco_bench.analysis.answer import STANDINGS, Answer, answer
from dpsco_bench.analysis.noise import Noise
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.report.opening import (
    COLOURS,
    ClaimLine,
    PaperLine,
    accounted_text,
    headline,
    paper_lines,
)
from dpsco_bench.report.scores import scores


def lines(inputs):
    return paper_lines(inputs, scores(inputs), {"wang2017": "Wang, Ye, Xu 2017"})


def test_every_standing_has_a_colour():
    assert list(COLOURS) == list(STANDINGS) and len(set(COLOURS.values())) == len(COLOURS)


def test_every_claim_is_counted_once(inputs):
    (line,) = lines(inputs)
    assert sum(line.counts.values()) == len(line.claims) == len(inputs.claims)
    assert sum(line.privacy.values()) == 1 and line.privacy["contradicts"] == 1
    assert headline([line]).startswith(f"Of {len(inputs.claims)} theorems, rows and figures ")


def test_standings_are_those_of_the_terminal(inputs):
    (line,) = lines(inputs)
    for claim, found in zip(inputs.claims, line.claims, strict=True):
        assert found.results is claim and found.answer == answer(claim.rows)
    found = {claim.results.id: claim.standing for claim in line.claims}
    assert found["wang2017.kinds"] == "fails"  # its explicit bound is violated under the printed noise
    assert found["wang2017.absent"] == found["wang2017.unmeasured"] == "not run"


def test_accounted_noise_is_counted_by_what_is_proven_of_it():
    """Not of rows on privacy, counts, or what is only shown; nothing is said where there are none."""

    def row(kind, word, status, calibration="accounted"):
        return Verdict(word, kind, calibration=calibration, noise=Noise(status, 1.0, "upper", 1.0))

    rows = [row("rate", "match", "proven"), row("band", "holds", "proven"), row("explicit", "holds", "unproven")]
    rows += [row("ordering", "reversed", "target_law_only"), row("privacy", "holds", "proven")]
    rows += [row("shown", "shown", "unproven"), row("rate", "match", "exceeds_claim", "paper")]
    claim = ClaimLine(SimpleNamespace(rows=rows), Answer("holds", ""))
    said = accounted_text([PaperLine("p", "P 2020", [claim], {}, 0)])
    assert (
        "It is proven private behind 2 of 4 verdicts, behind 1 the target law alone is, behind 1 nothing is shown"
        in said
    )
    assert accounted_text([PaperLine("p", "P 2020", [], {}, 0)]) == ""
