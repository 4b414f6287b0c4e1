"""Boxes: the numbers that a draw asks for, by steps, replicates and coordinates, and their counters.

One block of Philox4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011) has the counter
``(coordinate block, step, replicate, kind)`` and gives four 32-bit words. Normals and Laplace variates take one word's
worth each, so that coordinates ``4k .. 4k + 3`` come from block ``k``; so do the shapes of generalised Gaussian
vectors, whose squared radii take a word for every two coordinates and two for a last odd one. Uniforms and integers
take two words each, so that coordinates ``2k`` and ``2k + 1`` come from block ``k``. Of the order statistics of a noisy
minimum, block ``k`` holds the k-th attempt. This layout is frozen.
"""

from __future__ import annotations

import operator
from typing import NamedTuple

from dpsco_bench.errors import InputError

NORMAL, UNIFORM, LAPLACE, INTEGER, SHAPE, RADIUS, ORDER = range(7)
"""Kinds of draws, the last word of a counter."""
_LIMIT = 1 << 32


class Box(NamedTuple):
    """A rectangle of draws; results have the shape ``(steps, replicates, dim)``."""

    first_step: int
    steps: int
    first_replicate: int
    replicates: int
    dim: int

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.steps, self.replicates, self.dim

    def total(self, per_block: int) -> int:
        """Philox blocks in the whole box, when a block gives ``per_block`` values."""
        return self.steps * self.replicates * -(-self.dim // per_block)


def checked_box(values: tuple[int, ...], per_block: int) -> Box:
    """Return the box. Raises InputError unless sizes and first indices are >= 0 and each counter fits in 32 bits."""
    box = Box(*map(operator.index, values))
    if min(box) < 0:
        name, value = next(pair for pair in zip(Box._fields, box, strict=True) if pair[1] < 0)
        raise InputError(name, value, "an integer >= 0")
    if box.first_step + box.steps > _LIMIT:
        raise InputError("first_step + steps", box.first_step + box.steps, "at most 2^32")
    if box.first_replicate + box.replicates > _LIMIT:
        raise InputError("first_replicate + replicates", box.first_replicate + box.replicates, "at most 2^32")
    if box.dim > per_block * _LIMIT:
        raise InputError("dim", box.dim, f"at most {per_block} * 2^32")
    return box
