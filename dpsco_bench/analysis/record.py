"""Recorded verdicts, recorded points of leaderboards, and the regression check: only a changed word is a failure."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from dpsco_bench.analysis.rounding import MOST_DIGITS, digits_beside, outward
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import SKIPPED
from dpsco_bench.errors import InputError
from dpsco_bench.jsonio import dumps_canonical, loads, write_atomic
from dpsco_bench.plain import Plain
from dpsco_bench.privacy.ledger import ROUNDING

SAME = "same"
DIGITS, SHOWN = 4, 3
"""Significant digits of a recorded number, and of a shown one."""
_LEFT_OUT = (
    *("values", "mean", "stderr", "bound", "parameters", "fitted", "local_slopes", "worst_cell", "worst_value"),
    *("reason", "sentence", "notes", "risk_kind", "epsilon_claimed", "runtime_s", "key"),
)
"""Fields of a row that a record does not have."""


@dataclass(frozen=True)
class RowDifference:
    """A recorded verdict beside the fresh one: what they say (`Verdict.said`), None where there is none.

    Attributes
    ----------
    what : str, ``same``, ``changed``, ``reserved`` (its reservation alone), ``new``, ``missing`` or ``skipped``
    fails : bool, whether the word changed
    moved : str, how its slope left the recorded one
    """

    profile: str
    id: str
    part: str
    calibration: str
    recorded: str | None
    fresh: str | None
    what: str = SAME
    fails: bool = False
    moved: str = ""

    def __str__(self) -> str:
        change = f"{self.recorded} -> {self.fresh or '(not measured)'}"
        return f"FAIL {self.what}: {self.id} {self.part} [{self.calibration}, {self.profile}]: {change}"

    @property
    def remark(self) -> str:
        what = self.what.upper() if self.fails else "" if self.what == SAME else self.what
        return "; ".join(filter(None, (what, self.moved)))


def compare(recorded: Iterable[Verdict], fresh: Iterable[Verdict]) -> list[RowDifference]:
    """Lay recorded and fresh verdicts side by side: fresh ones in their order, then those that are missing.

    Rows are matched on (profile, claim, part, calibration). A changed verdict word fails; reservations, numbers inside
    a verdict and ``skipped`` on either side do not. A fresh row without a recorded one is ``new`` and does not fail. A
    recorded row without a fresh one is reported, and fails, only if its claim has fresh rows in that profile.
    """
    old, new, rows = _by_name(recorded), _by_name(fresh), []
    run = {name[:2] for name in new}
    for name in dict.fromkeys([*new, *(name for name in old if name[:2] in run)]):
        before, now = old.get(name), new.get(name)
        said, says = (row.said if row else None for row in (before, now))
        slope = moved(before, now) if before and now else ""
        rows.append(RowDifference(*name, said, says, *_difference(before, now), slope))
    return rows


def _difference(recorded: Verdict | None, fresh: Verdict | None) -> tuple[str, bool]:
    if recorded is None or fresh is None:
        return ("missing", not recorded.skipped) if recorded else ("new", False)
    if recorded.form == fresh.form:
        return ("reserved" if recorded.reserved != fresh.reserved else SAME), False
    return (SKIPPED, False) if recorded.skipped or fresh.skipped else ("changed", True)


def _by_name(rows: Iterable[Verdict]) -> dict[tuple[str, str, str, str], Verdict]:
    verdicts: dict[tuple[str, str, str, str], Verdict] = {}
    for row in rows:
        name = _name(row)
        if name in verdicts:
            raise InputError("verdict rows", " ".join(name), "one for each profile, claim, part and calibration")
        verdicts[name] = row
    return verdicts


def _name(row: Verdict) -> tuple[str, str, str, str]:
    return row.profile, row.id, row.part, row.calibration


def moved(recorded: Verdict, fresh: Verdict) -> str:
    """How a slope left the recorded one, beyond the joint interval of both; empty where it did not."""
    half = math.hypot(*(0.5 * (row.ci[1] - row.ci[0]) for row in (recorded, fresh)))
    half += 10.0 ** (1 - DIGITS) * max(abs(recorded.slope), abs(fresh.slope))  # the record is rounded
    half += 1e-9  # and a slope of zero is what rounding makes of it
    if not abs(fresh.slope - recorded.slope) > half:  # NaN: not compared
        return ""
    return f"slope {recorded.slope:.3g} -> {fresh.slope:.3g}, beyond the joint interval of {half:.2g}"


def merge(recorded: Iterable[Verdict], fresh: Iterable[Verdict]) -> list[Verdict]:
    """Update recorded rows by fresh ones.

    A fresh row replaces the recorded one unless it is ``skipped``; recorded rows of a claim that has fresh rows in that
    profile, none of them ``skipped``, go if they have no fresh counterpart; the others stay.
    """
    new = {_name(row): row for row in fresh}
    measured = {name[:2] for name in new}
    skipped = {name[:2] for name, row in new.items() if row.skipped}
    kept = {_name(row): row for row in recorded if _name(row) in new or _name(row)[:2] not in measured - skipped}
    return list((kept | {name: row for name, row in new.items() if name not in kept or not row.skipped}).values())


def record(path: str | os.PathLike[str], verdicts: Sequence[Verdict]) -> None:
    """Write verdicts in a form that changes only where a result does: sorted, a row a line, 4 significant digits.

    Means, times and digests are left out, and sentences but those of what is inconclusive: they say what it would take.
    """
    rows = list[Plain]()
    for _, verdict in sorted(_by_name(verdicts).items()):  # which refuses duplicates
        row, open_ = verdict.to_json(), verdict.word == "inconclusive"
        kept = [key for key in row if key not in _LEFT_OUT or (open_ and key == "sentence")]
        rows.append({key: _bound_rounded(key, row[key], row) for key in kept})
    _write(path, rows)


def _write(path: str | os.PathLike[str], rows: Iterable[Plain]) -> None:
    lines = [*map(dumps_canonical, rows)]
    write_atomic(path, "[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n")


def _rounded(value: Any) -> Any:
    """Numbers with `DIGITS` digits; of the two next to a number one that is shown as it is: 13.3501 is no 13.3."""
    if isinstance(value, float) and math.isfinite(value):
        near = float(f"{value:.{DIGITS}g}")
        if f"{near:.{SHOWN}g}" == f"{value:.{SHOWN}g}":
            return near
        step = 10.0 ** (math.floor(math.log10(abs(value))) + 1 - DIGITS)
        return float(f"{near - math.copysign(step, near - value):.{DIGITS}g}")
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if isinstance(value, dict):
        return {key: _bound_rounded(key, item, value) for key, item in value.items()}
    return value


def _bound_rounded(key: str, value: Any, beside: Mapping[str, Any]) -> Any:
    """Round; a real epsilon stays a bound, and compares with its claim as without rounding."""
    kind, claimed = str(beside.get(f"{key}_kind")), beside.get("epsilon_claimed")
    if key == "epsilon_claimed" and isinstance(value, float):
        return float(f"{value:.{MOST_DIGITS}g}")
    if kind not in ("lower", "upper") or not isinstance(value, float) or not math.isfinite(value):
        return _rounded(value)
    digits = max(DIGITS, digits_beside(value, kind, claimed)) if isinstance(claimed, float) else DIGITS
    bound = float(f"{outward(value, kind, digits):.{digits}g}")
    if kind == "upper" and isinstance(claimed, float) and value <= claimed * (1.0 + ROUNDING):
        return min(bound, float(f"{claimed:.{MOST_DIGITS}g}"))  # a bound at the claim does not exceed it
    return bound


def read_record(path: str | os.PathLike[str], paper: str = "") -> list[Verdict]:
    """Read the recorded verdicts of a profile, all or one paper's; empty if there is no such file."""
    try:
        rows = read_points(Path(path))
    except (InputError, UnicodeDecodeError) as error:
        raise InputError("record", str(path), "a JSON list of verdicts, as dpsco compare --record writes it") from error
    wanted = f"{paper}." if paper else ""
    return [Verdict.from_json(row) for row in rows if str(row.get("id")).startswith(wanted)]


_point = itemgetter("board", "instance", "n", "d", "epsilon")
"""Fields that tell one recorded point of a leaderboard from all others."""


def record_points(path: Path, board: str, fresh: Iterable[Plain], absent: Collection[str]) -> None:
    """Write the points of a board, a line each; other boards, and instances whose data are absent, stay recorded."""
    kept = [point for point in read_points(path) if point["board"] != board or point["instance"] in absent]
    _write(path, sorted([*kept, *fresh], key=_point))


def read_points(path: Path) -> list[Plain]:
    return list(loads(path.read_text(encoding="utf-8"))) if path.is_file() else []


def changed_points(recorded: Iterable[Plain], fresh: Iterable[Plain]) -> Iterator[str]:
    """Tell each recorded point whose first place shares no name with that of a fresh run: a tie that breaks is none."""
    known = {_point(point): point for point in recorded}
    for point in fresh:
        old = known.get(_point(point), {"tied": []})
        if old["tied"] and point["tied"] and not {*old["tied"]} & {*point["tied"]}:
            where = "{board} {instance}, n = {n}, d = {d}, epsilon = {epsilon:g}".format(**point)
            yield f"{where}: {old['least']} -> {point['least']}"
