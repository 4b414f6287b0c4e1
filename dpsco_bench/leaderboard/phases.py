"""Figures of which method where: the phase diagrams of a leaderboard, and its curves.

A phase diagram shows at every point who has the least risk, and by how much. The curves tell whether one number decides
the risk: whether the points of an instance fall on one curve of ``n epsilon/sqrt(d)``.
"""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from dpsco_bench.leaderboard.standings import TRIVIAL, Standing, cost_text
from dpsco_bench.leaderboard.tables import kind_text
from dpsco_bench.registry import papers
from dpsco_bench.report.axes import log_x, log_y
from dpsco_bench.report.drawing import AXES_HEIGHT, GREY, INK, Panel, bare, compose
from dpsco_bench.report.inputs import BoardResults
from dpsco_bench.report.numbers import is_number, number, plain
from dpsco_bench.report.wording import method_name, parameter_label

COLOURS = ("#E69F00", "#CC79A7", "#009E73", "#56B4E9", "#0072B2", "#D55E00", "#F0E442")
"""Colours of the papers, in the order of their names."""
OTHER_COLOUR, TRIVIAL_COLOUR = "#999999", "#bdbdbd"
PALEST = 0.18  # share of its colour that a tile keeps where the margin is 0
TIED = 0.45  # largest share that the tile of a tie keeps: its margin is in doubt, and its text stands on hatches
TILE_HEIGHT, MARGIN = 0.4, 0.15  # inches: least height of a tile, for its two texts, and margin beside the tiles
MOST_LINES = 4  # lines of the name of an undecided region; what it would cost stands below
DARK, LUMINANCE = 0.45, (0.299, 0.587, 0.114)  # below it a tile's text is white; weights of red, green and blue
WORDS = "The winner's name stands in its region; per cent: its mean risk against the runner-up's; paler: closer"
CROSSES, STRIPES = ("xx", "#dcdcdc"), ("////", "#ffffff")
"""Hatches of undecided tiles and of ties, with their colours, on which texts stand; dots would make a page large."""
HATCHED = (
    (*STRIPES, "#d9d9d9", "a tie"),
    (*CROSSES, "#ffffff", "undecided: what might win is too slow; the time that deciding takes"),
)
NEAR = 1.5  # largest factor between two values of ``n epsilon/sqrt(d)`` at which risks are compared
COLLAPSED = 1.5  # largest factor between risks at such values, the slope taken out, that is called one curve
MARKERS = ("o", "s", "^", "D", "v", "P")
SHADES = ("#9ecae1", "#4292c6", "#08519c", "#08306b")
CURVE_WORDS = (
    "Least excess risk of a method proven private over that of the start (grey line); hollow: undecided; ▼: risk 0"
)
FOOT = 0.3  # where points of risk 0 stand on a logarithmic axis, in units of the least risk above 0
Tile = tuple[int, int]  # its column and its line in a `Diagram`


def board_figures(board: BoardResults) -> dict[str, Figure]:
    """Draw a board, by the end of the file's name; the second only if an instance has three points."""
    found = {"": board_figure(board), ".collapse": collapse_figure(board)}
    return {end: figure for end, figure in found.items() if figure}


def board_figure(board: BoardResults) -> Figure:
    """Draw all phase diagrams of a board in one figure, with a key of the papers' colours."""
    winners = {_paper(row) for row in board.points if not row.contenders} - {TRIVIAL}
    key = [Patch(color=_colour(paper), label=paper) for paper in sorted(winners)]
    key.append(Patch(color=TRIVIAL_COLOUR, label="no method beats the start"))
    for hatch, edge, face, text in HATCHED:
        key.append(Patch(facecolor=face, edgecolor=edge, hatch=hatch, label=text, linewidth=0))
    panels = [phase_panel(instance.title, rows) for instance, rows in board.by_instance]
    decided = [row for row in board.points if row.decided]
    names = {name for row in decided for name in (row.winner, *row.tied)} - {TRIVIAL}
    first = f"{len(names)} methods share the first places" if len(names) > 1 else "One method has the first places"
    title = board.board.title
    message = f"{title}{'' if title.endswith('?') else ':'} {first} of {len(decided)} decided points"
    return compose(panels, message, WORDS, key)


def phase_panel(title: str, rows: Sequence[Standing]) -> Panel:
    """Make the panel of an instance; a line of small text says what its points have in common, and who competes."""
    dimensions, counts = {row.d for row in rows}, sorted(len(row.order) for row in rows)
    fixed = f"d\u00a0=\u00a0{dimensions.pop()}" if len(dimensions) == 1 else ""
    least, most = counts[0], counts[-1]
    competing = f"{least} to {most} methods compete" if least < most else f"{most} methods compete"
    if most <= 1:
        competing = "one method runs here, against the start" if least else "one method at most runs here"
    words = (title, f"{kind_text(rows[0].risk_kind)} risk", fixed, competing)
    diagram = Diagram(rows)
    height = max(AXES_HEIGHT, TILE_HEIGHT * len(diagram.lines))
    return Panel(winners_text(rows), diagram.draw, "; ".join(filter(None, words)), height=height, right=MARGIN)


def winners_text(rows: Sequence[Standing]) -> str:
    """Say who most often has the least mean risk: ``app objp has the least mean risk at 7 of 9``, with ties."""
    decided = [row for row in rows if row.decided]
    rest = f"; {len(rows) - len(decided)} undecided" if len(decided) < len(rows) else ""
    if not decided:
        return f"No point of {len(rows)} is decided"
    firsts = Counter(row.winner for row in decided)
    shares = Counter(name for row in decided for name in {row.winner, *row.tied})
    winner = max(shares, key=lambda name: (firsts[name], shares[name], name))
    points = f"of {len(decided)} point{'s' * (len(decided) > 1)}"
    if winner == TRIVIAL:
        return f"Nothing beats the start at {shares[winner]} {points}{rest}"
    ties = sum(len(row.tied) > 1 for row in decided if row.winner == winner)
    tied = "" if not ties else ", all ties" if ties == firsts[winner] else f", {ties} of them ties"
    return f"{method_name(winner)} has the least mean risk at {firsts[winner]} {points}{tied}{rest}"


class Diagram:
    """The tiles of an instance's points.

    Columns are sizes n. Lines are (epsilon, d), from below by ``epsilon/sqrt(d)``: noise counts for as much on each.
    """

    def __init__(self, rows: Sequence[Standing]) -> None:
        self.columns = sorted({row.n for row in rows})
        levels = {(row.epsilon, row.d) for row in rows}
        self.lines = sorted(levels, key=lambda line: (line[0] / math.sqrt(line[1]), -line[1]))
        self.at = {(self.columns.index(row.n), self.lines.index((row.epsilon, row.d))): row for row in rows}

    @property
    def regions(self) -> list[list[Tile]]:
        """Join tiles that are said the same of and that touch each other, in the order of their first tile."""
        left, found = {place: name_text(row) for place, row in self.at.items()}, list[list[Tile]]()
        while left:
            waiting = [first := min(left)]
            name, region = left[first], list[Tile]()
            while waiting:
                x, y = place = waiting.pop()
                if left.get(place) == name:
                    del left[place]
                    region.append(place)
                    waiting += [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
            found.append(region)
        return found

    def draw(self, axes: Axes) -> None:
        """Draw the tiles, an edge where one tile of a region has it and none where two touch, and names of regions."""
        look: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 4, "color": INK, "linespacing": 1.05}
        look["bbox"] = {"facecolor": "white", "alpha": 0.6, "edgecolor": "none", "pad": 0.8}
        edge: dict[str, Any] = {"solid_capstyle": "projecting", "clip_on": False, "zorder": 3}
        for region in self.regions:
            for place in region:
                _tile(axes, self.at[place], *place)
            for x, y in {*region}:
                upright = (((x + side, y), ((x + (side > 0),) * 2, (y, y + 1))) for side in (-1, 1))
                level = (((x, y + side), ((x, x + 1), (y + (side > 0),) * 2)) for side in (-1, 1))
                for other, ends in (*upright, *level):
                    if other not in region:
                        axes.plot(*ends, color=INK, linewidth=0.7, **edge)
            (centre, line), name = middle(region), name_text(self.at[region[0]])
            size = 6 if name.count("\n") < 3 else 5
            axes.text(centre, line + 0.08, name, size=size, **look)  # the time below has room too
        alike = len({d for _, d in self.lines}) == 1
        names = [plain(epsilon) if alike else f"{plain(epsilon)}, {d}" for epsilon, d in self.lines]
        axes.set_xlim(0, len(self.columns))
        axes.set_ylim(0, len(self.lines))
        axes.set_xticks([i + 0.5 for i in range(len(self.columns))], [plain(n) for n in self.columns])
        axes.set_yticks([i + 0.5 for i in range(len(self.lines))], names)
        axes.tick_params(axis="y", labelsize=5.8, pad=1.5)
        bare(axes)
        axes.set_xlabel(parameter_label("n"))
        axes.set_ylabel(parameter_label("epsilon") if alike else "privacy ε, dimension d", labelpad=1.5)


def middle(places: Sequence[Tile]) -> tuple[float, float]:
    """Find where a region's name stands: in the middle of its longest line, the one nearest to the region's middle."""
    mean = sum(y for _, y in places) / len(places)
    runs: list[list[Tile]] = [[]]
    for x, y in sorted(places, key=lambda place: (place[1], place[0])):
        runs += [[]] if runs[-1][-1:] != [(x - 1, y)] else []
        runs[-1].append((x, y))
    run = max(runs[1:], key=lambda run: (len(run), -abs(run[0][1] - mean), -run[0][1]))
    return (run[0][0] + run[-1][0]) / 2 + 0.5, run[0][1] + 0.5


def _tile(axes: Axes, row: Standing, x: int, y: int) -> None:
    hatch, edge = CROSSES if row.contenders else STRIPES if len(row.tied) > 1 else ("", "white")
    colour = tile_colour(row)
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor="white", linewidth=0.4))
    if hatch:
        corner = (x + 0.01, y + 0.01)
        axes.add_patch(Rectangle(corner, 0.98, 0.98, fill=False, hatch=hatch, edgecolor=edge, linewidth=0))
    luminance = sum(weight * part for weight, part in zip(LUMINANCE, colour, strict=True))
    ink = "white" if luminance < DARK else INK
    axes.text(x + 0.97, y + 0.05, tile_text(row), ha="right", va="bottom", size=4.6, color=ink, clip_on=True)


def tile_colour(row: Standing) -> tuple[float, float, float]:
    """Take the colour of the winner's paper, paler where the margin is smaller; white where the point is undecided."""
    if row.contenders:
        return to_rgb("white")
    margin = row.margin if is_number(row.margin) else 0.0
    share = PALEST + (1.0 - PALEST) * min(1.0, max(0.0, margin))
    share = min(share, TIED) if len(row.tied) > 1 else share
    red, green, blue = (1.0 - share * (1.0 - part) for part in to_rgb(_colour(_paper(row))))
    return red, green, blue


def _paper(row: Standing) -> str:
    return row.best.algorithm.split(".", 1)[0] if row.best else TRIVIAL


def name_text(row: Standing) -> str:
    """Say what a region is named by: its winner; the candidates where the point is undecided."""
    if row.runner_up is None:
        return "none proven\nprivate ran" if row.methods else "no method\nrun here"
    if row.contenders:
        least = "the start" if row.winner == TRIVIAL else row.winner
        least, others = _broken(least), len(row.contenders)
        other = _broken(row.contenders[0].method, "or ") if others == 1 else f"or {others} others"
        if len(f"{least}\n{other}".splitlines()) > MOST_LINES:
            other = "or 1 other"
        return f"{least}\n{other}?"
    name = "nothing beats\nthe start" if row.winner == TRIVIAL else _broken(row.winner)
    if row.best and row.best.at_start:
        name += "\n≈ the start"
    return name


def tile_text(row: Standing) -> str:
    """Tell the winner's margin in per cent, of a tie how many share it, of an undecided point what deciding costs."""
    if row.contenders:
        return cost_text(row)
    if row.runner_up is None:
        return ""
    others = len(row.tied) - 1
    if others:
        return f"= {others} more"
    return f"{number(-100 * row.margin, 2)}\u2009%" if is_number(row.margin) else ""


def _broken(label: str, before: str = "") -> str:
    return "\n".join(textwrap.wrap(before + method_name(label), 18, break_long_words=False, break_on_hyphens=False)[:3])


def _colour(paper: str) -> str:
    known = dict(zip(sorted(papers()), COLOURS, strict=False)) | {TRIVIAL: TRIVIAL_COLOUR}
    return known.get(paper, OTHER_COLOUR)


def share(row: Standing) -> float:
    """Divide the least risk by that of the starting point: 0 where a method finds the optimum; NaN where none ran."""
    risks = [max(0.0, method.risk) for method in row.order if is_number(method.risk) and not method.dropped]
    return min(risks) / row.trivial if risks and is_number(row.trivial) and row.trivial > 0 else math.nan


def ratio(row: Standing) -> float:
    return row.n * row.epsilon / math.sqrt(row.d)


def spread(rows: Sequence[Standing]) -> float | None:
    """Find the largest factor between shares of points of other n or d at about one `ratio`, the slope taken out.

    None where there are no two such points; infinite where one of the two risks is 0. Undecided points say nothing:
    a method that was left out may have less risk. The slope is that of a line through the points' logarithms.
    """
    logs = [
        (math.log(ratio(row)), math.log(share(row)) if share(row) else -math.inf, (row.n, row.d))
        for row in rows
        if not row.contenders and not math.isnan(share(row))
    ]
    x, y = np.array([(x, y) for x, y, _ in logs if math.isfinite(y)]).reshape(-1, 2).T
    slope = float(np.polyfit(x, y, 1)[0]) if len({*x}) > 1 else 0.0
    gaps = [
        0.0 if y == v else abs(y - v - slope * (x - u)) if math.isfinite(y + v) else math.inf
        for (x, y, here), (u, v, there) in combinations(logs, 2)
        if here != there and abs(x - u) <= math.log(NEAR)
    ]
    return math.exp(max(gaps)) if gaps else None


def spread_text(rows: Sequence[Standing]) -> str:
    found = spread(rows)
    if found is None:
        return "No two points share a value of n ε/√d"
    word = "One curve" if found <= COLLAPSED else "Not one curve"
    apart = "0 beside others" if math.isinf(found) else f"up to a factor {found:.2g} apart"
    return f"{word}: risks at one n ε/√d are {apart}"


def collapse_figure(board: BoardResults) -> Figure | None:
    """Draw a panel for every instance with at least three points; None where there is none."""
    sized = ((one, [row for row in points if not math.isnan(share(row))]) for one, points in board.by_instance)
    drawn = [(instance, rows) for instance, rows in sized if len(rows) >= 3]
    panels = [Panel(spread_text(rows), partial(_curves, rows), instance.title) for instance, rows in drawn]
    told = [factor for _, rows in drawn if (factor := spread(rows)) is not None]
    one = sum(factor <= COLLAPSED for factor in told)
    message = f"n ε/√d alone decides the least private risk on {one or 'none'} of {len(told)} instances"
    return compose(panels, message, CURVE_WORDS) if panels else None


def _curves(rows: Sequence[Standing], axes: Axes) -> None:
    """Draw points: hollow where undecided, at the foot of the axis where the risk is 0."""
    sizes, dimensions = sorted({row.n for row in rows}), sorted({row.d for row in rows})
    axes.axhline(1.0, color=GREY, linewidth=0.8, zorder=1)
    above = [value for row in rows if (value := share(row)) > 0]
    foot = FOOT * min(above, default=1.0)
    for n, d in sorted({(row.n, row.d) for row in rows}):
        colour = SHADES[min(len(SHADES) - 1, sizes.index(n))]
        marker = MARKERS[dimensions.index(d) % len(MARKERS)]
        label = f"n {plain(n)}" + (f", d {d}" if len(dimensions) > 1 else "")
        ours = sorted((row for row in rows if (row.n, row.d) == (n, d)), key=ratio)
        x, y = [ratio(row) for row in ours], [share(row) or foot for row in ours]
        axes.plot(x, y, color=colour, marker=marker, label=label, markeredgecolor=INK, markeredgewidth=0.3)
        for row, place, value in zip(ours, x, y, strict=True):
            if row.contenders or share(row) == 0:
                at, size = ("v", 5.5) if share(row) == 0 else (marker, None)
                face = "white" if row.contenders else colour
                axes.plot(place, value, at, color=colour, markerfacecolor=face, zorder=4, markersize=size)
    axes.set_xscale("log")
    log_x(axes)
    values = [*above, 1.0, *([foot] if len(above) < len(rows) else [])]
    log_y(axes, values, f"{kind_text(rows[0].risk_kind)} risk / start's")
    axes.set_xlabel("n ε/√d")
    axes.legend(loc="best", fontsize=5, handlelength=1.2, framealpha=0.7)
