"""Whether what is passed to one release tells which records another has drawn: those are charged as hidden.

The releases of a run are forced. Half of its batches are drawn anew, others in each replicate, and so is a hidden
order. A release that keeps its batch, or that draws none, is passed the same again.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from dpsco_bench.audit.hidden import Redrawn
from dpsco_bench.audit.membership import changes
from dpsco_bench.audit.search import exposed_values
from dpsco_bench.audit.subject import Run, Subject
from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.privacy.plan import Query
from dpsco_bench.privacy.records import RandomAllocation
from dpsco_bench.privacy.transcript import Transcript
from dpsco_bench.problems.base import Batch

Array = Any


class Mixed(Redrawn):
    """A replay of the releases in which some of the batches are other ones.

    Parameters
    ----------
    kept : mapping
        Query -> whether a replicate keeps the records of a release, bool ``(R, steps)``.
    recorded : Transcript
    *args, **kwargs : those of `Mechanism`
    """

    def __init__(self, kept: Mapping[str, np.ndarray], recorded: Transcript, *args: Any, **kwargs: Any) -> None:
        super().__init__(recorded, *args, **kwargs)
        self._kept = kept

    def sample(self, name: str, step: int = 0) -> Batch:
        other, own = super().sample(name, step), self._recorded(self.recorded.batches, name, step)
        keep = self._kept[name][:, step]
        width = max(own.indices.shape[1], other.indices.shape[1])
        indices, mask = (
            np.where(keep[:, None], _wide(getattr(own, of), width), _wide(getattr(other, of), width))
            for of in ("indices", "mask")
        )
        sizes = np.where(keep, to_numpy(own.sizes), to_numpy(other.sizes))
        made = dict(indices=indices, mask=mask, sizes=sizes)
        return Batch(**{name: self.xp.asarray(array) for name, array in made.items()}, expected_size=own.expected_size)


def _wide(array: Array, width: int) -> np.ndarray:
    own = to_numpy(array)
    return np.pad(own, ((0, 0), (0, width - own.shape[1])))


def _kept(query: Query, runs: int, random: np.random.Generator) -> np.ndarray:
    """Half of the batches; none of an order, of which any place may be any release's; all that draws nothing."""
    if query.records.sampled:
        return random.integers(0, 2, (runs, query.releases)).astype(bool)
    return np.full((runs, query.releases), not isinstance(query.records, RandomAllocation))


def passed_on(subject: Subject, recorded: Run) -> dict[str, int]:
    """Queries that are passed something else when other releases draw other records, and in how many runs."""
    transcript, runs = recorded.mechanism.transcript, len(recorded.output)
    random = np.random.default_rng(subject.seed)
    kept = {query.name: _kept(query, runs, random) for query in subject.plan.queries}
    own, again = (
        exposed_values(subject, run)
        for run in (recorded, subject.run(partial(Mixed, kept, transcript), replicates=runs))
    )
    found = {}
    for query in subject.plan.queries:
        if query.name not in own:
            continue
        changed = (changes(query, own[query.name], again[query.name]) > 0.0) & kept[query.name].T
        if changed.any():
            found[query.name] = int(changed.any(axis=0).sum())
    return found
