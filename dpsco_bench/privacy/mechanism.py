"""The only source of randomness of a private run: it knows the declared queries and nothing else."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import row_norm, to_numpy
from dpsco_bench.errors import InputError
from dpsco_bench.geometry.norms import lp_norm
from dpsco_bench.privacy.plan import NoisyMinimumQuery, Plan, Query
from dpsco_bench.privacy.queries import DrawQuery
from dpsco_bench.privacy.records import Poisson, RandomAllocation, SingleIndex, WithReplacement
from dpsco_bench.problems.base import Batch
from dpsco_bench.rng.streams import Stream, scaled, stream_key
from dpsco_bench.samplers.draws import (
    LEAST_SCORES,
    KeyedDraws,
    lazy_minima,
    lazy_rows,
    poisson_indices,
    poisson_width,
    subset_indices,
    uniform_indices,
    widest,
)

Array = Any

BLOCK_VALUES = 1 << 17
"""Numbers that are drawn at once."""


def generalised_gaussian_mean(
    stream: Stream, first_step: int, steps: int, first_replicate: int, replicates: int, dim: int, r: float, draws: int
) -> np.ndarray:
    """Means of ``draws`` independent vectors of density ``~ exp(-||z||_r^2/2)`` each; not such a vector, unless r = 2.

    The draws of step t are those of the steps ``t draws .. (t + 1) draws - 1`` of the stream, added up in this order.
    Returns (steps, replicates, dim) of float64, on the host, for every namespace.
    """
    host, rest = replace(stream, xp=np), (first_replicate, replicates, dim)
    if r == 2.0:
        return host.normal(first_step, steps, *rest).astype(np.float64) / math.sqrt(draws)
    means = np.empty((steps, replicates, dim))
    at_once = max(1, BLOCK_VALUES // max(1, draws * replicates * dim))
    for t in range(0, steps, at_once):
        count = min(at_once, steps - t)
        drawn = host.generalised_gaussian((first_step + t) * draws, count * draws, *rest, r)
        sums = np.cumsum(drawn.reshape(count, draws, replicates, dim), axis=1, dtype=np.float64)
        means[t : t + count] = sums[:, -1] / draws
    return means


def gamma_norm(
    stream: Stream, first_step: int, steps: int, first_replicate: int, replicates: int, dim: int, q: float = 2.0
) -> np.ndarray:
    """Vectors ``(steps, replicates, dim)`` of density ``~ exp(-||b||_q)``, 1 <= q <= inf.

    The norm has the law Gamma(dim), the direction that of the cone measure: of normals for q = 2, of generalised
    Gaussians else, of a uniform point of the cube for q = inf. Computed on the host, where logarithms round in one way
    for all namespaces.
    """
    where = (first_step, steps, first_replicate, replicates, dim)
    if q == 2.0:
        rays = to_numpy(stream.normal(*where)).astype(np.float64)
    elif math.isinf(q):
        further = to_numpy(stream.uniform(*where[:-1], 2 * dim))  # the norm has the first half of these
        rays = 2.0 * further[..., dim:] - 1.0
    else:
        rays = to_numpy(stream.generalised_gaussian(*where, q)).astype(np.float64)
    radius = -np.log(to_numpy(stream.uniform(*where))).sum(axis=-1, keepdims=True)
    return rays * (radius / (row_norm(rays) if q == 2.0 else lp_norm(rays, q)))


NOISE_LAWS: dict[str, Callable[..., Array]] = {
    "normal": lambda stream, *where: stream.normal(*where),
    "laplace": lambda stream, *where: stream.laplace(*where),
    "gamma_norm": gamma_norm,
    "generalised_gaussian": lambda stream, *where: stream.generalised_gaussian(*where),
    "generalised_gaussian_mean": generalised_gaussian_mean,
}
"""Draws by name, each called like the methods of `rng.streams.Stream`, with the law's own parameters after those."""


class Mechanism:
    """Draws the noise and the batches of a plan's queries from keyed counter streams.

    ``scales`` has the noise scale per query name (of a normal its standard deviation); 0 switches the noise off without
    consuming random numbers. The run is of ``replicates`` from ``first_replicate`` on: the same numbers come out
    however they are split between runs.

    Attributes
    ----------
    answers_steps : bool
        Whether releases may be made many at once (`spend`). Said by each class for itself: a subclass may record or
        replace each release.
    copies : int, how often a replicate's draws are used, for rows that share them
    released, sampled : Counter
        How often each query was released and sampled: the contract tests hold it against the plan.
    """

    answers_steps: ClassVar[bool] = True
    copies = 1

    def __init__(
        self,
        plan: Plan,
        scales: Mapping[str, float],
        what: str,
        root_seed: int,
        first_replicate: int,
        replicates: int,
        xp: Any = np,
        dtype: str = "float64",
    ) -> None:
        self.plan, self.scales = plan, {name: float(scale) for name, scale in scales.items()}
        self.xp, self.dtype = xp, getattr(xp, dtype)
        self._what, self._root = what, root_seed
        self._first, self._replicates = first_replicate, replicates
        self._blocks: dict[str, tuple[int, Any]] = {}
        self._streams: dict[tuple[str, str], Stream] = {}
        self._ranges: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self._sampled_steps: defaultdict[str, set[int]] = defaultdict(set)
        self._sampled_at_once: Counter[str] = Counter()
        self._orders: set[int] = set()
        self.released: Counter[str] = Counter()
        self.sampled: Counter[str] = Counter()

    def release(self, name: str, value: Array, step: int = 0) -> Array:
        """Release query ``name`` with its calibrated noise.

        Raises InputError for an undeclared query, more releases than declared, or a step released before, which would
        put the same noise on another value. ``value`` is an array ``(R, k)`` or an object of that ``shape``, as the
        query's kind answers about: a vector, the scores of the candidates, a perturbed objective, a law.
        """
        query = self.spend(name, step, 1, sampled=False)
        if isinstance(query, DrawQuery):
            return query.answer(value, self._randomness(query, step))
        if isinstance(query, NoisyMinimumQuery) and query.lazy and value.shape[-1] >= LEAST_SCORES:
            return self._lazy_minimum(query, value, step)
        return query.answer(value, self._noise(query, step, value.shape[-1]))

    def sample(self, name: str, step: int = 0) -> Batch:
        """Draw the records that release ``step`` of query ``name`` looks at."""
        query = self._declared(name, step)
        self.sampled[name] += 1
        self._sampled_steps[name].add(step)
        return Batch(*self._batch_arrays(query, step), self.expected_size(query))

    def spend(self, name: str, first: int, steps: int, sampled: bool) -> Query:
        """Release steps ``first .. first + steps - 1`` of a query at once: the noise of all of them is `variates`.

        For compiled steps, which add it themselves. Counts and raises as `release` (and `sample`, where ``sampled``).
        """
        query = self._declared(name, first)
        self._declared(name, first + steps - 1)
        ranges = self._ranges[name]
        if any(first < end and begin < first + steps for begin, end in ranges):
            raise InputError(f"release of {name}", first, "a step that was not released before")
        begin = ranges.pop()[0] if ranges and ranges[-1][1] == first else first
        ranges.append((begin, first + steps))
        self.released[name] += steps
        if sampled:
            self.sampled[name] += steps
            self._sampled_at_once[name] += steps
        return query

    def variates(self, query: Query, first: int, steps: int, rows: tuple[int, int], dim: int) -> np.ndarray | None:
        """Noise of steps and replicates in units of `noise_scales`, as `release` has it: float32; None for scale 0."""
        if self.scales[query.name] == 0.0:
            return None
        stream, where = self._stream(f"noise/{query.name}", np), (self._first + rows[0], rows[1] - rows[0], dim)
        return np.asarray(NOISE_LAWS[query.law](stream, first, steps, *where, *query.law_parameters))

    def address(self, name: str) -> tuple[int, int, int]:
        """Return the first replicate's number and the key of a query's noise, for loops that draw it themselves."""
        return (self._first, *self._stream(f"noise/{name}", np).key)

    def noise_scales(self, query: Query, first: int, steps: int) -> np.ndarray:
        """Scale of the noise of each of some releases, shape ``(steps,)``."""
        factors = query.factors(first, steps)
        return self.scales[query.name] * (np.ones(steps) if factors is None else np.asarray(factors))

    def batches(
        self, query: Query, first: int, steps: int, rows: tuple[int, int], xp: Any = np
    ) -> tuple[Array, np.ndarray]:
        """Draw indices and mask ``(steps, rows, W)`` of some replicates as `sample`; uniform ones in ``xp``."""
        records, uniform = query.records, isinstance(query.records, SingleIndex | WithReplacement)
        stream = self._stream(f"sample/{query.name}", xp if uniform and xp.__name__ == "cupy" else np)
        replicate, count = self._first + rows[0], rows[1] - rows[0]
        if isinstance(records, Poisson):
            return poisson_indices(stream, self.plan.n, records.rate, first, steps, replicate, count)
        population: int = records.population  # type: ignore[attr-defined]
        draw = uniform_indices if uniform else subset_indices
        return draw(stream, population, first, steps, replicate, count, self.batch_width(query))

    def batch_width(self, query: Query) -> int:
        """Most records of a release of a sampled query."""
        if isinstance(query.records, Poisson):
            return poisson_width(self.plan.n, query.records.rate)
        return int(query.records.size)  # type: ignore[attr-defined]

    def expected_size(self, query: Query) -> float:
        """Compute the expected number of records of a release."""
        if isinstance(query.records, Poisson):
            return self.plan.n * query.records.rate
        return float(query.records.size)  # type: ignore[attr-defined]

    def choose(self, name: str, high: int) -> Array:
        """Uniform index in ``0..high-1`` per replicate, ``(R,)``, that costs no privacy: the same for the same name."""
        drawn = self._stream(f"choice/{name}", np).integers(0, 1, self._first, self._replicates, 1, high=high)
        return self.xp.asarray(np.asarray(drawn)[0, :, 0])

    def permutation(self, name: str, size: int) -> Array:
        """Uniform order of ``0..size-1`` per replicate, shape ``(R, size)``: the same in every call with this name."""
        self._orders.add(size)
        keys = self._stream(f"order/{name}", np).uniform(0, 1, self._first, self._replicates, size)[0]
        return self.xp.asarray(np.argsort(keys, axis=-1, kind="stable"))

    def undrawn(self, query: Query) -> str:
        """Say which random choice of records a query is charged for and the run never made; empty if it made all."""
        if isinstance(query.records, RandomAllocation) and query.records.population not in self._orders:
            return f"{query.name}: the order that is charged for is never drawn"
        drawn = len(self._sampled_steps[query.name]) + self._sampled_at_once[query.name]
        if not query.records.sampled or drawn >= query.releases:
            return ""
        return f"{query.name}: the batches that are charged for are never drawn ({drawn} of {query.releases} are)"

    def _declared(self, name: str, step: int) -> Query:
        query = self.plan.query(name)
        if not 0 <= step < query.releases:
            raise InputError(f"release of {name}", step, f"in 0..{query.releases - 1}, as the plan declares")
        return query

    def _stream(self, label: str, xp: Any) -> Stream:
        place = label, xp.__name__
        if place not in self._streams:
            self._streams[place] = Stream(stream_key(self._root, self._what, label), xp)
        return self._streams[place]

    def _noise(self, query: Query, step: int, dim: int) -> Array | None:
        """Noise ``(R, dim)`` of one release, from a block of releases drawn and scaled at once; None without any."""
        scale, label = self.scales[query.name], f"noise/{query.name}"
        if scale == 0.0:
            return None
        first, block = self._blocks.get(label, (0, None))
        if block is None or not first <= step < first + block.shape[0] or block.shape[2] != dim:
            steps = max(1, min(query.releases - step, BLOCK_VALUES // max(1, self._replicates * dim)))
            where = (step, steps, self._first, self._replicates, dim)
            stream = self._stream(label, self.xp)
            drawn = self.xp.asarray(NOISE_LAWS[query.law](stream, *where, *query.law_parameters))
            first, block, factors = step, scaled(drawn, scale, self.dtype), query.factors(step, steps)
            if factors is not None:
                block = block * self.xp.asarray(factors, dtype=self.dtype)[:, None, None]
            self._blocks[label] = (first, block)
        return block[step - first, :, :]

    def _randomness(self, query: DrawQuery, step: int) -> tuple[float, KeyedDraws] | None:
        """Scale and keyed random numbers of one draw, on the host for every namespace; None for scale 0."""
        scale, names = self.scales[query.name], f"draw/{query.name}/{step}"
        if scale == 0.0:
            return None
        return scale, KeyedDraws(
            lambda name: self._stream(f"{names}/{name}", np), self._first, self._replicates, self.copies
        )

    def _lazy_minimum(self, query: NoisyMinimumQuery, value: Array, step: int) -> Array:
        """Answer lazily the rows for which that is faster, the others from all their noise."""
        factors = query.factors(step, 1)
        scale = self.scales[query.name] * (1.0 if factors is None else float(factors[0]))
        if self.xp.__name__ == "cupy" and scale > 0.0:
            from dpsco_bench.rng import cuda

            if value.shape[-1] <= cuda.MOST_SCORES:
                most = widest(scale, value.shape[-1])
                key = self._stream(f"noise/{query.name}", self.xp).key
                return cuda.noisy_minima(value, scale, most, step, self._first, key)
        scores = to_numpy(value).astype(np.float64, copy=False)
        rows, lowest = lazy_rows(scores, scale)
        if not rows.size:
            return query.answer(value, self._noise(query, step, scores.shape[-1]))
        stream = self._stream(f"noise/{query.name}", self.xp)
        answers = lazy_minima(stream, step, self._first, scores, scale, rows, lowest)
        if rows.size < len(scores):
            eager = query.answer(value, self._noise(query, step, scores.shape[-1]))
            answers = np.where(np.isin(np.arange(len(scores)), rows), answers, to_numpy(eager))
        return self.xp.asarray(answers)

    def _batch_arrays(self, query: Query, step: int) -> tuple[Array, Array, Array]:
        """Take indices and weights ``(R, W)`` and sizes ``(R,)`` of one batch from a block of batches drawn at once."""
        label, xp = f"sample/{query.name}", self.xp
        first, block = self._blocks.get(label, (0, None))
        if block is None or not first <= step < first + block[0].shape[0]:
            if not query.records.sampled:
                raise InputError(f"sample of {query.name}", "all records", "asked only of a sampled query")
            width = max(1, self.batch_width(query) * self._replicates)
            steps = max(1, min(query.releases - step, BLOCK_VALUES // width))
            indices, mask = self.batches(query, step, steps, (0, self._replicates), xp)
            sizes = xp.asarray(mask.sum(axis=-1), dtype=xp.float64)
            first, block = step, (xp.asarray(indices), xp.asarray(mask, dtype=self.dtype), sizes)
            self._blocks[label] = (first, block)
        indices, weights, sizes = block
        return indices[step - first, :, :], weights[step - first, :, :], sizes[step - first, :]
