"""The privacy of the noise behind a verdict: which cell it is of, and the words in which it is said everywhere."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from dpsco_bench.analysis.outward import outward
from dpsco_bench.execution.calibrated import CalibratedCell
from dpsco_bench.plain import IF_GIVEN, Record
from dpsco_bench.privacy.ledger import (
    ELSEWHERE,
    PHRASES,
    ROUNDING,
    SEVERITY,
    SIGNS,
    STATUS_CLAUSES,
    STATUS_WORDS,
)

NOT_SHOWN, NOT_PRIVATE = "not shown private", "not private"
"""Names of the reservations on noise that nothing proves private, and on noise whose epsilon is above the claim."""
ELSEWHERE_IN_SHORT = "as charged, for some records"
"""What `ELSEWHERE` comes to in a clause."""
LAW_NEITHER = "not shown to be private, nor is its target law"


@dataclass(frozen=True)
class Noise(Record):
    """Privacy of the noise behind a verdict, which is that of its worst cell.

    Attributes
    ----------
    status : str, ``proven``, ``target_law_only``, ``unproven`` or ``exceeds_claim``
    epsilon_real, epsilon_real_kind : float, str
        The accountant's value, NaN without one, and ``upper``, ``exact`` or ``lower``.
    attained : bool, whether records of the instance are known to attain a lower bound
    pair : str
        Which records an epsilon above the claim compares, of a verdict on privacy itself; empty elsewhere, and where
        none are known.
    place : str, the cell's point, such as ``n = 1024, d = 10``; empty where it is not known
    """

    status: str
    epsilon_real: float
    epsilon_real_kind: str
    epsilon_claimed: float
    attained: bool = True
    pair: str = field(default="", metadata=IF_GIVEN)
    place: str = field(default="", metadata=IF_GIVEN)

    @classmethod
    def of(cls, cell: CalibratedCell, epsilon_claimed: float, n: int) -> Noise:
        """That of one cell; of a draw whose sampler is not proven, it bounds the epsilon of the target law."""
        place = f"n = {n:,}, d = {cell.dimension:,}"
        if math.isnan(cell.epsilon_real) and not math.isnan(cell.epsilon_law):
            return cls(cell.privacy_status, cell.epsilon_law, "upper", epsilon_claimed, place=place)
        attained = cell.attained or cell.epsilon_real_kind != "lower"
        status, kind = cell.privacy_status, cell.epsilon_real_kind
        return cls(status, cell.epsilon_real, kind, epsilon_claimed, attained, place=place)

    @property
    def severity(self) -> tuple[int, float]:
        """Orders noises by status, and then by real over claimed epsilon."""
        excess = self.epsilon_real / self.epsilon_claimed
        return SEVERITY.index(self.status), -1.0 if math.isnan(excess) else excess

    @property
    def shown_severity(self) -> tuple[int, float]:
        """The same from the numbers as they are shown, so that a record and the run that it is of agree in it."""
        real, claimed = (float(number(value).replace(",", "")) for value in (self.epsilon_real, self.epsilon_claimed))
        return SEVERITY.index(self.status), -1.0 if math.isnan(real) else real / claimed

    @property
    def shown_epsilon(self) -> float:
        """The real epsilon with three digits that bound what it bounds."""
        return outward(self.epsilon_real, self.epsilon_real_kind)

    @property
    def elsewhere(self) -> str:
        """Of which records it exceeds the claim, where those of the instance are not known to be such; else empty."""
        return f" {ELSEWHERE}" if self.status == "exceeds_claim" and not self.attained else ""

    @property
    def said(self) -> str:
        """In ASCII: ``not private (eps >= 12,900, claimed 1, at n = 4,096, d = 10)``."""
        return self._said(self.place)

    @property
    def told(self) -> str:
        """As `said`, for the clause of a longer sentence."""
        return self._said(self.place, f" {ELSEWHERE_IN_SHORT}" if self.elsewhere else "")

    @property
    def status_told(self) -> str:
        """As `told`, without a number."""
        return self.told.partition(" (")[0]

    def _said(self, place: str, elsewhere: str | None = None) -> str:
        where = self.elsewhere if elsewhere is None else elsewhere
        clause = LAW_NEITHER if self._law_exceeds else STATUS_CLAUSES[self.status] + where
        if math.isnan(self.epsilon_real):
            return clause
        sign = SIGNS.get(self.epsilon_real_kind, "=")
        value = f"eps {sign} {number(self.shown_epsilon)}, claimed {number(self.epsilon_claimed)}"
        value += f", at {place}" * bool(place) + f", by {self.pair}" * bool(self.pair)
        return (
            f"{clause}, as the constants are nominal (if they held, {value})" if self.nominal else f"{clause} ({value})"
        )

    @property
    def nominal(self) -> bool:
        """Whether nothing but nominal constants stands between a bound and a proof, or a refutation."""
        within = self.epsilon_real <= self.epsilon_claimed * (1.0 + ROUNDING)
        decides = ("upper", "exact") if within else ("lower", "exact")
        known = not math.isnan(self.epsilon_real)
        return known and self.status == "unproven" and self.epsilon_real_kind in decides

    @property
    def _law_exceeds(self) -> bool:
        """Whether not even the target law is proven, its bound being above the claim."""
        above = self.epsilon_real > self.epsilon_claimed * (1.0 + ROUNDING)
        return self.status == "target_law_only" and self.epsilon_real_kind == "upper" and above

    @property
    def _why_unproven(self) -> str:
        """What stands between the noise and a proof."""
        if self.nominal:
            return "the constants are nominal"
        if self._law_exceeds:
            return f"of the target law it is at most {self.shown_epsilon:.3g}, {self.epsilon_claimed:g} is claimed"
        if self.status != "unproven" or self.epsilon_real_kind != "upper" or not math.isfinite(self.epsilon_real):
            return STATUS_WORDS[self.status]
        return f"it is at most {self.shown_epsilon:.3g}, {self.epsilon_claimed:g} is claimed"

    @property
    def shortfall(self) -> str:
        """The same where the noise is not proven private, without the place; else empty."""
        return "" if self.status in ("none", "proven") else self._said("")

    @property
    def reservations(self) -> tuple[str, ...]:
        """The reservation on a verdict that rests on it; none where it is proven private."""
        if not self.shortfall:
            return ()
        if self.status != "exceeds_claim":
            return (f"{NOT_SHOWN}: nothing proves the claimed eps ({self._why_unproven})",)
        if math.isnan(self.epsilon_real):
            return (f"{NOT_PRIVATE}: the real eps is above the claim",)
        phrase = PHRASES.get(self.epsilon_real_kind, "")
        return (f"{NOT_PRIVATE}: the real eps is {phrase}{self.shown_epsilon:.3g}{self.elsewhere}",)


def worst(noises: Iterable[Noise]) -> Noise | None:
    """Of the noises of worst status the one of largest real over claimed epsilon; None of none."""
    return max(noises, key=lambda noise: noise.severity, default=None)


def number(value: float) -> str:
    """Of an epsilon: three digits, whole numbers from 1000 with commas."""
    if 1000 <= value < 1e6:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}".replace("e+0", "e").replace("e+", "e")
