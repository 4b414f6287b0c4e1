"""Draw the package from its imports: `python docs/house.py` writes docs/house.svg.

Rooms are the folders of the package, in the order that tests/test_layers.py enforces; wings are the papers. A line says
that the upper room imports the lower one; lines that follow from others are left out. Numbers are the way of a claim.
"""

from __future__ import annotations

import argparse
import runpy
from pathlib import Path

import grimp
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

ROOT = Path(__file__).resolve().parent.parent
HIDDEN = ("__init__", "__main__")
ROOM, WING, STEP, LINE, INK = "#f4f6f8", "#fdf1e3", "#cfe3f5", "#b4c3d2", "#1a1a1a"
STEPS = {
    "claims": "1 plan: a claim's file becomes jobs with keys",
    "privacy": "2 calibrate: an accountant charges the plan's queries",
    "execution": "3 run: a worker draws noise and records, and stores risks",
    "kinds": "4 judge: rows become a word and a sentence",
    "report": "5 report: words become answers, tables and figures",
    "site": "6 show: terminal and site print the answers",
}
"""Room on the way of a claim -> what happens there."""
RIGHT = 7.9
"""Where the steps are written."""


def rooms() -> list[list[str]]:
    """List the core's folders and modules by layer, from the lowest up, without the papers."""
    layers = runpy.run_path(str(ROOT / "tests" / "test_layers.py"))["LAYERS"]
    kept = [[name for name in layer if name not in (*HIDDEN, "papers")] for layer in layers]
    return [layer for layer in kept if layer]


def imports() -> set[tuple[str, str]]:
    """Find pairs (room, room that it imports from); a paper is called ``papers``."""
    graph = grimp.build_graph("dpsco_bench", cache_dir=None)
    found = ((module, name) for module in graph.modules for name in graph.find_modules_directly_imported_by(module))
    pairs = {(module.split(".")[1], name.split(".")[1]) for module, name in found if "." in module and "." in name}
    return {(room, other) for room, other in pairs if room != other}


def reduced(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Leave out the pairs that a longer path implies."""

    def reachable(start: str, without: tuple[str, str]) -> set[str]:
        seen, todo = set(), [start]
        while todo:
            here = todo.pop()
            for upper, lower in pairs - {without}:
                if upper == here and lower not in seen:
                    seen.add(lower)
                    todo.append(lower)
        return seen

    return {pair for pair in pairs if pair[1] not in reachable(pair[0], pair)}


def draw(target: Path) -> None:
    layers = rooms()
    shown = {name for layer in layers for name in layer}
    pairs = reduced({pair for pair in imports() if set(pair) <= shown})
    papers = (ROOT / "dpsco_bench" / "papers").glob("*/__init__.py")
    layers.insert(len(layers) - 1, sorted(path.parent.name for path in papers))
    places = {
        name: (7.4 * (i + 0.5) / len(layer), float(level))
        for level, layer in enumerate(layers)
        for i, name in enumerate(layer)
    }
    plt.rcParams.update({"svg.hashsalt": "house", "svg.fonttype": "none", "font.size": 9, "font.family": "sans-serif"})
    figure, axes = plt.subplots(figsize=(10.4, 0.62 * len(layers) + 0.5))
    for upper, lower in sorted(pairs):
        (x0, y0), (x1, y1) = places[upper], places[lower]
        axes.plot([x0, x1], [y0, y1], color=LINE, linewidth=0.7, zorder=1)
    for name, (x, y) in places.items():
        colour, form = STEP if name in STEPS else ROOM if name in shown else WING, "round,pad=0.02"
        axes.add_patch(FancyBboxPatch((x - 0.6, y - 0.2), 1.2, 0.4, form, facecolor=colour, edgecolor=LINE, zorder=2))
        axes.text(x, y, name, ha="center", va="center", color=INK, zorder=3)
        if name in STEPS:
            axes.text(RIGHT, y, STEPS[name], ha="left", va="center", color=INK)
            axes.plot([x + 0.62, RIGHT - 0.1], [y, y], color=LINE, linewidth=0.7, linestyle=":", zorder=0)
    axes.set_xlim(-0.1, RIGHT + 4.6)
    axes.set_ylim(-0.5, len(layers) - 0.5)
    axes.axis("off")
    figure.savefig(target, bbox_inches="tight", metadata={"Date": None, "Creator": None})
    plt.close(figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, default=Path(__file__).with_name("house.svg"))
    draw(parser.parse_args().file)
