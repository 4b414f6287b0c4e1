"""Print the progress of a workflow: a line for each finished job with the time left, and failures at the end.

A logger plug-in of Snakemake. Dry runs, and all that Snakemake says besides, look as they always do.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from logging import LogRecord
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase

from dpsco_bench.execution.progress import duration

HIDDEN = ("job_info", "job_started", "job_finished", "job_error", "progress", "shellcmd", "resources_info")
"""Snakemake's own messages of a run that lines here stand for."""
CHATTER = ("Select jobs to execute", "At least one job did not complete", "Assuming unrestricted", "Complete log")
OTHER_SECONDS = {"write_site": 30.0}
"""Seconds of jobs without a prediction; others take a second."""
PRIOR_SECONDS = 5.0
"""Predicted seconds that count as done at the predicted pace."""


class TimeLeft:
    """Estimate the time left of a run from predicted seconds of its jobs and from what was done so far."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        from dpsco_bench.cli.workflow import PREDICTED

        self._waiting = {rule: count for rule, count in counts.items() if rule != "total"}
        self._known = {rule: dict(PREDICTED.get(rule, {})) for rule in self._waiting}
        self._running: dict[Any, float] = {}
        self._done, self._start = 0.0, time.monotonic()

    def begin(self, jobid: Any, rule: str, name: str) -> None:
        if jobid not in self._running and self._waiting.get(rule):
            self._running[jobid] = self._known[rule].pop(name, 0.0) or self._usual(rule)
            self._waiting[rule] -= 1

    def end(self, jobid: Any) -> None:
        self._done += self._running.pop(jobid, 0.0)

    def _usual(self, rule: str) -> float:
        known = self._known.get(rule)
        return sum(known.values()) / len(known) if known else OTHER_SECONDS.get(rule, 1.0)

    @property
    def _rest(self) -> float:
        waiting = sum(count * self._usual(rule) for rule, count in self._waiting.items())
        return waiting + sum(self._running.values())

    @property
    def seconds(self) -> float:
        prior = PRIOR_SECONDS / (os.cpu_count() or 1)
        return self._rest * (prior + time.monotonic() - self._start) / (PRIOR_SECONDS + self._done)

    def __str__(self) -> str:
        """``24 %, about 5 min 10 s left``."""
        rest = self._rest
        if not rest:
            return f"100 %, {duration(time.monotonic() - self._start)}"
        return f"{100 * self._done / (self._done + rest):.0f} %, about {duration(self.seconds)} left"


class LogHandler(LogHandlerBase):
    """Write one line a job to stderr."""

    def __post_init__(self) -> None:
        self._left = TimeLeft({})
        self._names: dict[Any, str] = {}
        self._done, self._all = 0, 0
        self._failed: dict[Any, str] = {}

    def emit(self, record: LogRecord) -> None:
        event, settings = str(getattr(record, "event", None) or ""), self.common_settings
        if settings.dryrun or settings.verbose:
            text = self.format(record)
        else:
            getattr(self, f"_{event}", lambda told: None)(record.__dict__)
            text = "" if event in HIDDEN else self.format(record)
        if text and text != "None" and not text.startswith(CHATTER):
            self._print(text)

    def _run_info(self, told: Mapping[str, Any]) -> None:
        self._left, self._done, self._all = TimeLeft(told["stats"]), 0, told["stats"].get("total", 0)

    def _job_info(self, told: Mapping[str, Any]) -> None:
        name = ".".join(map(str, told["wildcards"].values()))
        self._names[told["jobid"]] = told["rule_msg"] or f"{told['rule_name']} {name}".strip()
        self._left.begin(told["jobid"], told["rule_name"], name)

    def _job_finished(self, told: Mapping[str, Any]) -> None:
        if name := self._names.pop(told["job_id"], ""):
            self._left.end(told["job_id"])
            self._done += 1
            self._print(f"[{self._done} of {self._all}, {self._left}] {name}")

    def _job_error(self, told: Mapping[str, Any]) -> None:
        if told["jobid"] not in self._failed:
            name = self._names.get(told["jobid"], told["rule_name"])
            logs = [path.split(" ")[0] for path in told["log"]]
            why = f": {_last_line(logs[0])} (see {logs[0]})" if logs else ""
            self._failed[told["jobid"]] = f"failed: {name}{why}"
            self._print(f"failed: {name}; the others go on")
            self._left.end(told["jobid"])

    def _print(self, text: str) -> None:
        print(text, file=sys.stdout if self.common_settings.stdout else sys.stderr, flush=True)

    def close(self) -> None:
        for line in self._failed.values():
            self._print(line)
        self._failed = {}
        super().close()

    writes_to_stream = True
    """It takes the place of Snakemake's own; the log file, the filter of ``--quiet`` and the formats stay those."""
    writes_to_file = has_filter = has_formatter = needs_rulegraph = False


def _last_line(path: str) -> str:
    """Last line of a log; the reason of what failed where one is told."""
    if not Path(path).is_file():
        return "no log"
    lines = [line for line in Path(path).read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    told = [line.removeprefix("dpsco: ") for line in lines if line.startswith("dpsco: ")]
    return (told or lines or ["its process was ended, as when memory runs out"])[-1]
