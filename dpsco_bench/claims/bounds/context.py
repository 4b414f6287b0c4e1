"""What a bound formula may look at: one cell of a result, with its plan and noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.problems.base import Constants


@dataclass(frozen=True)
class BoundContext:
    """One cell as bounds see it.

    Attributes
    ----------
    n, d : int
        Records, and the problem's effective dimension.
    epsilon, delta : float
        The claim.
    constants : Constants
        The problem's constants.
    calibration : str
        Under ``accounted`` a bound's eps/sqrt(l) is replaced by the Gaussian-DP parameter, as in the noise.
    schedule, scales : mapping
        Of the calibrated plan.
    start_risk : float
        Measured excess risk of the starting point.
    """

    n: int
    d: int
    epsilon: float
    delta: float
    constants: Constants
    calibration: str
    schedule: Mapping[str, Any]
    scales: Mapping[str, float]
    start_risk: float = math.nan

    @property
    def privacy_ratio(self) -> float:
        """``eps/sqrt(l)``, or the Gaussian-DP mu of (eps, delta) under the accounted calibration."""
        if self.calibration == "accounted":
            return gdp_mu(self.epsilon, self.delta)
        return self.epsilon / math.sqrt(math.log(1.0 / self.delta))


@dataclass(frozen=True)
class Bound:
    """A bound formula.

    Attributes
    ----------
    name, text : str
        Identity and the formula as a reader writes it.
    value : callable
        BoundContext -> full bound.
    named_term : callable or None
        The term whose rate a part claims, where the bound has several.
    """

    name: str
    text: str
    value: Callable[[BoundContext], float]
    named_term: Callable[[BoundContext], float] | None = None
