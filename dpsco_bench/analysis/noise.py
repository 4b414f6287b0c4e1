"""The privacy of the noise behind a verdict: which cell it is of, and the words in which it is said everywhere."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from dpsco_bench.execution.calibrated import CalibratedCell
from dpsco_bench.privacy.ledger import PHRASES, SEVERITY, SIGNS, STATUS_CLAUSES

NOT_PRIVATE = "not private"
"""The reservation on noise that is not proven, and its name."""


@dataclass(frozen=True)
class Noise:
    """Privacy of the noise behind a verdict, which is that of its worst cell.

    Attributes
    ----------
    status : str, ``proven``, ``target_law_only``, ``unproven`` or ``exceeds_claim``
    epsilon_real, epsilon_real_kind : float, str
        The accountant's value, NaN without one, and ``upper``, ``exact`` or ``lower``.
    """

    status: str
    epsilon_real: float
    epsilon_real_kind: str
    epsilon_claimed: float

    @classmethod
    def of(cls, cell: CalibratedCell, epsilon_claimed: float) -> Noise:
        """That of one cell; of a draw whose sampler is not proven, the epsilon is that of its target law."""
        if math.isnan(cell.epsilon_real) and not math.isnan(cell.epsilon_law):
            return cls(cell.privacy_status, cell.epsilon_law, "exact", epsilon_claimed)
        return cls(cell.privacy_status, cell.epsilon_real, cell.epsilon_real_kind, epsilon_claimed)

    @property
    def severity(self) -> tuple[int, float]:
        """Orders noises by status, and then by real over claimed epsilon."""
        excess = self.epsilon_real / self.epsilon_claimed
        return SEVERITY.index(self.status), -1.0 if math.isnan(excess) else excess

    @property
    def said(self) -> str:
        """In ASCII: ``not private (eps >= 12,900 for 1)``."""
        clause = STATUS_CLAUSES[self.status]
        if math.isnan(self.epsilon_real):
            return clause
        sign = SIGNS.get(self.epsilon_real_kind, "=")
        return f"{clause} (eps {sign} {_number(self.epsilon_real)} for {_number(self.epsilon_claimed)})"

    @property
    def shortfall(self) -> str:
        """The same where the noise is not proven private; else empty."""
        return "" if self.status in ("none", "proven") else self.said

    @property
    def reservations(self) -> tuple[str, ...]:
        """The reservation on a verdict that rests on it; none where it is proven private."""
        if not self.shortfall:
            return ()
        if self.status != "exceeds_claim":
            return (f"{NOT_PRIVATE}: nothing proves the claimed eps ({self.status.replace('_', ' ')})",)
        if math.isnan(self.epsilon_real):
            return (f"{NOT_PRIVATE}: the real eps is above the claim",)
        phrase = PHRASES.get(self.epsilon_real_kind, "")
        return (f"{NOT_PRIVATE}: the real eps is {phrase}{self.epsilon_real:.3g}",)


def worst(noises: Iterable[Noise]) -> Noise | None:
    """Of the noises of worst status the one of largest real over claimed epsilon; None of none."""
    return max(noises, key=lambda noise: noise.severity, default=None)


def _number(value: float) -> str:
    """Three digits, whole numbers from 1000 with commas."""
    if 1000 <= value < 1e6:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}".replace("e+0", "e").replace("e+", "e")
