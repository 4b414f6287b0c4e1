"""All words of all figures can be read."""

import pytest

from dpsco_bench.report.axes import EndLabel, label_ends, log_x
from dpsco_bench.report.drawing import Panel, compose, style
from dpsco_bench.report.figures import claim_figures
from dpsco_bench.report.own_figures import FIGURES

from .legible import faults


def composed(draw, panels=2):
    return compose([Panel("what it says", draw, "and of what")] * panels, "A title", "its source")


@pytest.mark.parametrize("count", [1, 2])
def test_a_long_label_beside_a_curve_stays_in_its_panel(count):
    def draw(axes):
        axes.plot([1, 2], [1, 10])
        axes.set_yscale("log")
        label_ends(axes, [EndLabel(10.0, "✓ ogd adagrad k3 −0.48", "black", (("worse than it was", "black"),))])

    with style():
        assert faults(composed(draw, count)) == []


@pytest.mark.parametrize("span", [(1e-12, 0.1), (0.03, 0.6), (0.0021, 0.0043), (0.5, 0.52), (3e3, 4e7)])
def test_numbers_of_a_logarithmic_axis_do_not_touch(span):
    def draw(axes):
        axes.set_yticks([])
        axes.set_xscale("log")
        axes.plot(span, [0, 1], "o")
        log_x(axes)
        assert len([tick for tick in axes.get_xticks() if axes.get_xlim()[0] <= tick <= axes.get_xlim()[1]]) > 0

    with style():
        assert faults(composed(draw)) == []


def test_all_figures_of_a_run_can_be_read(inputs):
    with style():
        figures = {
            f"{claim.id}{suffix}": figure for claim in inputs.claims for suffix, figure in claim_figures(claim).items()
        }
        drawn = {own.name: own.figure(inputs) for paper in inputs.papers for own in FIGURES.of(paper).values()}
        figures |= {name: figure for name, figure in drawn.items() if figure is not None}
        assert {name: found for name, figure in figures.items() if (found := faults(figure))} == {}
