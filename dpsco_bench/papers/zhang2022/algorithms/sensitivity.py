"""Sensitivity of the tree's nodes to one record: the units Delta_t of their releases, and their cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dpsco_bench.backend.namespace import array_namespace, row_norm
from dpsco_bench.errors import InputError, Refusal
from dpsco_bench.geometry.norms import lp_norm
from dpsco_bench.privacy.tree import block_maxima, largest_path_sum, lowest_bit

Array = Any
SOURCE = "Zhang, Tran, Cutkosky 2022, equation (6) and Theorem 3"
SENSITIVITIES = ("eq6", "tight", "path")
RADII = ("adaptive", "D")


def weights(k: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """``beta_t = t^k`` and ``beta_{1:t}`` for t = 0..n, both of shape ``(n + 1,)``; the first entries are 0."""
    beta = np.arange(n + 1, dtype=np.float64) ** k
    return beta, np.cumsum(beta)


@dataclass(frozen=True)
class NodeUnits:
    """Delta_t of rounds 1..n, from ``r_t = N(w_t - x_{t-1})``.

    Attributes
    ----------
    k : float, exponent of the weights, >= 1
    sensitivity : str
        ``eq6``: ``2(k+1) t^(k-1) (G + H max_{i<=t} r_i)``. ``tight`` and ``path``: the largest ``s_q`` of the node's
        records, ``s_1 = 2G``, ``s_q = 2[(q^k - (q-1)^k) G + (q^(2k)/beta_{1:q}) H r_q]``.
    """

    k: float
    n: int
    lipschitz: float
    smoothness: float
    diameter: float
    sensitivity: str
    radius: str

    def __post_init__(self) -> None:
        if self.sensitivity not in SENSITIVITIES:
            raise InputError("sensitivity", self.sensitivity, "one of " + ", ".join(SENSITIVITIES), SOURCE)
        if self.radius not in RADII:
            raise InputError("radius", self.radius, "one of " + ", ".join(RADII), SOURCE)
        if self.sensitivity == "path" and not self.fixed:
            raise Refusal("sensitivity path", "it needs H = 0 or radius = D, so that the noise is known before", SOURCE)

    @property
    def fixed(self) -> bool:
        """Check that the units do not depend on the run."""
        return self.smoothness == 0.0 or self.radius == "D"

    @cached_property
    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """``a`` and ``b`` of rounds 1..n with ``s_q = a_q + b_q r_q``, each ``(n,)``."""
        beta, total = weights(self.k, self.n)
        slopes = 2.0 * self.smoothness * beta[1:] ** 2 / total[1:]
        slopes[0] = 0.0
        return 2.0 * self.lipschitz * np.diff(beta), slopes

    @cached_property
    def printed(self) -> np.ndarray:
        """``2(k+1) t^(k-1)`` of rounds 1..n, ``(n,)``."""
        return 2.0 * (self.k + 1.0) * np.arange(1, self.n + 1, dtype=np.float64) ** (self.k - 1.0)

    @cached_property
    def fixed_units(self) -> np.ndarray:
        """Delta_t with D for every r_i, ``(n,)``."""
        if self.sensitivity == "eq6":
            return self.printed * (self.lipschitz + self.smoothness * self.diameter)
        a, b = self.parts
        return block_maxima(a + b * self.diameter)

    def shares(self, record: np.ndarray, node: np.ndarray) -> np.ndarray:
        """Least upper bound of ``s_q/Delta_t`` for records q in the blocks of nodes t, whatever the run does.

        In eq. (6) the ratio is a quotient of linear functions of ``r_q``, the other radii being least where they equal
        it, so that it is largest at an end of ``[0, D]``. In the tight units it grows with ``r_q`` while the other
        records' radii are 0.
        """
        a, b = self.parts
        largest = a[record - 1] + b[record - 1] * self.diameter
        if self.fixed:
            return largest / self.fixed_units[node - 1]
        if self.sensitivity == "eq6":
            still = a[record - 1] / (self.printed[node - 1] * self.lipschitz)
            return np.maximum(still, largest / self.fixed_eq6[node - 1])
        return largest / np.maximum(largest, block_maxima(a)[node - 1])

    @cached_property
    def fixed_eq6(self) -> np.ndarray:
        """Equation (6) with D for every r_i, ``(n,)``."""
        return self.printed * (self.lipschitz + self.smoothness * self.diameter)

    def path_cost(self, nodes: int, power: float) -> float:
        """Largest ``sum_{t in IN(q)} (s_q/Delta_t)^power`` over the records of nodes 1..``nodes``."""
        return _path_cost(self, nodes, power)

    def stream(self, order: float) -> Callable[[int, Array], Any]:
        """Map (t, ``w_t - x_{t-1} (R, d)``), round after round, to the unit Delta_t, a number or ``(R, 1)``.

        Radii are in the norm of the order p.
        """
        if self.fixed:
            units = self.fixed_units.tolist()
            return lambda t, step: units[t - 1]
        made = _printed_stream(self) if self.sensitivity == "eq6" else _tight_stream(self)
        return lambda t, step: made(t, _length(step, order))

    def shares_stream(self, order: float) -> Callable[[int, Array], Any]:
        """``s_t`` of a run, one round after the other: what the record of round t itself may change; as `stream`."""
        a, b = (part.tolist() for part in self.parts)
        if self.fixed:
            return lambda t, step: a[t - 1] + b[t - 1] * self.diameter
        return lambda t, step: a[t - 1] + b[t - 1] * _length(step, order)


@lru_cache(maxsize=1024)
def _path_cost(units: NodeUnits, nodes: int, power: float) -> float:
    """Charge a path; the cells of a sweep over signals have the same plan."""
    return largest_path_sum(lambda record, node: units.shares(record, node) ** power, nodes)


def _length(step: Array, order: float) -> Array:
    """l_p norms of rows, ``(R, 1)``."""
    return row_norm(step) if order == 2.0 else lp_norm(step, order)


def _printed_stream(units: NodeUnits) -> Callable[[int, Array], Array]:
    """Equation (6): the largest radius so far."""
    factors, G, H = units.printed.tolist(), units.lipschitz, units.smoothness
    largest: Any = 0.0

    def unit(t: int, r: Array) -> Array:
        nonlocal largest
        largest = array_namespace(r).maximum(r, largest + 0.0 * r if t == 1 else largest)
        return factors[t - 1] * (G + H * largest)

    return unit


def _tight_stream(units: NodeUnits) -> Callable[[int, Array], Array]:
    """Find the largest ``s_q`` of every block: that of its own record and its children's, one slot per level."""
    a, b = (part.tolist() for part in units.parts)
    slots: dict[int, Array] = {}

    def unit(t: int, r: Array) -> Array:
        found = a[t - 1] + b[t - 1] * r
        maximum, low, own = array_namespace(r).maximum, 1, lowest_bit(t)
        while low < own:
            found = maximum(found, slots[low])
            low *= 2
        slots[own] = found
        return found

    return unit
