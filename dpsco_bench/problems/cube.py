"""What the cube instances share: records ``z in {+-d^(-1/q)}^d`` and the units of their signal."""

from __future__ import annotations

import math
from collections.abc import Callable

from dpsco_bench.errors import InputError
from dpsco_bench.problems.base import checked_real
from dpsco_bench.problems.linear_losses import LinearLosses


class Cube(LinearLosses):
    """Linear losses with ``||z||_q = 1`` for every record, the mean ``tau d^(-1/q)`` in every coordinate.

    Parameters
    ----------
    d : int
        Dimension, default 32.
    p : float
        Norm of the ball, in (1, 2].
    norm_kappa : float, optional
        Gives p by ``kappa = 1/(p - 1)``, for sweeps over kappa.
    unit : str
        What a signal of 1 stands for: ``empirical`` sqrt(d l)/(eps n), ``population`` sqrt(kappa) (d l)^(1/4)/sqrt n,
        ``frank_wolfe`` sqrt(d) s1 n^(1/4) with the increments' noise s1 of Theorem 11, ``statistical`` sqrt(2/n),
        ``fixed`` 1.
    signal, declared_smoothness
        As in `LinearLosses`.
    """

    default_dimension = 32

    def __init__(
        self,
        d: int | None,
        p: float,
        norm_kappa: float | None,
        unit: str,
        signal: float,
        declared_smoothness: float,
        constants: dict[str, float] | None,
    ) -> None:
        if unit not in UNITS:
            raise InputError("unit", unit, "one of " + ", ".join(UNITS))
        if norm_kappa is not None:
            p = 1.0 + 1.0 / checked_real("norm_kappa", norm_kappa, positive=True)
        if isinstance(p, bool) or not isinstance(p, int | float) or not 1 < p <= 2:
            raise InputError("p", p, "in (1, 2]")
        self.unit_name = unit
        super().__init__(d, p, signal, declared_smoothness, constants)

    @property
    def scale(self) -> float:
        """``d^(-1/q)``."""
        return self.dimension ** (1.0 / self.p - 1.0)

    @property
    def unit(self) -> float:
        """As the option says, at the cell's n, epsilon and delta."""
        return UNITS[self.unit_name](self)

    @property
    def root(self) -> float:
        """``sqrt(d l)``."""
        return math.sqrt(-math.log(self.delta) * self.dimension)


def _frank_wolfe(problem: Cube) -> float:
    """``sqrt(d) s1 n^(1/4)`` with ``s1 = sqrt(32 kappa l/n) L1 M eta/eps`` and ``eta = ln n/(2 sqrt n)``."""
    n, c = problem.count, problem.constants
    drift = c.smoothness * c.diameter * math.log(n) / (2.0 * math.sqrt(n))
    return math.sqrt(32.0 / (problem.p - 1.0)) * problem.root * drift / problem.epsilon * n**-0.25


UNITS: dict[str, Callable[[Cube], float]] = {
    "empirical": lambda problem: problem.root / (problem.epsilon * problem.count),
    "population": lambda problem: math.sqrt(problem.root / ((problem.p - 1.0) * problem.count)),
    "frank_wolfe": _frank_wolfe,
    "statistical": lambda problem: math.sqrt(2.0 / problem.count),
    "fixed": lambda problem: 1.0,
}
