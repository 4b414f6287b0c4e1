"""Phase diagrams of a leaderboard: at every point who has the least risk, and by how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from dpsco_bench.analysis.ranking import Standing
from dpsco_bench.analysis.standings import TRIVIAL
from dpsco_bench.registry import papers
from dpsco_bench.report.board import competing, measured
from dpsco_bench.report.drawing import FAINT, INK, Line, Panel, compose
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
DARK = 0.45
"""Luminance below which the text of a tile is white."""
WORDS = (
    "colour: the winner's paper, paler where its margin over the runner-up is smaller; hatched: a tie; white, "
    "crossed: undecided, a contender (a method that was tied or not far behind where it last ran) was too long here"
)
CROSSES, STRIPES = ("xx", "#dcdcdc"), ("////", "#ffffff")
"""Hatches of undecided tiles and of ties, with their colours, on which texts stand; dots would make a page large."""
HATCHED = ((*STRIPES, "#d9d9d9", "a tie"), (*CROSSES, "#ffffff", "undecided: contender left out as too long"))


def phase_panels(board: BoardResults) -> list[tuple[str, Panel]]:
    """(instance, panel) for every plane of a board's grids with at least two points of n."""
    found = []
    for instance in board.board.instances:
        rows = [row for row in measured(board) if row.instance == instance.id]
        for axis, fixed, points in _planes(board.board.blocks(instance, board.profile), rows):
            texts = (fixed, competing_text(points), uncompared_text(points))
            lines = [Line(text, FAINT) for text in texts if text]
            found.append((instance.id, Panel(instance.title, _drawn(points, axis), lines)))
    return found


def competing_text(rows: Sequence[Standing]) -> str:
    """How many methods competed at the points of a plane."""
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


def _planes(
    blocks: Sequence[Mapping[str, list[Any]]], rows: Sequence[Standing]
) -> list[tuple[str, str, list[Standing]]]:
    """(key on the y-axis, what is fixed in words, rows) of every plane that the blocks span."""
    planes = []
    for block in blocks:
        inside = [row for row in rows if all(getattr(row, key) in values for key, values in block.items())]
        swept = [key for key in ("epsilon", "d") if len(block.get(key, ())) > 1]
        if len(swept) == 2:
            for d in block["d"]:
                planes.append(("epsilon", f"d\u00a0=\u00a0{d}", [row for row in inside if row.d == d]))
        elif inside:
            axis = swept[0] if swept else "epsilon"
            other = "d" if axis == "epsilon" else "epsilon"
            shown = {"d": "d", "epsilon": "ε"}[other]
            planes.append((axis, f"{shown}\u00a0=\u00a0{plain(getattr(inside[0], other))}", inside))
    return [plane for plane in planes if plane[2]]


def _drawn(rows: Sequence[Standing], axis: str) -> Any:
    columns, lines = sorted({row.n for row in rows}), sorted({getattr(row, axis) for row in rows})

    def draw(axes: Axes) -> None:
        for row in rows:
            _tile(axes, row, columns.index(row.n), lines.index(getattr(row, axis)), max(len(columns), 3))
        axes.set_xlim(0, len(columns))
        axes.set_ylim(0, len(lines))
        axes.set_xticks([i + 0.5 for i in range(len(columns))], [plain(n) for n in columns])
        axes.set_yticks([i + 0.5 for i in range(len(lines))], [plain(value) for value in lines])
        axes.tick_params(length=0)
        axes.grid(False)
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_xlabel(parameter_label("n"))
        axes.set_ylabel(parameter_label(axis))

    return draw


def _tile(axes: Axes, row: Standing, x: int, y: int, columns: int) -> None:
    hatch, edge = CROSSES if row.contenders else STRIPES if len(row.tied) > 1 else ("", "white")
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=tile_colour(row), edgecolor="white", linewidth=1.2))
    if hatch:
        axes.add_patch(
            Rectangle((x + 0.01, y + 0.01), 0.98, 0.98, fill=False, hatch=hatch, edgecolor=edge, linewidth=0)
        )
    size = 6.2 if columns <= 3 else 4.6
    ink = "white" if _luminance(tile_colour(row)) < DARK else INK
    axes.text(
        x + 0.5, y + 0.5, tile_text(row), ha="center", va="center", size=size, color=ink, linespacing=1.15, clip_on=True
    )


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


def tile_text(row: Standing) -> str:
    """The winner and its margin in per cent; of a tie how many cannot be told apart from it; else the candidates."""
    if row.runner_up is None:
        return "no method\nrun here"
    if row.contenders:
        least = "the start" if row.winner == TRIVIAL else row.winner
        return f"{_broken(least)}\n{_broken('or_' + row.contenders[0].method)}?"
    name = "nothing beats\nthe start" if row.winner == TRIVIAL else _broken(row.winner)
    if any(method.at_start for method in row.methods if method.method == row.winner):
        name += "\n≈ the start"
    others = len(row.tied) - 1
    if others:
        return f"{name}\n= {others} more"
    return f"{name}\n{number(-100 * row.margin, 2)}\u2009%" if is_number(row.margin) else name


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
    return compose(panels, board.board.title, WORDS, key=False, more=key)


def paper_colours(board: BoardResults) -> list[tuple[str, str]]:
    """(paper, colour) of every winner's paper, for the key."""
    winners = sorted({_paper(row) for row in measured(board) if not row.contenders} - {TRIVIAL})
    return [(paper, _colour(paper)) for paper in winners]


def _colour(paper: str) -> str:
    known = sorted(papers())
    place = known.index(paper) if paper in known else len(COLOURS)
    return COLOURS[place] if place < len(COLOURS) else OTHER_COLOUR
