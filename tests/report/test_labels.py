"""Parts that are beside the statement say so, and their marks are grey."""

from dataclasses import replace

from dpsco_bench.report.drawing import FAINT, TONE_COLOURS
from dpsco_bench.report.panels import BESIDE, beside_text, kind_panel, mark, small_line
from dpsco_bench.report.scores import Score, claim_scores


def row(inputs, part, calibration):
    scores = claim_scores(inputs.claim("wang2017.kinds"))
    return next(score for score in scores if (score.row.part, score.row.calibration) == (part, calibration))


def aside(score):
    return Score(score.results, replace(score.row, beside="it is not about what the claim states"))


def test_the_mark_of_what_does_not_count_is_grey(inputs):
    counted = row(inputs, "explicit", "paper")
    assert mark(counted) == [("✗ violated", TONE_COLOURS["bad"])]
    assert mark(aside(counted)) == [("✗ violated", FAINT)]


def test_a_panel_says_what_of_it_is_beside_the_statement(inputs):
    paper, accounted = (row(inputs, "rate-n", calibration) for calibration in ("paper", "accounted"))
    assert beside_text([paper, accounted]) == "" and not small_line([paper]).startswith(BESIDE)
    assert beside_text([aside(paper), aside(accounted)]) == BESIDE
    assert beside_text([paper, aside(accounted)]) == f"accounted noise {BESIDE}"
    assert small_line([aside(paper)]).startswith(f"{BESIDE}; rate-n, ridge_logistic")


def test_a_panel_of_a_part_beside_the_statement_is_drawn_so(inputs):
    panel = paper_panel(inputs)
    assert panel.line.startswith(BESIDE)


def paper_panel(inputs):
    score = aside(row(inputs, "explicit", "paper"))
    return kind_panel([score])
