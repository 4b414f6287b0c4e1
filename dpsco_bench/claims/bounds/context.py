"""What a bound formula may look at: one cell of a result, with its plan and noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from dpsco_bench.errors import InputError
from dpsco_bench.plain import Schedule
from dpsco_bench.problems.base import Constants


@dataclass(frozen=True)
class BoundContext:
    """One cell as bounds see it.

    Attributes
    ----------
    n, d : int, records, and the problem's effective dimension
    calibration : str
        Under ``accounted`` a bound's eps/sqrt(l) is the Gaussian-DP parameter, as in the noise: for slopes, which it
        bends along a sweep over eps. Formulas that are compared by value are evaluated as printed, ``paper``.
    extras : mapping
        What the runs noted, by name: means over the replicates, or one replicate's values where replicates are judged
        one by one. For bounds that contain something measured; `Bound.extras` names them.
    """

    n: int
    d: int
    epsilon: float
    delta: float
    constants: Constants
    calibration: str
    schedule: Schedule
    scales: Mapping[str, float]
    start_risk: float = math.nan
    extras: Mapping[str, float] = field(default_factory=dict)

    def noting(self, extras: Mapping[str, float]) -> Self:
        """The same cell with other extras: what `dataclasses.replace` gives, at a tenth of the time.

        Replicates that are judged one by one have a context each, and a claim has ten thousands of them.
        """
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, extras=extras)
        return other

    def extra(self, name: str) -> float:
        """A measured quantity. Raises InputError for one that the runs did not note."""
        if name not in self.extras:
            raise InputError(
                "extra", name, "one of " + (", ".join(sorted(self.extras)) or "none: the runs noted nothing")
            )
        return float(self.extras[name])
