"""Stages of jobs that are judged while they run: what was decided, and which blocks that leaves to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from dpsco_bench.execution.jobs import Block, Job, stage_ends
from dpsco_bench.plain import Record

PILOT = 8
"""Replicates of all signals of a grid, after which those are chosen that go on."""


@dataclass(frozen=True)
class Decided(Record):
    """Decisions on the jobs of a group, by the names of jobs and of words (``<part>.<calibration>``).

    Attributes
    ----------
    blocks : mapping of str to tuple of Block, what is to be run of each job so far
    kept : mapping of str to tuple of int, cells of the signals that go on after the pilot; empty for all
    looks : mapping of str to int, the look that decided a word
    """

    blocks: Mapping[str, tuple[Block, ...]]
    kept: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    looks: Mapping[str, int] = field(default_factory=dict)
    taken: int = 0
    done: bool = False

    def up_to(self, job: Job, look: int = 0) -> list[Block]:
        """List the blocks of a job that a look reads, whatever else is there; look 0 reads all of them."""
        end = stage_end(job, look) if look else job.replicates
        return [block for block in self.blocks[job.name] if block.end <= end]


Decide = Callable[[Sequence[Job], Decided | None], Decided]
"""Takes the jobs of a group and the last decision, whose blocks are there; gives the next one."""


def looks_at(job: Job) -> int:
    """Count the looks at a job."""
    return len(stage_ends(job.replicates))


def stage_end(job: Job, look: int) -> int:
    """Count the replicates of a job that a look reads; jobs of fewer stages stay at their last one."""
    ends = stage_ends(job.replicates)
    return ends[min(look, len(ends)) - 1]
