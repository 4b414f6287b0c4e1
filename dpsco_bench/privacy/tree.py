"""Binary (Fenwick) trees over rounds 1..n: which records a node covers, and the query that releases nodes.

Node t covers the block ``S_t = {t - low(t) + 1, .., t}`` with low(t) the lowest set bit of t. The blocks of ``I_t``,
the cumulative sums of t's binary digits, partition 1..t. Record q is in the nodes ``IN(q) = {q, q + low(q), ..}``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpsco_bench.errors import InputError, checked_count
from dpsco_bench.privacy.plan import GaussianQuery, Plan, Query
from dpsco_bench.privacy.records import Nodes

Ratio = Callable[[np.ndarray, np.ndarray], np.ndarray]


def lowest_bit(t: int) -> int:
    """low(t) of ``t >= 1``."""
    return t & -t


def prefix_nodes(t: int) -> tuple[int, ...]:
    """List ``I_t``: the nodes whose blocks partition 1..t, in increasing order."""
    nodes = []
    while t > 0:
        nodes.append(t)
        t -= lowest_bit(t)
    return tuple(reversed(nodes))


def levels(nodes: int) -> int:
    """``floor(log2(nodes)) + 1``: the most nodes of 1..``nodes`` that cover one record."""
    return checked_count("nodes", nodes).bit_length()


def block_maxima(values: np.ndarray) -> np.ndarray:
    """Largest value of every node's block, ``(N,)``, of the values of records 1..N."""
    maxima = np.concatenate([[0.0], values])
    low = 1
    while low < maxima.size:  # a node covers itself and its children t - 1, t - 2, t - 4, ..
        nodes = np.arange(2 * low, maxima.size, 2 * low)
        maxima[nodes] = np.maximum(maxima[nodes], maxima[nodes - low])
        low *= 2
    return maxima[1:]


def largest_path_sum(cost: Ratio, nodes: int) -> float:
    """Largest sum over ``IN(q)`` of ``cost(q, t)``, of arrays of records q and nodes t, over q in 1..``nodes``."""
    record = np.arange(1, checked_count("nodes", nodes) + 1)
    node, total = record.copy(), np.zeros(nodes)
    while record.size:
        total[record - 1] += cost(record, node)
        node = node + (node & -node)
        record, node = record[node <= nodes], node[node <= nodes]
    return float(total.max())


@dataclass(frozen=True, kw_only=True)
class NodesQuery(Query):
    """The nodes of a tree, each with noise of its own: release ``t - 1`` is node t.

    Values are in units of the node's own sensitivity, which may depend on what was released before, so their
    sensitivity s is mostly 1, in the l_q norm of the order `order`. A record meets the nodes ``IN(q)`` with conditional
    sensitivities of at most ``c(q, t) s``.

    Attributes
    ----------
    path_cost : float, the largest cost of a record, see the kinds below: what is charged
    paid_cost : float, what the accounted noise pays for, at least `path_cost`
    idle : int, releases beyond the declared nodes, whose answers cannot influence what is published: not charged
    enforced : bool
        Whether the run clips what a record adds, so that the sensitivities hold for all data, whatever the constants.
    """

    path_cost: float
    paid_cost: float
    order: float = 2.0
    idle: int = 0
    enforced: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.records, Nodes):
            raise InputError(f"records of {self.name}", self.records, "Nodes")
        if self.releases != self.records.count + self.idle:
            allowed = f"the number of nodes, {self.records.count}, and {self.idle} idle ones"
            raise InputError(f"releases of {self.name}", self.releases, allowed)
        if not 0.0 < self.path_cost <= self.paid_cost * (1.0 + 1e-9):
            allowed = f"> 0 and at most what is paid for, {self.paid_cost:g}"
            raise InputError(f"path cost of {self.name}", self.path_cost, allowed)

    @property
    def norm(self) -> float:
        return self.order


@dataclass(frozen=True, kw_only=True)
class TreeQuery(NodesQuery, GaussianQuery):
    """Nodes with normal noise; the cost is ``sum_t c(q, t)^2``, exact where neighbours have `attained` it.

    A record costs ``sum_t (spread c(q, t) s/scale)^2``: the square of a Gaussian-DP parameter, by adaptive composition.
    Source: Zhang, Tran, Cutkosky 2022, Theorems 3 and 17.
    """

    attained: bool
    spread: float = 1.0


class PureTreeQuery(NodesQuery):
    """Nodes with noise of density ``~ exp(-||x||_q/scale)``, pure differential privacy; the cost is ``sum_t c(q, t)``.

    A record costs ``sum_t c(q, t) s/scale``, which is its epsilon, by linear composition. Source: Zhang, Tran, Cutkosky
    2022, Appendix C.2.
    """

    law = "gamma_norm"
    """Gamma-distributed norm, direction from the cone measure of the l_q sphere."""

    @property
    def law_parameters(self) -> tuple[float, ...]:
        return (self.order,)


def enforces_sensitivity(plan: Plan) -> bool:
    """Tell whether the run itself keeps every record within what its queries declare."""
    return bool(plan.queries) and all(getattr(query, "enforced", False) for query in plan.queries)
