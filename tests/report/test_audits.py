"""The figure of audits: three marks for each algorithm, and what says nothing is grey."""

import math
from types import SimpleNamespace

import pytest

from dpsco_bench.claims.catalogue import read_claims
from dpsco_bench.report.drawing import style
from dpsco_bench.report.figures import GREY, HIGHEST, INK, audits_figure, rows_of

PARTS = [part for claim in read_claims() for part in claim.parts if part.kind == "audit"]


def score(part, lower=0.2, power=0.9, real=1.0, kind="upper", verdict="not refuted"):
    claimed, own = part.sweep.values["full"][0], {"epsilon_lower": lower, "power": power}
    row = SimpleNamespace(
        part=part.id, calibration=part.calibrations[0], epsilon_claimed=claimed, epsilon_real=real,
        epsilon_real_kind=kind, own=own,
    )  # fmt: skip
    return SimpleNamespace(kind=SimpleNamespace(name="audit"), part=part, verdict=verdict, row=row, own=own.get)


def marks(figure):
    """(x, marker, colour, face) of all points."""
    lines = [line for axes in figure.axes for line in axes.get_lines() if line.get_marker() not in ("", "None", None)]
    return [(line.get_xdata()[0], line.get_marker(), line.get_color(), line.get_markerfacecolor()) for line in lines]


def drawn(scores):
    with style():
        return audits_figure(scores)


def test_a_row_has_its_bounds_its_accountant_and_the_claim():
    """By all that is released and by the fused run, on one line; in units of the claim, which is the dashed line."""
    named = {part.id: part for part in PARTS}
    both = [score(named["dp_gd-paper"], 1.3, real=2.4, kind="exact"), score(named["dp_gd-paper-fused"], 0.5)]
    figure = drawn(both)
    assert len(rows_of(both)) == 1
    assert [(x, marker) for x, marker, *_ in marks(figure)] == [(2.4, "o"), (1.3, "D"), (0.5, "D")]
    assert [face for *_, face in marks(figure)][1:] == [INK, "white"]
    assert any(list(line.get_xdata()) == [1.0, 1.0] for line in figure.axes[0].get_lines())


def test_bounds_are_in_units_of_the_claim():
    part = next(part for part in PARTS if part.sweep.values["full"][0] == 4.0)
    assert [x for x, *_ in marks(drawn([score(part, 1.0, real=8.0)]))] == [2.0, 0.25]


@pytest.mark.parametrize(
    ("power", "verdict", "colour"), [(0.49, "not refuted", GREY), (0.5, "not refuted", INK), (0.1, "refuted", INK)]
)
def test_what_says_nothing_is_grey(power, verdict, colour):
    found = marks(drawn([score(PARTS[0], power=power, verdict=verdict)]))
    assert [line[2] for line in found if line[1] == "D"] == [colour]


def test_epsilons_beyond_the_axis_stand_at_its_edge_with_their_value():
    """An unknown one has no mark."""
    figure = drawn([score(PARTS[0], 0.0, real=math.inf, kind="lower"), score(PARTS[1], 60.0, real=math.nan)])
    assert [x for x, *_ in marks(figure)] == [HIGHEST, 0.05, HIGHEST]
    assert [text.get_text() for text in figure.axes[0].texts if text.get_text() == "∞"] == ["∞"]
