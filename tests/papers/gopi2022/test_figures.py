"""Further panels of claims, from a small run of their cells."""

import pytest

from dpsco_bench.report.drawing import style
from dpsco_bench.report.figures import claim_figures, claim_panels
from dpsco_bench.report.own_figures import extra_panels


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
