"""Recorded verdicts and the regression check: only a changed word is a failure."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpsco_bench.analysis.verdict import verdict_word
from dpsco_bench.errors import InputError
from dpsco_bench.jsonio import dumps_canonical, loads, to_jsonable, write_atomic

DIGITS = 4
_NAMES = ("profile", "id", "part", "calibration")
_KEPT = (
    *("kind", "verdict", "expected", "slope", "ci", "bound_slope", "claimed_exponent", "noise_off_slope"),
    *("worst_ratio", "epsilon_real", "epsilon_real_kind", "ratio", "ratio_ci", "replicates"),
)
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Difference:
    """What distinguishes a recorded verdict from a fresh one.

    Attributes
    ----------
    what : str
        ``changed``, ``new``, ``missing`` or ``skipped``.
    profile, claim, part, calibration : str
        Which verdict.
    recorded, fresh : str
        The verdicts; empty where there is none.
    fails : bool
        Whether the regression check fails for it.
    """

    what: str
    profile: str
    claim: str
    part: str
    calibration: str
    recorded: str
    fresh: str
    fails: bool

    def __str__(self) -> str:
        """One line for the terminal."""
        place = f"{self.claim} {self.part} [{self.calibration}, {self.profile}]"
        change = f"{self.recorded or '(not recorded)'} -> {self.fresh or '(not measured)'}"
        return f"{'FAIL' if self.fails else 'note'} {self.what}: {place}: {change}"


def compare(recorded: Iterable[Row], fresh: Iterable[Row], claims_run: Iterable[str] | None = None) -> list[Difference]:
    """Differences between recorded and fresh verdicts.

    Rows are matched on (profile, claim, part, calibration). A changed verdict word fails; numbers inside a verdict
    and ``skipped`` on either side do not. A fresh row without a recorded one is ``new`` and does not fail. A recorded
    row without a fresh one is reported, and fails, only if its claim was run in that profile.

    Parameters
    ----------
    recorded, fresh : iterable of mapping
        Verdict rows with ``profile``, ``id`` (or ``claim``), ``part``, ``calibration`` and ``verdict``.
    claims_run : iterable of str, optional
        Ids of the claims that were run in the fresh rows' profiles; by default those with a fresh row that is not
        ``skipped``.

    Returns
    -------
    list of Difference
        Sorted by profile, claim, part and calibration; empty if nothing differs.
    """
    old, new = _by_name(recorded), _by_name(fresh)
    if claims_run is None:
        run = {name[:2] for name, verdict in new.items() if verdict_word(verdict) != "skipped"}
    else:
        run = {(name[0], claim) for name in new for claim in claims_run}
    differences = []
    for name in sorted(old.keys() | new.keys()):
        found = _difference(old.get(name, ""), new.get(name, ""), name[:2] in run)
        if found:
            differences.append(Difference(found[0], *name, old.get(name, ""), new.get(name, ""), found[1]))
    return differences


def _difference(recorded: str, fresh: str, run: bool) -> tuple[str, bool] | None:
    words = verdict_word(recorded), verdict_word(fresh)
    if not recorded:
        return "new", False
    if not fresh:
        return ("missing", words[0] != "skipped") if run else None
    if words[0] == words[1]:
        return None
    return ("skipped", False) if "skipped" in words else ("changed", True)


def _by_name(rows: Iterable[Row]) -> dict[tuple[str, str, str, str], str]:
    verdicts: dict[tuple[str, str, str, str], str] = {}
    for row in rows:
        name = _name(row)
        if name in verdicts:
            raise InputError("verdict rows", " ".join(name), "one for each profile, claim, part and calibration")
        verdicts[name] = str(row["verdict"])
    return verdicts


def _name(row: Row) -> tuple[str, str, str, str]:
    claim = row["id"] if "id" in row else row["claim"]
    return str(row["profile"]), str(claim), str(row["part"]), str(row["calibration"])


def merge(recorded: Iterable[Row], fresh: Iterable[Row]) -> list[Row]:
    """Recorded rows brought up to date by fresh ones.

    Parameters
    ----------
    recorded, fresh : iterable of mapping
        Verdict rows.

    Returns
    -------
    list of mapping
        A fresh row replaces the recorded one unless it is ``skipped``; recorded rows of a claim that has fresh rows
        in that profile, none of them ``skipped``, go if they have no fresh counterpart; the others stay.
    """
    new = {_name(row): row for row in fresh}
    measured = {name[:2] for name in new}
    skipped = {name[:2] for name, row in new.items() if verdict_word(row["verdict"]) == "skipped"}
    kept = {_name(row): row for row in recorded}
    kept = {name: row for name, row in kept.items() if name in new or name[:2] not in measured - skipped}
    for name, row in new.items():
        if name not in kept or verdict_word(row["verdict"]) != "skipped":
            kept[name] = row
    return list(kept.values())


def record(path: str | os.PathLike[str], verdicts: Sequence[Row]) -> None:
    """Write verdicts in a form that changes only where a result does: sorted, a row a line, 4 significant digits.

    Parameters
    ----------
    path : path-like
        Target, such as ``workflows/recorded/ci.json``.
    verdicts : sequence of mapping
        Verdict rows, as `Verdict.to_json` gives them; keys that are not recorded (times, digests) are left out.
    """
    _by_name(verdicts)  # refuses duplicates
    lines = [_recorded_line(row) for row in sorted(verdicts, key=_name)]
    write_atomic(path, "[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n")


def _recorded_line(row: Row) -> str:
    names = dict(zip(_NAMES, _name(row), strict=True))
    return dumps_canonical({**names, **{key: _rounded(to_jsonable(row[key])) for key in _KEPT if key in row}})


def _rounded(value: Any) -> Any:
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return value


def read_record(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Recorded rows of a profile.

    Parameters
    ----------
    path : path-like
        A file written by `record`.

    Returns
    -------
    list of dict
        Empty if there is no such file.
    """
    target = Path(path)
    return loads(target.read_text(encoding="utf-8")) if target.is_file() else []
