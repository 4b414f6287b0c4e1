import itertools
import math
import xml.etree.ElementTree as ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from dpsco_bench.claims.kinds import all_kinds
from dpsco_bench.report.axes import decade_text, spread, tick_text
from dpsco_bench.report.drawing import COLOURS, SHADES, style
from dpsco_bench.report.figures import claim_panels, curve_figure, write_figures
from dpsco_bench.report.opening import COLOURS as OPENING

CLAIMS = ("wang2017.kinds", "wang2017.race", "wang2017.absent", "wang2017.unmeasured")


@pytest.fixture(scope="module")
def drawn(inputs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures")
    return folder, {claim: write_figures(inputs, claim, folder) for claim in CLAIMS}


@pytest.mark.parametrize("claim", CLAIMS)
def test_every_claim_has_its_svg_and_pdf(drawn, claim):
    folder, written = drawn
    assert (folder / f"{claim}.svg") in written[claim]
    for svg, pdf in zip(written[claim][::2], written[claim][1::2], strict=True):
        assert ElementTree.parse(svg).getroot().tag.endswith("svg")
        assert pdf == svg.with_suffix(".pdf") and pdf.read_bytes().startswith(b"%PDF")


def test_files_are_byte_stable_and_carry_no_date(inputs, drawn, tmp_path):
    folder, written = drawn
    matplotlib.rcParams["svg.hashsalt"] = "another"
    matplotlib.rcParams["font.size"] = 20
    try:
        for claim in ("wang2017.race", "wang2017.kinds"):
            write_figures(inputs, claim, tmp_path)
    finally:
        matplotlib.rcdefaults()
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (folder / path.name).read_bytes(), path.name
        assert b"CreationDate" not in path.read_bytes() and b"dc:date" not in path.read_bytes()


def test_every_word_of_every_shipped_kind_has_a_phrase():
    names = dict.fromkeys(("what", "counted", "moves", "follows", "better", "worse"), "word")
    for kind in all_kinds():
        for said, word in kind.words.items():
            told = word.phrase.format_map(names)
            assert told and "{" not in told and not told.endswith("."), f"{kind.name}: {said}"


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


def test_labels_are_spread_in_order_and_only_where_they_touch():
    assert spread([0.2, 0.8], 0.1) == pytest.approx([0.2, 0.8])
    placed = spread([0.5, 0.5, 0.52, 0.9], 0.06)
    assert placed == sorted(placed) and min(np.diff(placed)) >= 0.06 - 1e-12
    assert np.mean(placed[:3]) == pytest.approx(np.mean([0.5, 0.5, 0.52]))
    assert spread([], 0.1) == []


def test_ticks():
    assert [tick_text(v) for v in (256.0, 16384.0, 0.25, 131072.0)] == ["256", "2¹⁴", "0.25", "2¹⁷"]
    assert [decade_text(v) for v in (0.1, 1.0, 1e-3, 5e-5, 1e6)] == ["0.1", "1", "10⁻³", "5×10⁻⁵", "10⁶"]
    assert [decade_text(v) for v in (0.0, -1.0, math.inf, 5e-324)] == ["", "", "", "10⁻³²⁴"]


def test_the_noises_of_a_part_stand_side_by_side_on_the_same_axes(inputs):
    figure = curve_figure(inputs.claim("wang2017.race"))
    limits = {(*axes.get_xlim(), *axes.get_ylim()) for axes in figure.axes}
    assert len(figure.axes) == 4 and len(limits) == 1
    assert len({axes.get_position().y0 for axes in figure.axes}) == 2  # a line an epsilon, a column a noise


def test_keys_name_what_is_drawn_and_nothing_else(inputs):
    """A panel of one value has neither a fitted line nor one of the bound, whatever its verdict is held against."""
    seen = set()
    for claim in CLAIMS:
        for panel in claim_panels(inputs.claim(claim)):
            if panel.blank or not {"mean", "fit", "bound", "off"} & set(panel.symbols):
                continue
            with style():
                axes = matplotlib.figure.Figure().add_subplot()
                panel.draw(axes)
            looks = {line.get_linestyle() for line in axes.get_lines() if len(line.get_xdata()) > 1}
            assert ("bound" in panel.symbols) == ("--" in looks), panel.title
            assert ("fit" in panel.symbols) == ("-" in looks), panel.title
            seen |= set(panel.symbols)
    assert {"mean", "fit", "bound"} <= seen
