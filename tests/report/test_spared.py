"""A figure, panel or table of an installed paper that fails says so in its place; nobody else's is lost."""

import pytest

from dpsco_bench.claims.tables import TableText
from dpsco_bench.errors import DpscoError
from dpsco_bench.execution.layout import Layout
from dpsco_bench.report import own_figures, spared
from dpsco_bench.report.computed import COMPUTED, computed_table
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.tables import to_markdown


def boom(*given):
    raise ValueError("no such column")


@pytest.fixture(params=[True, False], ids=["installed", "given"])
def installed(request, monkeypatch):
    monkeypatch.setattr(spared, "papers", lambda: {"other2026": "other2026", "wang2017": "dpsco_bench.papers.wang2017"})
    monkeypatch.setattr(spared, "is_installed", lambda name: request.param)
    return request.param


LINE = "other2026.fig1: failed with ValueError: no such column"


def test_a_figure(installed, tmp_path, monkeypatch, capsys):
    own = own_figures.PaperFigure("other2026.fig1", "A figure", "", boom)
    monkeypatch.setattr(own_figures.FIGURES, "of", lambda paper: {"other2026.fig1": own})
    monkeypatch.setattr(Inputs, "papers", ["other2026"])
    inputs = Inputs(Layout("smoke"), [])
    if not installed:
        with pytest.raises(DpscoError, match=f"^figure {LINE}$"):
            own_figures.write_figures(inputs, tmp_path)
        return
    written = own_figures.write_figures(inputs, tmp_path)
    assert {path.name for path in written} == {"other2026.fig1.svg", "other2026.fig1.pdf"}
    assert capsys.readouterr().err == f"dpsco: figure {LINE}\n"


def test_a_table(installed):
    COMPUTED.add("other2026_failing", boom, __name__)
    text = TableText(id="other2026.fig1", title="A table", rows=(), computed="other2026_failing")
    if installed:
        assert LINE in to_markdown(computed_table(text, Inputs(Layout("smoke"), [])))
    else:
        with pytest.raises(DpscoError, match=LINE):
            computed_table(text, Inputs(Layout("smoke"), []))


def test_what_ships_raises_what_it_raises(installed):
    with pytest.raises(ValueError, match="^no such column$"):
        spared.spared("wang2017.fig1", "figure", boom, str)
