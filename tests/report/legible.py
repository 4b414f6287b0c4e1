"""Whether all words of a figure can be read: none beyond its edge, cut by a border, or on another panel's words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.figure import Figure

SLACK = 0.6
"""Points by which the boxes of words may touch: a box is a little larger than its ink."""

Box = tuple[float, float, float, float]
"""Left, lower, right and upper end in points."""


@dataclass(frozen=True)
class Words:
    """A line of text where it is drawn.

    Attributes
    ----------
    owner : int, place of its axes in the figure, -1 for the figure itself
    clip : Box or None, what it is cut at
    """

    text: str
    box: Box
    owner: int
    clip: Box | None


def faults(figure: Figure) -> list[str]:
    """What cannot be read of a figure, a line each: words beyond its edge, cut, or on those or the area of others."""
    words, areas = _drawn(figure)
    width, height = (72.0 * inches for inches in figure.get_size_inches())
    return [
        *(f"beyond the edge: {one.text!r}" for one in words if not _inside(one.box, (0.0, 0.0, width, height))),
        *(f"cut: {one.text!r}" for one in words if one.clip and not _inside(one.box, one.clip)),
        *(f"on another panel: {one.text!r}" for one in words if _on_another(one, areas)),
        *(
            f"on each other: {one.text!r}, {other.text!r}"
            for one, other in combinations(words, 2)
            if _overlap(one.box, other.box)
        ),
    ]


class _Recorder(RendererBase):
    """Draws nothing, and keeps where words would be."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__()
        self.width, self.height = width, height
        self.words: list[Words] = []
        self.opened: list[str] = []
        self.axes = -1

    def get_canvas_width_height(self) -> tuple[float, float]:
        return self.width, self.height

    def open_group(self, s: str, gid: str | None = None) -> None:
        self.opened.append(s)
        self.axes += s == "axes"

    def close_group(self, s: str) -> None:
        self.opened.pop()

    def draw_text(
        self,
        gc: GraphicsContextBase,
        x: float,
        y: float,
        s: str,
        prop: Any,
        angle: float,
        ismath: Any = False,
        mtext: Any = None,
    ) -> None:
        wide, high, descent = self.get_text_width_height_descent(s, prop, ismath)
        turn, base = math.radians(angle), (x, self.height - y)
        corners = [
            (base[0] + a * math.cos(turn) - b * math.sin(turn), base[1] + a * math.sin(turn) + b * math.cos(turn))
            for a in (0.0, wide)
            for b in (-descent, high - descent)
        ]
        across, up = zip(*corners, strict=True)
        clip = gc.get_clip_rectangle()
        owner = self.axes if "axes" in self.opened else -1
        cut = (clip.x0, clip.y0, clip.x1, clip.y1) if clip is not None else None
        self.words.append(Words(s, (min(across), min(up), max(across), max(up)), owner, cut))

    def draw_path(self, *_: Any, **__: Any) -> None: ...

    def draw_markers(self, *_: Any, **__: Any) -> None: ...

    def draw_path_collection(self, *_: Any, **__: Any) -> None: ...

    def draw_quad_mesh(self, *_: Any, **__: Any) -> None: ...

    def draw_image(self, *_: Any, **__: Any) -> None: ...


def _drawn(figure: Figure) -> tuple[list[Words], list[Box]]:
    """Words of a figure, and the areas of its axes in the order in which they are drawn."""
    kept = figure.dpi
    figure.dpi = 72.0
    try:
        recorder = _Recorder(*(72.0 * inches for inches in figure.get_size_inches()))
        figure.draw(recorder)
        boxes = [axes.get_window_extent() for axes in sorted(figure.axes, key=lambda axes: axes.get_zorder())]
        areas = [(box.x0, box.y0, box.x1, box.y1) for box in boxes]
    finally:
        figure.dpi = kept
    return recorder.words, areas


def _inside(box: Box, room: Box) -> bool:
    left, low, right, high = room
    return box[0] > left - SLACK and box[1] > low - SLACK and box[2] < right + SLACK and box[3] < high + SLACK


def _on_another(one: Words, areas: Sequence[Box]) -> bool:
    return any(place != one.owner and _overlap(one.box, area) for place, area in enumerate(areas))


def _overlap(one: Box, other: Box) -> bool:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return wide > SLACK and high > SLACK
