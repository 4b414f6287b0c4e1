"""The privacy parameters of a run."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpsco_bench.errors import InputError


@dataclass(frozen=True)
class PrivacySpec:
    """(epsilon, delta)-differential privacy under replace-one neighbours.

    Raises InputError unless epsilon is > 0 and finite, delta in (0, 1).
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        if not _is_number(self.epsilon) or not 0 < self.epsilon < math.inf:
            raise InputError("epsilon", self.epsilon, "a finite number > 0")
        if not _is_number(self.delta) or not 0 < self.delta < 1:
            raise InputError("delta", self.delta, "in (0, 1)")

    @property
    def log_inverse_delta(self) -> float:
        """``l = ln(1/delta)``."""
        return -math.log(self.delta)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
