"""Steps in tiles: the records and the noise of many steps of some replicates at once, as compiled loops take them.

The mechanism draws the words, as for the reference implementation. No row depends on another: tiles change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpsco_bench.fused.compiled import compiled
from dpsco_bench.fused.pieces import L1_BALL, L2_BALL, LINF_BALL, LP_BALL, SPACE
from dpsco_bench.privacy.records import Poisson
from dpsco_bench.problems.base import Data
from dpsco_bench.problems.data import Kinds, Levels, Listed, RecordForm, form_of, kinds_of

Array = Any
NUMBERS = 1 << 17
"""Noise values of a tile, and as many numbers of records that are gathered: both stay in the second-level cache."""
LEAST_STEPS = 32
"""Steps of a tile, where replicates can be taken in groups."""
LONGEST = 1 << 18
"""Most steps of a stretch: its step sizes and weights are arrays."""
DOMAINS = {"l2_ball": L2_BALL, "l1_ball": L1_BALL, "linf_ball": LINF_BALL}
LAUNCHERS: dict[Any, Callable[..., None]] = {}
"""Launcher of the kernel that stands for a compiled loop."""
_NONE = np.zeros((0, 0), dtype=np.int64)


@compiled
def kinds_in(found, kinds, indices):
    """Write kinds ``(S R, n)`` of records ``indices (k, R, W)``, which all signals share, to ``found (k, S R, W)``."""
    replicates = indices.shape[1]
    for s in range(found.shape[0]):
        for row in range(found.shape[1]):
            for w in range(found.shape[2]):
                found[s, row, w] = np.int64(kinds[row, indices[s, row % replicates, w]])


@compiled
def write_signs(found, levels, ranks, scale, indices):
    """Write records ``indices (k, R, W)`` with two values to ``found (S R, k, W, d)``.

    They are ``scale`` where ``levels (R, n, d)`` are above the signal's rank, of ``ranks (S,)``, else ``-scale``.
    """
    replicates = indices.shape[1]
    for row in range(found.shape[0]):
        r, rank = row % replicates, ranks[row // replicates]
        for s in range(found.shape[1]):
            for w in range(found.shape[2]):
                i = indices[s, r, w]
                for j in range(found.shape[3]):
                    found[row, s, w, j] = scale if levels[r, i, j] > rank else -scale


@compiled
def write_about(found, means, signs, scale, indices):
    """Write records ``means[row] + scale signs[r, i]`` about ``means (S R, d)`` of their rows, ``signs (R, n, d)``."""
    replicates = indices.shape[1]
    for row in range(found.shape[0]):
        r = row % replicates
        for s in range(found.shape[1]):
            for w in range(found.shape[2]):
                i = indices[s, r, w]
                for j in range(found.shape[3]):
                    found[row, s, w, j] = means[row, j] + scale * signs[r, i, j]


def on_device(loop: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register what launches a loop's kernel, with the loop's arguments (used as a decorator)."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        LAUNCHERS[loop] = function
        return function

    return register


@dataclass(frozen=True)
class Tile:
    """Some steps of some replicates.

    Attributes
    ----------
    steps : slice, of the steps of this call of `Steps.tiles`
    rows : tuple of int, replicates ``first .. last - 1`` of R, and S: row ``s R + r`` of an iterate is replicate r
    records : tuple
        ``features (N, d)`` and ``labels (N,)``; ``index (k, rows, W)``, where one row stands for all; the number of
        records of each batch ``counts (k, rows)``, one number for all; what a record weighs; and how far the rows of
        ``index`` for the s-th copy lie behind those of the first.
    noise : array (k, last - first, dim) of float32, ``(1, 1, dim)`` of zeros without noise
        On a device the place of its words: see `device.DeviceSteps`.
    """

    steps: slice
    rows: tuple[int, int, int, int]
    records: tuple[Any, ...]
    noise: Any


class Steps:
    """The steps of a run that look at records of one query's batches, or at consecutive records.

    Parameters
    ----------
    objective, mechanism
        Of the run.
    noise : str, the query whose noise the steps take; empty for none
    sampled : bool, whether its batches are drawn; else step t looks at record t
    looks : int, how often a step evaluates the gradient of each of its records
    dim : int, width of the noise, by default that of the iterates
    batch : int, consecutive records of a step, where batches are not drawn
    full : bool, whether a step looks at all records: its tiles have none
    """

    def __init__(
        self,
        objective: Any,
        mechanism: Any,
        noise: str = "",
        sampled: bool = False,
        looks: int = 1,
        dim: int = 0,
        batch: int = 1,
        full: bool = False,
    ) -> None:
        self.objective, self.mechanism, self.looks, self.sampled = objective, mechanism, looks, sampled
        self.xp = objective.xp
        self.query = mechanism.plan.query(noise) if noise else None
        self.d = objective.start.shape[1]
        self.dim = dim or self.d
        self.copies = mechanism.copies
        self.replicates = objective.replicates // self.copies
        self.full, self.width = full, mechanism.batch_width(self.query) if sampled else batch
        data, form = objective.data, RecordForm() if full else form_of(objective.problem)
        assert form is not None
        self.form = form_tuple(form)
        self._alone = isinstance(data, Data) and data.features is None
        self._shared = full or self._alone or (isinstance(data, Data) and data.features.ndim == 2)
        self._share = 1.0 / (mechanism.expected_size(self.query) if sampled else batch)
        self._equal = False
        self._listed: tuple[Any, Listed | None] = (None, None)
        self._still = np.zeros((1, 1, self.dim), dtype=np.float32)

    def run(self, loop: Callable[..., None], *arguments: Any) -> None:
        """Run a compiled loop of steps on what tiles have."""
        loop(*arguments)

    def scales(self, first: int, steps: int) -> np.ndarray:
        """Scale of the noise of each step, ``(steps,)``."""
        return self.mechanism.noise_scales(self.query, first, steps) if self.query else np.zeros(steps)

    def walk(
        self, x: Array, first: int, steps: int, record: int | None = None, **keys: bool
    ) -> Iterator[tuple[int, np.ndarray, Tile]]:
        """Yield the first step, the scales of the noise and the tile of all tiles of steps ``first ...``, as `tiles`.

        The caller moves ``x`` in place; it is shown where the measurement looks.
        """
        record = first if record is None else record
        t, end, cost = first, first + steps, self.looks * (self.objective.n if self.full else self.width)
        while t < end:
            k = min(end - t, LONGEST, max(1, self.objective.unseen(cost * (end - t)) // cost))
            scales = self.scales(t, k)
            for tile in self.tiles(t, k, record + (t - first) * self.width, **keys):
                yield t + tile.steps.start, scales[tile.steps], tile
            self.objective.observe(x)
            t += k

    def told(self, tile: Tile) -> tuple[Any, ...]:
        """Collect what compiled loops are told of a tile: rows, records, their form, noise."""
        return tile.rows, tile.records, self.form, tile.noise

    def tiles(
        self, first: int, steps: int, record: int | None = None, variates: bool = True, whole: bool = False
    ) -> Iterator[Tile]:
        """Tiles of steps ``first ...`` of the query, which are released, and count their gradients.

        ``record`` is the first of the consecutive records, by default ``first``. Without ``variates`` the loop draws
        its noise itself. ``whole`` tiles have all replicates.
        """
        self._begin(first, steps)
        group = self.replicates
        if self._shared and not whole:
            group = max(1, min(group, NUMBERS // (LEAST_STEPS * max(self.dim, self.width))))
        if not self._shared and self._listed[0] is not self.objective.data:
            self._listed = self.objective.data, kinds_of(self.objective.problem, self.objective.data, self.sampled)
        length = self._length(group)
        ahead = length * max(1, self.dim // (4 * self.width))  # indices are few beside the noise
        for low in range(0, self.replicates, group):
            rows, start, indices, counts = (low, min(self.replicates, low + group)), 0, _NONE, _NONE
            t = 0
            while t < steps:
                k = min(length, steps - t)
                if self.sampled and t % ahead == 0:
                    start, (indices, counts) = t, self._batches(first + t, min(ahead, steps - t), rows)
                part = slice(t - start, t - start + k)
                if self.sampled:
                    records = self._records(indices[part], counts if counts.size == 1 else counts[part])
                else:
                    records = self._range(record, first, t, k)
                noise = None
                if self.query is not None and variates:
                    noise = self.mechanism.variates(self.query, first + t, k, rows, self.dim)
                noise = self._still if noise is None else noise
                yield Tile(slice(t, t + k), (*rows, self.replicates, self.copies), records, noise)
                t, length = t + k, length if self.sampled else self._length(group)

    def _begin(self, first: int, steps: int) -> None:
        """Release steps, and count their gradients unless batches are drawn."""
        if self.query is not None:
            self.mechanism.spend(self.query.name, first, steps, self.sampled)
        if not self.sampled:
            self.objective.count(self.looks * steps * (self.objective.n if self.full else self.width))

    def _length(self, group: int) -> int:
        """Choose the steps of a tile for so many replicates; more once consecutive records are known to be equal."""
        size = group * max(self.dim, self.width)
        if not self._shared and not self._equal:
            known = isinstance(self._listed[1], Kinds)
            size = max(size, self.copies * group * self.width * (1 if known else self.d))
        return max(2, NUMBERS // size)

    def _batches(self, first: int, k: int, rows: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        """Draw the indices of batches, ``(k, rows, W)``, and their sizes; count their gradients."""
        indices, mask = self.mechanism.batches(self.query, first, k, rows)
        varied = self.query is not None and isinstance(self.query.records, Poisson) and not mask.all()
        counts = np.count_nonzero(mask, axis=-1) if varied else np.array([[self.width]])
        done = self.objective.evaluations.reshape(self.copies, self.replicates)
        done[:, rows[0] : rows[1]] += self.looks * (counts.sum(axis=0) if varied else k * self.width)
        return indices, counts

    def _records(self, indices: Array, counts: Array) -> tuple[Any, ...]:
        if self._shared:
            return (*self._pool, _own(indices), counts, self._share, 0)
        counts = self.xp.tile(counts, (1, self.copies)) if counts.size > 1 else counts
        if self._listed[1] is not None:
            return (*self._looked_up(indices), counts, self._share, self.replicates)
        by_row = self.xp.reshape(self.xp.swapaxes(indices, 0, 1), (self.replicates, -1))
        found = self.objective.problem.form_records(self.objective.data, self.xp.tile(by_row, (self.copies, 1)))
        return (*self._gathered(found, len(indices)), counts, self._share, self.replicates)

    def _range(self, record: int | None, first: int, t: int, k: int) -> tuple[Any, ...]:
        if self.full:
            return (np.zeros((1, self.d)), np.zeros(1), np.zeros((1, 1, 1), dtype=np.int64), np.array([[0]]), 0.0, 0)
        m, xp = self.width, self.xp
        position, counts = (first if record is None else record) + t * m, xp.asarray([[m]])
        if self._shared:
            index = xp.reshape(xp.arange(position, position + k * m, dtype=xp.int64), (k, 1, m))
            return (*self._pool, 0 * index if self._alone else index, counts, self._share, 0)
        if self._listed[1] is not None:
            index = np.broadcast_to(np.arange(position, position + k * m).reshape(k, 1, m), (k, self.replicates, m))
            return (*self._looked_up(index), counts, self._share, self.replicates)
        found = self.objective.problem.form_range(self.objective.data, position, k * m)
        self._equal = found.features.shape[1] < k * m
        return (*self._gathered(found, k), counts, self._share, self.replicates)

    @cached_property
    def _pool(self) -> tuple[Array, Array]:
        """Features and labels that all replicates share; those of an oracle are never looked at."""
        data, xp = self.objective.data, self.xp
        if self._alone:
            return xp.zeros((1, self.d)), xp.zeros(1)
        return xp.ascontiguousarray(data.features), xp.ascontiguousarray(data.labels, dtype=xp.float64)

    def _looked_up(self, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Look up records ``indices (k, R, W)`` for every signal: features, labels and index."""
        known, (k, rows, width) = self._listed[1], indices.shape
        indices, rows = np.ascontiguousarray(indices, dtype=np.int64), self.copies * rows
        if isinstance(known, Kinds):
            index = np.empty((k, rows, width), dtype=np.int64)
            kinds_in(index, known.kinds, indices)
            labels = np.zeros(len(known.features)) if known.labels is None else known.labels
            return known.features, labels, index
        assert known is not None
        features = np.empty((rows, k, width, self.d))
        if isinstance(known, Levels):
            write_signs(features, known.levels, known.ranks, known.scale, indices)
        else:
            write_about(features, known.means, known.signs, known.scale, indices)
        index = np.arange(rows * k * width).reshape(rows, k, width).swapaxes(0, 1)
        return features.reshape(-1, self.d), np.zeros(rows * k * width), np.ascontiguousarray(index)

    def _gathered(self, found: Data, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gather the records of ``k`` steps for each row: features, labels and index."""
        drawn, rows = found.features, self.objective.replicates
        by_step = drawn.shape[1] > 1 and drawn.swapaxes(0, 1).flags.c_contiguous  # as samples draw them
        drawn = drawn.swapaxes(0, 1) if by_step else drawn
        features = np.ascontiguousarray(drawn, dtype=np.float64).reshape(-1, self.d)
        labels = np.zeros(len(features))
        if found.labels is not None:
            labels = np.ascontiguousarray(found.labels.T if by_step else found.labels, dtype=np.float64).ravel()
        if len(features) == rows:
            index = np.broadcast_to(np.arange(rows)[:, None], (k, rows, self.width))
        elif by_step:
            index = np.arange(len(features)).reshape(k, -1, rows).swapaxes(1, 2)
        else:
            index = np.arange(len(features)).reshape(rows, k, -1).swapaxes(0, 1)
        return features, labels, _own(index)


def _own(index: Array) -> Array:
    """Copy a read-only array of the host: it would have loops compiled once more."""
    return np.require(index, np.int64, ["C", "W"]) if isinstance(index, np.ndarray) else index


def form_tuple(form: RecordForm) -> tuple[int, float, float, np.ndarray, np.ndarray]:
    """Turn a form into the tuple that compiled loops take."""
    hessian, centre = (np.ascontiguousarray(values, dtype=np.float64) for values in (form.hessian, form.centre))
    return form.slope, float(form.parameters[0]), float(form.parameters[1]), hessian, centre


def domain_of(objective: Any) -> tuple[int, float, float]:
    """Kind, radius and exponent of a domain that compiled steps project on."""
    if objective.domain is None:
        return SPACE, 1.0, 2.0
    kind = DOMAINS.get(objective.domain.name, LP_BALL)
    return kind, float(objective.domain.radius), float(getattr(objective.domain, "p", 2.0))
