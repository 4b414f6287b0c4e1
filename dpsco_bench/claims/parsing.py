"""From a claim's file to a claim: every key is checked, alone and against the others."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dpsco_bench.algorithms.registry import CALIBRATIONS
from dpsco_bench.claims.axes import check_axis
from dpsco_bench.claims.entries import build_checked, check_names, listed
from dpsco_bench.claims.expected import check_expected
from dpsco_bench.claims.grids import PROFILES, by_profile, spread, to_the_cap
from dpsco_bench.claims.kinds import Kind, all_kinds, get_kind
from dpsco_bench.claims.model import AT_END, AT_EQUAL_EVALUATIONS, RISK, THRESHOLD, Claim, Method, Part, Sweep
from dpsco_bench.errors import InputError
from dpsco_bench.plain import Plain

PART_ID = r"\w+(?:[.+-]\w+)*"
BELONGS = {
    "exact": (False, True),
    "constant": ("stated", "none"),
    "statistic": ("mean", "max", "fraction"),
    "compared": ("both", AT_END, AT_EQUAL_EVALUATIONS),
}
"""Keys that only some kinds take -> their values, the one of all other kinds first."""
MOST_RUNS = 100_000_000
"""Replicates, and data sets, of a cell: results of more would not fit in a memory."""


def parse_claim(entry: Plain) -> Claim:
    """Build a claim from its file.

    Raises InputError naming the claim, part and key that is missing, unknown or out of range.
    """
    if not isinstance(entry, Mapping):
        raise InputError("claim", entry, "a mapping")
    where = f"claim {entry.get('id', '?')}"
    values = dict(entry)
    values["parts"] = [_parse_part(where, part) for part in listed(entry.get("parts"), f"{where}: parts")]
    claim = build_checked(Claim, values, where)
    if not re.fullmatch(r"\w+(\.\w+)+", claim.id) or not claim.parts:
        raise InputError(where, claim.id, "an id paper.name with at least one part")
    ids = [p.id for p in claim.parts]
    if len(set(ids)) != len(ids):
        raise InputError(f"{where}: parts", ids, "distinct ids")
    for part in claim.parts:
        if part.amended and part.amended not in claim.errata:
            allowed = "one of the claim's errata" + f" ({', '.join(claim.errata) or 'it has none'})"
            raise InputError(f"{where}, part {part.id}: amended", part.amended, allowed)
        _check_uses(claim, part, f"{where}, part {part.id}")
    return claim


def _check_uses(claim: Claim, part: Part, where: str) -> None:
    """Under each calibration there are rows to judge."""
    used = [claim.part(id) for id in part.uses]
    deciding = used[:1] if part.rules.needs_all_uses else used
    for other in used:
        if not other.plans:
            raise InputError(f"{where}: uses", other.id, "a part that has cells of its own")
    for profile, kept in part.only.items():
        swept = {value for other in used if other.sweep for value in other.sweep.values.get(profile, ())}
        if not kept or not set(kept) <= swept:
            allowed = "some of " + (", ".join(f"{value:g}" for value in sorted(swept)) or "none: no part has it")
            raise InputError(f"{where}: only of {profile}", list(kept), allowed)
    for calibration in part.calibrations if used else ():
        if not any(other.has_rows(calibration) for other in deciding):
            raise InputError(f"{where}: calibrations", calibration, f"one of the parts {', '.join(part.uses)}")


def _parse_part(claim: str, entry: Plain) -> Part:
    if not isinstance(entry, Mapping):
        raise InputError(f"{claim}: part", entry, "a mapping of keys to values")
    where = f"{claim}, part {entry.get('id', '?')}"
    values = dict(entry)
    if "tolerance" not in values and isinstance(values.get("kind"), str):
        tolerance = _kind_of(values["kind"], where).tolerance
        if tolerance is None:
            raise InputError(f"{where}: tolerance", "missing", f"given for kind {values['kind']}: fixed before the run")
        values["tolerance"] = tolerance
    if "algorithm" in values:
        method = {k: values.pop(k) for k in ("algorithm", "variant", "options", "profile_options") if k in values}
        values["methods"] = [method]
    methods = [build_checked(Method, m, where) for m in listed(values.get("methods"), f"{where}: methods")]
    values["methods"] = [
        replace(m, profile_options=by_profile(m.profile_options, f"{where}: profile_options")) for m in methods
    ]
    for options in [options for m in values["methods"] for options in m.profile_options.values()]:
        check_names("options", options, f"{where}: profile_options")
    values = dict(spread(values, where))
    if values.get("sweep"):
        values["sweep"] = build_checked(Sweep, values["sweep"], f"{where}, sweep")
    part = build_checked(Part, values, where)
    _check_part(part, where)
    return part


def _check_part(part: Part, where: str) -> None:
    if not re.fullmatch(PART_ID, part.id):
        raise InputError(f"{where}: id", part.id, "letters, digits and _, with - + . between: it names files")
    _kind_of(part.kind, where)
    if not part.calibrations or not set(part.calibrations) <= set(CALIBRATIONS):
        raise InputError(f"{where}: calibrations", part.calibrations, "some of " + ", ".join(CALIBRATIONS))
    for key, names in (("calibrations", part.calibrations), ("uses", part.uses)):
        if len(set(names)) < len(names):
            raise InputError(f"{where}: {key}", names, "each once")
    for key, number in (("exponent", part.exponent), ("record", part.record), *part.requires.items()):
        if number is not None and not math.isfinite(number):
            raise InputError(f"{where}: {key}", number, "a finite number")
    check_expected(part.expected, part.rules, part.calibrations, where)
    _check_kind(part, where)
    _check_profiles(part, where)
    if part.plans and (part.sweep is None or not part.methods or not part.problem):
        raise InputError(f"{where}: sweep, algorithm, problem", "missing", "given")
    if not set(part.noted) <= set(part.calibrations):
        raise InputError(f"{where}: noted", part.noted, f"calibrations of the part ({', '.join(part.calibrations)})")
    if not set(part.reservations) <= set(part.calibrations):
        raise InputError(f"{where}: reservations", sorted(part.reservations), "by calibrations of the part")
    if part.evaluation not in part.rules.evaluations:
        raise InputError(f"{where}: evaluation", part.evaluation, " or ".join(part.rules.evaluations))
    for tolerance in (part.tolerance, *part.tolerances.values()):
        if not 0 < tolerance < math.inf:
            raise InputError(f"{where}: tolerance", tolerance, "a finite number > 0")
    if part.better not in ("smaller", "larger"):
        raise InputError(f"{where}: better", part.better, "smaller or larger")


def _kind_of(name: Any, where: str) -> Kind:
    try:
        return get_kind(name)
    except InputError as error:
        raise InputError(f"{where}: kind", error.value, error.allowed) from None


def _check_kind(part: Part, where: str) -> None:
    """What a kind needs, and what it does not take."""
    rules = part.rules
    if rules.bounded and not part.bound:
        raise InputError(f"{where}: bound", "missing", f"given for kind {part.kind}")
    if rules.judged_only and not part.uses:
        raise InputError(f"{where}: uses", part.uses, "at least one part whose rows are judged")
    if not part.quantity or part.quantity not in (rules.quantities or (part.quantity,)):
        raise InputError(f"{where}: quantity", part.quantity, f"{RISK}, or for other kinds the name of an extra")
    if part.quantity == THRESHOLD and (len(part.requires) != 1 or not part.signals):
        raise InputError(f"{where}: requires", dict(part.requires), "one extra and its value, on a grid of signals")
    for key, values in BELONGS.items():
        given = getattr(part, key)
        if given not in (values if key in rules.takes else values[:1]):
            others = " or ".join(str(value) for value in values[1:]).lower()
            takers = " or ".join(other.name for other in all_kinds() if key in other.takes)
            raise InputError(f"{where}: {key}", given, f"{str(values[0]).lower()}, or for kind {takers} also {others}")
    if part.only and not ("only" in rules.takes and part.uses):
        takers = " or ".join(other.name for other in all_kinds() if "only" in other.takes)
        raise InputError(f"{where}: only", dict(part.only), f"left out, or for kind {takers} with uses")
    wants, p = part.statistic == "fraction", part.probability
    if wants != (p is not None) or (p is not None and not 0 < p <= 1):
        allowed = "a number in (0, 1]" if wants else "left out: it belongs to statistic fraction"
        raise InputError(f"{where}: probability", "missing" if p is None else p, allowed)
    if part.axis:
        check_axis(part.axis, part.bound, rules, where)
    rules.check(part, where)


def _check_profiles(part: Part, where: str) -> None:
    """Every mapping by profile names known profiles, and what is fixed is fixed in all that the sweep has."""
    swept = part.sweep.values if part.sweep else {}
    by_profile: dict[str, Mapping[str, Any]] = {"sweep": swept, "replicates": part.replicates}
    by_profile |= {"data_sets": part.data_sets, "signals": part.signals, "tolerances": part.tolerances}
    by_profile |= {key: value for key, value in part.fixed.items() if isinstance(value, Mapping)}
    by_profile |= {f"profile_options of {m.label}": m.profile_options for m in part.methods}
    for key, values in by_profile.items():
        for profile in values:
            if profile not in PROFILES:
                raise InputError(f"{where}: profile of {key}", profile, "one of " + ", ".join(PROFILES))
        if key in part.fixed and not set(swept) <= set(values):
            raise InputError(f"{where}: {key}", sorted(values), "given for " + ", ".join(swept))
    for key, counts in (("replicates", part.replicates), ("data_sets", part.data_sets)):
        for profile, number in counts.items():
            if not 1 <= number <= MOST_RUNS:
                raise InputError(f"{where}: {key} of {profile}", number, f"an integer from 1 to {MOST_RUNS}")
    if part.sweep and not swept:
        raise InputError(f"{where}: sweep", swept, "values for at least one of the profiles " + ", ".join(PROFILES))
    for profile, grid in swept.items():
        cells = list(zip(grid, *(lists.get(profile, grid) for lists in part.along.values()), strict=False))
        if len(set(cells)) < len(cells):
            twice = next(cell[0] for number, cell in enumerate(cells) if cell in cells[:number])
            raise InputError(f"{where}: sweep of {profile}", list(grid), f"different values; {twice:g} is there twice")
        if not grid or (part.rules.needs_slope(part) and len(set(grid)) < 2):
            raise InputError(f"{where}: sweep of {profile}", grid, "values, at least two different ones for a slope")
    if part.sweep and part.sweep.parameter in part.fixed:
        raise InputError(f"{where}: fixed", part.sweep.parameter, "other quantities than the swept one")
    for key, lists in part.along.items():
        if {profile: len(values) for profile, values in lists.items()} != {p: len(v) for p, v in swept.items()}:
            raise InputError(f"{where}: along {key}", dict(lists), "lists as long as the sweep's, for its profiles")
    for profile in swept if part.signals else ():
        signals = part.signals.get(profile, [])
        if not to_the_cap(signals) and (not signals or isinstance(signals, str) or sorted(set(signals)) != signals):
            raise InputError(f"{where}: signals of {profile}", signals, "increasing numbers, or FIRST .. cap xRATIO")
    for key, values in by_profile.items() if part.plans else ():
        _check_not_dropped(part, key, values, where)


def _check_not_dropped(part: Part, key: str, values: Mapping[str, Any], where: str) -> None:
    """Refuse numbers for a profile that the sweep leaves out: the part would not be judged there, and nobody told.

    Signals and options of methods are often those of other parts, and may have more.
    """
    swept = part.sweep.values if part.sweep else {}
    shared = key == "signals" or key.startswith("profile_options")
    dropped = [] if shared else [profile for profile in values if profile not in swept]
    if dropped and swept:
        allowed = f"given for {', '.join(swept)} alone: its sweep has no values for {', '.join(dropped)}"
        raise InputError(f"{where}: {key}", sorted(values), allowed)
