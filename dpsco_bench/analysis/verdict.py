"""The verdict on one (claim part, calibration): a word, the numbers behind it, and where it comes from."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Self

from dpsco_bench.analysis.noise import NOT_PRIVATE, NOT_SHOWN, Noise
from dpsco_bench.claims.kinds import (
    COMMON_WORDS,
    KINDS,
    ROW_FIELDS,
    SHARED_FIELDS,
    SKIPPED,
    Kind,
    Word,
    get_kind,
)
from dpsco_bench.errors import InputError
from dpsco_bench.execution.store import read_sealed
from dpsco_bench.jsonio import dumps_pretty, restore, sealed, to_jsonable, write_atomic
from dpsco_bench.plain import IF_GIVEN, Plain, Record

RESERVATIONS = ("schedule", NOT_SHOWN, NOT_PRIVATE)
"""Words before the colon of a reservation, shown beside the verdict."""
CONFIRMING = ("confirms", "better")
"""Outcomes that a reservation limits."""


@dataclass(frozen=True)
class Verdict(Record):
    """Verdict on one part of a claim under one calibration.

    ``workflows/schemas/verdict.schema.yaml`` says what its fields are. `own` has those of its kind alone
    (`Kind.own_fields`), None where unknown. The last eight, whose verdict it is, are filled in by the caller.
    """

    verdict: str
    kind: str = ""
    reason: str = ""
    sentence: str = ""
    parameter: str = ""
    values: tuple[float, ...] = ()
    mean: tuple[float, ...] = ()
    stderr: tuple[float, ...] = ()
    bound: tuple[float, ...] = ()
    slope: float = math.nan
    ci: tuple[float, float] = (math.nan, math.nan)
    bound_slope: float = math.nan
    claimed_exponent: float | None = None
    noise_off_slope: float = math.nan
    tolerance: float = math.nan
    notes: tuple[str, ...] = ()
    reservations: tuple[str, ...] = ()
    worst_ratio: float | None = None
    worst_cell: int | None = None
    worst_value: float | None = None
    epsilon_real: float | None = None
    epsilon_real_kind: str | None = None
    epsilon_of: str | None = None
    epsilon_claimed: float | None = None
    ratio: dict[str, float] | None = None
    ratio_ci: dict[str, tuple[float, float]] | None = None
    parameters: tuple[str, ...] | None = None
    fitted: tuple[bool, ...] | None = None
    local_slopes: tuple[float, ...] | None = None
    noise_off_share: float | None = None
    noise: Noise | None = None
    beside: str | None = None
    scope: str | None = None
    risk_kind: str | None = None
    recalled: bool | None = None
    corrected: str | None = None
    open_constant: str | None = None
    control: str | None = None
    outside: str | None = None
    open_value: float | None = None
    for_class: str | None = None
    law: str | None = None
    law_limit: float | None = None
    loose: str | None = None
    sampling: str | None = None
    noiseless: str | None = None
    band_of: str | None = None
    ratio_ends: tuple[float, ...] | None = None
    last_local_slope: float | None = None
    grows: bool | None = None
    states: str | None = None
    noise_of: tuple[str, ...] | None = None
    count_of: tuple[str, ...] | None = None
    noise_outside: str | None = None
    audited_by: tuple[str, ...] | None = None
    formula_of: tuple[str, ...] | None = None
    stages: tuple[int, ...] | None = None
    look: int | None = None
    level: float | None = None
    own: Mapping[str, object] = field(default_factory=dict)
    id: str = ""
    part: str = ""
    calibration: str = ""
    profile: str = ""
    replicates: int = 0
    runtime_s: float = math.nan
    key: str = ""
    expected: str = ""

    @property
    def rules(self) -> Kind:
        return get_kind(self.kind)

    @property
    def word(self) -> str:
        """The bare word: the text before the first parenthesis or colon."""
        return re.split(r"[(:]", self.verdict, maxsplit=1)[0].strip()

    @property
    def counted(self) -> bool:
        """Check whether it counts for its claim: in range, no control, not beside the statement, no band of ours."""
        return not (self.beside or self.control or self.outside or self.band_of == "ours")

    @property
    def skipped(self) -> bool:
        return self.word == SKIPPED

    @property
    def judged(self) -> bool:
        """Check whether it was measured, and says something for or against, or leaves it open."""
        return self.word not in COMMON_WORDS and self.meaning.outcome != "shown"

    @property
    def privacy_status(self) -> str:
        """Status of the noise behind it: ``none`` where it is off, empty where none is charged."""
        if self.noise is not None:
            return self.noise.status
        return "none" if self.calibration == "none" else ""

    @property
    def rests_on_noise(self) -> bool:
        """Check whether its word says something of runs with noise; counts do not, and privacy has its own word."""
        return not (self.rules.judges_noise or self.rules.counts or self.meaning.outcome == "shown")

    @property
    def form(self) -> str:
        """The word as its kind has it: with what is in parentheses if that is part of it, ``inconclusive (bent)``."""
        known = KINDS.find(self.kind)
        return self.verdict if known and self.verdict in known.words else self.word

    @property
    def counted_as(self) -> str:
        """The word as it is counted: ``match, qualified`` with a reservation, which limits only what confirms."""
        limited = bool(self.reservations) and self.meaning.outcome in CONFIRMING
        return self.word.replace("_", " ") + ", qualified" * limited

    @property
    def reserved(self) -> tuple[str, ...]:
        """Names of the reservations, of `RESERVATIONS`, and ``qualified`` for what has no name."""
        names = (text.partition(":")[0] for text in self.reservations)
        return tuple(dict.fromkeys(name if name in RESERVATIONS else "qualified" for name in names))

    @property
    def said(self) -> str:
        """The verdict as it is written everywhere, in ASCII: ``match, schedule``, ``fails (real eps 12.3)``."""
        text = ":".join(self.verdict.split(":")[:2]) if self.skipped else self.verdict.replace("_", " ")
        return ", ".join([text, *self.reserved])

    @property
    def short(self) -> str:
        """The same without a number in parentheses: ``fails (real eps 12.3)`` is ``fails``."""
        return re.sub(r" \([^()]*\d[^()]*\)$", "", self.said)

    @property
    def meaning(self) -> Word:
        """Say what the word says of the claim. Raises InputError for a word that the kind does not have."""
        words = {**COMMON_WORDS, **self.rules.words}
        found = words.get(self.verdict) or words.get(self.word)
        if found is None:
            raise InputError(f"verdict of kind {self.kind}", self.verdict, "one of its words: " + ", ".join(words))
        return found

    def to_json(self) -> Plain:
        """JSON row: NaN is None, infinity is ``"inf"``; shared fields appear for the kinds that have them.

        Raises InputError for a field of its own that the kind does not declare, or a value of another type.
        """
        known = KINDS.find(self.kind)  # a plugin's may not be loaded
        wanted = known.fields if known else ()
        shared = [name for name in SHARED_FIELDS if name in wanted or getattr(self, name) is not None]
        named = {**{key: getattr(self, key) for key in (*ROW_FIELDS, *shared)}, **_own(known, self)}
        return {name: to_jsonable(value) for name, value in named.items()}

    @classmethod
    def from_json(cls, entry: Plain) -> Self:
        """Inverse of `to_json`: lists become tuples, and null NaN where a number always stands.

        Raises InputError for a row without a word or a kind, or with a key that no verdict of its kind has. Of a kind
        that is not loaded every key is kept.
        """
        shared = [f.name for f in fields(cls) if f.name != "own"]
        own = {
            key: tuple(math.nan if item is None else item for item in value) if isinstance(value, list) else value
            for key, value in entry.items()
            if key not in shared
        }
        known = KINDS.find(entry.get("kind", "")) if own else None
        allowed = [*shared, *(known.own_fields if known else own)]
        unknown = sorted(entry.keys() - {*allowed})
        if unknown or {"verdict", "kind"} - entry.keys():
            stated = f"verdict, kind and others of {', '.join(allowed)}"
            raise InputError("key of a verdict row", unknown or "missing", stated)
        return super().from_json({**{key: value for key, value in entry.items() if key not in own}, "own": own})


def _own(known: Kind | None, row: Verdict) -> Plain:
    """Fields of a row that are its kind's own, in the order in which it declares them; all of them if it is unknown."""
    if known is None:
        return dict(row.own)
    for name, value in row.own.items():
        if name not in known.own_fields:
            allowed = f"one of its own_fields: {', '.join(known.own_fields) or 'it has none'}"
            raise InputError(f"field of kind {known.name}", name, allowed)
        known.own_fields[name].check_value(f"field of kind {known.name}: {name}", value)
    return {name: row.own.get(name) for name in known.own_fields}


class Sealed(Record):
    """A record that is kept in a file of its own, with a digest of the file."""

    def write(self, path: Path) -> None:
        write_atomic(path, sealed(dumps_pretty(self)))

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Read a file; None where there is none, it is damaged (which is told), or of other code than this."""
        found = read_sealed(path)
        try:
            return None if found is None else cls.from_json(restore(found))
        except InputError:
            return None


@dataclass(frozen=True)
class JudgedClaim(Sealed):
    """Verdicts of a claim, and the digest of what they were made from; or why it could not be judged, in a line."""

    claim: str
    digest: str = ""
    failed: str = field(default="", metadata=IF_GIVEN)
    verdicts: tuple[Verdict, ...] = ()
