"""The plan of a profile as data: entries of claims and leaderboards with their jobs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dpsco_bench.claims.model import Claim
from dpsco_bench.errors import InputError, nearest
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.jobs import Entry, Job
from dpsco_bench.jsonio import digest, dumps_canonical, restore, sealed, unsealed, write_atomic
from dpsco_bench.plain import IF_GIVEN, Plain, Record

KINDS = ("claims", "boards")
"""Where a plan has its entries."""
SEARCH_MARK = "#"
"""Between a searched method of a leaderboard and the number of its setting."""


@dataclass(frozen=True)
class Unrun(Record):
    """Method without a risk.

    Its status is ``refused``, ``incomparable``, ``too_long``, ``failed`` in a run, ``not_run`` where the board itself
    says so, or, in a choice, ``stopped`` by the limit. The seconds are those on one core that a board finds too long.
    """

    method: str
    algorithm: str
    status: str
    reason: str
    seconds: float = field(default=0.0, kw_only=True, repr=False, metadata=IF_GIVEN)


@dataclass(frozen=True)
class LeftOut(Unrun):
    """Cell that a leaderboard does not run; its point is the number of the place in the instance's grid."""

    instance: str
    n: int | None
    d: int | None
    epsilon: float | None
    point: float

    @classmethod
    def of(cls, cell: Cell, status: str, reason: str, seconds: float = 0.0) -> LeftOut:
        instance, _, method = cell.method.partition("/")
        place = (instance, cell.n, cell.d, cell.epsilon, float(cell.value))
        return cls(method, cell.algorithm, status, reason, *place, seconds=seconds)

    @property
    def unrun(self) -> Unrun:
        """The method without the place."""
        return Unrun(self.method, self.algorithm, self.status, self.reason, seconds=self.seconds)


@dataclass(frozen=True)
class ClaimEntry(Entry):
    """A claim of a plan, with the parts that its profile measures."""

    claim: Claim

    @classmethod
    def of(cls, claim: Claim, jobs: Iterable[Job]) -> ClaimEntry:
        return cls(claim.id, tuple(jobs), digest(claim), claim)


@dataclass(frozen=True)
class BoardEntry(Entry):
    """A leaderboard of a plan as JSON has it, which `leaderboard.board.Board.of` reads, and what it does not run.

    ``shared`` has (instance, search, number of a setting, method) of the settings that a method's own run serves.
    """

    board: Plain
    left_out: tuple[LeftOut, ...] = ()
    shared: tuple[tuple[str, str, int, str], ...] = ()


@dataclass(frozen=True)
class WorkPlan(Record):
    """Everything that a profile measures, in the order in which it is shown, and a digest of its sources."""

    profile: str
    claims: tuple[ClaimEntry, ...]
    boards: tuple[BoardEntry, ...] = ()
    stamp: str = field(default="", compare=False)

    @property
    def entries(self) -> tuple[Entry, ...]:
        return (*self.claims, *self.boards)

    def jobs(self) -> Iterator[Job]:
        return (job for entry in self.entries for job in entry.jobs)

    def write(self, path: Path) -> None:
        write_atomic(path, sealed(dumps_canonical(self)))


def read_plan(path: Path, only: Collection[str] | None = None) -> WorkPlan:
    """Read a profile's plan, in the folder of its name; with ``only``, nothing is made of the entries of other ids.

    Raises InputError if there is no such plan, a damaged one, or one that lacks an id of ``only``.
    """
    allowed = f"a file written by `make replicate PROFILE={path.parent.name}` (the plan alone: `dpsco plan`)"
    try:
        found = unsealed(path.read_bytes())
        ids = [entry["id"] for kind in KINDS for entry in found[kind]]
        kept = {kind: [entry for entry in found[kind] if only is None or entry["id"] in only] for kind in KINDS}
        plan = WorkPlan.from_json(restore({**found, **kept}))
    except OSError:
        raise InputError("plan", path, allowed) from None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("plan", path, f"{allowed}, undamaged", str(error)) from None
    for id in only or ():
        if id not in ids:
            raise InputError(f"claim of {path}", id, nearest(id, ids))
    return plan
