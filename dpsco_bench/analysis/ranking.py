"""What a leaderboard's standings say, row by row, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dpsco_bench.errors import InputError
from dpsco_bench.execution.store import read_sealed
from dpsco_bench.execution.summary import HeldOut
from dpsco_bench.jsonio import dumps_pretty, restore, sealed, write_atomic
from dpsco_bench.plain import IF_GIVEN, Options, Record

Interval = tuple[float, float]


@dataclass(frozen=True)
class Ranked(Record):
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

    @property
    def held_out(self) -> HeldOut | None:
        """Both held-out numbers; None where no records are held out."""
        return None if self.held_out_loss is None else HeldOut(self.held_out_loss, self.held_out_accuracy)


@dataclass(frozen=True)
class Unrun(Record):
    """A method that was not run at a point: as in `claims.plan.LeftOut`, or refused when its noise was to be fixed."""

    method: str
    algorithm: str
    status: str
    reason: str


@dataclass(frozen=True)
class Reference(Record):
    """Mean risk without noise, and its 95 % interval; NaN where that run is refused."""

    risk: float
    ci: Interval


@dataclass(frozen=True)
class Searched(Record):
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
    options: Options
    risk: float
    ci: Interval
    settings: int


@dataclass(frozen=True)
class Contender(Record):
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
class Skipped(Record):
    """An instance whose data are absent, or a point of it at which no method ran, with the reasons."""

    instance: str
    title: str
    skipped: str


@dataclass(frozen=True)
class Standing(Record):
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
    skipped : str, empty
    held_out : mapping
        Of ``trivial``, the starting point, and ``without_privacy``, the minimiser of the risk on the records in use;
        empty where no records are held out, or the data are not there.
    """

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
    uncompared: tuple[str, ...] = ()
    risk_kind: str = "excess empirical"
    skipped: str = ""
    held_out: Mapping[str, HeldOut] = field(default_factory=dict, metadata=IF_GIVEN)


@dataclass(frozen=True)
class RankedBoard(Record):
    """What was ranked of a leaderboard.

    Attributes
    ----------
    claim : str, its id
    digest : str, of what the standings were made from
    standings : tuple of Standing or Skipped
    """

    claim: str
    digest: str
    standings: tuple[Standing | Skipped, ...]

    def write(self, path: Path) -> None:
        """Write it, with a digest of the file."""
        write_atomic(path, sealed(dumps_pretty(self)))


def read_ranked(path: Path) -> RankedBoard | None:
    """A file of standings; None where there is none, or one of other code; a damaged one is named."""
    found = read_sealed(path)
    try:
        return None if found is None else RankedBoard.from_json(restore(found))
    except InputError:
        return None
