"""The verdict on one (claim part, calibration): a word, the numbers behind it, and where it comes from."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields
from typing import Any

from dpsco_bench.jsonio import to_jsonable

IDENTITY = ("id", "part", "kind", "calibration", "profile")
NUMBERS = ("parameter", "values", "mean", "stderr", "bound", "slope", "ci", "bound_slope")
COMPARISON = ("claimed_exponent", "noise_off_slope", "tolerance")
OUTCOME = ("verdict", "reason", "notes", "expected", "replicates", "runtime_s", "key")
EXTRAS = (
    *("worst_ratio", "worst_cell", "worst_value"),
    *("epsilon_real", "epsilon_real_kind", "epsilon_claimed"),
    *("ratio", "ratio_ci"),
    "parameters",
)
_EXTRAS_OF_KIND = {
    "explicit": ("worst_ratio", "worst_cell", "worst_value"),
    "band": ("worst_ratio", "worst_cell", "worst_value"),
    "law": ("worst_ratio", "worst_cell", "worst_value"),
    "lower_bound": ("worst_ratio", "worst_cell", "worst_value"),
    "privacy": ("epsilon_real", "epsilon_real_kind", "epsilon_claimed"),
    "ordering": ("ratio", "ratio_ci"),
}


@dataclass(frozen=True)
class Verdict:
    """Verdict on one part of a claim under one calibration.

    Attributes
    ----------
    verdict : str
        The word, possibly with a number or reason after it: ``match``, ``fails (real eps 12.3)``.
    kind : str
        Kind of the part.
    reason : str
        Why this word, in one clause.
    parameter : str
        Swept parameter.
    parameters : tuple of str or None
        Swept parameter of each cell, where the cells come from sweeps in several.
    values, mean, stderr, bound : tuple of float
        Per cell: value of the parameter, mean, its standard error, and what it is compared with.
    slope, ci, bound_slope : float, pair of float, float
        Fitted slope, its 95 % interval, and the slope of the formula under the same weights.
    claimed_exponent : float or None
        The paper's bare exponent; of a control the stated one.
    noise_off_slope : float
        Slope of the same sweep with noise off.
    tolerance : float
        Tolerance fixed by the claim.
    notes : tuple of str
        What a reader must know beside the word.
    worst_ratio, worst_cell, worst_value : float, int, float or None
        Extreme ratio to the bound, band or law, the index of its cell, and the parameter's value there.
    epsilon_real, epsilon_real_kind, epsilon_claimed
        The deciding cell of a privacy part.
    ratio, ratio_ci : dict or None
        By comparison of an ordering: the ratio of median risks, and its 95 % interval.
    id, part, calibration, profile, replicates, runtime_s, key, expected
        Identity and provenance, filled in by the caller with `dataclasses.replace`; `expected` is the verdict that
        the claim's file names.
    """

    verdict: str
    kind: str
    reason: str = ""
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
    worst_ratio: float | None = None
    worst_cell: int | None = None
    worst_value: float | None = None
    epsilon_real: float | None = None
    epsilon_real_kind: str | None = None
    epsilon_claimed: float | None = None
    ratio: dict[str, float] | None = None
    ratio_ci: dict[str, tuple[float, float]] | None = None
    parameters: tuple[str, ...] | None = None
    id: str = ""
    part: str = ""
    calibration: str = ""
    profile: str = ""
    replicates: int = 0
    runtime_s: float = math.nan
    key: str = ""
    expected: str = ""

    @property
    def word(self) -> str:
        """The bare word of the verdict."""
        return verdict_word(self.verdict)

    def to_json(self) -> dict[str, Any]:
        """JSON row: NaN is None, infinity is ``"inf"``; extras appear for the kinds that have them.

        Returns
        -------
        dict
            Keys in the order `IDENTITY`, `NUMBERS`, `COMPARISON`, `OUTCOME`, then extras.
        """
        wanted = _EXTRAS_OF_KIND.get(self.kind, ())
        extras = [name for name in EXTRAS if name in wanted or getattr(self, name) is not None]
        keys = (*IDENTITY, *NUMBERS, *COMPARISON, *OUTCOME, *extras)
        return {key: to_jsonable(getattr(self, key)) for key in keys}


def verdict_word(text: str) -> str:
    """The bare word of a verdict.

    Parameters
    ----------
    text : str
        Such as ``fails (real eps 12.3)`` or ``skipped: data absent``.

    Returns
    -------
    str
        The text before the first parenthesis or colon.
    """
    return re.split(r"[(:]", text, maxsplit=1)[0].strip()


def verdict_from_json(row: dict[str, Any]) -> Verdict:
    """Inverse of `Verdict.to_json` after `jsonio.loads`: lists become tuples, missing numbers NaN.

    Parameters
    ----------
    row : dict
        A JSON row; keys that a `Verdict` does not have are ignored.

    Returns
    -------
    Verdict
        With NaN where the row has null for a number that a verdict always has.
    """
    known = {field.name: field.default for field in fields(Verdict)}
    given = {key: _from_json(known[key], value) for key, value in row.items() if key in known}
    if row.get("ratio_ci"):
        given["ratio_ci"] = {name: _from_json((), pair) for name, pair in row["ratio_ci"].items()}
    return Verdict(**given)


def _from_json(default: Any, value: Any) -> Any:
    if isinstance(value, list):
        return tuple(math.nan if item is None else item for item in value)
    if value is None and isinstance(default, float):
        return math.nan
    return value
