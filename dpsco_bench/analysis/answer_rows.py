"""What a verdict says of its claim, and what the verdicts under one noise say together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import isfinite

from dpsco_bench.analysis.noise import Noise
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import COMMON_WORDS, get_kind

YES, NO, UNDECIDED, VACUOUS = "yes", "no", "undecided", "vacuous"
BY_SCHEDULE = "yes by the schedule"
WEIGHT = (NO, UNDECIDED, YES, BY_SCHEDULE, VACUOUS)
"""Answers, the one first that outweighs the others."""
SCHEDULE = "schedule"
"""The reservation that at least half of the risk is there without noise."""
FIRST_PLACES = ("n", "d", "epsilon", "kappa")
"""Parameters in the order in which a sentence names them; others follow by name."""
FIRST_TOPIC, LAST_TOPICS = "rate", ("complexity", "band", "law")
"""Kinds of which a sentence speaks first and last."""


@dataclass(frozen=True)
class AnswerRow:
    """A verdict and what it says of its claim."""

    verdict: Verdict

    @property
    def judges_noise(self) -> bool:
        return get_kind(self.verdict.kind).judges_noise

    @cached_property
    def says(self) -> str:
        """One of `WEIGHT`; empty for a row that says nothing of the claim."""
        row = self.verdict
        outcome = row.meaning.outcome
        if outcome == "vacuous":
            return VACUOUS
        if outcome == "shown" or not get_kind(row.kind).answers or row.word in COMMON_WORDS:
            return ""
        if outcome not in ("confirms", "better"):
            return NO if outcome == "contradicts" else UNDECIDED
        if self.by_construction:
            return VACUOUS
        return BY_SCHEDULE if SCHEDULE in row.reserved else YES

    @property
    def by_construction(self) -> bool:
        """Whether it says of accounted noise that it is private, which it is by construction."""
        row = self.verdict
        return self.judges_noise and row.calibration == "accounted" and row.meaning.outcome in ("confirms", "better")

    @property
    def noiseless(self) -> bool:
        """Whether noise plays no part in it."""
        return self.verdict.calibration == "none" or self.says == BY_SCHEDULE

    @property
    def topic(self) -> str:
        return get_kind(self.verdict.kind).title

    @property
    def counts(self) -> bool:
        return get_kind(self.verdict.kind).counts

    @property
    def place(self) -> str:
        """What a slope is in, such as ``n``; nothing for other kinds, or where there is no slope."""
        kind = get_kind(self.verdict.kind)
        slope = self.verdict.slope
        if kind.counts and not (slope is not None and isfinite(slope)):
            return ""
        name = self.verdict.parameter.removeprefix("problem.").removeprefix("algorithm.")
        name = name.replace("norm_kappa", "kappa_q")
        return name if kind.measures_slope or kind.counts else ""

    @property
    def order(self) -> tuple[int, str, int, str, str]:
        """Sorts rows for a sentence, whatever order they come in: by kind, by parameter, by part."""
        kind, place = self.verdict.kind, self.place
        rank = 0 if kind == FIRST_TOPIC else 2 + LAST_TOPICS.index(kind) if kind in LAST_TOPICS else 1
        near = FIRST_PLACES.index(place) if place in FIRST_PLACES else len(FIRST_PLACES)
        return rank, kind, near, place, self.verdict.part


class NoiseAnswer:
    """The rows under one of the two noises."""

    def __init__(self, said: Iterable[AnswerRow], others: Iterable[AnswerRow], calibration: str) -> None:
        self.calibration = calibration
        self.rows = [row for row in others if row.verdict.calibration == calibration]
        self.says = weightiest(row.says for row in self.rows if not row.noiseless)
        heard = said if calibration == "paper" or any(row.verdict.noise for row in self.rows) else ()
        self.noise = worst_of(row for row in heard if row.verdict.calibration == calibration)
        self.run_with = worst_of(self.rows)

    @property
    def topics(self) -> set[str]:
        """Kinds of rows on noise that was charged, counts left out, of those that could have come out otherwise."""
        rows = [row for row in self.rows if row.verdict.noise and not row.noiseless and row.says != VACUOUS]
        return {row.topic for row in rows if not row.counts}

    @property
    def counts_alone(self) -> bool:
        """Whether its no comes from counts, which noise has no part in."""
        return all(row.counts for row in self.rows if row.says == NO)

    @property
    def private(self) -> bool | None:
        """Whether the noise is proven private; None where none was charged."""
        return None if self.noise is None else self.noise.status == "proven"

    @property
    def recalled(self) -> bool:
        """Whether its noise, or some of it, is that of a cited source, with constants from memory."""
        return any(row.verdict.recalled for row in self.rows)

    @property
    def corrected(self) -> str:
        """Errata whose corrections its noise, or some of it, has; empty where it is as printed."""
        return ", ".join(dict.fromkeys(row.verdict.corrected for row in self.rows if row.verdict.corrected))

    @property
    def corrected_in_part(self) -> bool:
        """Whether some rows with noise have the correction, and others do not."""
        return len({bool(row.verdict.corrected) for row in self.rows if row.verdict.noise}) > 1

    @property
    def claims(self) -> tuple[float, float]:
        """The least and the largest epsilon that is claimed where a row's noise is worst; 0 where none was charged."""
        found = [row.verdict.noise.epsilon_claimed for row in self.rows if row.verdict.noise]
        return min(found, default=0.0), max(found, default=0.0)

    @property
    def refuted(self) -> bool:
        """Whether the noise is known not to be private."""
        return self.noise is not None and self.noise.status == "exceeds_claim"


def worst_of(rows: Iterable[AnswerRow]) -> Noise | None:
    """The worst noise of rows; of those that are shown alike the first in the order of a sentence."""
    noises = [row.verdict.noise for row in sorted(rows, key=lambda row: row.order) if row.verdict.noise]
    return max(noises, key=lambda noise: noise.shown_severity, default=None)


def weightiest(answers: Iterable[str]) -> str:
    """The answer that outweighs the others, `BY_SCHEDULE` being a yes; empty for none."""
    found = {YES if said == BY_SCHEDULE else said for said in answers}
    return next((said for said in WEIGHT if said in found), "")
