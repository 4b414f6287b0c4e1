"""The privacy of the noise behind a verdict: which cell it is of, and the words in which it is said everywhere."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from dpsco_bench.analysis.rounding import digits_beside, outward
from dpsco_bench.execution.cell import CalibratedCell, Cell, epsilons
from dpsco_bench.plain import IF_GIVEN, Record
from dpsco_bench.privacy.ledger import (
    OF,
    OUTPUT,
    PHRASES,
    ROUNDING,
    SEQUENCE,
    SEVERITY,
    SIGNS,
    SOME_RECORDS,
    STATUS_CLAUSES,
    STATUS_WORDS,
)

NOT_SHOWN, NOT_PRIVATE = "not shown private", "not private"
"""Names of the reservations on noise that nothing proves private, and on noise whose epsilon is above the claim."""


@dataclass(frozen=True)
class Noise(Record):
    """Privacy of the noise behind a verdict, which is that of its worst cell; verdict rows have its fields.

    Where no accountant covers the runs, as for a draw without a proof or a minimiser that is not exact enough,
    ``epsilon_real`` is NaN and its kind empty.

    Attributes
    ----------
    epsilon_law : float or None, of a draw: an upper bound on the epsilon of its target law; None for all else
    delta_large : bool, whether delta >= 1/n in one of the cells, which the papers use and a careful user would not
    declared : bool, of noise that is not proven private, whether the constants are nominal
    """

    status: str
    epsilon_real: float
    epsilon_real_kind: str
    epsilon_claimed: float
    attained: bool = True
    pair: str = field(default="", metadata=IF_GIVEN)
    place: str = field(default="", metadata=IF_GIVEN)
    epsilon_law: float | None = field(default=None, metadata=IF_GIVEN)
    delta_large: bool = field(default=False, metadata=IF_GIVEN)
    epsilon_of: str = field(default="", metadata=IF_GIVEN)
    epsilon_output: float | None = field(default=None, metadata=IF_GIVEN)
    epsilon_output_kind: str = field(default="", metadata=IF_GIVEN)
    epsilon_sequence: float | None = field(default=None, metadata=IF_GIVEN)
    epsilon_sequence_kind: str = field(default="", metadata=IF_GIVEN)
    declared: bool = field(default=False, metadata=IF_GIVEN)

    @classmethod
    def of(cls, calibrated: CalibratedCell, cell: Cell) -> Noise:
        values: dict[str, Any] = epsilons(calibrated)
        values["epsilon_real_kind"] *= not math.isnan(calibrated.epsilon_real)
        claimed = float(cell.epsilon)
        at_claim = [k for k, v in values.items() if isinstance(v, float) and abs(v - claimed) <= ROUNDING * claimed]
        values |= dict.fromkeys(at_claim, claimed)  # no bound is above its claim by rounding alone
        nominal = calibrated.constants.status == "nominal" and calibrated.privacy_status == "unproven"
        return cls(
            calibrated.privacy_status,
            **values,
            epsilon_claimed=claimed,
            attained=calibrated.attained or values["epsilon_real_kind"] != "lower",
            place=f"n = {cell.n:,}, d = {calibrated.dimension:,}",
            epsilon_law=None if math.isnan(calibrated.epsilon_law) else calibrated.epsilon_law,
            delta_large=float(cell.delta) >= 1.0 / cell.n,
            declared=nominal,
        )

    @property
    def bound(self) -> tuple[float, str]:
        """The real epsilon with its kind; of a draw without one, the bound on its target law."""
        if math.isnan(self.epsilon_real) and self.epsilon_law is not None:
            return self.epsilon_law, "upper"
        return self.epsilon_real, self.epsilon_real_kind

    @property
    def above(self) -> bool:
        return self.bound[0] > self.epsilon_claimed * (1.0 + ROUNDING)

    @property
    def excess(self) -> float:
        return self.bound[0] / self.epsilon_claimed

    @property
    def severity(self) -> tuple[int, float]:
        """Order noises by status, and then by bound over claimed epsilon."""
        return SEVERITY.index(self.status), -1.0 if math.isnan(self.excess) else self.excess

    @property
    def shown_severity(self) -> tuple[int, float]:
        """The same from the numbers as they are shown, so that a record and the run that it is of agree in it."""
        bound, claimed = (float(number(value).replace(",", "")) for value in (self.bound[0], self.epsilon_claimed))
        return SEVERITY.index(self.status), -1.0 if math.isnan(bound) else bound / claimed

    @property
    def _digits(self) -> int:
        """Digits with which the bound compares with the claim as it does without rounding."""
        return digits_beside(*self.bound, self.epsilon_claimed)

    @property
    def shown(self) -> str:
        """Write the bound in ASCII, rounded outward."""
        return number(outward(*self.bound, self._digits), self._digits)

    @property
    def _beside_claim(self) -> tuple[str, str]:
        """Write the bound and the claim: ``eps >= 2.4`` and ``claimed 1``."""
        claimed = number(self.epsilon_claimed, self._digits)
        return f"eps {SIGNS.get(self.bound[1], '=')} {self.shown}", f"claimed {claimed}"

    @property
    def whose(self) -> str:
        """Say of which of several releases the real epsilon is; empty where there is one."""
        several = self.epsilon_of == SEQUENCE or (self.epsilon_of == OUTPUT and self.epsilon_sequence is not None)
        return OF[self.epsilon_of] if several else ""

    @property
    def sequence_exceeds(self) -> bool:
        """Check whether the query sequence is known to exceed the claim, and nothing is known of the output."""
        open_ = self.status == "unproven" and self.epsilon_of == SEQUENCE and not self.declared
        return open_ and self.above and self.epsilon_real_kind in ("lower", "exact")

    @property
    def elsewhere(self) -> str:
        """Records for which it exceeds the claim, where the instance is not known to have such; else empty."""
        exceeds = self.status == "exceeds_claim" or self.sequence_exceeds
        return f", {SOME_RECORDS}" if exceeds and not self.attained else ""

    @property
    def measured(self) -> str:
        """In ASCII, without a word: ``eps >= 2.4, of the output, claimed 1, at n = 512, d = 10``."""
        if math.isnan(self.bound[0]):
            return STATUS_CLAUSES[self.status]
        value, claimed = self._beside_claim
        of = self.whose or "of the target law" * (self.status == "target_law_only")
        return ", ".join(filter(None, (value, of, claimed, f"at {self.place}" * bool(self.place))))

    @property
    def nominal(self) -> bool:
        """Check whether nothing but nominal constants stands between a bound and a proof, or a refutation."""
        bound, kind = self.bound
        decides = ("lower", "exact") if self.above else ("upper", "exact")
        return not math.isnan(bound) and self.status == "unproven" and kind in decides and not self.sequence_exceeds

    @property
    def _law_exceeds(self) -> bool:
        """Check whether not even the target law is proven, its bound being above the claim."""
        return self.status == "target_law_only" and self.bound[1] == "upper" and self.above

    @property
    def _why_unproven(self) -> str:
        """Say what stands between the noise and a proof."""
        if self.nominal:
            return "the constants are nominal"
        if self._law_exceeds:
            return f"of the target law it is at most {self.shown}, {self.epsilon_claimed:g} is claimed"
        bound, kind = self.bound
        if self.sequence_exceeds:
            return f"its query sequence has {PHRASES[kind]}{self.shown}{self.elsewhere}; the output is open"
        if self.status != "unproven" or kind != "upper" or not math.isfinite(bound):
            return STATUS_WORDS[self.status]
        return f"it is at most {self.shown}, {self.epsilon_claimed:g} is claimed"

    @property
    def shortfall(self) -> str:
        """In ASCII, of noise that is not proven private: ``not private (eps >= 12,900, claimed 1)``; else empty."""
        if self.status in ("none", "proven"):
            return ""
        clause = STATUS_CLAUSES[self.status] + ", as its query sequence exceeds the claim" * self.sequence_exceeds
        clause += self.elsewhere
        if self._law_exceeds:
            clause = "not shown to be private, nor is its target law"
        if math.isnan(self.bound[0]):
            return clause
        beside = (self.whose * (not self.sequence_exceeds), f"by {self.pair}" * bool(self.pair))
        value = ", ".join(filter(None, (*self._beside_claim, *beside)))
        if self.nominal:
            return f"{clause}, as the constants are nominal (if they held, {value})"
        return f"{clause} ({value})"

    @property
    def reservations(self) -> tuple[str, ...]:
        """The reservation on a verdict that rests on it; none where it is proven private."""
        if not self.shortfall:
            return ()
        if self.status != "exceeds_claim":
            return (f"{NOT_SHOWN}: nothing proves the claimed eps ({self._why_unproven})",)
        bound, kind = self.bound
        found = "above the claim" if math.isnan(bound) else PHRASES.get(kind, "") + self.shown + self.elsewhere
        return (f"{NOT_PRIVATE}: the real eps is {found}",)


NOT_CHARGED = "not charged"
"""Accountant of a cell that is planned and not run, so that its noise does not matter."""


def noise_behind(cells: Iterable[tuple[CalibratedCell, Cell]]) -> Noise | None:
    """Find the worst noise among charged cells: by status, then by bound over claimed epsilon; None of none."""
    noises = [Noise.of(*cell) for cell in cells if cell[0].accountant != NOT_CHARGED]
    if not noises:
        return None
    worst = max(noises, key=lambda noise: noise.severity)
    return replace(worst, delta_large=any(noise.delta_large for noise in noises))


def number(value: float, digits: int = 3) -> str:
    """Show an epsilon: significant digits, whole numbers from 1000 with commas."""
    if 1000 <= value < 1e6:
        return f"{float(f'{value:.{digits}g}'):,.0f}"
    return f"{value:.{digits}g}".replace("e+0", "e").replace("e+", "e")
