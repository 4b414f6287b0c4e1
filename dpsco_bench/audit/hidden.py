"""Force the releases of many runs on other data, and with other hidden batches and orders.

What is made of releases alone is the same again: an output that changes tells of the data, or of who was drawn.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dpsco_bench.audit.neighbours import DOMAIN_RECORDS
from dpsco_bench.audit.subject import Subject, SubjectRun
from dpsco_bench.errors import DpscoError
from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.records import RandomAllocation
from dpsco_bench.privacy.transcript import Replay
from dpsco_bench.problems.base import Batch, Data
from dpsco_bench.rng.streams import Stream


class Redrawn(Replay):
    """A replay of the releases with other batches, and another order of the records where its being hidden is charged.

    An order of anything else, such as of coordinates, is public, and the same.
    """

    def sample(self, name: str, step: int = 0) -> Batch:
        return Mechanism.sample(self, name, step)

    def permutation(self, name: str, size: int) -> Any:
        hidden = [query.records for query in self.plan.queries if isinstance(query.records, RandomAllocation)]
        return super().permutation(f"redrawn/{name}" if any(one.population == size for one in hidden) else name, size)

    def _stream(self, label: str, xp: Any) -> Stream:
        public = label.startswith(("choice/", "order/"))
        return Mechanism._stream(self, label if public else f"redrawn/{label}", xp)


def leaking(subject: Subject, recorded: SubjectRun) -> int:
    """Count the runs whose output is another one under the same releases on data with other records."""
    domain = subject.problem.domain_records(DOMAIN_RECORDS, subject.seed)
    rows = np.arange(subject.data.n) % domain.n
    other = Data(subject.data.n, np.asarray(domain.features)[rows], np.asarray(domain.labels)[rows])
    try:
        return _differing(subject, recorded, Replay, data=other)
    except DpscoError:  # a solver may fail on what is no sample; neighbours are looked at elsewhere
        return 0


def told(subject: Subject, recorded: SubjectRun) -> int:
    """Count the runs whose output is another one under the same releases with other batches."""
    return _differing(subject, recorded, Redrawn)


def _differing(subject: Subject, recorded: SubjectRun, kind: type[Replay], **keys: Any) -> int:
    transcript, replicates = recorded.mechanism.transcript, len(recorded.output)
    again = subject.run(partial(kind, transcript), replicates=replicates, **keys)
    return int((recorded.output != again.output).any(axis=-1).sum())
