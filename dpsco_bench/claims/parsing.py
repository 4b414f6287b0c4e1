"""From a claim's file to a claim: every key is checked, alone and against the others, and all slips are told."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from dpsco_bench.algorithms.registry import CALIBRATIONS
from dpsco_bench.claims.bounds.registry import alphabetical, glossary_of, read
from dpsco_bench.claims.files import Slips, build_checked, check_names, listed
from dpsco_bench.claims.kinds import Kind, all_kinds, get_kind
from dpsco_bench.claims.model import (
    NO_STAGES,
    PROFILES,
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

OR = " or "
CELLS = {f.name for f in fields(MeasuredPart)} - {f.name for f in fields(Part)}
"""Keys of kinds that may have cells of their own."""
RESTS = {"grid": "sweep", "bound": "axis", "exponent": "tolerance"}
"""Key of a part -> another one, of which nothing can be said where the first is wrong."""
LIMITS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "id": (
        lambda id: bool(re.fullmatch(r"\w+(?:[.+-]\w+)*", id)),
        "letters, digits and _, with - + . between: it names files",
    ),
    **dict.fromkeys(("calibrations", "uses"), (lambda names: len(set(names)) == len(names), "each once")),
    **dict.fromkeys(("exponent", "record", "requires"), (math.isfinite, "a finite number")),
    **dict.fromkeys(("tolerance", "tolerances"), (lambda number: 0 < number < math.inf, "a finite number > 0")),
    **dict.fromkeys(("replicates", "data_sets"), (lambda runs: runs >= 1, "an integer >= 1")),
}
"""Key of a part -> a test of its value, or of each of its values by name, and what passes."""


def parse_claim(entry: Plain) -> Claim:
    """Build a claim from its file.

    Raises InputError naming the claim, parts and keys that are missing, unknown or out of range: all of them at once.
    """
    if not isinstance(entry, Mapping):
        raise InputError("claim", entry, "a mapping")
    where, parts = f"claim {entry.get('id', '?')}", list[Part]()
    slips, own = Slips(where), Slips(where)
    given = slips.tried(listed, entry.get("parts"), f"{where}: parts")
    wrong = {"parts"} if given is None else set()
    for number, one in enumerate(given or ()):
        part, found = _parse_part(where, one)
        parts += [part] if part else []
        slips += found
        if found:
            wrong.add(str(one.get("id", number)) if isinstance(one, Mapping) else str(number))
    claim = own.build(Claim, {**entry, "parts": parts})
    slips += own
    slips += _slips_of_claim(claim, where, wrong | own.wrong) if claim else ()
    slips.tell()
    return claim


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
    slips = Slips(where)
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


def _parse_part(claim: str, entry: Any) -> tuple[Part | None, list[InputError]]:
    """Make a part of the keys that are right, None where they make none, and find what is wrong with the others."""
    if not isinstance(entry, Mapping):
        return None, [InputError(f"{claim}: part", entry, "a mapping of keys to values")]
    where = f"{claim}, part {entry.get('id', '?')}"
    slips = Slips(where)
    kind = slips.tried(_kind_of, entry.get("kind", "missing"), where)
    if kind is None:
        return None, slips
    values = _spread_out({key: value for key, value in entry.items() if value is not None}, slips)
    slips += _foreign(kind, values, where)
    wrong = _resting(kind, slips)
    told = {key: value for key, value in values.items() if key not in wrong}
    part = slips.build(kind.part, told, f" for kind {kind.name}")
    if part is None:
        return None, slips
    wrong, misnamed = _resting(kind, slips), slips.wrong & {"uses", "key"}  # then nothing is told that is missing
    later = Slips(where, _slips_of_part(part, where))
    later += () if "sweep" in wrong else _profile_slips(part, where)
    later.tried(kind.check, part, where)
    sound = (slip for slip in later if not later.words(slip) & wrong)
    slips += [slip for slip in sound if not (misnamed and slip.value in ("missing", []))]
    return part, slips


def _resting(kind: Kind, slips: Slips) -> set[str]:
    """Keys of a part that are wrong, or rest on wrong ones."""
    wrong = slips.wrong & {*kind.keys, "grid", "algorithm"}
    return wrong | {RESTS[key] for key in wrong & RESTS.keys()}


def _spread_out(values: dict[str, Any], slips: Slips) -> dict[str, Any]:
    """Read what a file writes shorter than a part has it; a key that cannot be read is told and left out."""
    where = slips.where
    if "algorithm" in values:
        method = {k: values.pop(k) for k in ("algorithm", "variant", "options", "profile_options") if k in values}
        values["methods"] = [method]
    if "methods" in values:
        given = slips.tried(listed, values["methods"], f"{where}: methods") or ()
        values["methods"] = list(filter(None, [slips.tried(_method, method, where) for method in given]))
        slips.unsure |= {"methods", "algorithm"} if slips else set()
    while (found := slips.tried(spread, values, where)) is None:
        values = {key: value for key, value in values.items() if key not in slips.words(slips[-1])}
    if found.get("sweep"):
        found["sweep"] = slips.tried(build_checked, SweptParameter, found["sweep"], f"{where}, sweep")
    return found


def _method(entry: Any, where: str) -> Method:
    made = build_checked(Method, entry, where)
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
        allowed = f"left out, or null: it belongs to kind {OR.join(names)}"
        if kind.judged_only and key in CELLS:
            allowed = f"left out, or null: kind {kind.name} judges the cells of the parts in `uses`"
        if names:
            yield InputError(f"{where}: {key}", values.pop(key), allowed)


def _slips_of_part(part: Part, where: str) -> Iterator[InputError]:
    rules = part.rules
    for key, (passes, allowed) in LIMITS.items():
        value = getattr(part, key)
        for name, one in value.items() if isinstance(value, Mapping) else [("", value)]:
            if one is not None and not passes(one):
                yield InputError(f"{where}: {key}" + f" of {name}" * bool(name), one, allowed)
    if not part.calibrations or not set(part.calibrations) <= set(CALIBRATIONS):
        yield InputError(f"{where}: calibrations", part.calibrations, "some of " + ", ".join(CALIBRATIONS))
    yield from _expected_slips(part.expected, rules, part.calibrations, where)
    if rules.bounded and not part.bound:
        yield InputError(f"{where}: bound", "missing", f"given for kind {part.kind}")
    if rules.judged_only and not part.uses:
        yield InputError(f"{where}: uses", part.uses, "at least one part whose rows are judged")
    needed = {"sweep": part.sweep, "algorithm": part.methods, "problem": part.problem} if part.plans else {}
    if missing := [key for key, value in needed.items() if not value]:
        yield InputError(f"{where}: {', '.join(missing)}", "missing", "given")
    if part.quantity == THRESHOLD and (len(part.requires) != 1 or not part.signals):
        yield InputError(f"{where}: requires", dict(part.requires), "one extra and its value, on a grid of signals")
    if part.axis:
        yield from _axis_slips(part, where)
    for key, named in (("noted", part.noted), ("reservations", sorted(part.reservations))):
        if not set(named) <= set(part.calibrations):
            yield InputError(f"{where}: {key}", named, f"calibrations of the part ({', '.join(part.calibrations)})")
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
    """Every mapping by profile names known profiles, and those of the sweep: in others the part would not be judged.

    Signals and options of methods are often those of other parts, and may have more.
    """
    swept = part.sweep.values if part.sweep else {}
    fixed = {key: value for key, value in part.fixed.items() if isinstance(value, Mapping)}
    numbers = {key: getattr(part, key) for key in ("replicates", "data_sets", "tolerances")}
    shared = {f"profile_options of {m.label}": m.profile_options for m in part.methods} | {"signals": part.signals}
    for key, values in {"sweep": swept, **fixed, **numbers, **shared}.items():
        for profile in values:
            if profile not in PROFILES:
                yield InputError(f"{where}: profile of {key}", profile, "one of " + ", ".join(PROFILES))
        if key in fixed and swept.keys() - values.keys():
            yield InputError(f"{where}: {key}", sorted(values), "given for " + ", ".join(swept))
        dropped = values.keys() - swept.keys() if part.plans and swept and key not in shared else ()
        if dropped:
            allowed = f"given for {', '.join(swept)} alone: its sweep has no values for {', '.join(sorted(dropped))}"
            yield InputError(f"{where}: {key}", sorted(values), allowed)
    for profile, grid in swept.items():
        cells = list(zip(grid, *(lists.get(profile, grid) for lists in part.along.values()), strict=False))
        if len(set(cells)) < len(cells):
            twice = next(cell[0] for number, cell in enumerate(cells) if cell in cells[:number])
            yield InputError(f"{where}: sweep of {profile}", list(grid), f"different values; {twice:g} is there twice")
        if not grid or (part.rules.needs_slope(part) and len(set(grid)) < 2):
            yield InputError(f"{where}: sweep of {profile}", grid, "values, at least two different ones for a slope")
        signals = part.signals.get(profile, [])
        increasing = signals and not isinstance(signals, str) and sorted(set(signals)) == signals
        if part.signals and not increasing and not to_the_cap(signals):
            yield InputError(f"{where}: signals of {profile}", signals, "increasing numbers, or FIRST .. cap xRATIO")
    if part.sweep and part.sweep.parameter in part.fixed:
        yield InputError(f"{where}: fixed", part.sweep.parameter, "other quantities than the swept one")
    for key, lists in part.along.items():
        if {profile: len(values) for profile, values in lists.items()} != {p: len(v) for p, v in swept.items()}:
            yield InputError(f"{where}: along {key}", dict(lists), "lists as long as the sweep's, for its profiles")
