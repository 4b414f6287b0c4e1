"""The plan of a profile as data: entries of claims and leaderboards, and their jobs."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpsco_bench.errors import InputError, nearest
from dpsco_bench.execution.jobs import Job
from dpsco_bench.jsonio import dumps_canonical, restore, sealed, unsealed, write_atomic


@dataclass(frozen=True)
class Entry:
    """A claim or leaderboard of a plan.

    Attributes
    ----------
    claim : mapping
        The claim as data (`claims.model.Claim`), with the ``digest`` of what its file and profile say; of a leaderboard
        ``id``, ``title`` and ``digest`` alone.
    left_out : tuple of mapping, what a leaderboard does not run, with its reasons
    """

    claim: Mapping[str, Any]
    jobs: tuple[Job, ...]
    board: Mapping[str, Any] | None = None
    left_out: tuple[Mapping[str, Any], ...] = ()

    @property
    def id(self) -> str:
        """Id of the claim or leaderboard."""
        return str(self.claim["id"])

    @property
    def paper(self) -> str:
        """First word of the id: the claim's paper, or ``leaderboard``."""
        return self.id.split(".", 1)[0]

    @property
    def runs(self) -> list[Job]:
        """Jobs with a result table."""
        return [job for job in self.jobs if job.has_run]

    def job(self, name: str) -> Job:
        """The job ``<part>.<calibration>``. Raises InputError if there is none."""
        for job in self.jobs:
            if job.name == name:
                return job
        raise InputError(f"job of {self.id}", name, nearest(name, [job.name for job in self.jobs]))

    def to_json(self) -> dict[str, Any]:
        """Its fields; `from_json` of what JSON makes of them is this entry."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Entry:
        """The entry of plain data, infinities restored."""
        jobs = tuple(Job.from_json(job) for job in entry["jobs"])
        return cls(entry["claim"], jobs, entry["board"], tuple(entry["left_out"]))


@dataclass(frozen=True)
class WorkPlan:
    """Everything that a profile measures.

    Attributes
    ----------
    profile : str, ``smoke``, ``ci`` or ``full``
    """

    profile: str
    claims: tuple[Entry, ...]
    boards: tuple[Entry, ...] = ()
    stamp: str = field(default="", compare=False)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Claims, then leaderboards."""
        return (*self.claims, *self.boards)

    def jobs(self) -> Iterator[Job]:
        """Jobs of all entries."""
        for entry in self.entries:
            yield from entry.jobs

    def entry(self, id: str) -> Entry:
        """The entry of a claim or leaderboard. Raises InputError if the plan does not have it."""
        for entry in self.entries:
            if entry.id == id:
                return entry
        raise InputError("claim", id, nearest(id, [entry.id for entry in self.entries]), "plan")

    def to_json(self) -> dict[str, Any]:
        """Its fields; `from_json` of what JSON makes of them is this plan."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}

    @classmethod
    def from_json(cls, plan: Mapping[str, Any], only: Collection[str] | None = None) -> WorkPlan:
        """The plan of plain data; with ``only``, nothing but the entries of these ids."""

        def entries(kind: str) -> tuple[Entry, ...]:
            kept = (entry for entry in plan[kind] if only is None or entry["claim"]["id"] in only)
            return tuple(Entry.from_json(restore(entry)) for entry in kept)

        return cls(plan["profile"], entries("claims"), entries("boards"), plan["stamp"])

    def write(self, path: Path) -> None:
        """Write the plan, with its digest."""
        write_atomic(path, sealed(dumps_canonical(self)))


def read_plan(path: Path, only: Collection[str] | None = None) -> WorkPlan:
    """Read a plan; with ``only``, nothing is made of the entries of other ids.

    Raises InputError if there is no such plan, a damaged one, or one that lacks an id of ``only``.
    """
    allowed = "a file written by `python -m dpsco_bench plan`"
    try:
        found = unsealed(path.read_bytes())
        ids = [entry["claim"]["id"] for kind in ("claims", "boards") for entry in found[kind]]
        plan = WorkPlan.from_json(found, only)
    except (FileNotFoundError, IsADirectoryError):
        raise InputError("plan", path, allowed) from None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("plan", path, f"{allowed}, undamaged", str(error)) from None
    for id in only or ():
        if id not in ids:
            raise InputError(f"claim of {path}", id, nearest(id, ids))
    return plan


def digest(value: Any) -> str:
    """Digest of what JSON makes of a value, 32 hexadecimal digits."""
    return hashlib.sha256(dumps_canonical(value).encode()).hexdigest()[:32]
