"""The opening: every verdict of every paper is counted once, and the headline adds up."""

from dpsco_bench.report.drawing import style, svg_text
from dpsco_bench.report.opening import TONE_GROUPS, headline, page_papers, paper_lines, papers_figure, papers_table
from dpsco_bench.report.scores import scores
from dpsco_bench.report.tables import to_csv, to_markdown
from dpsco_bench.report.wording import TONES


def lines(inputs):
    return paper_lines(inputs, scores(inputs), {"wang2017": "Wang, Ye, Xu 2017"})


def test_every_tone_has_a_group():
    grouped = [tone for _, tones, _ in TONE_GROUPS for tone in tones]
    assert sorted(grouped) == sorted({*TONES.values(), "qualified"})


def test_every_verdict_is_counted_once(inputs):
    (line,) = lines(inputs)
    assert sum(line.groups.values()) == len(scores(inputs)) and line.claims == len(inputs.claims)
    assert sum(line.privacy.values()) == 1 and line.privacy["fails"] == 1
    total = sum(line.groups.values())
    assert headline([line]).startswith(f"{line.groups['confirmed']} of {total} verdicts confirm their paper")


def test_the_table_and_the_figure(inputs):
    table = papers_table(lines(inputs))
    assert "1 above the claim" in to_markdown(table) and "wang2017" in to_csv(table)
    with style():
        assert svg_text(papers_figure(lines(inputs))) == svg_text(papers_figure(lines(inputs)))
    assert "Wang, Ye, Xu 2017" in page_papers(lines(inputs)) and "not confirmed" in page_papers(lines(inputs))
