"""Phase diagrams of a leaderboard: at every point who has the least risk, and by how much."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from dpsco_bench.analysis.ranking import Standing
from dpsco_bench.analysis.standings import TRIVIAL
from dpsco_bench.registry import papers
from dpsco_bench.report.board import competing, cost_text, kind_text, measured
from dpsco_bench.report.drawing import AXES_HEIGHT, INK, Panel, compose
from dpsco_bench.report.inputs import BoardResults
from dpsco_bench.report.numbers import is_number, number, plain
from dpsco_bench.report.wording import parameter_label

COLOURS = ("#E69F00", "#CC79A7", "#009E73", "#56B4E9", "#0072B2", "#D55E00", "#F0E442")
"""Of the papers, in the order of their names."""
OTHER_COLOUR, TRIVIAL_COLOUR = "#999999", "#bdbdbd"
PALEST = 0.18
"""Share of its colour that a tile keeps where the margin is 0."""
TIED = 0.45
"""Largest share of its colour that the tile of a tie keeps: its margin is in doubt, and its text stands on hatches."""
TILE_HEIGHT, MARGIN = 0.4, 0.15
"""Inches: what a tile's name and the text below it need at least, and the margin beside the tiles."""
MOST_LINES = 4
"""Of the name of an undecided region; what it would cost stands below."""
LABEL_SIZE = 5.8
"""Points: of the lines' labels, of which the longest has to fit beside the axis' own."""
DARK = 0.45
"""Luminance below which the text of a tile is white."""
WORDS = "The winner's name stands in its region; per cent: its mean risk against the runner-up's; paler: closer"
CROSSES, STRIPES = ("xx", "#dcdcdc"), ("////", "#ffffff")
"""Hatches of undecided tiles and of ties, with their colours, on which texts stand; dots would make a page large."""
HATCHED = (
    (*STRIPES, "#d9d9d9", "a tie"),
    (*CROSSES, "#ffffff", "undecided: what might win is too slow; the time that deciding takes"),
)


def phase_panels(board: BoardResults) -> list[tuple[str, Panel]]:
    """(instance, panel) for every instance that was measured."""
    found = []
    for instance in board.board.instances:
        rows = [row for row in measured(board) if row.instance == instance.id]
        if rows:
            kind = f"{kind_text(rows[0])} risk"
            words = (instance.title, kind, fixed_text(rows), competing_text(rows))
            line = "; ".join(filter(None, words))
            height = max(AXES_HEIGHT, TILE_HEIGHT * len(lines_of(rows)))
            panel = Panel(winners_text(rows), _drawn(rows), line, height=height, right=MARGIN)
            found.append((instance.id, panel))
    return found


def winners_text(rows: Sequence[Standing]) -> str:
    """Who most often has the least mean risk, as the tiles name it: ``app objp has the least mean risk at 7 of 9``.

    Where it shares some of these first places, it says of how many: ``..., 2 of them ties; 2 undecided``.
    """
    decided = [row for row in rows if row.runner_up is not None and not row.contenders]
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
    return f"{winner.replace('_', ' ')} has the least mean risk at {firsts[winner]} {points}{tied}{rest}"


def board_message(board: BoardResults) -> str:
    """Count how many methods share the first places of a board."""
    decided = [row for row in measured(board) if row.runner_up is not None and not row.contenders]
    winners = {name for row in decided for name in (row.winner, *row.tied)} - {TRIVIAL}
    first = f"{len(winners)} methods share the first places" if len(winners) > 1 else "One method has the first places"
    title = board.board.title
    return f"{title}{'' if title.endswith('?') else ':'} {first} of {len(decided)} decided points"


def fixed_text(rows: Sequence[Standing]) -> str:
    """The dimension, where all points have the same."""
    dimensions = {row.d for row in rows}
    return f"d\u00a0=\u00a0{dimensions.pop()}" if len(dimensions) == 1 else ""


def competing_text(rows: Sequence[Standing]) -> str:
    """Count how many methods competed at the points of a plane."""
    least, most = min(map(competing, rows)), max(map(competing, rows))
    if most <= 1:
        return "one method runs here, against the start" if least else "one method at most runs here"
    return f"{least} to {most} methods compete" if least < most else f"{most} methods compete"


def uncompared_text(rows: Sequence[Standing]) -> str:
    """Methods that are too long wherever the instance was run, and how many are at some points."""
    names = sorted({name for row in rows for name in row.uncompared})
    slow = {item.method for row in rows for item in row.left_out if item.status == "too_long"} - {*names}
    said = [f"not compared, too long everywhere: {', '.join(names)}"] if names else []
    said += [f"too long at some points: {len(slow)} method{'s' * (len(slow) > 1)}"] if slow else []
    return "; ".join(said)


def uncompared_texts(board: BoardResults) -> list[tuple[str, str]]:
    """(instance, what was too long there), of those where something was."""
    found = [(one.id, [row for row in measured(board) if row.instance == one.id]) for one in board.board.instances]
    return [(id, text) for id, rows in found if (text := uncompared_text(rows))]


Level = tuple[float, int]
"""(epsilon, d) of a line of tiles."""


def lines_of(rows: Sequence[Standing]) -> list[Level]:
    """The lines of a diagram from below, by ``epsilon/sqrt(d)``: noise counts for as much on each."""
    return sorted({(row.epsilon, row.d) for row in rows}, key=lambda line: (line[0] / math.sqrt(line[1]), -line[1]))


def regions(rows: Sequence[Standing]) -> list[list[Standing]]:
    """Points that are said the same of and that touch each other, in the order of their first point."""
    columns, lines = sorted({row.n for row in rows}), lines_of(rows)
    at = {(columns.index(row.n), lines.index((row.epsilon, row.d))): row for row in rows}
    left, found = dict(at), []
    while left:
        waiting, region = [min(left)], []
        while waiting:
            x, y = place = waiting.pop()
            if place in left:
                region.append(left.pop(place))
                near = ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))
                waiting += [one for one in near if one in left and name_text(left[one]) == name_text(at[place])]
        found.append(region)
    return found


def _drawn(rows: Sequence[Standing]) -> Any:
    columns, lines = sorted({row.n for row in rows}), lines_of(rows)
    alike = len({d for _, d in lines}) == 1

    def draw(axes: Axes) -> None:
        for region in regions(rows):
            places = [(columns.index(row.n), lines.index((row.epsilon, row.d))) for row in region]
            for row, place in zip(region, places, strict=True):
                _tile(axes, row, *place)
            _edge(axes, set(places))
            _name(axes, region[0], *_middle(places))
        axes.set_xlim(0, len(columns))
        axes.set_ylim(0, len(lines))
        axes.set_xticks([i + 0.5 for i in range(len(columns))], [plain(n) for n in columns])
        names = [plain(epsilon) if alike else f"{plain(epsilon)}, {d}" for epsilon, d in lines]
        axes.set_yticks([i + 0.5 for i in range(len(lines))], names)
        axes.tick_params(length=0)
        axes.tick_params(axis="y", labelsize=LABEL_SIZE, pad=1.5)
        axes.grid(False)
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_xlabel(parameter_label("n"))
        axes.set_ylabel(parameter_label("epsilon") if alike else "ε, d, by ε/√d", labelpad=1.5)

    return draw


def _middle(places: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Say where a region's name stands: in the middle of its longest line, the one nearest to the region's middle."""
    mean = sum(y for _, y in places) / len(places)
    runs: list[list[tuple[int, int]]] = []
    for x, y in sorted(places, key=lambda place: (place[1], place[0])):
        if runs and runs[-1][-1] == (x - 1, y):
            runs[-1].append((x, y))
        else:
            runs.append([(x, y)])
    run = max(runs, key=lambda run: (len(run), -abs(run[0][1] - mean), -run[0][1]))
    return (run[0][0] + run[-1][0]) / 2 + 0.5, run[0][1] + 0.5


def _edge(axes: Axes, places: set[tuple[int, int]]) -> None:
    """The border of a region."""
    for x, y in places:
        for other, ends in (
            ((x - 1, y), ((x, x), (y, y + 1))),
            ((x + 1, y), ((x + 1, x + 1), (y, y + 1))),
            ((x, y - 1), ((x, x + 1), (y, y))),
            ((x, y + 1), ((x, x + 1), (y + 1, y + 1))),
        ):
            if other not in places:
                axes.plot(*ends, color=INK, linewidth=0.7, solid_capstyle="projecting", clip_on=False, zorder=3)


def _tile(axes: Axes, row: Standing, x: int, y: int) -> None:
    hatch, edge = CROSSES if row.contenders else STRIPES if len(row.tied) > 1 else ("", "white")
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=tile_colour(row), edgecolor="white", linewidth=0.4))
    if hatch:
        axes.add_patch(
            Rectangle((x + 0.01, y + 0.01), 0.98, 0.98, fill=False, hatch=hatch, edgecolor=edge, linewidth=0)
        )
    ink = "white" if _luminance(tile_colour(row)) < DARK else INK
    axes.text(x + 0.97, y + 0.05, tile_text(row), ha="right", va="bottom", size=4.6, color=ink, clip_on=True)


def _name(axes: Axes, row: Standing, x: float, y: float) -> None:
    box = {"facecolor": "white", "alpha": 0.6, "edgecolor": "none", "pad": 0.8}
    where: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 4}
    axes.text(x, y + 0.08, name_text(row), size=6, color=INK, linespacing=1.05, bbox=box, **where)


def _luminance(colour: tuple[float, float, float]) -> float:
    red, green, blue = colour
    return 0.299 * red + 0.587 * green + 0.114 * blue


def tile_colour(row: Standing) -> tuple[float, float, float]:
    """The colour of the winner's paper, paler where the margin is smaller; white where the point is undecided."""
    if row.contenders:
        return to_rgb("white")
    paper = _paper(row)
    colour = to_rgb(TRIVIAL_COLOUR if paper == TRIVIAL else _colour(paper))
    margin = float(row.margin) if is_number(row.margin) else 0.0
    share = PALEST + (1.0 - PALEST) * min(1.0, max(0.0, margin))
    if len(row.tied) > 1:
        share = min(share, TIED)
    red, green, blue = (1.0 - share * (1.0 - part) for part in colour)
    return red, green, blue


def _paper(row: Standing) -> str:
    if row.winner == TRIVIAL:
        return TRIVIAL
    return str(next(m.algorithm for m in row.methods if m.method == row.winner).split(".", 1)[0])


def name_text(row: Standing) -> str:
    """Say what a region is named by: its winner; the candidates where the point is undecided."""
    if row.runner_up is None:
        return "none proven\nprivate ran" if row.methods else "no method\nrun here"
    if row.contenders:
        least = "the start" if row.winner == TRIVIAL else row.winner
        least, others = _broken(least), len(row.contenders)
        other = _broken("or_" + row.contenders[0].method) if others == 1 else f"or {others} others"
        if len(f"{least}\n{other}".splitlines()) > MOST_LINES:
            other = "or 1 other"
        return f"{least}\n{other}?"
    name = "nothing beats\nthe start" if row.winner == TRIVIAL else _broken(row.winner)
    if any(method.at_start for method in row.methods if method.method == row.winner):
        name += "\n≈ the start"
    return name


def tile_text(row: Standing) -> str:
    """The winner's margin in per cent, of a tie how many cannot be told from it, of an undecided point its cost."""
    if row.contenders:
        return cost_text(row)
    if row.runner_up is None:
        return ""
    others = len(row.tied) - 1
    if others:
        return f"= {others} more"
    return f"{number(-100 * row.margin, 2)}\u2009%" if is_number(row.margin) else ""


def _broken(name: str) -> str:
    """A name in lines of at most a dozen characters, broken at underscores."""
    lines = [""]
    for piece in name.split("_"):
        joined = f"{lines[-1]} {piece}".strip()
        lines[-1:] = [joined] if len(joined) <= 12 or not lines[-1] else [lines[-1], piece]
    return "\n".join(lines[:3])


def board_figure(board: BoardResults) -> Figure:
    """All phase diagrams of a board in one figure, with a key of the papers' colours."""
    panels = [panel for _, panel in phase_panels(board)]
    key = [Patch(color=colour, label=paper) for paper, colour in paper_colours(board)]
    key.append(Patch(color=TRIVIAL_COLOUR, label="no method beats the start"))
    key += [
        Patch(facecolor=face, edgecolor=edge, hatch=hatch, label=text, linewidth=0)
        for hatch, edge, face, text in HATCHED
    ]
    return compose(panels, board_message(board), WORDS, key=False, more=key)


def paper_colours(board: BoardResults) -> list[tuple[str, str]]:
    """(paper, colour) of every winner's paper, for the key."""
    winners = sorted({_paper(row) for row in measured(board) if not row.contenders} - {TRIVIAL})
    return [(paper, _colour(paper)) for paper in winners]


def _colour(paper: str) -> str:
    known = sorted(papers())
    place = known.index(paper) if paper in known else len(COLOURS)
    return COLOURS[place] if place < len(COLOURS) else OTHER_COLOUR
