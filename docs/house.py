"""Draw the house from its imports: `python docs/house.py` writes docs/house.svg.

Rooms are the folders of the core in the order that tests/test_layers.py enforces, wings are the papers. A line says
that the upper room imports something of the lower one; what follows from other lines is left out.
"""

from __future__ import annotations

import ast
import runpy
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "dpsco_bench"
HIDDEN = ("__init__", "__main__")
ROOM, WING, LINE, INK = "#eef3f8", "#fdf1e3", "#9fb3c8", "#1a1a1a"


def rooms() -> list[list[str]]:
    """List the core's folders and modules by layer, from the lowest up, without the papers."""
    layers = runpy.run_path(str(ROOT / "tests" / "test_layers.py"))["LAYERS"]
    kept = [[name for name in layer if name not in (*HIDDEN, "papers")] for layer in layers]
    return [layer for layer in kept if layer]


def wings() -> list[str]:
    """List the papers."""
    return sorted(path.parent.name for path in (PACKAGE / "papers").glob("*/__init__.py"))


def imports() -> set[tuple[str, str]]:
    """Pairs (room, room that it imports from); a paper is called ``papers``."""
    pairs = set()
    for path in PACKAGE.rglob("*.py"):
        room = path.relative_to(PACKAGE).with_suffix("").parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [f"{node.module}.{alias.name}" for alias in node.names]
                if isinstance(node, ast.ImportFrom) and node.module
                else []
            )
            for name in names:
                parts = name.split(".")
                if parts[0] == "dpsco_bench" and len(parts) > 1 and parts[1] != room:
                    pairs.add((room, parts[1]))
    return pairs


def reduced(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Without the pairs that a longer path implies."""

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
    """Write the picture."""
    layers, papers = rooms(), wings()
    shown = {name for layer in layers for name in layer}
    pairs = reduced({pair for pair in imports() if set(pair) <= shown})
    places = {
        name: (7.2 * (i + 0.5) / len(layer), float(level))
        for level, layer in enumerate(layers)
        for i, name in enumerate(layer)
    }
    plt.rcParams.update({"svg.hashsalt": "house", "svg.fonttype": "none", "font.size": 9, "font.family": "sans-serif"})
    figure, axes = plt.subplots(figsize=(8.4, 0.82 * len(layers) + 0.6))
    for upper, lower in sorted(pairs):
        (x0, y0), (x1, y1) = places[upper], places[lower]
        axes.plot([x0, x1], [y0, y1], color=LINE, linewidth=0.8, zorder=1)
    for name, (x, y) in places.items():
        box(axes, x, y, name, 1.18, ROOM)
    height = len(layers) - 1
    for i, paper in enumerate(papers):
        box(axes, 8.9, height * (i + 0.5) / len(papers), paper, 1.3, WING)
    axes.text(8.9, height + 0.05, "wings: papers", ha="center", va="center", color=INK)
    axes.annotate("", (7.35, height / 2), (8.15, height / 2), arrowprops={"arrowstyle": "->", "color": LINE})
    axes.text(7.75, height / 2 + 0.18, "import", ha="center", color=INK, fontsize=8)
    axes.set_xlim(-0.1, 9.7)
    axes.set_ylim(-0.6, height + 0.6)
    axes.axis("off")
    figure.savefig(target, bbox_inches="tight", metadata={"Date": None, "Creator": None})
    plt.close(figure)


def box(axes: plt.Axes, x: float, y: float, name: str, width: float, colour: str) -> None:
    """One room."""
    shape = FancyBboxPatch(
        (x - width / 2, y - 0.2), width, 0.4, boxstyle="round,pad=0.02", facecolor=colour, edgecolor=LINE, zorder=2
    )
    axes.add_patch(shape)
    axes.text(x, y, name, ha="center", va="center", color=INK, zorder=3)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("house.svg"))
