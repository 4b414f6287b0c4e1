"""Whether an output tells which records were drawn: what is charged for a hidden batch is charged for no other.

The releases of a run are forced, and its hidden batches and orders drawn anew. What is made of releases alone is the
same again.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from dpsco_bench.audit.subject import Run, Subject
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.records import RandomAllocation
from dpsco_bench.privacy.transcript import Replay
from dpsco_bench.problems.base import Batch
from dpsco_bench.rng.streams import Stream

Array = Any


class Redrawn(Replay):
    """A replay of the releases with other batches, and another order of the records where its being hidden is charged.

    An order of anything else, such as of coordinates, is public, and the same.
    """

    def sample(self, name: str, step: int = 0) -> Batch:
        return Mechanism.sample(self, name, step)

    def permutation(self, name: str, size: int) -> Array:
        hidden = [query.records for query in self.plan.queries if isinstance(query.records, RandomAllocation)]
        return super().permutation(f"redrawn/{name}" if any(one.population == size for one in hidden) else name, size)

    def _stream(self, label: str, xp: Any) -> Stream:
        public = label.startswith(("choice/", "order/"))
        return Mechanism._stream(self, label if public else f"redrawn/{label}", xp)


def hides(plan: Any) -> bool:
    """Tell whether what a plan charges rests on something drawn that nobody sees."""
    return any(query.records.sampled or isinstance(query.records, RandomAllocation) for query in plan.queries)


def told(subject: Subject, recorded: Run) -> int:
    """Count the runs whose output is another one under the same releases with other batches."""
    again = subject.run(partial(Redrawn, recorded.mechanism.transcript), replicates=len(recorded.output))
    return int((recorded.output != again.output).any(axis=-1).sum())
