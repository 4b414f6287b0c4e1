"""Whether all words of a figure can be read: none beyond its edge, cut by a border, or on another panel's words."""

import math
from itertools import combinations
from typing import NamedTuple

from matplotlib.backend_bases import RendererBase

SLACK = 0.6  # points by which the boxes of words may touch: a box is a little larger than its ink


class Words(NamedTuple):
    """A line of text, its box (left, lower, right, upper), its axes (-1: the figure), and what cuts it."""

    text: str
    box: tuple
    owner: int
    clip: tuple | None


class Recorder(RendererBase):
    """Draws nothing, and keeps where words would be."""

    def __init__(self, width, height):
        super().__init__()
        self.width, self.height, self.words, self.opened, self.axes = width, height, [], [], -1

    def get_canvas_width_height(self):
        return self.width, self.height

    def open_group(self, s, gid=None):
        self.opened.append(s)
        self.axes += s == "axes"

    def close_group(self, s):
        self.opened.pop()

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
        wide, high, descent = self.get_text_width_height_descent(s, prop, ismath)
        cos, sin, y = math.cos(math.radians(angle)), math.sin(math.radians(angle)), self.height - y
        corners = [(a, b) for a in (0.0, wide) for b in (-descent, high - descent)]
        across, up = ([x + a * cos - b * sin for a, b in corners], [y + a * sin + b * cos for a, b in corners])
        clip, owner = gc.get_clip_rectangle(), self.axes if "axes" in self.opened else -1
        box = (min(across), min(up), max(across), max(up))
        self.words.append(Words(s, box, owner, clip.extents if clip is not None else None))

    def nothing(self, *_, **__): ...

    draw_path = draw_markers = draw_path_collection = draw_quad_mesh = draw_image = nothing


def faults(figure):
    kept, figure.dpi = figure.dpi, 72.0
    try:
        recorder = Recorder(*(72.0 * inches for inches in figure.get_size_inches()))
        figure.draw(recorder)
        drawn = sorted(figure.axes, key=lambda axes: axes.get_zorder())
        areas = [axes.get_window_extent().extents for axes in drawn]
    finally:
        figure.dpi = kept
    words, paper = recorder.words, (0.0, 0.0, recorder.width, recorder.height)
    on_panels = [(one, place) for one in words for place, area in enumerate(areas) if overlap(one.box, area)]
    return [
        *(f"beyond the edge: {one.text!r}" for one in words if not inside(one.box, paper)),
        *(f"cut: {one.text!r}" for one in words if one.clip is not None and not inside(one.box, one.clip)),
        *(f"on another panel: {one.text!r}" for one, place in on_panels if place != one.owner),
        *(f"on each other: {a.text!r}, {b.text!r}" for a, b in combinations(words, 2) if overlap(a.box, b.box)),
    ]


def inside(box, room):
    lower = all(end > limit - SLACK for end, limit in zip(box[:2], room[:2], strict=True))
    return lower and all(end < limit + SLACK for end, limit in zip(box[2:], room[2:], strict=True))


def overlap(one, other):
    return all(min(one[i + 2], other[i + 2]) - max(one[i], other[i]) > SLACK for i in (0, 1))
