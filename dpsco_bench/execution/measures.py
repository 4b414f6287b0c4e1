"""Measure a run: the excess risk of its output, or another quantity that a theorem bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.backend.namespace import to_numpy
from dpsco_bench.errors import InputError
from dpsco_bench.plain import Schedule
from dpsco_bench.problems.base import Problem
from dpsco_bench.problems.objective import Objective

Array = Any


class Measure:
    """A number per replicate, in float64 on the host; one object per block of replicates.

    Attributes
    ----------
    along_the_run : bool, whether it needs the iterates that the run observes, and not the output alone
    """

    label: ClassVar[str] = ""
    along_the_run: ClassVar[bool] = False

    def observe(self, objective: Objective, x: Array) -> None:
        """See an iterate ``(R, d)``."""

    def value(self, objective: Objective, x: Array) -> np.ndarray:
        """Measure the output (or the present iterate) ``x (R, d)``, shape ``(R,)``."""
        raise InputError("measure", type(self).__name__, "a measure with a value")

    def at_start(self, objective: Objective) -> np.ndarray:
        """Measure the trivial run, which stays at the starting point, shape ``(R,)``."""
        return self.value(objective, objective.start)

    def closed_form(self, problem: Problem, algorithm: str, schedule: Schedule, scales: Mapping[str, float]) -> float:
        """Its exact expectation for an algorithm with its schedule and noise, where the problem knows it."""
        raise InputError("measure", type(self).__name__, "a measure with closed forms")


class ExcessRisk(Measure):
    """``F(x) - min F``."""

    label: ClassVar[str] = "excess empirical risk"

    def value(self, objective: Objective, x: Array) -> np.ndarray:
        """Excess empirical risk."""
        from dpsco_bench.fused.sparse import excess_risk  # loads Numba

        return excess_risk(objective, x)

    def closed_form(self, problem: Problem, algorithm: str, schedule: Schedule, scales: Mapping[str, float]) -> float:
        """Compute the expected excess risk of the output."""
        return problem.expected_gap(algorithm, schedule, scales)


class MeanSquaredGradient(Measure):
    """``mean_k ||grad F(x_k)||^2`` over the observed iterates.

    This is the exact expectation over an output drawn uniformly from them. The gradients are evaluated again in float64
    and not counted.
    """

    label: ClassVar[str] = "mean squared gradient norm"
    along_the_run: ClassVar[bool] = True

    def __init__(self) -> None:
        self._total: Any = 0.0
        self._count = 0

    def observe(self, objective: Objective, x: Array) -> None:
        """Add an iterate to the mean."""
        self._total = self._total + _squared_gradient(objective, x)
        self._count += 1

    def value(self, objective: Objective, x: Array) -> np.ndarray:
        """Return the mean so far; before any iterate, the value at ``x``."""
        total = self._total / self._count if self._count else _squared_gradient(objective, x)
        return to_numpy(total).astype(np.float64)

    def closed_form(self, problem: Problem, algorithm: str, schedule: Schedule, scales: Mapping[str, float]) -> float:
        """Its expectation over the noise of gradient descent."""
        return problem.expected_mean_squared_gradient(schedule["step"], schedule["steps"], scales["gradient"])


def get_measure(name: str) -> Measure:
    """Make a measure by name. Raises InputError for an unknown name."""
    if name not in MEASURES:
        raise InputError("measure", name, "one of " + ", ".join(MEASURES))
    return MEASURES[name]()


EMPIRICAL, POPULATION = "excess empirical", "excess population"


def risk_kind(population: bool, measure: str = "excess_risk") -> str:
    """Name the column ``risk`` of a result: an excess risk of either kind, or another measure."""
    if measure != "excess_risk":
        return MEASURES[measure].label
    return POPULATION if population else EMPIRICAL


MEASURES: dict[str, type[Measure]] = {"excess_risk": ExcessRisk, "mean_squared_gradient": MeanSquaredGradient}


def _squared_gradient(objective: Objective, x: Array) -> Array:
    gradient = objective.exact_gradient(x)
    return objective.xp.sum(gradient * gradient, axis=-1)
