"""Where the files of a profile lie, relative to the working directory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpsco_bench.execution.job_results import Measured

RESULTS = Path("results")
FORMATS = ("svg", "pdf")
"""Suffixes of figures."""


class Layout:
    """Files of one profile. Results lie in the store, which all share; what is concluded from them lies here."""

    def __init__(self, profile: str, base: Path = Path()) -> None:
        self.profile, self.base = profile, base
        self.figures = base / "figures" / profile
        self.results = results = base / RESULTS / profile  # everything else but the store
        self.plan, self.outline = results / "plan.json", results / "outline.json"
        self.tables, self.site = results / "tables", results / "site" / "index.html"
        self.lock, self.gate = results / ".lock", results / "gate.txt"  # the second is written by a gate that passed

    @property
    def measured(self) -> Measured:
        """Reader of the store."""
        from dpsco_bench.execution.job_results import Measured
        from dpsco_bench.execution.store import Store

        return Measured(Store(self.base / RESULTS / "store"))

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
