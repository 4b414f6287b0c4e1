"""Where the files of a profile lie, relative to the working directory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.measured import Measured
from dpsco_bench.execution.store import SUFFIXES, Store

RESULTS = Path("results")
FOLDERS = ("concluded", "verdicts", "standings", "logs", "benchmarks", "packs", "failures", "tables", "site")
"""What there is of a profile but for single files."""
FORMATS = ("svg", "pdf")
"""Suffixes of figures."""


@dataclass(frozen=True)
class Layout:
    """Files of one profile. Results lie in the store, which all profiles share; what is concluded from them lies here.

    Parameters
    ----------
    profile : str
        ``smoke``, ``ci`` or ``full``.
    base : Path
        Working directory of the workflow.
    """

    profile: str
    base: Path = Path()

    @property
    def results(self) -> Path:
        """Folder of everything but figures and the store."""
        return self.base / RESULTS / self.profile

    @property
    def measured(self) -> Measured:
        """What has been measured, for any profile."""
        return Measured(Store(self.base / RESULTS / "store"))

    @property
    def figures(self) -> Path:
        """Folder of the figures."""
        return self.base / "figures" / self.profile

    @property
    def folders(self) -> Iterator[Path]:
        """Folders of the results, and those of the store, whether they are there or not."""
        yield from (self.results / name for name in FOLDERS)
        yield from (self.base / RESULTS / "store" / kind for kind in SUFFIXES)

    @property
    def plan(self) -> Path:
        """The plan, written by the plan step."""
        return self.results / "plan.json"

    @property
    def lock(self) -> Path:
        """The file whose kernel lock a live run holds."""
        return self.results / ".lock"

    @property
    def packing(self) -> Path:
        """The packs of the last run."""
        return self.results / "packs.json"

    @property
    def packs(self) -> Path:
        """Folder of the marks of finished packs, a folder a run; of no use after it."""
        return self.results / "packs"

    @property
    def failures(self) -> Path:
        """Folder of what failed in the last run."""
        return self.results / "failures"

    def failure(self, job: Job) -> Path:
        """Why a job failed in the last run."""
        return self.failures / f"{job.claim}.{job.name}.txt"

    @property
    def site(self) -> Path:
        """First page of the site."""
        return self.results / "site" / "index.html"

    @property
    def tables(self) -> Path:
        """Folder of the tables."""
        return self.results / "tables"

    @property
    def gate(self) -> Path:
        """Written by a gate that passed."""
        return self.results / "gate.txt"

    @property
    def gated(self) -> Path:
        """Mark of what that gate wrote."""
        return self.results / ".gate.drawn"

    @property
    def told(self) -> Path:
        """Mark of the logs and benchmarks of the last run that ended well."""
        return self.results / ".told.drawn"

    def judged(self, paper: str) -> Path:
        """What was judged of a paper last."""
        return self.results / "concluded" / f"{paper}.json"

    def verdicts(self, claim: str) -> Path:
        """Verdict rows of a claim."""
        return self.results / "verdicts" / f"{claim}.json"

    def standings(self, board: str) -> Path:
        """Standings of a leaderboard."""
        return self.results / "standings" / f"{board}.json"

    def log(self, step: str, name: str) -> Path:
        """Log of a step of the workflow."""
        return self.results / "logs" / step / f"{name}.log"

    def benchmark(self, step: str, name: str) -> Path:
        """Run time and memory of a step's process, as Snakemake's ``benchmark`` writes them."""
        return self.results / "benchmarks" / step / f"{name}.tsv"

    def figure(self, claim: str, suffix: str = "svg") -> Path:
        """Figure of a claim."""
        return self.figures / f"{claim}.{suffix}"

    def drawn(self, id: str) -> Path:
        """Mark of the figures of a claim or leaderboard (see `execution.drawn`)."""
        return self.figures / f".{id}.drawn"

    @property
    def reported(self) -> Path:
        """Mark of the site: its pages, the tables, and the figures across claims."""
        return self.results / ".site.drawn"
