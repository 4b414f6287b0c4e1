"""What a leaderboard's standings say, row by row, as data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

Interval = tuple[float, float]


class _Measured:
    """What the records with a mean risk ``risk`` and its interval ``ci`` have in common."""

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Self:
        """The record of its fields as decoded JSON, infinities restored: null is NaN where a number is due."""
        numbers = [f.name for f in dataclasses.fields(cls) if f.type == "float"]  # type: ignore[arg-type]
        return cls(**{**entry, **{key: _number(entry[key]) for key in numbers}, "ci": _pair(entry["ci"])})


@dataclass(frozen=True)
class Ranked(_Measured):
    """A method that was run at a point.

    Attributes
    ----------
    method, algorithm, variant : str
        Its name on the board, id, and the variant that ran.
    risk, ci : float, pair of float
        Largest mean excess risk over the signals, and its 95 % interval.
    signal : float or None
        Where it is the largest; None without a grid of signals.
    gradient_evaluations : float
        Mean of a replicate.
    epsilon_real, epsilon_real_kind, privacy_status
        As in `execution.calibrated.CalibratedCell`.
    ranked, tied, at_start : bool
        Whether it can win, shares the first place, and has not moved from the starting point's risk.
    held_out_loss, held_out_accuracy : float or None
        Of its outputs on the records that are held out; None where there are none.
    """

    method: str
    algorithm: str
    variant: str
    risk: float
    ci: Interval
    signal: float | None
    gradient_evaluations: float
    epsilon_real: float
    epsilon_real_kind: str
    privacy_status: str
    ranked: bool
    tied: bool
    at_start: bool
    held_out_loss: float | None = None
    held_out_accuracy: float | None = None


@dataclass(frozen=True)
class Unrun:
    """A method that was not run at a point: as in `claims.plan.LeftOut`, or refused when its noise was to be fixed."""

    method: str
    algorithm: str
    status: str
    reason: str


@dataclass(frozen=True)
class Reference(_Measured):
    """Mean risk without noise, and its 95 % interval; NaN where that run is refused."""

    risk: float
    ci: Interval


@dataclass(frozen=True)
class Searched(_Measured):
    """The best setting of the public grid searches.

    Attributes
    ----------
    method, algorithm : str
        Name on the board, and id.
    options : mapping
        Of the setting, as its search names them.
    risk, ci : float, pair of float
        On the replicates that did not choose it.
    settings : int
        How many were tried.
    """

    method: str
    algorithm: str
    options: Mapping[str, Any]
    risk: float
    ci: Interval
    settings: int


@dataclass(frozen=True)
class Contender:
    """A method left out at a point as too long that might be the best.

    Attributes
    ----------
    method : str
        Its name on the board.
    place : int
        Its place among the ranked methods at the nearest point where it ran.
    n, d, epsilon
        That point.
    cost : str
        What it would take here.
    """

    method: str
    place: int
    n: int
    d: int
    epsilon: float
    cost: str = ""


@dataclass(frozen=True)
class Outcome:
    """The method of least mean risk, and its margin over the others.

    Attributes
    ----------
    winner : str
        Name of least mean risk.
    runner_up : str or None
        The next one; None where no method can win.
    margin, margin_ci : float, pair of float
        How much lower the winner's risk is than the runner-up's, as a share of it, hence at most 1; its 95 % interval.
    tied : tuple of str
        All whose difference to the winner has an interval that contains 0, the winner among them.
    """

    winner: str
    runner_up: str | None
    margin: float
    margin_ci: Interval
    tied: tuple[str, ...]


@dataclass(frozen=True)
class Skipped:
    """An instance whose data are absent."""

    instance: str
    title: str
    skipped: str


@dataclass(frozen=True)
class Standing:
    """A point of an instance that was run.

    Where there are contenders, the winner and its margin are those of the methods that ran, and the point is undecided.

    Attributes
    ----------
    instance, title : str
        Of the instance.
    n, d, epsilon, delta, p
        Of the point; p is that of the norm.
    methods : tuple of Ranked
        The least risk first.
    left_out : tuple of Unrun
    trivial : float
        Risk of the starting point.
    without_privacy : Reference
    lower_bound : float or None
        Its order; None where none is stated.
    lower_bound_cut : bool
        Whether it is cut at the starting point's risk.
    winner, runner_up, margin, margin_ci, tied
        As in `Outcome`.
    search : Searched or None
    contenders : tuple of Contender
        The best placed first.
    uncompared : tuple of str
        Methods that were too long at every point of the instance.
    risk_kind : str
        What all risks here are: ``excess empirical`` or ``excess population``.
    """

    skipped: ClassVar[str] = ""

    instance: str
    title: str
    n: int
    d: int
    epsilon: float
    delta: float
    p: float
    methods: tuple[Ranked, ...]
    left_out: tuple[Unrun, ...]
    trivial: float
    without_privacy: Reference
    lower_bound: float | None
    lower_bound_cut: bool
    winner: str
    runner_up: str | None
    margin: float
    margin_ci: Interval
    tied: tuple[str, ...]
    search: Searched | None = None
    contenders: tuple[Contender, ...] = ()
    uncompared: tuple[str, ...] = field(default=())
    risk_kind: str = "excess empirical"

    def to_json(self) -> dict[str, Any]:
        """Its fields, and ``skipped``, which is empty; `read_standing` of what JSON makes of them is this row."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)} | {"skipped": self.skipped}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Standing:
        """Inverse of `to_json`, of decoded JSON, infinities restored: null is NaN where a number is due."""
        found = {key: value for key, value in row.items() if key != "skipped"}
        return cls(
            **found
            | {
                "methods": tuple(map(Ranked.from_json, row["methods"])),
                "left_out": tuple(Unrun(**item) for item in row["left_out"]),
                "without_privacy": Reference.from_json(row["without_privacy"]),
                "margin": _number(row["margin"]),
                "margin_ci": _pair(row["margin_ci"]),
                "tied": tuple(row["tied"]),
                "search": Searched.from_json(row["search"]) if row["search"] else None,
                "contenders": tuple(Contender(**one) for one in row["contenders"]),
                "uncompared": tuple(row["uncompared"]),
            }
        )


def read_standing(row: Mapping[str, Any]) -> Standing | Skipped:
    """A row of standings from plain data, infinities restored."""
    return Skipped(**row) if row["skipped"] else Standing.from_json(row)


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _pair(values: Sequence[float | None]) -> Interval:
    low, high = values
    return _number(low), _number(high)
