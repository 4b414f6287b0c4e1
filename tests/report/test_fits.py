"""All words of all figures can be read."""

import warnings

import pytest
from matplotlib.figure import Figure

from dpsco_bench.report.axes import EndLabel, label_ends, log_x
from dpsco_bench.report.drawing import Panel, compose, style
from dpsco_bench.report.figures import claim_figures
from dpsco_bench.report.own_figures import FIGURES

from .legible import faults


def composed(draw, panels=2):
    return compose([Panel("what it says", draw, "and of what")] * panels, "A title", "its source")


def test_words_beyond_the_edge_on_a_neighbour_and_on_each_other_are_named():
    with style():
        figure = composed(lambda axes: axes.plot([1, 2], [1, 2]))
        assert faults(figure) == []
        left, right = figure.axes
        right.text(1.3, 0.5, "far out at the right", transform=right.transAxes)
        left.text(1.3, 0.5, "on the neighbour's area", transform=left.transAxes, fontsize=9)
        for _ in range(2):
            left.text(0.5, 0.8, "twice here", transform=left.transAxes)
        left.text(0.95, 0.2, "cut by its axes", transform=left.transAxes, clip_on=True)
    kinds = {line.split(":")[0] for line in faults(figure)}
    assert kinds == {"beyond the edge", "on another panel", "on each other", "cut"}
    assert any("far out" in line for line in faults(figure))


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


def test_an_axis_without_a_positive_value_is_not_made_logarithmic():
    axes = Figure().add_subplot()
    axes.plot([0.0, 0.0], [1, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log_x(axes)
    assert axes.get_xscale() == "linear"
