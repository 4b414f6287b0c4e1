"""What a run of the workflow says: a line per finished job with the time left, and a summary at its end."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import chdir
from typing import Any, ClassVar

from dpsco_bench.analysis.answer import FAILS, NOT_RUN, Answer, answers, counted, headline
from dpsco_bench.analysis.judged import JudgedClaim, read_judged
from dpsco_bench.claims.kinds import SKIPPED
from dpsco_bench.cli.left_files import keep_told
from dpsco_bench.cli.output import labelled
from dpsco_bench.cli.verbs.gate import differences, read_verdicts, recorded_path
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.progress import cut_short, duration

OTHER_SECONDS = {"judge": 10.0, "write_site": 20.0}
"""Roughly what jobs without a prediction take, for the time left."""
MOST_NAMES = 4
SURE = 0.05
"""Share of the predicted work after which its pace says more than the prediction."""


class Progress(logging.Filter):
    """Stands in Snakemake's log between its messages about single jobs and the terminal: one line per finished job.

    Errors, and all that Snakemake says besides, go through.

    Parameters
    ----------
    jobs : mapping of str to float
        What is to be done (messages of the jobs) with predicted seconds.
    """

    DROPPED: ClassVar[tuple[str, ...]] = ("job_info", "job_finished", "job_started", "progress", "shellcmd")

    def __init__(self, jobs: Mapping[str, float]) -> None:
        super().__init__()
        self._left, self._all = dict(jobs), sum(jobs.values())
        self._names: dict[Any, str] = {}
        self._count, self._start = len(jobs), time.monotonic()

    @classmethod
    def attach(cls, snakemake: Any, seconds: Mapping[str, float]) -> None:
        """Watch a workflow that is about to start its jobs; ``seconds`` are those of its packs by name."""
        from snakemake.logging import logger

        if snakemake.output_settings.verbose:
            return
        jobs = {}
        for job in snakemake.dag.needrun_jobs():
            if not job.rule.norun:
                step = job.rule.name.partition("_")[0]
                known = seconds.get(f"{job.rule.name}.{getattr(job.wildcards, 'pack', '')}")
                jobs[str(job.message)] = known or OTHER_SECONDS.get(job.rule.name, OTHER_SECONDS.get(step, 1.0))
        logger.addFilter(cls(jobs))

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether Snakemake shows a message itself."""
        event = str(getattr(getattr(record, "event", None), "value", ""))
        if event == "job_info":
            self._names[record.__dict__["jobid"]] = str(record.__dict__["rule_msg"])
        elif event == "job_finished":
            self._finished(self._names.get(record.__dict__["job_id"], ""))
        return event not in self.DROPPED and record.getMessage() != "Select jobs to execute..."

    def _finished(self, name: str) -> None:
        if self._left.pop(name, None) is None:
            return
        left, spent = sum(self._left.values()), time.monotonic() - self._start
        done = self._all - left
        share = f"[{self._count - len(self._left)} of {self._count}, {100 * done / self._all:.0f} %"
        pace = spent / done if done > SURE * self._all else 1.0
        rest = f", about {duration(pace * left)} left" if left else f", {duration(spent)}"
        print(f"{share}{rest}] {name.partition(', about')[0]}", file=sys.stderr, flush=True)


def conclude(snakemake: Any, flow: Any) -> None:
    """Mark what the run told, and end with exit code 1 where a claim has no verdict; `farewell` names it."""
    keep_told(flow.files)
    if not all(_stored(flow, id).digest for id in _judged(snakemake, flow)):
        sys.exit(1)


def _stored(flow: Any, id: str) -> JudgedClaim:
    return read_judged(flow.files.verdicts(id)) or JudgedClaim(id)


def _judged(snakemake: Any, flow: Any) -> list[str]:
    """Claims whose verdicts are part of what a run was asked for."""
    papers = {job.rule.name.removeprefix("judge_") for job in snakemake.dag.jobs}
    return [id for paper, claims in flow.scope.items() if paper in papers for id in claims]


def farewell(snakemake: Any, flow: Any) -> None:
    """Say how the claims stand that a run was asked for, and where the site is, as the last thing.

    Called at exit, because Snakemake's own hooks are silent when there was nothing to do. By then Snakemake has left
    the folder that it worked in (``--directory``).

    Parameters
    ----------
    snakemake : snakemake.workflow.Workflow
    flow : Workflow
    """
    ran = snakemake.is_main_process and snakemake.scheduler is not None and not snakemake.dryrun
    if not ran or not (flow.lock.held or len(snakemake.dag) == 0):
        return
    with chdir(flow.folder):
        _say_farewell(snakemake, flow)


def _say_farewell(snakemake: Any, flow: Any) -> None:
    if len(snakemake.dag) == 0:
        flow.settle()
    claims, rules = _judged(snakemake, flow), {job.rule.name for job in snakemake.dag.jobs}
    stored = {id: _stored(flow, id) for id in claims}
    judged = [id for id in claims if stored[id].digest == flow.depends.verdicts[id]]
    if judged:
        print("\n" + closing(flow.files, judged, "write_site" in rules), flush=True)
    unfinished = {job.rule.name.removeprefix("judge_") for job in snakemake.dag.needrun_jobs()}
    earlier = [id for id in judged if id.partition(".")[0] in unfinished]
    if earlier:
        print("of an earlier run, this one ended before them: " + ", ".join(earlier), flush=True)
    killed: dict[str, list[str]] = {}
    for id in (id for id in claims if id not in judged):
        if not stored[id].failed and (why := _killed(flow, id)):
            killed.setdefault(why, []).append(id)
        else:
            print(f"no verdict of {id}: {stored[id].failed or 'see the errors above'}", flush=True)
    for why, those in killed.items():
        print(f"no verdict of {', '.join(those)}: {why}", flush=True)


def _killed(flow: Any, id: str) -> str:
    """That the process of a pack that worked for a claim was killed, and at what; empty where none was."""
    for name in flow.packing.makers.get(id, ()):
        step, _, pack = name.partition(".")
        at, terminated = cut_short(flow.files.log(step, pack))
        if at:
            how = "ended from outside (SIGTERM)" if terminated else "killed"
            why = "" if terminated else ", as when memory runs out"
            return f"a process was {how} at {at}{why}; what is finished stays: run it again"
    return ""


def closing(files: Layout, claims: Collection[str], shown: bool) -> str:
    """A summary that fits on a screen: per paper what holds and what fails, what changed, and where the site is.

    Parameters
    ----------
    files : Layout
        Of the profile.
    claims : collection of str
        Ids.
    shown : bool
        Whether to say where the site is.
    """
    rows = read_verdicts(files, claims)
    found = differences(files.profile, rows)
    come_to = {id: Answer(NOT_RUN, "Not run.") for id in claims} | answers(rows)
    papers = dict.fromkeys(id.partition(".")[0] for id in come_to)
    width = max(map(len, papers), default=0)
    total = headline(one.standing for one in come_to.values())
    label = f"profile {files.profile}:"
    lines = labelled(label, f"{total} ({len(rows)} verdicts)", 1 + len(label)).splitlines()
    for paper in papers:
        own = {id: one.standing for id, one in come_to.items() if id.startswith(f"{paper}.")}
        lines += _paper(paper.ljust(width), own)
    lines += sorted({f"{SKIPPED}: {row.reason}" for row in rows if row.skipped})
    changed = [str(difference) for difference in found if difference.fails]
    lines += [*changed[: 2 * MOST_NAMES], *_more(changed[2 * MOST_NAMES :], "changed verdicts")]
    if not recorded_path(files.profile).is_file():
        lines.append(f"no verdicts are recorded for profile {files.profile}: nothing to compare with")
    else:
        lines.append(f"{len(changed)} of {len(rows)} verdicts changed from the recorded ones")
    lines.append(f"every verdict: make verdicts PROFILE={files.profile}, or dpsco gate --profile {files.profile}")
    if shown and files.site.is_file():
        lines.append(f"site: {files.site}")
    return "\n".join(lines)


def _paper(name: str, standings: Mapping[str, str]) -> list[str]:
    """A line of counts of a paper's claims, and one that names what fails."""
    counts = "; ".join(f"{standing} {count}" for standing, count in counted(standings.values()).items())
    lines = labelled(f"  {name}", counts, 4 + len(name)).splitlines()
    bad = [id.partition(".")[2] for id, standing in standings.items() if standing == FAILS]
    if bad:
        lines.append(f"  {' ' * len(name)}  fails: " + ", ".join([*bad[:MOST_NAMES], *_more(bad[MOST_NAMES:], "")]))
    return lines


def _more(rest: Sequence[str], what: str) -> list[str]:
    return [f"and {len(rest)} more {what}".rstrip()] if rest else []
