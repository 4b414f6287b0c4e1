"""Further panels of claims, from a small run of their cells."""

import numpy as np
import pytest

from dpsco_bench.papers.gopi2022.tables import projected_queries
from dpsco_bench.report.drawing import compose, style
from dpsco_bench.report.figures import claim_figures, claim_panels
from dpsco_bench.report.own_figures import extra_panels
from dpsco_bench.report.papers import cells_table
from dpsco_bench.report.scores import claim_scores


@pytest.mark.parametrize(
    ("claim", "title"),
    [("gopi2022.bound", "No cell of "),
     ("gopi2022.thm3.privacy", "With S = 2G the bound on the law is above every claim from "),
     ("gopi2022.cor2.erm", "Measured slopes are within ")],
)  # fmt: skip
def test_studies_are_drawn_first(measured, tmp_path, claim, title):
    results = measured(tmp_path, claim)
    (panel,) = extra_panels(results)
    assert panel.title.startswith(title) and claim_panels(results)[0].title == panel.title
    with style():
        figure = claim_figures(results)[""]
        figure.canvas.draw()
        assert len(figure.axes) >= 1


def test_grids_are_drawn_over_the_value_of_their_bound(measured, tmp_path):
    results = measured(tmp_path, "gopi2022.bound")
    lines = [panel.line for panel in claim_panels(results) if not panel.blank]
    assert any("cells; erm, cells of erm-axis" in line for line in lines)
    assert not any(line.startswith("erm-axis") for line in lines)  # what is only shown is in the tables
    slopes = [score.row.slope for score in claim_scores(results) if score.row.part == "erm-axis"]
    assert np.isnan(slopes).all() and len(slopes) == 2
    erm = [s.row for s in claim_scores(results) if s.row.part == "erm"]
    assert [row.verdict for row in erm] == ["holds", "holds"] and all(row.worst_ratio < 0.64 for row in erm)


def test_other_claims_have_no_study(measured, tmp_path):
    assert extra_panels(measured(tmp_path, "gopi2022.thm2")) == []


def test_other_quantities_are_shown_as_they_are(measured, tmp_path):
    results = measured(tmp_path, "gopi2022.thm2")
    (shown,) = [s for s in claim_scores(results) if s.row.part == "thm3-centred"]
    assert shown.row.mean == pytest.approx([0.772, 1.121, 1.618, 1.685], abs=1e-3)
    cells = results.evidence("thm3-centred", "paper")
    assert [cell.final.mean() for cell in cells] == pytest.approx(shown.row.mean)
    panel = next(p for p in claim_panels(results) if p.line.startswith("thm3-centred"))
    with style():
        figure = compose([panel])
        assert figure.axes[-1].get_ylabel() == "exact ε of a pair of data sets"
    assert len(cells_table(results).rows) == 8


def test_projected_queries_of_the_chapter():
    found = [projected_queries(n) for n in (20, 50, 200, 1000)]
    assert found == pytest.approx([9.0e5, 6.1e6, 1.1e8, 3.2e9], rel=0.03)
