"""From result tables to verdicts and figures: of one claim, and of others whose results are complete."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dpsco_bench.errors import InputError
from dpsco_bench.execution.calibrated import Calibrations
from dpsco_bench.execution.layout import (
    has_run,
    job_name,
    judged_name,
    planned_entries,
    read_calibrations,
    read_plan_text,
    stored_json,
)
from dpsco_bench.execution.lock import key_lock
from dpsco_bench.execution.plugins import job_plugins, load_plugins
from dpsco_bench.execution.present import present_results
from dpsco_bench.execution.progress import JobLog
from dpsco_bench.jsonio import dumps_pretty, restore, write_text_atomic

SHARED_SECONDS = 10.0
"""How long a process goes on with other claims: start-up costs more than most of them."""
Entry = Mapping[str, Any]
Load = Callable[[Mapping[str, Any]], tuple[Any, Calibrations]]


@dataclass(frozen=True)
class Judging:
    """Judges claims of a plan.

    Attributes
    ----------
    plan : Path
        The plan; results lie beside it.
    calibrations, runs : Path
        Folders that have one folder per claim.
    draw : bool
        Whether figures are drawn too.
    """

    plan: Path
    calibrations: Path
    runs: Path
    draw: bool = False

    def entries(self) -> list[dict[str, Any]]:
        """The plan's entries, infinities still strings."""
        return planned_entries(read_plan_text(self.plan))

    def entry(self, entry: Entry) -> dict[str, Any]:
        """An entry as jobs read it, with its plugins loaded."""
        found = present_results(restore(entry), self._calibrations_of, self._table_of)
        load_plugins(job_plugins(found["jobs"]))
        return found

    def complete(self, entry: Entry) -> bool:
        """Whether all results of an entry lie where they belong; of which key, the judge will see."""
        jobs = entry["jobs"]
        there = all(self._calibrations_of(job).is_file() for job in jobs)
        return there and all(self._table_of(job).is_file() for job in jobs if has_run(job))

    def judge(self, entry: Entry, digest: str, out: Path, figures: Path | None, log: Path | None) -> None:
        """Write the verdicts of a claim, and its figures into a folder that appears when they are complete.

        Raises
        ------
        InputError
            If a result is missing or of another key.
        """
        from dpsco_bench.analysis.judge import judge_claim

        claim = entry["claim"]["id"]
        with JobLog(log, f"judge {claim}") as progress:
            rows = judge_claim(entry, self.loader())
            for row in rows:
                progress.write(f"{row.part} [{row.calibration}]: {row.said}")
            found = {"claim": claim, "digest": digest, "verdicts": [row.to_json() for row in rows]}
            write_text_atomic(out, dumps_pretty(found))
            if self.draw and figures and not any(job["timing"] for job in entry["jobs"]):
                with suppress(Exception):  # the figure step will meet the same error, and say so
                    self._draw(entry, out, figures)

    def loader(self) -> Load:
        """Result table and calibrations of a job, read once."""

        @cache
        def read(claim: str, name: str) -> tuple[Any, Calibrations]:
            job = jobs[claim, name]
            return _result(self._table_of(job), job), read_calibrations(self._calibrations_of(job), job)

        jobs: dict[tuple[str, str], Mapping[str, Any]] = {}

        def load(job: Mapping[str, Any]) -> tuple[Any, Calibrations]:
            where = job["claim"], job_name(job)
            jobs[where] = job
            return read(*where)

        return load

    def _draw(self, entry: Entry, verdicts: Path, folder: Path) -> None:
        from dpsco_bench.report.figures import write_claim_figures
        from dpsco_bench.report.inputs import ClaimResults

        draft = folder.with_name(f".{folder.name}.{os.getpid()}")
        write_claim_figures(ClaimResults(entry["claim"], entry["jobs"], self.plan.parent, verdicts), draft)
        shutil.rmtree(folder, ignore_errors=True)
        draft.rename(folder)

    def _calibrations_of(self, job: Mapping[str, Any]) -> Path:
        return self.calibrations / job["claim"] / f"{job_name(job)}.json"

    def _table_of(self, job: Mapping[str, Any]) -> Path:
        return self.runs / job["claim"] / f"{job_name(job)}.parquet"


def judge_claims(
    judging: Judging, claim: str, digest: str, out: Path, log: Path | None, ready: Path | None, wanted: Path | None
) -> None:
    """Judge a claim; leave ready the verdicts and figures of others whose results are complete.

    Parameters
    ----------
    judging : Judging
    claim, digest : str
        The claim, and the digest of what its verdicts depend on.
    out, log : Path
        Verdict file, log.
    ready : Path, optional
        Where verdicts and figures lie that another process made (`Layout.judged`).
    wanted : Path, optional
        Which claims the present run judges (`Layout.wanted`).

    Raises
    ------
    InputError
        If the plan does not have the claim, or a result is missing or of another key.
    """
    start = time.monotonic()
    entries = {entry["claim"]["id"]: entry for entry in judging.entries()}
    if claim not in entries:
        raise InputError(f"claim of {judging.plan}", claim, "one of " + ", ".join(entries))
    if ready is None:
        judging.judge(judging.entry(entries[claim]), digest, out, None, log)
        return
    name = judged_name(claim, digest)
    with key_lock(ready / f".{name}.lock", wait=True):
        left = ready / f"{name}.json"
        if left.is_file():
            left.replace(out)
        else:
            judging.judge(judging.entry(entries[claim]), digest, out, ready / name, log)
    for other, its_digest in _others(entries, claim, wanted, out.parent):
        if time.monotonic() - start > SHARED_SECONDS:
            break
        with suppress(Exception):  # its own process will meet it, and say so
            _leave_ready(judging, entries[other], ready / judged_name(other, its_digest), its_digest)


def _others(entries: Mapping[str, Entry], claim: str, wanted: Path | None, verdicts: Path) -> Iterator[tuple[str, str]]:
    """Wanted claims without their verdicts, with the digests that those must have; from this claim on, in a circle."""
    digests = stored_json(wanted).get("judged", {}) if wanted else {}
    ids = list(entries)
    place = ids.index(claim)
    for id in [*ids[place + 1 :], *ids[:place]]:
        if id in digests and stored_json(verdicts / f"{id}.json").get("digest") != digests[id]:
            yield id, digests[id]


def _leave_ready(judging: Judging, entry: Entry, path: Path, digest: str) -> None:
    """Judge another process's claim if its results are complete, unless that or a third one is at it."""
    if not judging.complete(entry):
        return
    out = path.with_name(f"{path.name}.json")
    with key_lock(path.with_name(f".{path.name}.lock"), wait=False) as mine:
        if mine and not out.is_file():
            draft = out.with_name(f".{out.name}")
            judging.judge(judging.entry(entry), digest, draft, path, path.with_name(f"{path.name}.log"))
            draft.replace(out)


def _result(path: Path, job: Mapping[str, Any]) -> Any:
    """The job's result table, or None if it has none."""
    from dpsco_bench.execution.results import read_table

    if not has_run(job):
        return None
    if not path.is_file():
        raise InputError("result", path, "a file that `worker run` wrote")
    table, metadata = read_table(path)
    found = metadata["job"].get("key")
    if not job["skipped"] and found != job["key"]:
        raise InputError(f"key of {path}", found, f"{job['key']}: snakemake --forcerun run")
    return table
