"""Check that a release looks at no other records than its query says, and at a drawn one no more than it says.

An accountant charges a record for one of all releases on disjoint blocks, for batches as seldom as they are drawn, and
for the nodes of a tree that it meets. So it is not enough that no release changes by more than is declared: under the
transcript and the batches of a recorded run, a record that a release does not look at must not change it at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.privacy.plan import Plan, Query
from dpsco_bench.privacy.records import Disjoint, RandomAllocation, WithReplacement
from dpsco_bench.privacy.transcript import Transcript
from dpsco_bench.privacy.tree import PureTreeQuery, TreeQuery

Values = Mapping[str, np.ndarray]
"""What a run passed to each query, ``(steps, R, k)``."""
ROUNDING, OFFSET = 1e-9, 1e6
"""Of a value, and of the sensitivity: the part of it that counts."""


def misplaced(plan: Plan, recorded: Transcript, place: int, own: Values, other: Values) -> dict[str, str]:
    """Name queries that look at records which they should not look at, each with what is wrong.

    Parameters
    ----------
    recorded : Transcript, of the run whose releases and batches both sides were given
    place : int, the record in which their data sets differ
    own, other : mapping, what each of them passed to the queries; a query that neither has is left out
    """
    found, blocks = {}, {}
    for query in plan.queries:
        if query.name not in own:
            continue
        sizes = changes(query, own[query.name], other[query.name])
        if isinstance(query.records, Disjoint):
            blocks[query.name] = np.sum(sizes > 0.0, axis=0)
        elif isinstance(query.records, RandomAllocation) and np.sum(sizes > 0.0, axis=0).max() > 1:
            found[query.name] = "one record changes several of its batches, which are parts of one order"
        elif query.records.sampled:
            if wrong := _drawn(query, sizes, recorded.batches[query.name], place):
                found[query.name] = wrong
        elif isinstance(query, TreeQuery | PureTreeQuery):
            power = 1 if isinstance(query, PureTreeQuery) else 2
            nodes = sizes[: query.releases - query.idle] / query.sensitivity
            cost = float(np.sum(nodes**power, axis=0).max())
            if cost > query.path_cost * (1.0 + ROUNDING):
                found[query.name] = f"one record changes nodes that cost {cost:.4g}, and {query.path_cost:.4g} is paid"
    if blocks and np.sum(list(blocks.values()), axis=0).max() > 1:
        found[", ".join(blocks)] = "one record changes several releases, whose blocks are said to be disjoint"
    return found


def changes(query: Query, own: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Measure changes ``(steps, R)`` in the norm of a query, 0 for what is rounding."""
    sizes = np.linalg.norm(own - other, ord=query.norm, axis=-1)
    size = np.minimum(np.abs(own).max(axis=-1), OFFSET * query.sensitivity)  # a constant added hides nothing
    least = ROUNDING * (query.sensitivity + size)
    return np.where(sizes > least, sizes, 0.0)


def _drawn(query: Query, sizes: np.ndarray, batches: Mapping[int, Any], place: int) -> str:
    """Say what is wrong with the changes of drawn batches; empty where nothing is."""
    held = [np.sum((to_numpy(b.indices) == place) * to_numpy(b.mask), axis=-1) for _, b in sorted(batches.items())]
    copies = np.array(held)
    if sizes.shape != copies.shape:
        return ""  # not every release drew a batch, which is counted elsewhere
    if np.any(sizes[copies == 0.0] > 0.0):
        return "a record changes a release whose batch does not have it"
    if not isinstance(query.records, WithReplacement):
        return ""
    share = float(np.max(sizes / np.maximum(copies, 1.0), initial=0.0)) / query.sensitivity
    return (
        f"a record drawn once changes a release by {share:.3g} times what is declared" if share > 1 + ROUNDING else ""
    )
