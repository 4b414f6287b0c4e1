"""Decide how far the jobs of a claim are run: until the words that rest on them are decided, and at which signals.

A decision looks at the replicates of the stages up to it, at the claim's parts and at nothing else, so that a run which
was killed anywhere goes on as if it had not been.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from dpsco_bench.analysis.bootstrap import FloatArray, variance_of_mean
from dpsco_bench.analysis.evidence import MeasuredCell
from dpsco_bench.analysis.judge import ClaimCells, PartCells, judge_digest
from dpsco_bench.analysis.looks import Look
from dpsco_bench.claims.model import Claim
from dpsco_bench.claims.plan import ClaimEntry
from dpsco_bench.execution.job_results import Measured
from dpsco_bench.execution.jobs import PILOT, RUN, STAGED_FROM, Decide, Decided, Entry, Job, stage_end
from dpsco_bench.jsonio import digest

NEAR, ROUNDING = 3.0, 1e-9
"""A signal goes on within so many standard errors of the best one, and within rounding of it."""


def staged(entry: ClaimEntry) -> ClaimEntry:
    """Give the jobs of a claim their groups: jobs that a word compares are at one stage.

    A word that judges every cell by itself joins none: it is open in a group while a cell of it is.
    """
    groups = {job.name: {job.name} for job in entry.jobs}
    cases = list(_cases(ClaimCells(entry, lambda job: (None, ()))))  # nothing is read where groups are made
    for case in cases:
        rules, asks = case.part.rules, case.part.rules.asks(case.part)
        if not rules.by_cell and (asks or not rules.judges_noise):  # resampled together, they need equal replicates
            joined = set().union(*(groups[job.name] for job in case.jobs if asks or job.evaluation == RUN))
            groups.update(dict.fromkeys(joined, joined))
    key = digest([entry.digest, judge_digest(entry, __name__)])
    found = {
        name: _grouped(entry.claim, [job for job in entry.jobs if job.name in own], cases, key)
        for name, own in groups.items()
    }
    return replace(entry, jobs=tuple(found[job.name].get(job.name, job) for job in entry.jobs))


def _cases(whole: ClaimCells) -> Iterator[PartCells]:
    """Cells that the words of a claim rest on, of words for which some of them are random."""
    for part in whole.claim.parts:
        for calibration in part.calibrations:
            case = PartCells(whole, part, calibration)
            if any(job.evaluation == RUN for job in case.jobs):
                yield case


def _grouped(claim: Claim, jobs: Sequence[Job], cases: Iterable[PartCells], key: str) -> Mapping[str, Job]:
    """Group jobs by name, in stages; none if all replicates are run."""
    names = {job.name for job in jobs}
    resting = [(case.part, own) for case in cases if names & (own := {job.name for job in case.jobs})]
    asking = [part for part, _ in resting if part.rules.asks(part)]
    whole = any(not part.rules.early for part in asking)
    whole |= any(job.evaluation != RUN or claim.part(job.part).stages for job in jobs)
    short = max(job.replicates for job in jobs) < STAGED_FROM
    if not asking or whole or short or len({bool(job.skipped) for job in jobs}) > 1:
        return {}
    decisions = digest([key, [(job.name, job.key) for job in jobs]])
    found = {}
    for job in jobs:
        alone = all(part.rules.by_largest_mean(part) for part, own in resting if job.name in own)
        pilot = alone and job.replicates >= STAGED_FROM and any(cell.signal is not None for cell in job.cells)
        found[job.name] = replace(job, group=jobs[0].part, decisions=decisions, pilot=pilot)
    return found


def decider(entries: Iterable[Entry], measured: Measured) -> Decide:
    """Make decisions on the groups of some claims, from what has been measured of them."""
    claims = [entry for entry in entries if isinstance(entry, ClaimEntry)]
    owners = {job.decisions: entry for entry in claims for job in entry.jobs if job.decisions}
    return lambda jobs, found: decide(owners[jobs[0].decisions], jobs, found, measured)


def decide(entry: ClaimEntry, jobs: Sequence[Job], found: Decided | None, measured: Measured) -> Decided:
    """Decide what is run next of a group, whose decided blocks are there; at first the first stage, or the pilot."""
    if found is None:
        ends = {job.name: PILOT if job.pilot else stage_end(job, 1) for job in jobs}
        return Decided({job.name: (job.block(0, ends[job.name]),) for job in jobs})
    if not found.taken:
        whole = ClaimCells(entry, partial(measured.load, found=found))
        kept = {job.name: _kept(whole.of_job(job)) for job in jobs if job.pilot and job.name not in found.kept}
        found = replace(found, kept={**found.kept, **kept})
    if all(found.blocks[job.name][-1].end >= stage_end(job, found.taken + 1) for job in jobs):
        found = _looked(ClaimCells(entry, partial(measured.load, found=found)), jobs, found)
    if found.done:
        return found
    blocks = {}
    for job in jobs:
        made, end = found.blocks[job.name], stage_end(job, found.taken + 1)
        last = made[-1].end
        blocks[job.name] = (*made, job.block(last, end, found.kept.get(job.name, ()))) if last < end else made
    return replace(found, blocks=blocks)


def _looked(whole: ClaimCells, jobs: Sequence[Job], found: Decided) -> Decided:
    """Decide open words by a look, as far as they rest on the group."""
    number, names = found.taken + 1, {job.name for job in jobs}
    looks, open_ = dict(found.looks), False
    for case in _cases(whole):
        rules, own = case.part.rules, [job for job in case.jobs if job.name in names]
        if not own or not rules.asks(case.part) or case.name in looks:
            continue
        look = Look.at(own, number)
        seen = case.at({key: look for key in case.sources if whole.jobs[key].name in names})
        if look.last or rules.judge(seen).verdict in rules.early:
            looks[case.name] = number
        else:
            open_ = True
    return replace(found, looks=looks, taken=number, done=not open_)


def _kept(cells: Sequence[MeasuredCell]) -> tuple[int, ...]:
    """Cells of a pilot that go on: those at signals near the best one of their grid. Empty where all do."""
    grids: dict[tuple[str, float], list[MeasuredCell]] = {}
    for cell in cells:
        grids.setdefault((cell.entry.method, cell.entry.value), []).append(cell)
    kept = [
        cell.entry.cell
        for grid in grids.values()
        for cell, goes_on in zip(grid, near([cell.risks for cell in grid]), strict=True)
        if goes_on
    ]
    return tuple(sorted(kept)) if len(kept) < len(cells) else ()


def near(risks: Sequence[FloatArray]) -> list[bool]:
    """Check which signals' means are within the paired error of the best one's; risks are (data_sets, replicates)."""
    best = max(risks, key=lambda own: float(own.mean()))
    limit = ROUNDING * abs(float(best.mean()))
    off = [best - own for own in risks]
    return [float(one.mean()) <= max(limit, NEAR * float(np.sqrt(variance_of_mean([one])[0]))) for one in off]
