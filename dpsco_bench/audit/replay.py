"""Record what a run releases and chooses, and ask what another data set would have made of the same.

Choices and orders that cost no privacy are part of what an adversary sees, and a replay uses the recorded ones. Drawn
batches, and the order of records whose shuffling is charged, are hidden: a replay puts the differing record into every
batch or into none, and the density is the mixture.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpsco_bench.privacy.mechanism import Mechanism
from dpsco_bench.privacy.plan import ObjectiveQuery, Plan
from dpsco_bench.privacy.records import RandomAllocation, SingleIndex
from dpsco_bench.problems.base import Batch

Array = np.ndarray
Where = tuple[str, int]
PROBES = 16
"""Linear terms with which the public part of a perturbed objective is measured."""


class Recording:
    """Passes everything on to a mechanism and keeps what it released, and what it chose in public.

    Attributes
    ----------
    transcript : dict of (query, step) to array
        Releases, in order.
    public : dict of name to array
        Choices and orders.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self.transcript: dict[Where, Array] = {}
        self.public: dict[tuple[str, str], Array] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mechanism, name)

    def release(self, name: str, value: Array, step: int = 0) -> Array:
        released = self._mechanism.release(name, value, step)
        self.transcript[name, step] = released
        return released

    def choose(self, name: str, high: int) -> Array:
        chosen = self._mechanism.choose(name, high)
        self.public["choice", name] = chosen
        return chosen

    def permutation(self, name: str, size: int) -> Array:
        order = self._mechanism.permutation(name, size)
        self.public["order", name] = order
        return order


class ForcedReplay(Mechanism):
    """Returns a recorded transcript whatever the data, and keeps what the data would have exposed.

    Parameters
    ----------
    recorded : Recording
        Of a run of so many replicates.
    record : int
        The differing record.
    drawn : bool
        Whether sampled queries look at that record and no other, or at none (a single-index query then looks at another
        record).

    Attributes
    ----------
    exposed : dict of (query, step) to array
        What the query's noise hides, given the forced answer.
    """

    def __init__(
        self, plan: Plan, scales: Mapping[str, float], recorded: Recording, replicates: int, record: int, drawn: bool
    ) -> None:
        super().__init__(plan, scales, "", 0, 0, replicates)
        self._recorded, self._count, self._record, self._drawn = recorded, replicates, record, drawn
        self.exposed: dict[Where, Array] = {}

    def release(self, name: str, value: Array, step: int = 0) -> Array:
        """The recorded answer."""
        answer = self._recorded.transcript[name, step]
        self.exposed[name, step] = np.array(self.plan.query(name).exposed(value, answer), dtype=np.float64)
        return answer

    def sample(self, name: str, step: int = 0) -> Batch:
        """The differing record, or none but it."""
        query = self._declared(name, step)
        single = isinstance(query.records, SingleIndex)
        weight = 1.0 if self._drawn or single else 0.0
        shape = (self._count, 1)
        return Batch(
            np.full(shape, self._record if self._drawn else self._another),
            np.full(shape, weight),
            np.full(self._count, weight),
            self.expected_size(query),
        )

    def choose(self, name: str, high: int) -> Array:
        """As in the recorded run; of a choice that it did not make, its stream's."""
        found = self._recorded.public.get(("choice", name))
        return self._recorded.choose(name, high) if found is None else found

    def permutation(self, name: str, size: int) -> Array:
        """As recorded, unless the order is what protects: then with the record at the head of every batch, or nowhere.

        Neither is an order of all records; the releases of one batch look at no other.
        """
        hidden = [q.records for q in self.plan.queries if isinstance(q.records, RandomAllocation)]
        if not hidden:
            found = self._recorded.public.get(("order", name))
            return self._recorded.permutation(name, size) if found is None else found
        order = np.arange(size)
        order[order == self._record] = self._another
        if self._drawn:
            order[:: hidden[0].size] = self._record
        return np.tile(order, (self._count, 1))

    @property
    def _another(self) -> int:
        return (self._record + 1) % self.plan.n


class Probe(Mechanism):
    """Measures the public quadratic part of perturbed objectives by minimising them with known linear terms.

    Attributes
    ----------
    weights : dict of query to float
        ``w`` such that a minimiser inside the domain has ``b = -(sum of the records' gradients) - n w x``.
    """

    def __init__(self, plan: Plan, scales: Mapping[str, float], n: int, domain: Any) -> None:
        super().__init__(plan, scales, "probe", 0, 0, PROBES)
        self._n, self._domain = n, domain
        self.weights: dict[str, float] = {}

    def release(self, name: str, value: Any, step: int = 0) -> Array:
        query = self.plan.query(name)
        if not isinstance(query, ObjectiveQuery):
            return super().release(name, value, step)
        b = np.zeros(value.shape)
        b[:, 0] = (self.scales[name] or 1.0) * np.geomspace(1e-4, 1e2, PROBES)
        x = np.asarray(value.solve(b))
        square = np.sum(x * x, axis=-1)
        inner = square > 1e-16
        if self._domain is not None:
            inner &= self._domain.norm(x)[:, 0] < 0.9 * self._domain.radius
        slope = -np.sum((b + value.data_part(x)) * x, axis=-1)[inner] / square[inner]
        self.weights[name] = float(np.median(slope)) / self._n if inner.any() else 0.0
        return x
