"""Figures: files, colours, words that can be read, points on their axes, and which parts belong together."""

import itertools
import math
import re
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from dpsco_bench.analysis.noise import Noise
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.catalogue import claim_ids, read_claims
from dpsco_bench.claims.kinds import all_kinds, get_kind
from dpsco_bench.claims.model import GRID, Method, Part
from dpsco_bench.claims.plan import ClaimEntry
from dpsco_bench.errors import InputError
from dpsco_bench.execution.layout import Layout
from dpsco_bench.report import own_figures
from dpsco_bench.report.axes import FOOT, decade_text, spread, tick_text
from dpsco_bench.report.drawing import COLOURS, INK, SHADES, compose, style
from dpsco_bench.report.elements import _spent
from dpsco_bench.report.figures import claim_figures, variant_groups, write_figures
from dpsco_bench.report.inputs import ClaimResults, Inputs
from dpsco_bench.report.kind_figures import audits_figure, rows_of
from dpsco_bench.report.own_figures import FIGURES, figure_names
from dpsco_bench.report.panels import _ratios, cell_places, grouped_cells, worded_panel
from dpsco_bench.report.verdicts import Group
from dpsco_bench.site.content import COLOURS as OPENING

from .legible import faults


def test_every_claim_has_svg_and_pdf_whose_bytes_depend_on_the_data_alone(inputs, tmp_path):
    claims = [claim.id for claim in inputs.claims]
    written = [path for claim in claims for path in write_figures(inputs, claim, tmp_path / "first")]
    assert len(claims) == 4 and {tmp_path / "first" / f"{claim}.svg" for claim in claims} <= set(written)
    for svg, pdf in zip(written[::2], written[1::2], strict=True):
        assert ElementTree.parse(svg).getroot().tag.endswith("svg")
        assert pdf == svg.with_suffix(".pdf") and pdf.read_bytes().startswith(b"%PDF")
    with matplotlib.rc_context({"svg.hashsalt": "another", "font.size": 20}):
        again = [path for claim in claims[:2] for path in write_figures(inputs, claim, tmp_path / "second")]
    for path in again:
        content = path.read_bytes()
        assert content == (tmp_path / "first" / path.name).read_bytes(), path.name
        assert b"CreationDate" not in content and b"dc:date" not in content


@pytest.mark.parametrize("looks", [list(COLOURS.values()), list(SHADES[:4]), [*OPENING.values()][:5]])
def test_colours_differ_for_the_colour_blind_and_in_grey(looks):
    """In CIELAB, as seen with the two common kinds of colour blindness (Viénot, Brettel, Mollon 1999)."""
    for seen in (np.eye(3), PROTANOPE, DEUTERANOPE):
        found = [lab(to_rgb(look), seen) for look in looks]
        assert all(np.linalg.norm(first - second) > 12 for first, second in itertools.combinations(found, 2))
    lightness = [lab(to_rgb(look), np.eye(3))[0] for look in looks]
    assert looks == list(SHADES[:4]) or min(abs(np.diff(lightness))) > 10


PROTANOPE = np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]])
DEUTERANOPE = np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]])


def lab(rgb, seen):
    """CIELAB of a colour in sRGB, after what an eye makes of its linear light."""
    linear = np.array([part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in rgb])
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ (seen @ linear)
    x, y, z = np.cbrt(np.clip(xyz / np.array([0.9505, 1.0, 1.089]), 1e-6, None))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_labels_are_spread_in_order_and_ticks_are_short():
    assert spread([0.2, 0.8], 0.1) == pytest.approx([0.2, 0.8])
    placed = spread([0.5, 0.5, 0.52, 0.9], 0.06)
    assert placed == sorted(placed) and min(np.diff(placed)) >= 0.06 - 1e-12
    assert np.mean(placed[:3]) == pytest.approx(np.mean([0.5, 0.5, 0.52]))
    assert spread([], 0.1) == []
    assert [tick_text(v) for v in (256.0, 16384.0, 0.25, 131072.0)] == ["256", "2¹⁴", "0.25", "2¹⁷"]
    assert [decade_text(v) for v in (0.1, 1.0, 1e-3, 5e-5, 1e6)] == ["0.1", "1", "10⁻³", "5×10⁻⁵", "10⁶"]
    assert [decade_text(v) for v in (0.0, -1.0, math.inf, 5e-324)] == ["", "", "", "10⁻³²⁴"]


ALL = [FIGURES.get(name) for name in FIGURES.names()]
PAPERS = {figure.name.split(".")[0] for figure in ALL}
CLOSED = {"bassily2021.kappa_rules", "bassily2021.vertices", "wang2017.noise_share"}  # need no measurement


def test_declared_names_are_those_that_are_drawn_and_what_is_not_measured_says_so_in_its_file(inputs, tmp_path):
    files = Layout("ci", inputs.files.base / "nowhere")
    entries = [ClaimEntry.of(claim, ()) for claim in read_claims() if claim.paper in PAPERS]
    nothing = Inputs(files, [ClaimResults(entry, files) for entry in entries])
    names = figure_names(claim_ids())
    assert len(set(names)) == len(names) == len(ALL) and figure_names(["zhang2022.thm4"]) == []
    assert not set(names) & {id + suffix for id in claim_ids() for suffix in ("", ".curves", ".time")}
    written = own_figures.write_figures(nothing, tmp_path)
    assert {path.stem for path in written} == set(names)
    assert len(written) == 2 * len(names) and all(path.stat().st_size > 0 for path in written)
    assert [own.name for own in ALL if re.search(r"\b0 of|of 0\b", own.says(nothing))] == [], "a result of nothing"
    assert {own.name for own in ALL if own.draw(nothing)} == CLOSED


@pytest.fixture(scope="module")
def figures(inputs):
    with style():
        drawn = [(claim.id, figure) for claim in inputs.claims for figure in claim_figures(claim).values()]
        return drawn + [(own.name, own.figure(inputs)) for paper in inputs.papers for own in FIGURES.of(paper).values()]


def test_all_words_of_a_run_can_be_read(figures):
    with style():
        assert [(name, found) for name, figure in figures if (found := faults(figure))] == []


NO_POINTS = ("None", "", None, "_", "|")  # markers of lines and of the ends of intervals


def marked(axes):
    return [line for line in axes.get_lines() if line.get_marker() not in NO_POINTS]


def markers(axes):
    """Points of an axes in its own coordinates, ``(points, 2)``: those with a marker, without arrows at its edge."""
    found = [np.column_stack(line.get_data()) for line in marked(axes) if line.get_transform() == axes.transData]
    return np.concatenate([np.empty((0, 2)), *found]).astype(float)


def outside(axes):
    points = markers(axes)
    ends = zip(points.T, (axes.get_xlim(), axes.get_ylim()), strict=True)
    inside = [(min(limits) <= values) & (values <= max(limits)) for values, limits in ends]
    return points[~np.logical_and(*inside)].tolist()


def axes_of(panel):
    with style():
        return compose([panel]).axes[0]


def test_no_point_of_any_claim_is_off_its_axes(inputs, figures):
    claims = {claim.id for claim in inputs.claims}
    drawn = [(id, axes) for id, figure in figures if id in claims for axes in figure.axes]
    assert sum(len(markers(axes)) for _, axes in drawn) > 60
    assert [(id, points) for id, axes in drawn if (points := outside(axes))] == []


def judged(kind, parameter="n", **row):
    columns = {"values": (64.0, 128.0, 256.0), "mean": (1.0, 0.0, -2.0), "bound": (2.0, 0.0, 2.0)}
    words = {"verdict": "holds", "reason": "below in 3 cells", "worst_ratio": 0.5, "stderr": (0.1,) * 3}
    made = Verdict(kind=kind, part="part", calibration="paper", parameter=parameter, **{**words, **columns, **row})
    nothing = {"job": lambda *_: None, "parts": {}, "evidence": lambda *_: [], "charged": lambda *_: []}
    return SimpleNamespace(paper="p", part=lambda row: Part("part", kind, ["paper"]), **nothing), [made]


def test_what_a_logarithmic_axis_cannot_show_is_marked_at_its_foot_and_in_the_key():
    panel = get_kind("explicit").panel(*judged("explicit"))
    axes = axes_of(panel)
    at_foot = sum(len(line.get_xdata()) for line in axes.get_lines() if set(line.get_ydata()) == {FOOT})
    assert len(markers(axes)) == 1 and at_foot == 2 and {"ratio", "foot"} == set(panel.symbols)


def test_combinations_of_a_grid_are_drawn_over_their_bound():
    columns = {"mean": (1.0, 3.0, -2.0), "bound": (2.0, 8.0, 4.0), "values": (1.0, 2.0, 3.0)}
    panel = get_kind("explicit").panel(*judged("explicit", GRID, **columns))
    axes = axes_of(panel)
    assert sorted(markers(axes).tolist()) == [[2.0, 0.5], [4.0, -0.5], [8.0, 0.375]] and outside(axes) == []
    assert axes.get_ylim()[1] > 1


@pytest.mark.parametrize("kind", all_kinds(), ids=lambda kind: kind.name)
def test_a_judged_panel_without_data_says_what_was_measured(kind):
    for (word, said), parameter in itertools.product(kind.words.items(), ("n", GRID)):
        found = judged(kind.name, parameter, values=(), mean=(), bound=(), stderr=(), verdict=word)
        panel = kind.panel(*found) or worded_panel(*found)
        assert panel.draw is None and (said.outcome == "shown" or panel.line.startswith("below in 3 cells")), word


def evidence(part, calibration):
    entry = {"entry": {"method": "m"}, "numerical_error": None}
    return [SimpleNamespace(value=x, risks=np.array([[0.9, 1.0, 1.1]]) / x**0.5, **entry) for x in (64.0, 128.0, 256.0)]


def swept(*names, **odd):
    """A claim with a rate part of each name; what is odd of the first one."""
    rows, parts = [], {}
    for name in names:
        given = {"problem": "quad", "parameter": "n", "quantity": "noted", **(odd if name == names[0] else {})}
        rows.append(Verdict("match", "rate", part=name, calibration="none", parameter=given.pop("parameter")))
        parts[name] = SimpleNamespace(methods=[Method("p.a")], uses=[], **given)
    return SimpleNamespace(paper="p", evidence=evidence, part=lambda row: parts[row.part]), rows


def test_variants_of_one_sweep_belong_together_and_others_stay_apart():
    names = ("stat_n-ogd", "stat_n-omd", "stat_n-ftrl")
    groups = variant_groups(*swept(*names, "priv_n-ogd", "priv_n-omd", "alone"))
    assert {key: len(rows) for key, rows in groups.items()} == {("stat_n", "none", "noted"): 3}
    for odd in ({"quantity": "threshold"}, {"parameter": "d"}, {"problem": "other"}):
        assert not variant_groups(*swept("n-a", "n-b", "n-c", **odd)), "another axis, or another instance"


AUDITS = {part.id: part for claim in read_claims() for part in claim.parts if part.kind == "audit"}


def test_a_run_without_audits_has_no_figure_of_them(tmp_path):
    with pytest.raises(InputError, match="no claim of this profile has an audit"):
        write_figures(SimpleNamespace(boards=(), claims=()), "audits", tmp_path)


def of_audits(found, id="p.audit"):
    """A claim of audits, from part -> (lower bound, real epsilon and its kind)."""
    rows = []
    for part, (lower, real, kind) in found.items():
        own, claimed = {"epsilon_lower": lower, "power": 0.9}, AUDITS[part].sweep.values["full"][0]
        about = {"part": part, "calibration": AUDITS[part].calibrations[0], "epsilon_claimed": claimed, "own": own}
        about["id"] = id
        rows.append(Verdict("not refuted", "audit", **about, epsilon_real=real, epsilon_real_kind=kind))
    return [SimpleNamespace(rows=rows, part=lambda row: AUDITS[row.part])]


def marks(found):
    """Axes of the figure of some audits, and its markers: place, marker and face."""
    with style():
        (axes,) = audits_figure(of_audits(found)).axes
    return axes, [(line.get_xdata()[0], line.get_marker(), line.get_markerfacecolor()) for line in marked(axes)]


def test_a_row_has_its_bounds_its_accountant_and_the_claim():
    both = {"dp_gd-paper": (1.3, 2.4, "exact"), "dp_gd-paper-fused": (0.5, 1.0, "upper")}
    axes, found = marks(both)
    assert len(rows_of(of_audits(both))) == 1 == len(rows_of(of_audits(both, "p.other")))
    assert found == [(2.4, "o", COLOURS["paper"]), (1.3, "D", INK), (0.5, "D", "white")]
    assert any(list(line.get_xdata()) == [1.0, 1.0] for line in axes.get_lines())


def test_bounds_are_in_units_of_the_claim():
    part = next(id for id, part in AUDITS.items() if part.sweep.values["full"][0] == 4.0)
    assert [x for x, *_ in marks({part: (1.0, 8.0, "upper")})[1]] == [2.0, 0.25]


SIZES = {("first-n", "paper"): 3, ("second-d", "paper"): 2, ("third-n", "paper"): 4}
SIZES |= {("first-n", "accounted"): 3, ("third-n", "accounted"): 4}


def job(part, calibration):
    cell = SimpleNamespace(parameter=part[-1], signal=None)
    return SimpleNamespace(cells=[cell] * SIZES[part, calibration]) if (part, calibration) in SIZES else None


USING = SimpleNamespace(job=job, part=lambda row: SimpleNamespace(uses=["first-n", "second-d", "third-n"]))


def over(calibration, cells):
    return Verdict("shown", "shown", calibration=calibration, values=tuple(range(cells)))


def test_a_verdict_without_some_parts_leaves_their_places_empty():
    groups = grouped_cells(USING, [over("paper", 9)])
    assert [*groups] == [Group("first-n", "n", 3), Group("second-d", "d", 2), Group("third-n", "n", 4)]
    assert cell_places(USING, over("paper", 9), groups).tolist() == [0, 1, 2, 4, 5, 7, 8, 9, 10]
    assert cell_places(USING, over("accounted", 7), groups).tolist() == [0, 1, 2, 7, 8, 9, 10]
    assert grouped_cells(USING, [over("accounted", 7)]) == {}
    assert cell_places(USING, over("accounted", 7), {}).tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_a_ratio_is_a_mean_over_its_bound_with_two_standard_errors():
    row = Verdict("holds", "explicit", mean=(1.0, 3.0, 2.0), stderr=(0.1, np.nan, 0.5), bound=(2.0, 2.0, 0.0))
    ratios, whiskers = _ratios(row)
    assert ratios.tolist() == [0.5, 1.5, np.inf] and whiskers[:2].tolist() == [0.1, 0.0]
    unequal = Verdict("holds", "explicit", mean=(1.0,), stderr=(), bound=(2.0,))
    assert _ratios(unequal)[0].size == 0


def test_declared_constants_say_something_only_of_a_bound_within_the_claim():
    def said(real, declared, kind="upper"):
        return _spent([Noise("proven", 0.5, "upper", 1.0), Noise("unproven", real, kind, 1.0, declared=declared)])

    assert said(0.8, True) not in (said(0.8, False), said(1.2, True))
    assert said(1.2, True) == said(1.2, False) == said(0.8, True, "lower") == said(math.nan, True, "")
