"""Packs: what the store lacks, in pieces of work that are worth a process of their own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dpsco_bench.errors import InputError
from dpsco_bench.execution.job import Shard
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.measured import Measured
from dpsco_bench.execution.plan import Entry
from dpsco_bench.jsonio import dumps_pretty, sealed, unsealed, write_atomic
from dpsco_bench.plain import Record

STEPS = ("calibrate", "run", "time")
LEAST_SECONDS, MOST_SECONDS = 10.0, 60.0
"""Predicted CPU seconds of a pack: less is mostly start-up, more is a long wait for the last one."""
JOINED = "+"
"""Between the papers of a pack in its name."""
AIMED_PACKS = 60
"""How many packs a step is cut into between these limits."""
Predict = Callable[[str, Job], float]
"""(step, job) -> CPU seconds."""


@dataclass(frozen=True)
class Piece(Record):
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
class Pack(Record):
    """What one process does.

    Attributes
    ----------
    name : str
        ``<step>.<paper>.<number>``, or of several papers ``<step>.<paper>+<paper>.<number>``.
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
class Stamp(Record):
    """Digests of what a claim's verdicts and its figures are to be made from.

    Attributes
    ----------
    verdicts, figure : str
    """

    verdicts: str
    figure: str


@dataclass(frozen=True)
class Packing(Record):
    """The packs of a run, and what it is to conclude from them.

    Attributes
    ----------
    packs : tuple of Pack
    makers : mapping of str to tuple of str
        Claim or leaderboard -> names of the packs that work for it.
    scope : mapping of str to mapping of str to Stamp
        Paper -> claims to judge, and what their verdicts and figures are to be made from.
    draw : bool
        Whether figures of the claims are wanted too.
    marks : Path
        Folder of the marks of finished packs.
    """

    packs: tuple[Pack, ...]
    makers: Mapping[str, tuple[str, ...]]
    scope: Mapping[str, Mapping[str, Stamp]] = field(default_factory=dict)
    draw: bool = True
    marks: Path = Path()

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

    def write(self, path: Path) -> None:
        """Write the packing, with its digest."""
        write_atomic(path, sealed(dumps_pretty(self)))

    @classmethod
    def read(cls, path: Path) -> Packing:
        """What `write` wrote.

        Raises
        ------
        InputError
            If it is absent or damaged.
        """
        try:
            if path.exists() and not path.is_file():  # a pipe would keep its reader waiting
                raise OSError("it is no file")
            return cls.from_json(unsealed(path.read_bytes()))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError("packs", path, "a file that a run of the workflow wrote, undamaged", str(error)) from None


def pack_entries(entries: Sequence[Entry], measured: Measured, predict: Predict) -> Packing:
    """Pack what the store lacks of some entries; jobs that share a key are made once.

    A pack is of one paper, whose claims wait for it alone; papers with too little for a process share one.

    Parameters
    ----------
    entries : sequence of Entry
        Whose jobs are wanted (`Measured.present`).
    measured : Measured
        What is there; damaged items are not.
    predict : callable
        Predicted CPU seconds of a step of a job.
    """
    packs: list[Pack] = []
    owners: dict[tuple[str, str], list[str]] = {}
    for step in STEPS:
        wanted = {entry.id: [job for job in entry.jobs if is_wanted(step, job)] for entry in entries}
        lacking = {}
        for job in (job for jobs in wanted.values() for job in jobs):
            address = item(step, job)
            if address not in lacking and not measured.has(step, job):
                lacking[address] = job
        aim = _aim(sum(predict(step, job) for job in lacking.values()))
        papers = dict.fromkeys(entry.paper for entry in entries)
        ours = {paper: [job for job in lacking.values() if job.claim.split(".", 1)[0] == paper] for paper in papers}
        for names, jobs in _grouped(step, ours, predict):
            for number, pieces in enumerate(_cut(step, jobs, predict, aim), 1):
                packs.append(_named(f"{step}.{JOINED.join(names)}.{number}", step, pieces, owners))
    makers = {
        entry.id: tuple(
            dict.fromkeys(name for job in entry.jobs for step in STEPS for name in owners.get(item(step, job), ()))
        )
        for entry in entries
    }
    return Packing(tuple(packs), makers)


def seconds_left(jobs: Iterable[Job], measured: Measured, predict: Predict) -> float:
    """Predicted CPU seconds of all that the store lacks of some jobs; what they share is made once."""
    lacking = {
        item(step, job): predict(step, job)
        for job in jobs
        for step in STEPS
        if is_wanted(step, job) and not measured.has(step, job)
    }
    return sum(lacking.values())


def item(step: str, job: Job) -> tuple[str, str]:
    """Step and key of what it makes of a job."""
    return step, job.calibration_key if step == "calibrate" else job.key


def is_wanted(step: str, job: Job) -> bool:
    """Whether a job has a step that can be done here."""
    if job.skipped or (step != "calibrate" and not job.has_run):
        return False
    return step != "time" or (job.timing and not job.present)


def _grouped(step: str, ours: Mapping[str, Sequence[Job]], predict: Predict) -> Iterator[tuple[list[str], list[Job]]]:
    """Papers with their jobs; those with less than a process is worth, together until it is."""
    names: list[str] = []
    jobs: list[Job] = []
    for paper, own in ours.items():
        if sum(predict(step, job) for job in own) >= LEAST_SECONDS:
            yield [paper], list(own)
        elif own:
            names.append(paper)
            jobs += own
            if sum(predict(step, job) for job in jobs) >= LEAST_SECONDS:
                yield names, jobs
                names, jobs = [], []
    if jobs:
        yield names, jobs


def _aim(seconds: float) -> float:
    return min(max(seconds / AIMED_PACKS, LEAST_SECONDS), MOST_SECONDS)


def _named(
    name: str,
    step: str,
    pieces: Sequence[tuple[Job, Piece]],
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
        pack.append((job, Piece(job.claim, job.name, 0, 1, seconds)))
        if sum(piece.seconds for _, piece in pack) >= aim:
            full.append(pack)
            pack = []
    if pack and full and sum(piece.seconds for _, piece in pack) < LEAST_SECONDS:
        full[-1] += pack
    elif pack:
        full.append(pack)
    yield from full


def lacking_pieces(step: str, jobs: Iterable[Job], measured: Measured) -> Iterator[Piece]:
    """Whole jobs whose step the store lacks, without packs: for a machine that has a plan alone."""
    seen: Collection[tuple[str, str]] = set()
    for job in jobs:
        address = item(step, job)
        if is_wanted(step, job) and address not in seen and not measured.has(step, job):
            seen = {*seen, address}
            yield Piece(job.claim, job.name)
