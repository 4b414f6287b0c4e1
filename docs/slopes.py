"""Every slope of profile ci that is another than in the first record: `python docs/slopes.py` writes docs/slopes.md.

``workflows/recorded/slopes/before.csv`` holds the slopes then, with what the claim files said of their parts;
``reasons.csv`` says by hand what no claim file shows. Slopes have four digits; those that differ by more than one unit
of the last are listed, since a record rounds to the side on which three digits are right.
"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

from dpsco_bench.analysis.changes import read_before
from dpsco_bench.analysis.record import read_record
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.catalogue import read_claims
from dpsco_bench.claims.model import Claim, Part
from dpsco_bench.jsonio import dumps_canonical

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "workflows" / "recorded" / "slopes"
CHANGES = ROOT / "workflows" / "recorded" / "changes"
PROFILE = "ci"
FACTS = ("sizes", "replicates", "instance", "formula", "method")
CLASSES = {
    "sizes": "the values that are swept",
    "replicates": "how many replicates or data sets",
    "instance": "the problem, its options, what is held fixed, or the signals",
    "method": "the method, its variant or its options",
    "formula": "the formula, the quantity or the axis that the slope is about",
    "cells": "only sizes at which a run leaves its start and the claimed term is half of the bound are fitted",
    "noise": "the noise that an accountant asks for",
}
"""Why a slope is another one: by the claims' files, and at last by ``reasons.csv``."""
Place = tuple[str, str, str]
"""Claim, part, calibration."""


@dataclass(frozen=True)
class Slope:
    """A slope of the first record; a line of ``before.csv``.

    Attributes
    ----------
    facts : mapping of str to str
        What the part's claim file said, by `FACTS`.
    """

    place: Place
    slope: float
    bound_slope: float
    facts: Mapping[str, str]


@dataclass(frozen=True)
class Line:
    """A slope that is another one now, or that is gone."""

    place: Place
    old: float
    new: float
    because: tuple[str, ...]
    reason: str


def read_slopes() -> list[Slope]:
    """The slopes of the first record."""
    return [
        Slope(
            (row["claim"], row["part"], row["calibration"]),
            float(row["slope"]),
            float(row["bound_slope"] or math.nan),
            {name: row[name] for name in FACTS},
        )
        for row in _rows("before.csv")
    ]


def read_reasons() -> dict[Place, tuple[str, str]]:
    """What no claim's file shows: one of `CLASSES`, and the reason."""
    rows = _rows("reasons.csv")
    return {(row["claim"], row["part"], row["calibration"]): (row["because"], row["reason"]) for row in rows}


def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def same(old: float, new: float) -> bool:
    """Whether two recorded slopes may be one, each rounded to one of its two neighbours of four digits."""
    largest = max(abs(old), abs(new))
    if not (math.isfinite(old) and math.isfinite(new)) or not largest:
        return old == new
    return abs(old - new) <= 1.001 * 10.0 ** (math.floor(math.log10(largest)) - 3)


def lines(slopes: Sequence[Slope], rows: Sequence[Verdict], claims: Mapping[str, Claim]) -> list[Line]:
    """A line for each slope of a verdict that is still given and whose slope is another one, or gone."""
    now, said, found = {(row.id, row.part, row.calibration): row for row in rows}, read_reasons(), []
    for old in slopes:
        row = now.get(old.place)
        if row is not None and not same(old.slope, row.slope):
            claim = claims[row.id]
            new = facts(claim, claim.part(row.part))
            because = [name for name in FACTS if new[name] != old.facts[name]]
            texts = [_TELL[name](old.facts[name], new[name]) for name in because]
            if old.place in said:
                more, text = said[old.place]
                because, texts = [*because, more], [*texts, text]
            found.append(Line(old.place, old.slope, row.slope, tuple(because), "; ".join(texts)))
    return found


def gone(slopes: Sequence[Slope], rows: Sequence[Verdict]) -> list[Place]:
    """Slopes of verdicts that are not given any more."""
    now = {(row.id, row.part, row.calibration) for row in rows}
    return [slope.place for slope in slopes if slope.place not in now]


def facts(claim: Claim, part: Part) -> dict[str, str]:
    """What a claim's file says of a part in the profile, as canonical text; of a part that judges others, of those."""
    if part.uses:
        found = [facts(claim, claim.part(name)) for name in part.uses]
        own = {name: " ; ".join(one[name] for one in found) for name in FACTS}
        return own | {"formula": " ; ".join([_text(part.bound), *(one["formula"] for one in found)])}
    sweep = part.sweep
    along = {name: _here(values) for name, values in part.along.items() if _here(values)}
    methods = [
        {k: v for k, v in asdict(method).items() if k in ("algorithm", "variant", "options")} for method in part.methods
    ]
    held = {name: _here(value) for name, value in part.fixed.items()}
    return {
        "sizes": _text({"parameter": sweep.parameter, "values": _here(sweep.values), "along": along} if sweep else {}),
        "replicates": _text([_here(part.replicates) or 0, _here(part.data_sets) or 1]),
        "instance": _text([part.problem, part.problem_options, held, _here(part.signals)]),
        "formula": _text([part.bound, part.quantity, getattr(part, "axis", "")]),
        "method": _text(methods),
    }


def _here(value: Any) -> Any:
    return value.get(PROFILE) if isinstance(value, Mapping) else value


def _text(value: Any) -> str:
    return dumps_canonical(_plain(value))


def _plain(value: Any) -> Any:
    """Whole floats as integers, so that ``1024.0`` is ``1024``."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _sizes(old: str, new: str) -> str:
    return " ; ".join(f"{_grid(a)} -> {_grid(b)}" for a, b in _pairs(old, new) if a != b)


def _grid(text: str) -> str:
    sweep = json.loads(text) or {"parameter": "none", "values": []}
    values = [value for value in sweep["values"] or [] if isinstance(value, int | float)]
    ends = f"{min(values):,g} .. {max(values):,g}" if values else "none"
    along = " with " + ", ".join(sweep["along"]) if sweep.get("along") else ""
    return f"{len(values)} values of {sweep['parameter']}, {ends}{along}"


def _counts(old: str, new: str) -> str:
    found = dict.fromkeys((tuple(json.loads(a)), tuple(json.loads(b))) for a, b in _pairs(old, new) if a != b)
    texts = []
    for (r0, s0), (r1, s1) in found:
        texts += [f"{r0} -> {r1} replicates"] * (r0 != r1) + [f"{s0} -> {s1} data sets"] * (s0 != s1)
    return ", ".join(texts)


def _instance(old: str, new: str) -> str:
    names = ("problem", "problem options", "held", "signals")
    found = []
    for a, b in _pairs(old, new):
        for name, was, is_ in zip(names, json.loads(a), json.loads(b), strict=True):
            found += [_difference(name, was, is_)] if was != is_ else []
    return "; ".join(dict.fromkeys(found))


def _method(old: str, new: str) -> str:
    found = []
    for a, b in _pairs(old, new):
        for was, is_ in zip_longest(json.loads(a), json.loads(b), fillvalue={}):
            found += [_difference("method", was, is_)] if was != is_ else []
    return "; ".join(dict.fromkeys(found))


def _formula(old: str, new: str) -> str:
    found = []
    for a, b in _pairs(old, new):
        was, is_ = (value if isinstance(value, list) else [value] for value in map(json.loads, (a, b)))
        found += [f"{x or 'none'} -> {y or 'none'}" for x, y in zip(was, is_, strict=True) if x != y]
    return ", ".join(dict.fromkeys(found))


def _difference(name: str, old: Any, new: Any) -> str:
    """Two values in short; of two mappings the entries that differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = [key for key in dict.fromkeys([*old, *new]) if old.get(key) != new.get(key)]
        return ", ".join(_difference(key, old.get(key), new.get(key)) for key in keys)
    return f"{name} {_short(old)} -> {_short(new)}"


def _short(value: Any) -> str:
    if value in (None, "", [], {}):
        return "as by default" if value is None else "none"
    if isinstance(value, list):
        return (
            " ".join(map(_short, value))
            if len(value) < 4
            else f"{_short(value[0])} .. {_short(value[-1])} ({len(value)})"
        )
    return f"{value:g}" if isinstance(value, float) else str(value)


def _pairs(old: str, new: str) -> list[tuple[str, str]]:
    """Of a part that judges others, theirs in turn; where their number is another one, the first of both."""
    was, is_ = old.split(" ; "), new.split(" ; ")
    return list(zip(was, is_, strict=False))


_TELL = {"sizes": _sizes, "replicates": _counts, "instance": _instance, "formula": _formula, "method": _method}


def now() -> list[Verdict]:
    """The record of today."""
    return read_record(ROOT / "workflows" / "recorded" / f"{PROFILE}.json")


def page() -> str:
    """The whole page, Markdown."""
    slopes, rows = read_slopes(), now()
    claims = {claim.id: claim for claim in read_claims()}
    found, words = lines(slopes, rows, claims), _words()
    row_of = {(row.id, row.part, row.calibration): row for row in rows}
    same = sum(row_of[line.place].form == words[line.place] for line in found)
    away = gone(slopes, rows)
    counts = Counter(name for line in found for name in line.because)
    text = [
        "# Change log: slopes",
        "",
        f"Profile {PROFILE}: today's record against one from before version 1.0.0, in four digits.",
        "",
        f"* Of {len(slopes)} slopes {len(found)} are others or not given any more; the word of {same} is the same.",
        f"* {len(away)} more belong to parts that are [gone](dropped.md#parts-of-claims).",
        "* Where the word changed too, [a page of its own](changes.md) has the reason.",
        "* What changed is read from the claims' files then and now. Fewer fitted sizes may add to it.",
        "",
        "| because of | slopes | what it is |",
        "| --- | ---: | --- |",
        *(f"| {name} | {counts[name]} | {clause} |" for name, clause in CLASSES.items() if counts[name]),
    ]
    for paper, own in groupby(found, key=lambda line: line.place[0].partition(".")[0]):
        text += ["", f"## {paper}", "", "| claim, part, noise | old | new | word | because of | what changed |"]
        text += ["| --- | ---: | ---: | --- | --- | --- |"]
        text += [_line(line, words[line.place], row_of[line.place].form) for line in own]
    return "\n".join(text) + "\n"


def _words() -> dict[Place, str]:
    return {place[1:]: word for place, word in read_before(CHANGES).items() if place[0] == PROFILE}


def _line(line: Line, old: str, new: str) -> str:
    claim, part, calibration = line.place
    word = "same" if old == new else "changed"
    slope = "none" if math.isnan(line.new) else f"{line.new:.4g}"
    cells = [f"`{claim}` {part}, {calibration}", f"{line.old:.4g}", slope, word, ", ".join(line.because), line.reason]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    (ROOT / "docs" / "slopes.md").write_text(page(), encoding="utf-8")
