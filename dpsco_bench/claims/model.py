"""Claims as data: a claim, and what parts of all kinds have in common; each kind adds its own fields.

A file gives values by profile, and says once what profiles share: ``{smoke: A, ci: B, full: B}``, the same as
``{smoke: A, ci+full: B}``, or ``A`` for every profile of the part. A part belongs to the profiles that the values of
its sweep (or its grid) name, and to ci and full where these name none. In place of a list of numbers,
``1024 .. 8192 x2`` is the geometric one 1024, 2048, 4096, 8192, and ``0.5 .. 64.0 in 15`` has 15 values, to six
decimals. Signals may also be ``0.5 .. cap x2``: as many as lead to the largest admissible signal, which the problem
knows for each cell.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import product
from typing import Any, Self

from dpsco_bench.claims.kinds import KINDS, Kind, get_kind
from dpsco_bench.errors import InputError, nearest
from dpsco_bench.plain import Options, Plain, Record

RISK, LAW, THRESHOLD = "risk", "epsilon_law", "threshold"
AT_END, AT_EQUAL_EVALUATIONS = "end", "equal evaluations"
PROFILES = ("smoke", "ci", "full")
MEASURED = ("ci", "full")
"""Profiles of a part whose values name none."""
GRID = "cell"
"""Swept parameter of a part whose file gives a grid: the number of the combination."""
SHARED = ("replicates", "data_sets", "tolerances", "signals", "only")
_NUMBER = r"([+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)"
_GEOMETRIC = re.compile(rf"{_NUMBER} ?\.\. ?{_NUMBER} (?:x{_NUMBER}|in (\d+))")
_TO_THE_CAP = re.compile(rf"{_NUMBER} ?\.\. ?cap x{_NUMBER}")


def check_profile(profile: str, where: str = "profile") -> str:
    """Return the profile if it exists. Raises InputError under the name ``where``."""
    if profile not in PROFILES:
        raise InputError(where, profile, "one of " + ", ".join(PROFILES))
    return profile


NO_STAGES = "none"
"""Key of `MeasuredPart.stages`: why all replicates are run at once."""
SUBJECTS = ("risk", "privacy", "count", "law")
"""Subjects of a claim."""
WHOLE = "full"
"""Profile whose grids are those of the statements."""


@dataclass(frozen=True)
class SweptParameter(Record):
    """The swept parameter and its values per profile.

    ``parameter`` is ``n``, ``d`` or ``epsilon``, or ``problem.<option>`` / ``algorithm.<option>``; or a name for what
    the part's `along` sweeps, such as a width or a condition number.
    """

    parameter: str
    values: Mapping[str, list[float]]


@dataclass(frozen=True)
class Method(Record):
    """One method of a part: an algorithm with its variant and schedule options."""

    algorithm: str
    label: str = ""
    variant: str | None = None
    options: Options = field(default_factory=dict)
    profile_options: Mapping[str, Options] = field(default_factory=dict)


@dataclass(frozen=True)
class Part(Record):
    """One line of a claim: what is run, and how it is judged. Each kind has its own, with the fields that it needs.

    Attributes
    ----------
    id, kind : str, name within the claim; one of `claims.kinds`
    calibrations : list of str, calibrations that are judged
    uses : list of str, parts whose rows are judged instead of own ones (always for `explicit` and `band`)
    expected : str, the verdict that is expected, one of the words of its kind: by its author; shown, never used
    reservations : mapping
        By calibration, why a ``match`` is not one for the claimed reason, where the rules cannot see it.
    note : str, what a reader must know beside the verdict
    noted : list of str, calibrations that the note is about; empty for all of them
    beside : str
        Why the part is not about what the claim states, where it is not: a step of a proof, a bound of another theorem,
        a method or setting that the paper does not have. It is judged and shown with this reason, and counts neither
        for nor against the claim. Empty for a part of the statement.
    control : str
        Why the part is a control, where it is: it is judged, shown, and counts neither for nor against the claim; a
        control that misbehaves is named beside the answer.
    outside : str, the hypothesis of the statement that the part lies outside of, so that it tests nothing of it
    noiseless : str
        Why what the part states asks for no private noise, where it does not: it is about a law or a moment, whatever
        the noise protects. Empty elsewhere.
    """

    id: str
    kind: str
    calibrations: list[str]
    uses: list[str] = field(default_factory=list)
    expected: str = ""
    reservations: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    noted: list[str] = field(default_factory=list)
    beside: str = ""
    control: str = ""
    outside: str = ""
    noiseless: str = ""

    @classmethod
    def from_json(cls, entry: Plain) -> Self:
        """Read the part of the entry's kind; of a kind whose plug-in is not loaded, what parts of all kinds have."""
        if cls is not Part:
            return super().from_json(entry)
        known = KINDS.find(entry["kind"])
        if known is None:
            return super().from_json({f.name: entry[f.name] for f in fields(cls) if f.name in entry})
        return known.part.from_json(entry)

    def __getattr__(self, key: str) -> Any:
        """Give what a field says that only parts of other kinds have: nothing."""
        if key in UNSAID:
            return UNSAID[key]
        raise AttributeError(key)

    def note_on(self, calibration: str) -> str:
        """Return the note, if it is about the noise of this calibration."""
        return self.note if not self.noted or calibration in self.noted else ""

    @property
    def asks_no_privacy(self) -> str:
        """`noiseless` as a remark."""
        return f"asks for no private noise: {self.noiseless}" if self.noiseless else ""

    @property
    def aside(self) -> str:
        """`beside` as a remark."""
        return f"beside the statement, not counted: {self.beside}" if self.beside else ""

    @property
    def rules(self) -> Kind:
        return get_kind(self.kind)

    @property
    def runs(self) -> bool:
        """True if the part has jobs of its own that run an algorithm."""
        return self.plans and self.rules.runs(self)

    @property
    def closed_form(self) -> str:
        """The formula that is judged in place of what runs measured; empty for none."""
        return self.quantity if "." in self.quantity else ""

    @property
    def plans(self) -> bool:
        """True if the part has cells of its own."""
        return not self.uses

    def scope(self, profile: str) -> str:
        """Say what a profile runs of the grid of `WHOLE`; empty if it runs all values."""
        grid: Mapping[str, list[float]] = self.sweep.values if self.sweep else {}
        own, whole = set(grid.get(profile, ())), set(grid.get(WHOLE, ()))
        if not (self.sweep and own and own < whole):
            return ""
        *others, last = (f"{value:,.10g}" for value in sorted(own))
        values = " and ".join(filter(None, (", ".join(others), last)))
        said = [f"{_symbol(self.sweep.parameter)} = {values} alone"]
        for key, value in self.fixed.items():
            if isinstance(value, Mapping) and {profile, WHOLE} <= value.keys() and value[profile] != value[WHOLE]:
                said.append(f"{_symbol(key)} = {value[profile]:,} in place of {value[WHOLE]:,}")
        return ", ".join(said)

    def in_profile(self, profile: str) -> bool:
        """Check whether the part's grid names the profile."""
        return self.sweep is not None and bool(self.sweep.values.get(profile))

    def has_rows(self, calibration: str) -> bool:
        """Check whether it has a job under a calibration, its companion without noise included."""
        return calibration in self.calibrations or (calibration == "none" and self.noise_off)


@dataclass(frozen=True, kw_only=True)
class MeasuredPart(Part):
    """A part of a kind that may have cells of its own.

    Attributes
    ----------
    methods : list of Method, one for most kinds; several for an ordering (the first is claimed to be the better)
    fixed : mapping, n, d, epsilon, delta that are not swept
    sweep : SweptParameter
        The grid; a part belongs to a profile only if its grid names the profile. In a file, ``grid: {profile:
        {quantity: values}}`` stands for the sweep over all combinations.
    along : mapping, what else changes from value to value, by parameter and profile: lists as long as the grid
    signals : mapping
        Grid of the problem's free signal strength per profile: the risk of a value is the largest mean over it. As text
        (`to_the_cap`) one that ends at the largest admissible signal of each cell.
    requires : mapping
        Extras whose mean must have at least the given value in every cell (at the largest signal) for a slope to be
        one of the method: below it the run is ``frozen``, and a `rate` not observable.
    checked_by : str, the `law` part whose cells run the same chains; without it chains are never certified
    evaluation : str, one of its kind's `Kind.evaluations`: ``run`` or ``closed_form`` for most
    rounds : str, observer of the rounds in place of the algorithm's own; ``none`` for no observer
    record : float or None, checkpoint spacing in units of n gradient evaluations
    timing : bool, whether a job of one replicate times the methods for figures with a time axis (not in profile `ci`)
    amended : str, erratum whose correction the noise of calibration ``paper`` has, such as ``E1``
    open_constant, open_value : what of its noise the theorem leaves open, and its value (None for 1)
    stages : mapping, ``none``: why all replicates are run at once; else empty
    bound, exponent, tolerance, tolerances, axis, quantity
        Of kinds that have them: the name of a formula in ``claims/bounds``; the paper's bare exponent; the largest
        difference of slopes, also by profile; the formula that the exponent is about, in the symbols of the bound and
        in place of the swept parameter; and what is judged: ``risk``, the name of an extra that the runs noted, or
        ``threshold``: the least signal at which what `requires` names reaches its value, interpolated on logarithms.
    """

    methods: list[Method] = field(default_factory=list)
    problem: str = ""
    problem_options: Options = field(default_factory=dict)
    fixed: Mapping[str, float | Mapping[str, float]] = field(default_factory=dict)
    sweep: SweptParameter | None = None
    along: Mapping[str, Mapping[str, list[float]]] = field(default_factory=dict)
    replicates: Mapping[str, int] = field(default_factory=dict)
    data_sets: Mapping[str, int] = field(default_factory=dict)
    signals: Mapping[str, list[float] | str] = field(default_factory=dict)
    requires: Mapping[str, float] = field(default_factory=dict)
    checked_by: str = ""
    evaluation: str = "run"
    rounds: str = ""
    record: float | None = None
    timing: bool = False
    amended: str = ""
    open_constant: str = ""
    open_value: float | None = None
    stages: Mapping[str, str] = field(default_factory=dict)


UNSAID: Mapping[str, Any] = {
    **vars(MeasuredPart("", "", [])),
    **dict.fromkeys(("pair", "band"), ()),
    **dict.fromkeys(("bound", "axis", "law", "loose", "sampling", "for_class", "band_of"), ""),
    **dict.fromkeys(("tolerances", "only"), {}),
    **dict.fromkeys(("exponent", "tolerance", "law_limit"), None),
    "noise_off": False,
    "quantity": RISK,
}
"""Defaults of the fields that a part's kind does not have."""


@dataclass(frozen=True)
class Claim(Record):
    """A claim of a paper: source, statement, and parts that measure it.

    Attributes
    ----------
    states : str
        What it is about: ``risk``, ``privacy``, ``count`` or ``law``; empty where the kinds of its parts say it.
    noise_of, count_of : list of str, claims on the privacy of its noise and on its gradient count, which share its row
    noise_outside : str, the range of its privacy theorem that the runs of its risk lie outside of; empty for none
    audited_by : list of str, audits of the output of its noise, ``claim part``; one that refutes the claim answers it
    formula_of : list of str
        Claims on the privacy of the same noise formula with another schedule, or for another class.
    """

    id: str
    title: str
    source: str
    statement: str
    parts: list[Part]
    assumptions: list[str] = field(default_factory=list)
    errata: list[str] = field(default_factory=list)
    states: str = ""
    noise_of: list[str] = field(default_factory=list)
    count_of: list[str] = field(default_factory=list)
    noise_outside: str = ""
    audited_by: list[str] = field(default_factory=list)
    formula_of: list[str] = field(default_factory=list)

    @property
    def paper(self) -> str:
        return self.id.split(".", 1)[0]

    def part(self, id: str) -> Part:
        """Find a part by id. Raises InputError if there is none."""
        known = {part.id: part for part in self.parts}
        if id not in known:
            raise InputError(f"part of {self.id}", id, nearest(id, known, f"dpsco show {self.id}"))
        return known[id]

    def in_profile(self, part: Part, profile: str) -> bool:
        """Check whether a profile measures a part; one that judges others' rows follows the parts it uses."""
        if part.plans:
            return part.in_profile(profile)
        if part.only and not part.only.get(profile):
            return False
        measured = [self.part(used).in_profile(profile) for used in part.uses]
        return all(measured) if part.rules.needs_all_uses else any(measured)

    def parts_of(self, profile: str) -> list[Part]:
        """List the parts that a profile measures, each using only such parts, under calibrations that these have."""
        found = []
        for part in (part for part in self.parts if self.in_profile(part, profile)):
            uses = [used for used in part.uses if self.part(used).in_profile(profile)]
            kept = [c for c in part.calibrations if not uses or any(self.part(used).has_rows(c) for used in uses)]
            own = {"tolerance": part.tolerances[profile]} if profile in part.tolerances else {}
            found += [replace(part, uses=uses, calibrations=kept, **own)] if kept else []
        return found


def _symbol(parameter: str) -> str:
    return {"epsilon": "eps"}.get(parameter, parameter.rpartition(".")[2])


def numbers(value: Any, where: str) -> Any:
    """Expand a text into its list; return anything else as it is.

    Raises InputError for text that is no geometric list, or steps that do not meet its last value.
    """
    if not isinstance(value, str):
        return value
    if found := _GEOMETRIC.fullmatch(value.strip()):
        texts = [text or "1" for text in found.groups()]
        first, last, ratio, count = (int(text) if text.lstrip("+-").isdigit() else float(text) for text in texts)
        steps = float(count - 1)
        if found[3]:  # how often the ratio leads from the first value to the last
            steps = math.log(last / first) / math.log(ratio) if first * last > 0 < ratio != 1 else 0.0
        whole = round(steps)
        if first * last > 0 and whole > 0 and math.isclose(steps, whole, abs_tol=1e-9):
            if found[3]:
                return [first * ratio**number for number in range(whole + 1)]
            return [round(first * (last / first) ** (number / whole), 6) for number in range(whole + 1)]
    allowed = "a list of numbers, FIRST .. LAST xRATIO whose steps meet LAST, or FIRST .. LAST in COUNT"
    raise InputError(where, value, allowed)


def to_the_cap(value: Any) -> tuple[float, float] | None:
    """First signal > 0 and ratio > 1 of a grid that ends at the largest admissible signal; None for other values."""
    found = _TO_THE_CAP.fullmatch(value.strip()) if isinstance(value, str) else None
    first, ratio = (float(text) for text in found.groups()) if found else (0.0, 0.0)
    return (first, ratio) if first > 0 and ratio > 1 else None


def by_profile(values: Any, where: str, profiles: Iterable[str] = PROFILES) -> Plain:
    """Expand a mapping of profiles, in which ``ci+full`` names two, to single profiles; a value alone is that of all.

    Raises InputError for a profile that is named twice.
    """
    if not isinstance(values, Mapping):
        return dict.fromkeys(profiles, values)
    named = [(profile, value) for profile_names, value in values.items() for profile in str(profile_names).split("+")]
    for profile in (names := [profile for profile, _ in named]):
        if names.count(profile) > 1:
            raise InputError(where, profile, "given once")
    return dict(named)


def spread(entry: Plain, where: str) -> Plain:
    """Write out a part's values by profile, as its file has them: `Part` has a mapping of single profiles.

    Raises InputError for what cannot be read; whether the profiles exist is the part's matter.
    """
    values = dict(entry)
    if "grid" in values:
        values |= expanded(values.pop("grid"), f"{where}, grid")
    sweep = values.get("sweep")
    profiles: Iterable[str] = MEASURED
    if isinstance(sweep, Mapping) and "values" in sweep:
        swept = _lists(sweep["values"], MEASURED, f"{where}: sweep")
        values["sweep"], profiles = {**sweep, "values": swept}, swept
    for key in SHARED:
        if key in values:
            values[key] = _lists(values[key], profiles, f"{where}: {key}")
    for key in ("along", "fixed"):
        for name, value in values[key].items() if isinstance(values.get(key), Mapping) else ():
            if key == "along" or isinstance(value, Mapping):
                values[key] = {**values[key], name: _lists(value, profiles, f"{where}: {key} {name}")}
    return values


def _lists(value: Any, profiles: Iterable[str], where: str) -> Plain:
    given = by_profile(value, where, profiles).items()
    return {profile: item if to_the_cap(item) else numbers(item, where) for profile, item in given}


def expanded(grid: Any, where: str) -> Plain:
    """Expand the sweep over all combinations of ``{quantity: values}``, the last quantity fastest.

    Raises InputError under the name ``where``.
    """
    if isinstance(grid, Mapping) and not any(name in PROFILES or "+" in name for name in map(str, grid)):
        grid = dict.fromkeys(MEASURED, grid)
    if not isinstance(grid, Mapping) or not all(isinstance(axes, Mapping) and axes for axes in grid.values()):
        raise InputError(where, grid, "a mapping of profiles to mappings of swept quantities to lists")
    grid = by_profile(grid, where)
    names = list(dict.fromkeys(name for axes in grid.values() for name in axes))
    along: dict[str, dict[str, list[Any]]] = {name: {} for name in names}
    counts = {}
    for profile, axes in grid.items():
        lists = [numbers(axes.get(name), f"{where}: {name} of {profile}") for name in names]
        if not all(isinstance(values, list) for values in lists):
            allowed = "lists of numbers of the same quantities in every profile"
            raise InputError(f"{where}: quantities of {profile}", dict(axes), allowed)
        cells = list(product(*lists))
        counts[profile] = [float(number + 1) for number in range(len(cells))]
        for name, column in zip(names, zip(*cells, strict=True), strict=True):
            along[name][profile] = list(column)
    return {"sweep": {"parameter": GRID, "values": counts}, "along": along}
