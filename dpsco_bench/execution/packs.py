"""Packs: what the store lacks, in pieces of work that are worth a process of their own."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dpsco_bench.errors import InputError
from dpsco_bench.execution.job import Shard
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.measured import Measured, item
from dpsco_bench.execution.plan import Entry
from dpsco_bench.jsonio import dumps_pretty, sealed, to_jsonable, unsealed, write_atomic

STEPS = ("calibrate", "run", "time")
LEAST_SECONDS, MOST_SECONDS = 10.0, 60.0
"""Predicted CPU seconds of a pack: less is mostly start-up, more is a long wait for the last one."""
AIMED_PACKS = 60
"""How many packs a step is cut into between these limits."""
Predict = Callable[[str, Job], float]
"""(step, job) -> CPU seconds."""


@dataclass(frozen=True)
class Piece:
    """A job's step, or a share of it.

    Attributes
    ----------
    claim, job : str
        Id of the claim or leaderboard, name of the job.
    number, of : int
        As in `Shard`.
    seconds : float
        Predicted CPU seconds.
    """

    claim: str
    job: str
    number: int = 0
    of: int = 1
    seconds: float = 0.0

    @property
    def shard(self) -> Shard:
        """Which share of the job."""
        return Shard(self.number, self.of)


@dataclass(frozen=True)
class Pack:
    """What one process does.

    Attributes
    ----------
    name : str
        ``<step>.<paper>.<number>``.
    step : str
        ``calibrate``, ``run`` or ``time``.
    pieces : tuple of Piece
        In their order.
    after : tuple of str
        Packs whose calibrations it needs.
    """

    name: str
    step: str
    pieces: tuple[Piece, ...]
    after: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """Predicted CPU seconds."""
        return sum(piece.seconds for piece in self.pieces)

    @property
    def claims(self) -> list[str]:
        """Ids of the claims and leaderboards that it works for."""
        return list(dict.fromkeys(piece.claim for piece in self.pieces))

    @property
    def summary(self) -> str:
        """What it does, in a line."""
        paper, number = self.name.split(".")[1:]
        jobs, claims = len(self.pieces), len(self.claims)
        shares = f", share {self.pieces[0].number + 1} of {self.pieces[0].of}" if self.pieces[0].of > 1 else ""
        what = f"{jobs} jobs of {claims} claims" if jobs > 1 else f"{self.pieces[0].claim} {self.pieces[0].job}{shares}"
        return f"{self.step} {paper} {number}: {what}, about {self.seconds:.0f} s"


@dataclass(frozen=True)
class Packing:
    """The packs of a run, and what it is to conclude from them.

    Attributes
    ----------
    packs : tuple of Pack
    scope : mapping of str to tuple of str
        Paper -> claims to judge.
    makers : mapping of str to tuple of str
        Claim or leaderboard -> names of the packs that work for it.
    draw : bool
        Whether figures of the claims are wanted too.
    """

    packs: tuple[Pack, ...]
    scope: Mapping[str, tuple[str, ...]]
    makers: Mapping[str, tuple[str, ...]]
    draw: bool = True

    @cached_property
    def _by_name(self) -> dict[str, Pack]:
        return {pack.name: pack for pack in self.packs}

    def pack(self, name: str) -> Pack:
        """The pack of a name.

        Raises
        ------
        InputError
            If there is none.
        """
        for pack in self.packs:
            if pack.name == name:
                return pack
        raise InputError(
            "pack", name, "one of " + (", ".join(pack.name for pack in self.packs) or "none: all is there")
        )

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Packing:
        """The packing of plain data."""
        packs = tuple(_pack(entry) for entry in found["packs"])
        scope, makers = ({k: tuple(v) for k, v in found[key].items()} for key in ("scope", "makers"))
        return cls(packs, scope, makers, found["draw"])

    def write(self, path: Path) -> None:
        """Write the packing, with its digest."""
        write_atomic(path, sealed(dumps_pretty(to_jsonable(self))))

    @classmethod
    def read(cls, path: Path) -> Packing:
        """What `write` wrote.

        Raises
        ------
        InputError
            If it is absent or damaged.
        """
        try:
            return cls.from_json(unsealed(path.read_bytes()))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError("packs", path, "a file that a run of the workflow wrote, undamaged", str(error)) from None


def _pack(entry: Mapping[str, Any]) -> Pack:
    pieces = tuple(Piece(**piece) for piece in entry["pieces"])
    return Pack(**{**entry, "pieces": pieces, "after": tuple(entry["after"])})


def pack_entries(
    entries: Sequence[Entry], measured: Measured, predict: Predict, scope: Mapping[str, tuple[str, ...]]
) -> Packing:
    """Pack what the store lacks of some entries, paper by paper; jobs that share a key are made once.

    Parameters
    ----------
    entries : sequence of Entry
        Whose jobs are wanted (`Measured.present`).
    measured : Measured
        What is there; damaged items are set aside.
    predict : callable
        Predicted CPU seconds of a step of a job.
    scope : mapping
        As in `Packing`.
    """
    packs: list[Pack] = []
    owners: dict[tuple[str, str], list[str]] = {}
    for step in STEPS:
        wanted = {entry.id: [job for job in entry.jobs if is_wanted(step, job)] for entry in entries}
        lacking = {}
        for job in (job for jobs in wanted.values() for job in jobs):
            address = item(step, job)
            if address not in lacking and not measured.store.has(*address):
                lacking[address] = job
        aim = _aim(sum(predict(step, job) for job in lacking.values()))
        for paper in dict.fromkeys(entry.paper for entry in entries):
            ours = [job for job in lacking.values() if job.claim.split(".", 1)[0] == paper]
            for number, pieces in enumerate(_cut(step, ours, predict, aim), 1):
                packs.append(_named(f"{step}.{paper}.{number}", step, pieces, lacking, owners))
    makers = {
        entry.id: tuple(
            dict.fromkeys(name for job in entry.jobs for step in STEPS for name in owners.get(item(step, job), ()))
        )
        for entry in entries
    }
    return Packing(tuple(packs), scope, makers)


def is_wanted(step: str, job: Job) -> bool:
    """Whether a job has a step that can be done here."""
    if job.skipped or (step != "calibrate" and not job.has_run):
        return False
    return step != "time" or (job.timing and not job.present)


def _aim(seconds: float) -> float:
    return min(max(seconds / AIMED_PACKS, LEAST_SECONDS), MOST_SECONDS)


def _named(
    name: str,
    step: str,
    pieces: Sequence[tuple[Job, Piece]],
    lacking: Mapping[tuple[str, str], Job],
    owners: dict[tuple[str, str], list[str]],
) -> Pack:
    """A pack, noted as an owner of what it makes."""
    after: list[str] = []
    for job, _ in pieces:
        owners.setdefault(item(step, job), []).append(name)
        if step != "calibrate":
            after += owners.get(item("calibrate", job), [])
    return Pack(name, step, tuple(piece for _, piece in pieces), tuple(dict.fromkeys(after)))


def _cut(step: str, jobs: Iterable[Job], predict: Predict, aim: float) -> Iterator[list[tuple[Job, Piece]]]:
    """Pieces in packs of about ``aim`` seconds, in the order of the plan, so that neighbours share their data."""
    pack: list[tuple[Job, Piece]] = []
    full: list[list[tuple[Job, Piece]]] = []
    for job in jobs:
        seconds = predict(step, job)
        of = math.ceil(seconds / aim) if step == "run" and seconds > MOST_SECONDS else 1
        for number in range(of):
            pack.append((job, Piece(job.claim, job.name, number, of, seconds / of)))
            if sum(piece.seconds for _, piece in pack) >= aim:
                full.append(pack)
                pack = []
    if pack and full and sum(piece.seconds for _, piece in pack) < aim / 3:
        full[-1] += pack
    elif pack:
        full.append(pack)
    yield from full


def lacking_pieces(step: str, jobs: Iterable[Job], measured: Measured) -> Iterator[Piece]:
    """Whole jobs whose step the store lacks, without packs: for a machine that has a plan alone."""
    seen: Collection[tuple[str, str]] = set()
    for job in jobs:
        address = item(step, job)
        if is_wanted(step, job) and address not in seen and not measured.store.has(*address):
            seen = {*seen, address}
            yield Piece(job.claim, job.name)
