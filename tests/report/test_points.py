"""No measured point is off its axes, and no judged panel is empty."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import all_kinds
from dpsco_bench.claims.model import Part
from dpsco_bench.report.axes import FOOT
from dpsco_bench.report.drawing import compose, style
from dpsco_bench.report.figures import claim_figures
from dpsco_bench.report.panels import grid_panel, kind_panel, ratio_panel
from dpsco_bench.report.scores import Score

NO_POINTS = ("None", "", None, "_", "|")
"""Markers of lines and of the ends of intervals."""


def markers(axes):
    """Points of an axes in its own coordinates, ``(points, 2)``: those with a marker, without arrows at its edge."""
    lines = [line for line in axes.get_lines() if line.get_marker() not in NO_POINTS]
    found = [np.column_stack(line.get_data()) for line in lines if line.get_transform() == axes.transData]
    return np.concatenate([np.empty((0, 2)), *found]).astype(float)


def outside(axes):
    """Those that are not within the axes."""
    points = markers(axes)
    ends = zip(points.T, (axes.get_xlim(), axes.get_ylim()), strict=True)
    inside = [(min(limits) <= values) & (values <= max(limits)) for values, limits in ends]
    return points[~np.logical_and(*inside)].tolist()


def at_foot(axes):
    """Arrows at the lower edge."""
    return sum(len(line.get_xdata()) for line in axes.get_lines() if set(line.get_ydata()) == {FOOT})


def drawn(panel):
    with style():
        (axes,) = compose([panel]).axes
    return axes


def test_no_point_of_any_figure_is_off_its_axes(inputs):
    with style():
        figures = [(claim.id, figure) for claim in inputs.claims for figure in claim_figures(claim).values()]
    found = [(id, outside(axes)) for id, figure in figures for axes in figure.axes]
    assert sum(len(markers(axes)) for _, figure in figures for axes in figure.axes) > 60
    assert [(id, points) for id, points in found if points] == []


def judged(kind, parameter="n", **row):
    columns = {"values": (64.0, 128.0, 256.0), "mean": (1.0, 0.0, -2.0), "bound": (2.0, 0.0, 2.0)}
    words = {"verdict": "holds", "reason": "below in 3 cells", "worst_ratio": 0.5, **columns, **row}
    made = Verdict(kind=kind, part="part", calibration="paper", parameter=parameter, stderr=(0.1,) * 3, **words)
    part = Part("part", kind, ["paper"])
    found = {"job": lambda *_: None, "parts": {"part": part}, "evidence": lambda *_: [], "sources": lambda *_: []}
    results = SimpleNamespace(paper="p", **found)
    return Score(results, made)


def test_what_a_logarithmic_axis_cannot_show_is_marked_at_its_foot_and_in_the_key():
    panel = ratio_panel([judged("explicit")])
    axes = drawn(panel)
    assert len(markers(axes)) == 1 and at_foot(axes) == 2 and {"ratio", "foot"} == set(panel.symbols)


@pytest.mark.parametrize("kind", all_kinds(), ids=lambda kind: kind.name)
def test_a_judged_panel_without_data_says_what_was_measured(kind):
    for word, said in kind.words.items():
        score = judged(kind.name, values=(), mean=(), bound=(), verdict=word)
        score = Score(score.results, replace(score.row, stderr=()))
        for panel in [kind_panel([score])] + [grid_panel([score])] * (kind.shape == "ratios"):
            assert panel.blank and (said.outcome == "shown" or panel.line.startswith("below in 3 cells")), word
