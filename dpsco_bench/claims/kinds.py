"""Kinds of parts by name: the fields of a part, how it is judged, its words, and how it is drawn and put in numbers.

A shipped kind is a file of ``dpsco_bench/kinds`` with its name; papers and plug-ins register theirs by the same
decorator.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, TypeVar

from dpsco_bench.errors import InputError, nearest
from dpsco_bench.plain import Plain
from dpsco_bench.registry import Registry

OUTCOMES = ("confirms", "better", "contradicts", "unproven", "open", "vacuous", "shown", "absent")
"""Outcomes of a verdict for its claim.

``open`` decides nothing, ``vacuous`` could not have come out otherwise, ``shown`` is there for information, ``absent``
was not measured.
"""
SKIPPED, NOT_MEASURED = "skipped", "not measured"
SHARED_FIELDS = (
    *("worst_ratio", "worst_cell", "worst_value", "epsilon_real", "epsilon_real_kind", "epsilon_of"),
    *("epsilon_claimed", "ratio", "ratio_ci", "parameters"),
    *("fitted", "local_slopes", "noise_off_share", "noise", "beside", "scope"),
    *("risk_kind", "recalled", "corrected", "open_constant", "open_value"),
    *("control", "outside", "for_class", "law", "law_limit", "loose", "sampling", "noiseless", "band_of"),
    *("ratio_ends", "last_local_slope", "grows"),
    *("states", "noise_of", "noise_outside", "count_of", "audited_by", "formula_of"),
    *("stages", "look", "level"),
)
"""Fields that every verdict row may have: it does where its kind always has them, or where they are known."""
ROW_FIELDS = (
    *("id", "part", "kind", "calibration", "profile"),
    *("parameter", "values", "mean", "stderr", "bound", "slope", "ci", "bound_slope"),
    *("claimed_exponent", "noise_off_slope", "tolerance"),
    *("verdict", "reservations", "reason", "sentence", "notes", "expected", "replicates", "runtime_s", "key"),
)
"""Fields that every verdict row has, in the order of its JSON."""
SAID_OF_CLAIMS = ("answers", "answer")
"""Fields that verbs add to the rows of a claim."""
FIELD_TYPES: Mapping[type, tuple[type, Plain]] = {
    float: (Real, {"oneOf": [{"type": "number"}, {"type": "null"}, {"enum": ["inf", "-inf"]}]}),
    int: (Integral, {"type": ["integer", "null"]}),
    bool: (bool, {"type": ["boolean", "null"]}),
    str: (str, {"type": ["string", "null"]}),
}
"""Types of a kind's own fields, each with what it takes and its JSON schema; of several values, ``(float,)``."""
KindClass = TypeVar("KindClass", bound="type[Kind]")


@dataclass(frozen=True)
class Word:
    """A verdict: its outcome for the claim, when it is said, and what a figure says of it, both as clauses.

    A phrase may have ``{what}`` for the quantity, ``{counted}`` for what is counted, ``{moves}`` for falls or grows,
    ``{follows}`` in the same number, ``{better}`` and ``{worse}`` for faster or more slowly. Without one a figure says
    the kind's title and the word.
    """

    outcome: str
    meaning: str
    phrase: str = ""


@dataclass(frozen=True)
class Field:
    """A field of a verdict row that only one kind has, of a type of `FIELD_TYPES` (``(float,)``: a number per value).

    Its title is the heading of its column, and its description in the schema.
    """

    type: type | tuple[type]
    title: str

    @property
    def several(self) -> bool:
        return isinstance(self.type, tuple)

    @property
    def one(self) -> Any:
        return self.type[0] if isinstance(self.type, tuple) else self.type

    @property
    def is_number(self) -> bool:
        return self.one in (float, int)

    @property
    def schema(self) -> Plain:
        one = FIELD_TYPES[self.one][1]
        return {"description": self.title, **({"type": ["array", "null"], "items": one} if self.several else one)}

    def check_value(self, name: str, value: Any) -> None:
        """Refuse a value of another type; None is of every type."""
        plain, takes = value.tolist() if hasattr(value, "tolist") else value, FIELD_TYPES[self.one][0]
        items = plain if self.several else [plain]
        fits = isinstance(items, list | tuple) and all(
            isinstance(item, takes) and isinstance(item, bool) == (takes is bool) for item in items
        )
        if value is not None and not fits:
            raise InputError(name, value, f"of type {self.one.__name__}{', several of them' * self.several}")


COMMON_WORDS = {
    NOT_MEASURED: Word("open", "there is no result of it"),
    SKIPPED: Word("absent", "could not be run here, for the reason given; counted neither for nor against"),
}
"""Words that parts of every kind may get, from what runs them and not from their judge."""


class Kind(ABC):
    """A kind of part; subclasses set what differs and define `judge`.

    Attributes
    ----------
    name, title : str, as claim files write it (set by `kind`), and as readers see it
    words : mapping of str to Word
        Verdicts of its judge without numbers; a form with a reason in parentheses may stand beside its bare word.
    part : type of Part
        Its parts: a frozen dataclass, `claims.model.MeasuredPart` or one that extends it (or `Part`, for a kind that
        always judges the rows of other parts), whose fields are the keys that a file may have.
    needs_all_uses : bool
        Whether it needs every part that it uses; only the first then decides under which calibrations it is judged.
    charged : bool, whether cells that are planned and not run need noise
    counts : bool, whether its numbers are counts, known from plans: they have no error, and no risks stand beside them
    judges_noise : bool
        Whether it is about the privacy of the noise itself, so that a remark on that would say it twice.
    aside : bool
        Whether its rows speak of no statement of a paper: claims of such rows alone are not counted among theorems.
    by_cell : bool, whether it judges every cell by itself, so that each may have been run to another stage
    by_value : bool
        Whether it speaks of the values that were run and of no law between them, so that an answer from fewer says so.
    answers : bool, whether its rows say anything of the claim; a control says something of the experiment
    fields : tuple of str, fields of a verdict row among `SHARED_FIELDS` that its rows always have
    own_fields : mapping of str to Field
        Fields that only its rows have: `Verdict.own` of its judge's, beside the others in JSON and in tables.
    mixes_sweeps : bool, whether its cells may come from sweeps in different parameters
    of_the_law : bool, whether the verdict rests on the law of the output, so that chains must be certified
    ignores_chains : bool, whether nothing is said about chains that are not
    knows_the_law : bool, whether it compares with a computed law, and so can certify the chains of other parts
    against : str, what a ratio is compared with, such as ``≤ 1``
    whose_exponent : str
        Who gives the exponent beside a slope: the ``paper``, or the part has ``stated`` it, to be compared with.
    has_interval : bool, whether a slope of it is the verdict's own, with a 95 % interval that can miss by chance
    measures_slope : bool, whether its sweeps stand in the tables of slopes
    waits : bool, whether runs go on while its word is open; else it takes what is there
    early : tuple of str
        Words that end a part's runs before their last stage. A kind without such words has all replicates run.
    evaluations : mapping of str to str
        What a part's file may say of how it is computed -> what its jobs compute, by its name in
        `execution.job` where that is not a run.
    """

    name = title = ""
    part: ClassVar[type[Any]]
    words: ClassVar[Mapping[str, Word]] = {}
    needs_all_uses = False
    charged = True
    counts = judges_noise = aside = False
    by_cell = by_value = False
    answers = waits = True
    fields: tuple[str, ...] = ()
    own_fields: ClassVar[Mapping[str, Field]] = {}
    mixes_sweeps = of_the_law = ignores_chains = knows_the_law = has_interval = measures_slope = False
    early: tuple[str, ...] = ()
    against = ""
    whose_exponent = "paper"
    evaluations: ClassVar[Mapping[str, str]] = {"run": "run", "closed_form": "closed_form"}

    def check(self, part: Any, where: str) -> None:  # noqa: B027 - most kinds need no more
        """Refuse a part that lacks what the kind needs beyond its attributes; ``where`` begins the error's key.

        Raises InputError, naming the key.
        """

    def runs(self, part: Any) -> bool:
        """Check whether a part's own cells are run, not only planned."""
        return not self.judged_only

    def asks(self, part: Any) -> bool:
        """Check whether runs go on while a part's word is open."""
        return self.waits

    def by_largest_mean(self, part: Any) -> bool:
        """Check whether it looks only at the signal of the largest mean risk of a grid."""
        return bool(part.quantity == "risk")

    def needs_slope(self, part: Any) -> bool:
        """Check whether a part's sweep must have two different values."""
        return False

    def sources(self, case: Any, used: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """(part, calibration) of the rows that are judged, from those of the used parts under the same calibration."""
        return used

    @abstractmethod
    def judge(self, case: Any) -> Any:
        """Return the verdict (`analysis.verdict.Verdict`) on an `analysis.judge.PartCells`: word, reason and numbers.

        Who it is about is filled in by the caller.
        """

    def sentence(self, row: Any) -> str:
        """Say a row's verdict and why, in one short sentence, for report, terminal and JSON."""
        why = "" if row.skipped else self.why(row)
        return f"{row.said}: {why}" if why else str(row.said)

    def why(self, row: Any) -> str:
        """Why a row has its word, as the end of its sentence; empty where there is no more to say."""
        return str(row.reason)

    def panel(self, claim: Any, rows: Sequence[Any]) -> Any:
        """Draw the verdicts on a part, one for each calibration, as a `report.drawing.Panel`.

        The claim (`report.inputs.ClaimResults`) has what was measured. None tells the verdicts in words. What draws is
        imported in here, so that judging and listing kinds load no figures.
        """
        return None

    def figures(self, claim: Any, rows: Sequence[Any]) -> Mapping[str, Any] | None:
        """Draw all its verdicts on a claim as figures of their own, by suffix of the file; None if parts have panels.

        An empty mapping says that nothing was measured: the verdicts then stand in words.
        """
        return None

    def compared_slope(self, row: Any) -> float | None:
        """Return the slope that a row's slope is compared with; NaN or None without one."""
        return row.bound_slope if self.whose_exponent == "paper" else row.claimed_exponent

    def tolerance_of(self, part: Any) -> Any:
        """Tolerance of a part to be shown: a number, a word, or None."""
        return part.tolerance

    @cached_property
    def keys(self) -> Mapping[str, bool]:
        """Keys that a part of it may have in a file -> whether it must have them."""
        return {f.name: f.default is MISSING and f.default_factory is MISSING for f in fields(self.part)}

    @property
    def bounded(self) -> bool:
        """True if a part must name a bound's formula."""
        return self.keys.get("bound", False)

    @property
    def judged_only(self) -> bool:
        """True if it always judges other parts' rows and has no cells."""
        return "sweep" not in self.keys

    @property
    def companion(self) -> bool:
        """True if sweeps are judged beside the same ones without noise, unless the part says otherwise."""
        return "noise_off" in self.keys

    @property
    def checks_bounds(self) -> bool:
        """True if it compares other parts' rows with a bound."""
        return self.bounded and self.judged_only


KINDS: Registry[Kind] = Registry("kind", "kinds", core="kinds")


def kind(name: str) -> Callable[[KindClass], KindClass]:
    """Register a kind of part (decorator of a subclass of `Kind`); the name of a shipped one is that of its file.

    Raises InputError for a name that another kind has, or a class that is no kind or lacks a title, words, a part or a
    judge; for a field that is not shared, or an own one that is or has no type.
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise InputError("kind", name, "a name of letters, digits and _")

    def register(cls: KindClass) -> KindClass:
        whole = isinstance(cls, type) and issubclass(cls, Kind) and not inspect.isabstract(cls) and cls.title
        outcomes = {getattr(word, "outcome", None) for word in cls.words.values()} if whole else set()
        if not outcomes or outcomes - set(OUTCOMES) or not is_dataclass(getattr(cls, "part", None)):
            allowed = (
                "a subclass of Kind with a title, a part (MeasuredPart, or one's own of it), a method judge(self, "
                "case), and words: each a Word with an outcome of OUTCOMES"
            )
            raise InputError(f"kind {name}", getattr(cls, "__name__", cls), allowed)
        for key in cls.fields:
            if key not in SHARED_FIELDS:
                allowed = f"{nearest(key, SHARED_FIELDS)}; its own stand in own_fields"
                raise InputError(f"kind {name}: fields", key, allowed)
        for key, field in cls.own_fields.items():
            if not key.isidentifier() or key in (*ROW_FIELDS, *SHARED_FIELDS, *SAID_OF_CLAIMS, "own"):
                allowed = "a name of letters, digits and _ that no other field has"
                raise InputError(f"kind {name}: own_fields", key, allowed)
            if not isinstance(field, Field) or field.type not in [*FIELD_TYPES, *((one,) for one in FIELD_TYPES)]:
                known = ", ".join(type.__name__ for type in FIELD_TYPES)
                allowed = f"a Field(type, title), of one of the types {known}, or of several values (float,)"
                raise InputError(f"kind {name}: own_fields: {key}", field, allowed)
        found = cls()
        found.name = name
        KINDS.add(name, found, cls.__module__)
        return cls

    return register


def get_kind(name: str) -> Kind:
    """Find a kind by name. Raises InputError for an unknown one."""
    return KINDS.get(name)


def all_kinds() -> list[Kind]:
    return [get_kind(name) for name in KINDS.names()]
