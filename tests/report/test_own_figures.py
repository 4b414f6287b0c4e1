"""The papers' own figures: named where the workflow declares them, drawn from whatever a profile has measured."""

import re

import numpy as np
import pytest

from dpsco_bench.claims.catalogue import claim_ids
from dpsco_bench.claims.jobs import claim_plan, plan_settings
from dpsco_bench.execution.layout import Layout
from dpsco_bench.report.elements import through
from dpsco_bench.report.inputs import ClaimResults, Inputs
from dpsco_bench.report.own_figures import FIGURES, figure_names, write_figures
from dpsco_bench.report.panels import Series

ALL = [FIGURES.get(name) for name in FIGURES.names()]
PAPERS = {figure.name.split(".")[0] for figure in ALL}


@pytest.fixture(scope="module")
def nothing(inputs):
    """A profile of two papers that has measured nothing."""
    ids = [id for id in claim_ids() if id.split(".")[0] in PAPERS]
    settings = plan_settings("ci")
    entries = [claim_plan(id, "ci", [], settings) for id in ids]
    files = Layout("ci", inputs.files.base / "nowhere")
    return Inputs(files, [ClaimResults(entry, files) for entry in entries])


def test_declared_names_are_those_that_are_drawn_and_no_claims():
    names = figure_names(claim_ids())
    assert len(set(names)) == len(names) == len(ALL)
    assert not set(names) & {id + suffix for id in claim_ids() for suffix in ("", ".curves", ".time", ".shown")}
    assert figure_names(["zhang2022.thm4"]) == []


def test_what_is_not_measured_says_so_in_its_file(nothing, tmp_path):
    written = write_figures(nothing, tmp_path)
    assert {path.stem for path in written} == set(figure_names(claim_ids()))
    assert len(written) == 2 * len(figure_names(claim_ids())) and all(path.stat().st_size > 0 for path in written)
    assert [own.name for own in ALL if re.search(r"\b0 of|of 0\b", own.says(nothing))] == [], "a result of nothing"
    for paper in PAPERS:
        drawn = {own.name for own in FIGURES.of(paper).values() if own.draw(nothing)}
        closed = {"bassily2021.kappa_rules", "bassily2021.vertices", "wang2017.noise_share"}
        assert drawn <= closed, "closed formulas need no measurement"


def test_formulas_pass_through_the_points():
    x, zero = np.array([1.0, 2.0, 4.0]), np.zeros(3)
    points = Series(x, 3 * x, 3 * x, 3 * x, zero, zero)
    np.testing.assert_allclose(through(points, x), 3 * x)
