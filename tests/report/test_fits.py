"""All words of all figures can be read."""

import pytest

from dpsco_bench.report.axes import log_x
from dpsco_bench.report.drawing import Panel, compose, style
from dpsco_bench.report.figures import claim_figures
from dpsco_bench.report.own_figures import FIGURES

from .legible import faults


def composed(draw, panels=2):
    return compose([Panel("what it says", draw, "and of what")] * panels, "A title", "its source")


@pytest.mark.parametrize("span", [(1e-12, 0.1), (0.03, 0.6), (0.0021, 0.0043), (0.5, 0.52), (3e3, 4e7)])
def test_numbers_of_a_logarithmic_axis_do_not_touch(span):
    def draw(axes):
        axes.set_yticks([])
        axes.set_xscale("log")
        axes.plot(span, [0, 1], "o")
        log_x(axes)

    with style():
        assert faults(composed(draw)) == []


def test_all_figures_of_a_run_can_be_read(inputs):
    with style():
        figures = [(claim.id, figure) for claim in inputs.claims for figure in claim_figures(claim).values()]
        figures += [(own.name, own.figure(inputs)) for paper in inputs.papers for own in FIGURES.of(paper).values()]
        assert [(name, found) for name, figure in figures if figure and (found := faults(figure))] == []
