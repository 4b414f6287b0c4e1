"""Which cells of a sweep are asymptotic, and at which size a rate would show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpsco_bench.analysis.bootstrap import FloatArray
from dpsco_bench.analysis.cells import same_length
from dpsco_bench.analysis.slopes import bound_slope

MOVED, HARDLY_MOVED = 0.5, 0.9
"""Largest share of the starting point's risk; the second while a signal can still be made stronger."""
DOMINANCE = 0.5
"""Least share of the full bound that the term with the claimed exponent must have."""
LEAST: Mapping[str, tuple[int, float]] = {"smoke": (3, 4.0), "ci": (3, 4.0), "full": (4, 8.0)}
"""By profile, how many asymptotic cells a rate needs, and over which factor of the parameter."""
FARTHEST = 1e4
"""Extrapolations beyond the sweep by more than this factor are not told."""
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Regime:
    """What decides whether the cells of a sweep are asymptotic; arrays of shape ``(cells,)``.

    Attributes
    ----------
    limits : largest share of it that counts (`MOVED` or `HARDLY_MOVED`)
    """

    swept: FloatArray
    means: FloatArray
    starts: FloatArray
    limits: FloatArray
    named: FloatArray
    full: FloatArray

    @classmethod
    def of(
        cls,
        swept: ArrayLike,
        means: ArrayLike,
        named: ArrayLike,
        *,
        starts: ArrayLike | None = None,
        limits: ArrayLike | None = None,
        full: ArrayLike | None = None,
    ) -> Regime:
        """With what is left out filled in: nothing known of the start, no further terms."""
        cells = np.size(swept)
        columns = {
            "swept": swept,
            "means": means,
            "starts": np.full(cells, np.nan) if starts is None else starts,
            "limits": np.full(cells, MOVED) if limits is None else limits,
            "named": named,
            "full": named if full is None else full,
        }
        return cls(**{name: same_length(name, column, cells) for name, column in columns.items()})

    @property
    def shares(self) -> FloatArray:
        """Risk over the starting point's, NaN where that is unknown."""
        return self.means / self.starts

    @property
    def saturated(self) -> np.ndarray:
        """Cells that hardly leave the starting point."""
        return self.shares > self.limits

    @property
    def hidden(self) -> np.ndarray:
        """Cells where another term of the bound is larger."""
        return self.named < DOMINANCE * self.full

    @property
    def fitted(self) -> np.ndarray:
        """Asymptotic cells; the others are drawn hollow."""
        return ~(self.saturated | self.hidden)

    def lacking(self, profile: str, parameter: str) -> str:
        """Why the sweep cannot show a rate, and where one could, in one clause; empty where it can."""
        fitted = self.fitted
        least, factor = LEAST[profile]
        values = np.unique(self.swept[fitted])
        span = float(values[-1] / values[0]) if len(values) else 1.0
        if len(values) >= least and span >= factor * (1 - _ROUNDING):
            return ""
        said = [self._start_said()] if self.saturated.any() else []
        if self.hidden.any():
            share = (self.named / self.full)[self.hidden]
            said.append(f"the claimed term is {_span(share)} of the bound in {self.hidden.sum()} cells")
        if 0 < len(values) < least:
            said.append(f"{len(values)} of {len(fitted)} sizes can be fitted, {least} are needed")
        elif len(values):
            said.append(f"the sizes that can be fitted span a factor {span:.3g}, {factor:g} is needed")
        return "; ".join([*said, self._would_show(factor, parameter)])

    def _start_said(self) -> str:
        shares, all_of_them = self.shares[self.saturated], self.saturated.all()
        where = "at these sizes" if all_of_them else f"in {self.saturated.sum()} of {len(self.swept)} cells"
        return f"{where} the risk is {_span(shares)} of the start"

    def _would_show(self, factor: float, parameter: str) -> str:
        """Between which values of the parameter a sweep would show the rate, by extrapolation."""
        with np.errstate(invalid="ignore", divide="ignore"):
            excess = np.log(self.shares / self.limits)
        edges = [self._crossing(excess, self._decline)] if self.saturated.any() else []
        if self.hidden.any():
            others = np.log(np.maximum(self.full - self.named, 1e-300) / self.named)
            edges.append(self._crossing(others, _slope_of(self.swept, others)))
        if not edges:
            first = float(self.swept.min())
            return f"it takes {parameter} from {_size(first)} to {_size(factor * first)}"
        upwards = {up for _, up in edges}
        first = (max if upwards == {True} else min)(edge for edge, _ in edges)
        if len(upwards) > 1 or not self.swept.min() / FARTHEST < first < self.swept.max() * FARTHEST:
            return f"no {parameter} within a factor {FARTHEST:,.0f} would show it by the formula"
        last = first * factor if upwards == {True} else first / factor
        low, high = sorted((first, last))
        return f"by the formula {parameter} from {_size(low)} to {_size(high)} would show it"

    @property
    def _decline(self) -> float:
        """Slope of the formula over that of the starting point's risk."""
        return _slope_of(self.swept, np.log(self.named)) - _slope_of(self.swept, np.log(self.starts))

    def _crossing(self, excess: FloatArray, slope: float) -> tuple[float, bool]:
        """Where a logarithm that must not be positive crosses 0, and whether its slope leads upwards.

        Extrapolated from the last known cell in that direction.
        """
        known = np.flatnonzero(np.isfinite(excess))
        if not np.isfinite(slope) or slope == 0 or not len(known):
            return np.inf, True
        upwards = slope < 0
        last = known[(np.argmax if upwards else np.argmin)(self.swept[known])]
        with np.errstate(over="ignore"):
            return float(np.exp(np.log(self.swept[last]) - excess[last] / slope)), upwards


def _slope_of(values: FloatArray, logs: FloatArray) -> float:
    good = np.isfinite(logs)
    if len(np.unique(values[good])) < 2:
        return np.nan
    return bound_slope(values[good], np.exp(logs[good]))


def _span(shares: FloatArray) -> str:
    low, high = f"{shares.min():.2g}", f"{shares.max():.2g}"
    return low if low == high else f"{low} to {high}"


def _size(value: float) -> str:
    """A size that is not known better than to two digits."""
    return f"{float(f'{value:.2g}'):,.0f}" if value >= 100 else f"{value:.2g}"
