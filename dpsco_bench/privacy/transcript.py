"""Transcripts of private runs: record one on a data set, force it on a neighbour, compare what was passed in.

All private values go through `Mechanism.release`. So if a run on a neighbouring data set is made to see the same
released values and the same batches, then the differences of the values that it passes in are the sensitivities of
the queries given the past, and its output equals the recorded one if everything else is post-processing.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import Query
from dpsco_bench.problems.base import Batch
from dpsco_bench.rng.streams import Stream

Array = Any
Steps = dict[int, Array]
UNSEEN = ("noise/", "draw/")
"""Streams that releases alone may use."""


@dataclass
class Transcript:
    """Everything that passed through a mechanism, by query name and step.

    Attributes
    ----------
    values : dict
        Arrays ``(R, k)`` that the noise hides (`Query.exposed`), before any noise: float64 copies on the host.
    released : dict, answers that the run got back: copies in its own namespace and dtype
    noises : dict, the noise drawn for each release, where there was any: float64 copies on the host
    batches : dict, batches that `Mechanism.sample` gave
    """

    values: dict[str, Steps] = field(default_factory=lambda: defaultdict(dict))
    released: dict[str, Steps] = field(default_factory=lambda: defaultdict(dict))
    noises: dict[str, Steps] = field(default_factory=lambda: defaultdict(dict))
    batches: dict[str, dict[int, Batch]] = field(default_factory=lambda: defaultdict(dict))

    def noise(self, name: str) -> np.ndarray:
        """Noise of a query's releases, shape ``(steps, R, k)``."""
        return np.stack([self.noises[name][step] for step in sorted(self.noises[name])])

    def value(self, name: str) -> np.ndarray:
        """Values of a query's releases, ``(steps, R, k)``. Raises InputError for none, or of several shapes."""
        rows = [self.values[name][step] for step in sorted(self.values.get(name, ()))]
        shapes = dict.fromkeys(row.shape for row in rows)
        if not shapes:
            raise InputError(f"releases of query {name}", 0, "as many as the plan declares")
        if len(shapes) > 1:
            raise InputError(f"shapes of the releases of query {name}", list(shapes), "one shape for all")
        return np.stack(rows)


class Recorder(Mechanism):
    """A mechanism that keeps its transcript."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.transcript = Transcript()

    def release(self, name: str, value: Array, step: int = 0) -> Array:
        if isinstance(value, np.ndarray) and value.shape[:1] != (self._replicates,):
            allowed = f"an array (R, k), a row for each replicate; here R is {self._replicates}"
            raise InputError(f"release of {name}", f"an array {value.shape}", allowed)
        released = super().release(name, value, step)
        self.transcript.values[name][step] = _host_copy(self.plan.query(name).exposed(value, released))
        self.transcript.released[name][step] = released + 0
        return released

    def _noise(self, query: Query, step: int, dim: int) -> Array | None:
        noise = super()._noise(query, step, dim)
        if noise is not None:
            self.transcript.noises[query.name][step] = _host_copy(noise)
        return noise

    def sample(self, name: str, step: int = 0) -> Batch:
        batch = super().sample(name, step)
        self.transcript.batches[name][step] = batch
        return batch


class Nudged(Mechanism):
    """A mechanism whose answer of one step is moved by a vector ``(k,)``; all else is as it would be."""

    def __init__(self, step: int, by: Array, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.moved = step, by

    def release(self, name: str, value: Array, step: int = 0) -> Array:
        return super().release(name, value, step) + (self.moved[1] if step == self.moved[0] else 0.0)


class Replay(Mechanism):
    """A mechanism that draws nothing: it gives the released values and batches of a recorded run.

    Noise that a run reads beside its releases is another one here: what it makes of that is no post-processing. Public
    choices and orders are the same. Bind ``recorded``, the run to repeat, with `functools.partial` to get what
    `execution.run.run_block` takes as a mechanism. `transcript` has the values that this run passed in, beside the
    recorded releases and batches.
    """

    def __init__(self, recorded: Transcript, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.recorded = recorded
        self.transcript = Transcript(released=recorded.released, noises=recorded.noises, batches=recorded.batches)

    def release(self, name: str, value: Array, step: int = 0) -> Array:
        """Return what the recorded run got, and keep what would have been exposed here.

        Raises InputError as `Mechanism.release`, and for a release that the recorded run did not make.
        """
        query = self.spend(name, step, 1, sampled=False)
        answer = self._recorded(self.recorded.released, name, step) + 0
        self.transcript.values[name][step] = _host_copy(query.exposed(value, answer))
        return answer

    def sample(self, name: str, step: int = 0) -> Batch:
        self._declared(name, step)
        self.sampled[name] += 1
        return self._recorded(self.recorded.batches, name, step)

    def _stream(self, label: str, xp: Any) -> Stream:
        return super()._stream(f"replay/{label}" if label.startswith(UNSEEN) else label, xp)

    @staticmethod
    def _recorded(entries: dict[str, dict[int, Any]], name: str, step: int) -> Any:
        if step not in entries.get(name, {}):
            raise InputError(f"step of {name}", step, "one that the recorded run made")
        return entries[name][step]


def _host_copy(x: Array) -> np.ndarray:
    return np.array(to_numpy(x), dtype=np.float64)
