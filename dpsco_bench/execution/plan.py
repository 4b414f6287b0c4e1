"""What is planned of a claim or leaderboard: its jobs."""

from __future__ import annotations

from dataclasses import dataclass

from dpsco_bench.execution.jobs import Job
from dpsco_bench.plain import Record


@dataclass(frozen=True)
class Entry(Record):
    """The jobs of a claim or leaderboard.

    Attributes
    ----------
    id : str, ``<paper>.<name>`` of a claim, ``leaderboard.<name>``
    jobs : tuple of Job
    digest : str, of what its file and the profile say
    """

    id: str
    jobs: tuple[Job, ...]
    digest: str

    @property
    def paper(self) -> str:
        """First word of the id: the claim's paper, or ``leaderboard``."""
        return self.id.split(".", 1)[0]
