"""The only source of randomness of a private run: it knows the declared queries and nothing else."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpsco_bench.errors import InputError
from dpsco_bench.privacy.plan import Full, GaussianQuery, Plan, Poisson
from dpsco_bench.problems.base import Batch
from dpsco_bench.rng.keys import stream_key
from dpsco_bench.rng.streams import Stream, scaled
from dpsco_bench.samplers.subsampling import poisson_indices, poisson_width, single_indices

Array = Any
BLOCK_VALUES = 1 << 17


class Mechanism:
    """Draws the noise and the batches of a plan's queries from keyed counter streams.

    Parameters
    ----------
    plan : Plan
        Declares the queries.
    scales : mapping
        Noise standard deviation per query name; 0 switches the noise off without consuming random numbers.
    what : str
        What is computed; with the root seed and the query's name it determines every stream.
    root_seed : int
        Root of all randomness.
    first_replicate, replicates : int
        The replicates of this run: the same numbers come out however replicates are split between runs.
    xp, dtype : module, str
        Namespace and dtype of the noise.

    Attributes
    ----------
    released, sampled : Counter
        How often each query was released and sampled: the contract tests hold it against the plan.
    """

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
        missing = {q.name for q in plan.queries} ^ set(scales)
        if missing:
            raise InputError("scales", sorted(scales), "exactly one per declared query", ", ".join(sorted(missing)))
        self.plan, self.scales = plan, {name: float(scale) for name, scale in scales.items()}
        self.xp, self.dtype = xp, getattr(xp, dtype)
        self._what, self._root = what, root_seed
        self._first, self._replicates = first_replicate, replicates
        self._blocks: dict[str, tuple[int, Any]] = {}
        self._streams: dict[str, Stream] = {}
        self._spent: defaultdict[str, set[int]] = defaultdict(set)
        self.released: Counter[str] = Counter()
        self.sampled: Counter[str] = Counter()

    def release(self, name: str, value: Array, step: int = 0) -> Array:
        """Release ``value (R, d)`` with the calibrated noise of query ``name``.

        Raises
        ------
        InputError
            For an undeclared query, more releases than declared, or a step released before, which would put the same
            noise on another value.
        """
        query = self._spend(name, step)
        if self.scales[name] == 0.0:
            return value
        return value + self._noise(query, step, value.shape[-1])

    def sample(self, name: str, step: int = 0) -> Batch:
        """Draw the records that release ``step`` of query ``name`` looks at."""
        query = self._declared(name, step)
        self.sampled[name] += 1
        indices, mask = self._batch_arrays(query, step)
        sizes = self.xp.asarray(mask.sum(axis=-1), dtype=self.xp.float64)
        weights = self.xp.asarray(mask, dtype=self.dtype)
        return Batch(self.xp.asarray(indices), weights, sizes, self._expected_size(query))

    def _spend(self, name: str, step: int) -> GaussianQuery:
        """Use up one declared release."""
        query = self._declared(name, step)
        if step in self._spent[name]:
            raise InputError(f"release of {name}", step, "a step that was not released before")
        self._spent[name].add(step)
        self.released[name] += 1
        return query

    def _declared(self, name: str, step: int) -> GaussianQuery:
        query = self.plan.query(name)
        if not 0 <= step < query.releases:
            raise InputError(f"release of {name}", step, f"in 0..{query.releases - 1}, as the plan declares")
        return query

    def _expected_size(self, query: GaussianQuery) -> float:
        return self.plan.n * query.records.rate if isinstance(query.records, Poisson) else 1.0

    def _stream(self, label: str, xp: Any) -> Stream:
        if label not in self._streams:
            self._streams[label] = Stream(stream_key(self._root, self._what, label), xp)
        return self._streams[label]

    def _noise(self, query: GaussianQuery, step: int, dim: int) -> Array:
        """Noise of one release, taken from a block of releases that is drawn and scaled at once."""
        label = f"noise/{query.name}"
        first, block = self._blocks.get(label, (0, None))
        if block is None or not first <= step < first + block.shape[0] or block.shape[2] != dim:
            steps = max(1, min(query.releases - step, BLOCK_VALUES // max(1, self._replicates * dim)))
            drawn = self._stream(label, self.xp).normal(step, steps, self._first, self._replicates, dim)
            first, block = step, scaled(drawn, self.scales[query.name], self.dtype)
            self._blocks[label] = (first, block)
        return block[step - first, :, :]

    def _batch_arrays(self, query: GaussianQuery, step: int) -> tuple[np.ndarray, np.ndarray]:
        label = f"sample/{query.name}"
        first, block = self._blocks.get(label, (0, None))
        if block is None or not first <= step < first + block[0].shape[0]:
            block, first = self._draw_batches(query, label, step), step
            self._blocks[label] = (first, block)
        return block[0][step - first], block[1][step - first]

    def _draw_batches(self, query: GaussianQuery, label: str, step: int) -> tuple[np.ndarray, np.ndarray]:
        """Batches of as many consecutive releases as fit in a block."""
        stream, n = self._stream(label, np), self.plan.n
        if isinstance(query.records, Full):
            raise InputError(f"sample of {query.name}", "all records", "asked only of a sampled query")
        width = poisson_width(n, query.records.rate) if isinstance(query.records, Poisson) else 1
        steps = max(1, min(query.releases - step, BLOCK_VALUES // max(1, width * self._replicates)))
        where = (step, steps, self._first, self._replicates)
        if isinstance(query.records, Poisson):
            return poisson_indices(stream, n, query.records.rate, *where)
        return single_indices(stream, n, *where)
