"""A figure, panel or table of an installed paper that fails says so in its place; nobody else's is lost."""

from types import SimpleNamespace

import pytest

from dpsco_bench import registry
from dpsco_bench.claims.tables import TableText
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.layout import Layout
from dpsco_bench.report import figures, own_figures, spared
from dpsco_bench.report.computed import COMPUTED, computed_table
from dpsco_bench.report.drawing import Panel, compose, svg_text
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.tables import Column, Table, to_csv, to_markdown
from dpsco_bench.site import content
from dpsco_bench.site.markdown import table
from dpsco_bench.site.pages.papers import linked_table


def boom(*given):
    raise ValueError("no such column")


@pytest.fixture(params=[True, False], ids=["installed", "given"])
def installed(request, monkeypatch):
    known = {"other2026": "other2026", "wang2017": "dpsco_bench.papers.wang2017"}
    for module in (spared, own_figures):
        monkeypatch.setattr(module, "papers", lambda: known)
    monkeypatch.setattr(registry, "_SAID", set())
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


LATE = {
    "when it is drawn": boom,
    "when it is saved": lambda axes: axes.set_xlabel(r"$\frac{n$"),
}


@pytest.fixture(params=LATE)
def late(request):
    """A panel that fails after it was made."""
    return Panel("A panel", LATE[request.param])


def test_a_figure_that_fails_late(installed, late, tmp_path, monkeypatch, capsys):
    """The files say so, whatever its own words are; those beside it are as they would be."""
    good = own_figures.PaperFigure("other2026.fig2", "A figure", "", lambda inputs: [Panel("P", lambda axes: None)])
    bad = own_figures.PaperFigure("other2026.fig1", r"A $\frac{n$ figure", r"$\frac{n$", lambda inputs: [late])
    monkeypatch.setattr(own_figures.FIGURES, "of", lambda paper: {figure.name: figure for figure in (bad, good)})
    monkeypatch.setattr(Inputs, "papers", ["other2026"])
    inputs = Inputs(Layout("smoke"), [])
    if not installed:
        with pytest.raises(DpscoError, match="^figure other2026.fig1: failed with ValueError"):
            own_figures.write_figures(inputs, tmp_path)
        return
    assert len(own_figures.write_figures(inputs, tmp_path)) == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("dpsco: figure other2026.fig1: failed with ValueError")


def test_panels_that_fail_late(installed, late, monkeypatch, capsys):
    good = Panel("P", lambda axes: None)
    monkeypatch.setattr(own_figures.PANELS, "find", lambda claim: lambda results: [late, good])
    results = SimpleNamespace(id="other2026.thm1")
    if not installed:
        with pytest.raises(DpscoError, match="^panel of other2026.thm1: failed with ValueError"):
            own_figures.extra_panels(results)
        return
    found = own_figures.extra_panels(results)
    assert found[0].blank and found[1] == good and svg_text(compose(found))
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("dpsco: panel of other2026.thm1: failed with ValueError")


def test_a_claim_whose_figure_cannot_be_made(installed, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(figures, "claim_figures", boom)
    results = SimpleNamespace(id="other2026.thm1", claim=SimpleNamespace(title="A claim"))
    if not installed:
        with pytest.raises(DpscoError, match="^figure of other2026.thm1: failed with ValueError"):
            figures.write_claim_figures(results, tmp_path)
        return
    assert [path.name for path in figures.write_claim_figures(results, tmp_path)] == [
        "other2026.thm1.svg",
        "other2026.thm1.pdf",
    ]
    assert capsys.readouterr().err == "dpsco: figure of other2026.thm1: failed with ValueError: no such column\n"


def test_what_a_figure_says(installed):
    """Its page has it too."""
    own = own_figures.PaperFigure("other2026.fig1", "A figure", "", boom, lambda inputs: None)
    if installed:
        assert own.says(Inputs(Layout("smoke"), [])) == "A figure"
    else:
        with pytest.raises(DpscoError, match="^message of figure other2026.fig1: failed with TypeError: it is None"):
            own.says(Inputs(Layout("smoke"), []))


def test_a_table(installed):
    COMPUTED.add("other2026_failing", boom, __name__)
    text = TableText(id="other2026.fig1", title="A table", rows=(), computed="other2026_failing")
    if installed:
        assert LINE in to_markdown(computed_table(text, Inputs(Layout("smoke"), [])))
    else:
        with pytest.raises(DpscoError, match=LINE):
            computed_table(text, Inputs(Layout("smoke"), []))


@pytest.mark.parametrize("what", ["a cell", "none", "a name", "another id"])
def test_a_table_that_cannot_be_shown(installed, what):
    """A cell fails when it is written, long after the table was made; so does what is none, or what nobody made."""
    made = Table("other2026.fig1", "A table", [Column("a", lambda row: row["b"], {"a": lambda row: row["b"]})], [{}])
    other = Table("../../wang2017.table1", "A table", [Column("a", str)], [1])
    found = {"a cell": made, "none": None, "another id": other}
    if what in found:
        COMPUTED.add(f"other2026_{what[-4:]}", lambda text, inputs: found[what], __name__)
    text = TableText(id="other2026.fig1", title="A table", rows=(), computed=f"other2026_{what[-4:]}")
    line = {"a cell": "failed with KeyError", "none": "must be a Table", "a name": "computed table = 'other2026_name'"}
    line["another id"] = "id of computed table other2026_r id = '../../wang2017.table1'"
    if installed:
        assert line[what] in to_csv(computed_table(text, Inputs(Layout("smoke"), [])))
    else:
        with pytest.raises(DpscoError, match=line[what]):
            computed_table(text, Inputs(Layout("smoke"), []))


def test_what_ships_raises_what_it_raises(installed):
    with pytest.raises(ValueError, match="^no such column$"):
        spared.spared("wang2017.fig1", "figure", boom, str)


@pytest.mark.parametrize("what", ["style", "link"])
def test_a_table_whose_pages_cannot_be_made(installed, what):
    """Files ask no column for its style or its link; pages do."""
    wrong = Column("a", str, {"a": str}, kind="verdict", **{what: {"style": lambda row: 7, "link": boom}[what]})
    COMPUTED.add(f"other2026_{what}", lambda text, inputs: Table("other2026.fig1", "A table", [wrong], [1]), __name__)
    text = TableText(id="other2026.fig1", title="A table", rows=(), computed=f"other2026_{what}")
    line = {"style": "style of column a = 7", "link": "failed with ValueError: no such column"}[what]
    if installed:
        assert line in to_csv(computed_table(text, Inputs(Layout("smoke"), [])))
    else:
        with pytest.raises(DpscoError, match=line):
            computed_table(text, Inputs(Layout("smoke"), []))


def test_a_link_of_a_table_that_leads_nowhere_is_left_out(monkeypatch, capsys):
    monkeypatch.setattr(registry, "_SAID", set())
    found = Table("other2026.t", "A table", [Column("a", str, link=lambda row: row)], ["method--known", "nowhere"])
    shown = table(linked_table(SimpleNamespace(addresses={"method--known"}), found))
    assert "(#method--known)" in shown and "nowhere |" in shown and "(#nowhere)" not in shown
    assert "dpsco: table other2026.t: link of column a = 'nowhere': must be an address" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["other2026./../../escaped", "other2026.a/b", "", ".hidden"])
def test_a_figure_has_a_name_that_a_file_can_have(name):
    with pytest.raises(InputError, match=r"^figure = .*: must be letters"):
        own_figures.paper_figure(name, "A figure", "")


def test_of_two_methods_with_one_address_the_first_has_a_page(monkeypatch, capsys):
    monkeypatch.setattr(registry, "_SAID", set())
    assert content._distinct(["a.dp_sgd", "b.gd", "a.DP-SGD"]) == ["a.dp_sgd", "b.gd"]
    assert "page of method = 'a.DP-SGD': must be of another address than that of a.dp_sgd" in capsys.readouterr().err
