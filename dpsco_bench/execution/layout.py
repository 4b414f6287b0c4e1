"""Where the files of a profile lie, relative to the working directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpsco_bench.execution.job_results import Measured

RESULTS = Path("results")
FORMATS = ("svg", "pdf")
"""Suffixes of figures."""


@dataclass(frozen=True)
class Layout:
    """Files of one profile. Results lie in the store, which all share; what is concluded from them lies here."""

    profile: str
    base: Path = Path()

    @property
    def results(self) -> Path:
        """Folder of everything but figures and the store."""
        return self.base / RESULTS / self.profile

    @property
    def measured(self) -> Measured:
        from dpsco_bench.execution.job_results import Measured
        from dpsco_bench.execution.store import Store

        return Measured(Store(self.base / RESULTS / "store"))

    @property
    def figures(self) -> Path:
        return self.base / "figures" / self.profile

    @property
    def plan(self) -> Path:
        return self.results / "plan.json"

    @property
    def outline(self) -> Path:
        return self.results / "outline.json"

    @property
    def lock(self) -> Path:
        return self.results / ".lock"

    @property
    def site(self) -> Path:
        return self.results / "site" / "index.html"

    @property
    def tables(self) -> Path:
        return self.results / "tables"

    @property
    def gate(self) -> Path:
        """Written by a gate that passed."""
        return self.results / "gate.txt"

    def planned(self, id: str) -> Path:
        """Return the plan of a single claim or leaderboard."""
        return self.results / "plan" / f"{id}.json"

    def part(self, id: str, part: str) -> Path:
        """Written when a part of a claim, or an instance of a leaderboard, is measured."""
        return self.results / "parts" / id / f"{part}.txt"

    def timed(self, claim: str) -> Path:
        """Written when a claim's runs are timed."""
        return self.results / "timed" / f"{claim}.txt"

    def verdicts(self, claim: str) -> Path:
        return self.results / "verdicts" / f"{claim}.json"

    def standings(self, board: str) -> Path:
        return self.results / "standings" / f"{board}.json"

    def log(self, step: str, name: str) -> Path:
        return self.results / "logs" / step / f"{name}.log"

    def figure(self, claim: str, suffix: str = "svg") -> Path:
        return self.figures / f"{claim}.{suffix}"
