"""What the verb ``show`` knows about a thing, as data."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from dpsco_bench.claims.erratum import Erratum
from dpsco_bench.claims.model import Claim, Part
from dpsco_bench.claims.tables import TableText
from dpsco_bench.cli.output import Row
from dpsco_bench.plain import Plain
from dpsco_bench.problems.base import Constants


@dataclass(frozen=True)
class Page:
    """Base of the pages; its JSON has the ``kind`` and the fields."""

    kind: ClassVar[str] = ""

    def to_json(self) -> Plain:
        return {"kind": self.kind, **{f.name: getattr(self, f.name) for f in dataclasses.fields(self)}}


@dataclass(frozen=True)
class OptionText:
    """An option of an algorithm or problem.

    Attributes
    ----------
    name, type, meaning : str
    default : object, what it is where it is not given
    allowed : str or None, values that it takes, where its problem declares them
    told_by : str or None, whose docstring tells the meaning, empty for its own; None where none was asked
    """

    name: str
    type: str
    default: object
    meaning: str
    allowed: str | None = None
    told_by: str | None = None

    def to_json(self) -> Plain:
        found = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return {key: value for key, value in found.items() if key not in ("allowed", "told_by") or value is not None}


@dataclass(frozen=True)
class AlgorithmPage(Page):
    """An algorithm.

    Attributes
    ----------
    id, source, summary, doc : str
    needs : tuple of str, traits that the problem must have
    variants : mapping of str to tuple of str, variant -> calibrations that it allows
    default_variants : mapping of str to str, calibration -> variant
    options : tuple of OptionText
    claims : tuple of str, ids of those that measure it
    errata : tuple of Erratum, those that touch these claims
    """

    kind: ClassVar[str] = "algorithm"

    id: str
    source: str
    summary: str
    needs: tuple[str, ...]
    variants: Mapping[str, tuple[str, ...]]
    default_variants: Mapping[str, str]
    options: tuple[OptionText, ...]
    doc: str
    claims: tuple[str, ...]
    errata: tuple[Erratum, ...]


@dataclass(frozen=True)
class ProblemPage(Page):
    """A problem; its numbers are those of its default options.

    Attributes
    ----------
    id, source, summary, doc : str
    dimension, effective_dimension : int, its own, and the one that schedules and bounds use
    constants : Constants
    data_dependent_constants : bool
    traits : tuple of str
    options : tuple of OptionText
    claims : tuple of str, ids of those that use it
    """

    kind: ClassVar[str] = "problem"

    id: str
    source: str
    summary: str
    dimension: int
    effective_dimension: int
    constants: Constants
    data_dependent_constants: bool
    traits: tuple[str, ...]
    options: tuple[OptionText, ...]
    doc: str
    claims: tuple[str, ...]


@dataclass(frozen=True)
class PartText:
    """A part with the text of its bound; its JSON leaves empty keys out."""

    part: Part
    formula: str

    def to_json(self) -> Plain:
        row = {k: v for k, v in dataclasses.asdict(self.part).items() if v not in ("", None, [], {})}
        return {**row, **({"formula": self.formula} if self.formula else {})}


@dataclass(frozen=True)
class SymbolText:
    """What a symbol of a bound means, and the entry of the context that it is, if it is one."""

    means: str
    entry: str = ""

    def to_json(self) -> dict[str, str]:
        return {"means": self.means, **({"entry": self.entry} if self.entry else {})}


@dataclass(frozen=True)
class ClaimPage(Page):
    """A claim with its parts, the symbols of their bounds, and its errata."""

    kind: ClassVar[str] = "claim"

    claim: Claim
    parts: tuple[PartText, ...]
    symbols: Mapping[str, SymbolText]
    errata: tuple[Erratum, ...]

    def to_json(self) -> Plain:
        told = {key: getattr(self.claim, key) for key in ("id", "title", "source", "statement", "assumptions")}
        return {"kind": self.kind, **told, "parts": self.parts, "symbols": self.symbols, "errata": self.errata}


@dataclass(frozen=True)
class TablePage(Page):
    """A table as its file has it; of a computed one its note and rows too, as they are before any measurement."""

    kind: ClassVar[str] = "table"

    text: TableText
    note: str = ""
    computed_rows: tuple[Row, ...] = ()

    def to_json(self) -> Plain:
        computed = {"note": self.note, "computed_rows": self.computed_rows} if self.text.computed else {}
        return {"kind": self.kind, **self.text.to_json(), **computed}


@dataclass(frozen=True)
class ErrataPage(Page):
    """One or all entries of a paper's ledger; ``letters`` says what the paper calls our symbols."""

    kind: ClassVar[str] = "errata"

    id: str
    paper: str
    letters: str
    errata: tuple[Erratum, ...]
