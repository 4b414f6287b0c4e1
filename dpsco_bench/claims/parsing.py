"""From a claim's file to a claim: every key is checked, alone and against the others, and all slips are told."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from typing import Any

from dpsco_bench.algorithms.registry import CALIBRATIONS
from dpsco_bench.claims.bounds.registry import alphabetical, glossary_of, read
from dpsco_bench.claims.files import Slips, build_checked, check_names, listed, slips_of
from dpsco_bench.claims.kinds import Kind, all_kinds, get_kind
from dpsco_bench.claims.model import (
    NO_STAGES,
    PROFILES,
    RISK,
    SUBJECTS,
    THRESHOLD,
    Claim,
    MeasuredPart,
    Method,
    Part,
    SweptParameter,
    by_profile,
    spread,
    to_the_cap,
)
from dpsco_bench.errors import InputError
from dpsco_bench.plain import Plain

PART_ID = r"\w+(?:[.+-]\w+)*"
MOST_RUNS = 100_000_000
"""Replicates, and data sets, of a cell: results of more would not fit in a memory."""
OR = " or "
EMPTY = {"str": "", "float": math.nan}
"""Stand-ins for what is due and not there or wrong, which is told of it, by their types."""
CELLS = {f.name for f in fields(MeasuredPart)} - {f.name for f in fields(Part)}
"""Keys of kinds that may have cells of their own."""


def parse_claim(entry: Plain) -> Claim:
    """Build a claim from its file.

    Raises InputError naming the claim, parts and keys that are missing, unknown or out of range: all of them at once.
    """
    if not isinstance(entry, Mapping):
        raise InputError("claim", entry, "a mapping")
    where, slips, parts = f"claim {entry.get('id', '?')}", Slips(), list[Part]()
    given = slips.tried(listed, entry.get("parts"), f"{where}: parts")
    wrong = {"parts"} if given is None else set()
    for number, one in enumerate(given or ()):
        before = len(slips)
        if part := _parse_part(where, one, slips):
            parts.append(part)
        if len(slips) > before:
            wrong.add(str(one.get("id", number)) if isinstance(one, Mapping) else str(number))
    values = {**entry, "parts": parts}
    told = list(slips_of(Claim, values, where))
    claim = build_sound(Claim, values, told, where)
    slips.extend(told)
    slips.extend(_slips_of_claim(claim, where, wrong | named(told, where)) if claim else ())
    slips.tell()
    assert claim
    return claim


def build_sound(cls: Any, values: Plain, told: Sequence[InputError], where: str) -> Any:
    """Build a dataclass without the keys of which slips are told already; None where that cannot be."""
    if not told:
        return cls(**values)
    wrong = named(told, where)
    known = {f.name: EMPTY[f.type] for f in fields(cls) if f.default is MISSING and f.type in EMPTY}
    sound = known | {f.name: values[f.name] for f in fields(cls) if f.name in values and f.name not in wrong}
    return None if list(slips_of(cls, sound, where)) else cls(**sound)


def named(slips: Iterable[InputError], where: str) -> set[str]:
    """Words of the keys of some slips behind their place."""
    return {word for slip in slips for word in re.findall(r"\w+", slip.key.removeprefix(where))}


def _slips_of_claim(claim: Claim, where: str, wrong: Collection[str]) -> Iterator[InputError]:
    """Find what does not fit between the keys of a claim and its parts; what rests on ``wrong`` ones is not told."""
    if not re.fullmatch(r"\w+(\.\w+)+", claim.id) or not (claim.parts or wrong):
        yield InputError(where, claim.id, "an id paper.name with at least one part")
    if claim.states not in ("", *SUBJECTS):
        yield InputError(f"{where}: states", claim.states, "one of " + ", ".join(SUBJECTS))
    ids = [p.id for p in claim.parts]
    if len(set(ids)) != len(ids):
        yield InputError(f"{where}: parts", ids, "distinct ids")
    for part in claim.parts:
        if part.law and part.law not in [*wrong, *(p.id for p in claim.parts if p.rules.knows_the_law)]:
            yield InputError(f"{where}, part {part.id}: law", part.law, "a part of kind law of this claim")
        if part.amended and part.amended not in claim.errata and "errata" not in wrong:
            allowed = "one of the claim's errata" + f" ({', '.join(claim.errata) or 'it has none'})"
            yield InputError(f"{where}, part {part.id}: amended", part.amended, allowed)
        yield from _slips_of_uses(claim, part, f"{where}, part {part.id}", wrong)


def _slips_of_uses(claim: Claim, part: Part, where: str, wrong: Collection[str]) -> Iterator[InputError]:
    """Under each calibration there are rows to judge."""
    slips = Slips()
    used = list(filter(None, (slips.tried(claim.part, id) for id in part.uses if id not in wrong)))
    yield from slips
    if set(part.uses) & set(wrong):
        return
    for other in used:
        if not other.plans:
            yield InputError(f"{where}: uses", other.id, "a part that has cells of its own")
    for profile, kept in part.only.items():
        swept = {value for other in used if other.sweep for value in other.sweep.values.get(profile, ())}
        if not kept or not set(kept) <= swept:
            allowed = "some of " + (", ".join(f"{value:g}" for value in sorted(swept)) or "none: no part has it")
            yield InputError(f"{where}: only of {profile}", list(kept), allowed)
    deciding = used[:1] if part.rules.needs_all_uses else used
    for calibration in part.calibrations if used else ():
        if not any(other.has_rows(calibration) for other in deciding):
            yield InputError(f"{where}: calibrations", calibration, f"one of the parts {', '.join(part.uses)}")


def _parse_part(claim: str, entry: Any, slips: Slips) -> Part | None:
    """Make a part of the keys that are right, and add what is wrong with the others; None where that makes none."""
    if not isinstance(entry, Mapping):
        slips.append(InputError(f"{claim}: part", entry, "a mapping of keys to values"))
        return None
    where, own = f"{claim}, part {entry.get('id', '?')}", Slips()
    kind = slips.tried(_kind_of, entry.get("kind", "missing"), where)
    if kind is None:
        return None
    values = {key: value for key, value in entry.items() if value is not None}
    if "algorithm" in values:
        method = {k: values.pop(k) for k in ("algorithm", "variant", "options", "profile_options") if k in values}
        values["methods"] = [method]
    if "methods" in values:
        given = own.tried(listed, values["methods"], f"{where}: methods") or ()
        values["methods"] = list(filter(None, [own.tried(_method, method, where) for method in given]))
    wrong = {"methods", "algorithm"} if own else set()
    while (spread_out := own.tried(spread, values, where)) is None:  # a key that cannot be read is told and left out
        values = {key: value for key, value in values.items() if key not in named(own[-1:], where)}
    values = dict(spread_out)
    if values.get("sweep"):
        values["sweep"] = own.tried(build_checked, SweptParameter, values["sweep"], f"{where}, sweep")
    own.extend(_foreign(kind, values, where))
    wrong |= named(own, where) & {*kind.keys, "grid"}
    wrong |= {"sweep"} if "grid" in wrong else set()
    told = slips_of(kind.part, {k: v for k, v in values.items() if k not in wrong}, where, f" for kind {kind.name}")
    own.extend(told)
    wrong |= named(own, where) & set(kind.keys)
    wrong |= {"axis"} if "bound" in wrong else set()
    wrong |= {"tolerance"} if "exponent" in wrong else set()
    misnamed = "uses" in wrong or "key" in named(own, where)  # then nothing is told that is missing
    part = build_sound(kind.part, values, own, where)
    if part is not None:
        later = Slips(_slips_of_part(part, where))
        later.extend(() if "sweep" in wrong else _profile_slips(part, where))
        later.tried(kind.check, part, where)
        later = Slips(slip for slip in later if not named([slip], where) & wrong)
        own.extend(slip for slip in later if not (misnamed and slip.value in ("missing", [])))
    slips.extend(own)
    return part


def _method(entry: Any, where: str) -> Method:
    made: Method = build_checked(Method, entry, where)
    options = by_profile(made.profile_options, f"{where}: profile_options")
    for of_profile in options.values():
        check_names("options", of_profile, f"{where}: profile_options")
    return replace(made, profile_options=options)


def _kind_of(name: Any, where: str) -> Kind:
    if name == "missing" or not isinstance(name, str):
        raise InputError(f"{where}: kind", name, "given" if name == "missing" else "text")
    try:
        return get_kind(name)
    except InputError as error:
        raise InputError(f"{where}: kind", error.value, error.allowed) from None


def _foreign(kind: Kind, values: dict[str, Any], where: str) -> Iterator[InputError]:
    """Take keys out that only other kinds have."""
    for key in [key for key in values if key not in kind.keys]:
        names = [other.name for other in all_kinds() if key in other.keys]
        if kind.judged_only and key in CELLS:
            allowed = f"left out, or null: kind {kind.name} judges the cells of the parts in `uses`"
        else:
            allowed = f"left out, or null: it belongs to kind {OR.join(names)}"
        if names:
            yield InputError(f"{where}: {key}", values.pop(key), allowed)


def _slips_of_part(part: Part, where: str) -> Iterator[InputError]:
    rules = part.rules
    if not re.fullmatch(PART_ID, part.id):
        yield InputError(f"{where}: id", part.id, "letters, digits and _, with - + . between: it names files")
    if not part.calibrations or not set(part.calibrations) <= set(CALIBRATIONS):
        yield InputError(f"{where}: calibrations", part.calibrations, "some of " + ", ".join(CALIBRATIONS))
    for key, names in (("calibrations", part.calibrations), ("uses", part.uses)):
        if len(set(names)) < len(names):
            yield InputError(f"{where}: {key}", names, "each once")
    for key, number in (("exponent", part.exponent), ("record", part.record), *part.requires.items()):
        if number is not None and not math.isfinite(number):
            yield InputError(f"{where}: {key}", number, "a finite number")
    for tolerance in (part.tolerance, *part.tolerances.values()):
        if tolerance is not None and not 0 < tolerance < math.inf:
            yield InputError(f"{where}: tolerance", tolerance, "a finite number > 0")
    yield from _expected_slips(part.expected, rules, part.calibrations, where)
    if rules.bounded and not part.bound:
        yield InputError(f"{where}: bound", "missing", f"given for kind {part.kind}")
    if rules.judged_only and not part.uses:
        yield InputError(f"{where}: uses", part.uses, "at least one part whose rows are judged")
    needed = {"sweep": part.sweep, "algorithm": part.methods, "problem": part.problem} if part.plans else {}
    if missing := [key for key, value in needed.items() if not value]:
        yield InputError(f"{where}: {', '.join(missing)}", "missing", "given")
    if not part.quantity:
        yield InputError(f"{where}: quantity", part.quantity, f"{RISK}, or the name of an extra")
    if part.quantity == THRESHOLD and (len(part.requires) != 1 or not part.signals):
        yield InputError(f"{where}: requires", dict(part.requires), "one extra and its value, on a grid of signals")
    if part.axis:
        yield from _axis_slips(part, where)
    if not set(part.noted) <= set(part.calibrations):
        yield InputError(f"{where}: noted", part.noted, f"calibrations of the part ({', '.join(part.calibrations)})")
    if not set(part.reservations) <= set(part.calibrations):
        yield InputError(f"{where}: reservations", sorted(part.reservations), "by calibrations of the part")
    if set(part.stages) - {NO_STAGES} or not all(part.stages.values()):
        yield InputError(f"{where}: stages", dict(part.stages), f"left out, or {NO_STAGES}: and why")
    if part.evaluation not in rules.evaluations:
        yield InputError(f"{where}: evaluation", part.evaluation, OR.join(rules.evaluations))


def _axis_slips(part: Part, where: str) -> Iterator[InputError]:
    """Check that an axis is a formula in the symbols of the part's bound."""
    if not part.bound:
        yield InputError(f"{where}: axis", part.axis, "left out: it belongs to measured slopes beside a bound")
        return
    known = glossary_of(part.bound)
    try:
        unknown = read(part.axis).names - known.keys()
    except InputError:
        unknown = frozenset([part.axis])
    if unknown:
        allowed = "a formula in the notation of bounds, in " + ", ".join(alphabetical(known))
        yield InputError(f"{where}: axis", part.axis, allowed)


def _expected_slips(text: str, kind: Kind, calibrations: Sequence[str], where: str) -> Iterator[InputError]:
    """Check an expectation: nothing, verdicts of the kind with ``or`` between, or ``<calibration> <verdict>, ...``."""
    entries = list(_expectations(text))
    named = [calibration for calibration, _ in entries]
    told_apart = len(set(named)) == len(named) and set(named) <= set(calibrations)
    verdicts = [word for _, verdict in entries for word in verdict.split(OR)]
    if entries and not ((named == [""] or told_apart) and set(verdicts) <= set(kind.words)):
        allowed = f"empty, or for kind {kind.name} one of {', '.join(kind.words)}"
        if len(calibrations) > 1:
            allowed += f", or one for each calibration: '{calibrations[0]} {next(iter(kind.words))}, ...'"
        yield InputError(f"{where}: expected", text, allowed)


def expected_words(text: str, calibration: str) -> tuple[str, ...]:
    """List the verdicts expected of a part under a calibration; none without an expectation."""
    found = dict(_expectations(text))
    return tuple(word for word in found.get(calibration, found.get("", "")).split(OR) if word)


def _expectations(text: str) -> Iterator[tuple[str, str]]:
    """(calibration or nothing, verdict) of each entry of `Part.expected`."""
    for entry in text.split(", ") if text else ():
        first, _, rest = entry.partition(" ")
        yield (first, rest) if first in CALIBRATIONS else ("", entry)


def _profile_slips(part: Part, where: str) -> Iterator[InputError]:
    """Every mapping by profile names known profiles, and what is fixed is fixed in all that the sweep has."""
    swept = part.sweep.values if part.sweep else {}
    by_profile: dict[str, Mapping[str, Any]] = {"sweep": swept, "replicates": part.replicates}
    by_profile |= {"data_sets": part.data_sets, "signals": part.signals, "tolerances": part.tolerances}
    by_profile |= {key: value for key, value in part.fixed.items() if isinstance(value, Mapping)}
    by_profile |= {f"profile_options of {m.label}": m.profile_options for m in part.methods}
    for key, values in by_profile.items():
        for profile in values:
            if profile not in PROFILES:
                yield InputError(f"{where}: profile of {key}", profile, "one of " + ", ".join(PROFILES))
        if key in part.fixed and not set(swept) <= set(values):
            yield InputError(f"{where}: {key}", sorted(values), "given for " + ", ".join(swept))
    for key, counts in (("replicates", part.replicates), ("data_sets", part.data_sets)):
        for profile, number in counts.items():
            if not 1 <= number <= MOST_RUNS:
                yield InputError(f"{where}: {key} of {profile}", number, f"an integer from 1 to {MOST_RUNS}")
    if part.sweep and not swept:
        yield InputError(f"{where}: sweep", swept, "values for at least one of the profiles " + ", ".join(PROFILES))
    for profile, grid in swept.items():
        cells = list(zip(grid, *(lists.get(profile, grid) for lists in part.along.values()), strict=False))
        if len(set(cells)) < len(cells):
            twice = next(cell[0] for number, cell in enumerate(cells) if cell in cells[:number])
            yield InputError(f"{where}: sweep of {profile}", list(grid), f"different values; {twice:g} is there twice")
        if not grid or (part.rules.needs_slope(part) and len(set(grid)) < 2):
            yield InputError(f"{where}: sweep of {profile}", grid, "values, at least two different ones for a slope")
    if part.sweep and part.sweep.parameter in part.fixed:
        yield InputError(f"{where}: fixed", part.sweep.parameter, "other quantities than the swept one")
    for key, lists in part.along.items():
        if {profile: len(values) for profile, values in lists.items()} != {p: len(v) for p, v in swept.items()}:
            yield InputError(f"{where}: along {key}", dict(lists), "lists as long as the sweep's, for its profiles")
    for profile in swept if part.signals else ():
        signals = part.signals.get(profile, [])
        if not to_the_cap(signals) and (not signals or isinstance(signals, str) or sorted(set(signals)) != signals):
            yield InputError(f"{where}: signals of {profile}", signals, "increasing numbers, or FIRST .. cap xRATIO")
    for key, values in by_profile.items() if part.plans else ():
        yield from _dropped(part, key, values, where)


def _dropped(part: Part, key: str, values: Mapping[str, Any], where: str) -> Iterator[InputError]:
    """Find numbers for a profile that the sweep leaves out: the part would not be judged there, and nobody told.

    Signals and options of methods are often those of other parts, and may have more.
    """
    swept = part.sweep.values if part.sweep else {}
    shared = key == "signals" or key.startswith("profile_options")
    dropped = [] if shared else [profile for profile in values if profile not in swept]
    if dropped and swept:
        allowed = f"given for {', '.join(swept)} alone: its sweep has no values for {', '.join(dropped)}"
        yield InputError(f"{where}: {key}", sorted(values), allowed)
