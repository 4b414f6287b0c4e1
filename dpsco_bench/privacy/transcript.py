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
from dpsco_bench.problems.base import Batch

Array = Any
Steps = dict[int, Array]


@dataclass
class Transcript:
    """What passed through a mechanism, by query name and step.

    Attributes
    ----------
    values : dict
        Arrays ``(R, d)`` given to `Mechanism.release`, before any noise: float64 copies on the host.
    released : dict
        Arrays ``(R, d)`` that the run got back: copies in its own namespace and dtype.
    batches : dict
        Batches that `Mechanism.sample` gave.
    """

    values: dict[str, Steps] = field(default_factory=lambda: defaultdict(dict))
    released: dict[str, Steps] = field(default_factory=lambda: defaultdict(dict))
    batches: dict[str, dict[int, Batch]] = field(default_factory=lambda: defaultdict(dict))

    def noise(self, name: str) -> np.ndarray:
        """Released minus given values of a query in float64 on the host, shape ``(steps, R, d)``."""
        return self._stacked(self.released, name) - self._stacked(self.values, name)

    def largest_change(self, other: Transcript, name: str) -> np.ndarray:
        """Largest l2 distance over the steps between the values of a query in two transcripts, shape ``(R,)``."""
        difference = self._stacked(self.values, name) - self._stacked(other.values, name)
        return np.sqrt((difference**2).sum(axis=-1)).max(axis=0)

    @staticmethod
    def _stacked(arrays: dict[str, Steps], name: str) -> np.ndarray:
        return np.stack([_host_copy(arrays[name][step]) for step in sorted(arrays[name])])


class Recorder(Mechanism):
    """A mechanism that keeps its transcript.

    Attributes
    ----------
    transcript : Transcript
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.transcript = Transcript()

    def release(self, name: str, value: Array, step: int = 0) -> Array:
        """Release as `Mechanism.release` does, and keep both arrays."""
        released = super().release(name, value, step)
        self.transcript.values[name][step] = _host_copy(value)
        self.transcript.released[name][step] = released + 0
        return released

    def sample(self, name: str, step: int = 0) -> Batch:
        """Draw as `Mechanism.sample` does, and keep the batch."""
        batch = super().sample(name, step)
        self.transcript.batches[name][step] = batch
        return batch


class Replay(Mechanism):
    """A mechanism that draws nothing: it gives the released values and batches of a recorded run.

    Parameters
    ----------
    recorded : Transcript
        The run to repeat. Bind it with `functools.partial` to get what `execution.run.run_block` takes as a mechanism.
    *args, **kwargs
        Those of `Mechanism`.

    Attributes
    ----------
    transcript : Transcript
        The values that this run passed in, beside the recorded releases and batches.
    """

    def __init__(self, recorded: Transcript, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.recorded = recorded
        self.transcript = Transcript(released=recorded.released, batches=recorded.batches)

    def release(self, name: str, value: Array, step: int = 0) -> Array:
        """Keep ``value`` and return what the recorded run got.

        Raises
        ------
        InputError
            As `Mechanism.release`, and for a release that the recorded run did not make.
        """
        self._spend(name, step)
        self.transcript.values[name][step] = _host_copy(value)
        return self._recorded(self.recorded.released, name, step) + 0

    def sample(self, name: str, step: int = 0) -> Batch:
        """Return the batch of the recorded run."""
        self._declared(name, step)
        self.sampled[name] += 1
        return self._recorded(self.recorded.batches, name, step)

    @staticmethod
    def _recorded(entries: dict[str, dict[int, Any]], name: str, step: int) -> Any:
        if step not in entries.get(name, {}):
            raise InputError(f"step of {name}", step, "one that the recorded run made")
        return entries[name][step]


def _host_copy(x: Array) -> np.ndarray:
    return np.array(to_numpy(x), dtype=np.float64)
