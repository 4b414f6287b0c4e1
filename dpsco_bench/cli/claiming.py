"""A claim from its file to its verdicts in one process; finished jobs are kept, so that it resumes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from dpsco_bench.analysis.judge import judge_claim
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.compose import CLAIM_SUFFIXES, claim_ids, find_claim_id, own_claims
from dpsco_bench.cli.options import parse_override, parse_value
from dpsco_bench.cli.output import bounded
from dpsco_bench.cli.overrides import file_list, listed_files
from dpsco_bench.errors import InputError
from dpsco_bench.execution.calibrated import CalibratedCell, Calibrations, read_cells
from dpsco_bench.execution.calibration import calibrate_job
from dpsco_bench.execution.job import execute
from dpsco_bench.execution.layout import has_run, job_name
from dpsco_bench.execution.plugins import load_plugins
from dpsco_bench.execution.present import present_results
from dpsco_bench.execution.progress import JobLog, duration
from dpsco_bench.execution.results import read_table, write_table
from dpsco_bench.execution.worker import weights
from dpsco_bench.jsonio import dumps_canonical, loads, write_text_atomic

CACHE = Path("results/cache")
SETTINGS = {
    "seed": "an integer >= 0",
    "backend": "numpy or cupy",
    "backend.dtype": "float64 or float32",
    "data.root": "a folder",
    "plugins": "a list of Python files, plugins=[FILE,...]",
    "claims": "a list of YAML files, claims=[FILE,...]",
}


class JobCache:
    """Calibrations and result tables by what they depend on.

    Parameters
    ----------
    root : Path
        Folder of the cache; safe to delete.
    say : callable
        Gets one line per finished job.
    """

    def __init__(self, root: Path, say: Callable[[str], object]) -> None:
        self.root, self._say = root, say
        self._calibrated: dict[str, Calibrations] = {}

    def load(self, job: Mapping[str, Any]) -> tuple[pa.Table | None, Calibrations]:
        """Result table (None for a job that runs nothing) and calibrations of a job, made now if they are not there."""
        return (self.table(job) if has_run(job) else None), self.calibrations(job)

    def calibrations(self, job: Mapping[str, Any]) -> Calibrations:
        """Calibrations of a job."""
        if job["skipped"]:
            return calibrate_job(job)
        path = self.calibrations_path(job)
        if path.stem not in self._calibrated:
            if not path.is_file():
                write_text_atomic(path, dumps_canonical({"key": job["calibration_key"], "cells": calibrate_job(job)}))
            self._calibrated[path.stem] = read_cells(loads(path.read_text(encoding="utf-8")))
        return self._calibrated[path.stem]

    def calibrations_path(self, job: Mapping[str, Any]) -> Path:
        """Where a job's calibrations lie."""
        return self.root / "calibrations" / f"{job['calibration_key']}.json"

    def table_path(self, job: Mapping[str, Any]) -> Path:
        """Where a job's result table lies."""
        return self.root / "runs" / f"{job['key']}.parquet"

    def table(self, job: Mapping[str, Any]) -> pa.Table:
        """Result table of a job."""
        title, begun = f"{job['claim']} {job_name(job)}", time.monotonic()
        if job["skipped"]:  # nothing is kept of it, least of all under the key of the job with its data
            self._say(f"{title}: {job['skipped']}")
            return execute(job, self.calibrations(job))
        path = self.table_path(job)
        if path.is_file():
            return read_table(path)[0]
        calibrated = self.calibrations(job)
        with JobLog(None, title, weights(job, calibrated)) as log:
            table = execute(job, calibrated, log.progress)
        write_table(table, path)
        seconds = time.monotonic() - begun
        write_text_atomic(path.with_suffix(".seconds"), f"{seconds:.3f}\n")
        self._say(f"{title}: {duration(seconds)}")
        return table

    def seconds(self, job: Mapping[str, Any]) -> float:
        """How long a job took when it was run; NaN where it never was."""
        path = self.table_path(job).with_suffix(".seconds")
        return float(path.read_text()) if path.is_file() else math.nan


def asked_claims(arguments: Sequence[str], plugins: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Sort the arguments of a verb into ids of claims and settings.

    Parameters
    ----------
    arguments : sequence of str
        Ids, files of one's own claims (``.yaml``), and settings ``key=value``.
    plugins : sequence of str
        Further Python files.

    Returns
    -------
    ids, settings : list of str
        In the order in which they were asked for, each once; overrides of ``conf/plan.yaml``.

    Raises
    ------
    InputError
        For an unknown claim or setting, or none at all.
    """
    names = [text for text in arguments if "=" not in text or Path(text).is_file()]
    files = [name for name in names if name.endswith(CLAIM_SUFFIXES)]
    settings = extended([text for text in arguments if text not in names], "plugins", plugins)
    settings = check_settings(extended(settings, "claims", files))
    known = [*claim_ids(), *own_claims(_listed(settings, "claims"))]
    ids = [id for name in names for id in (own_claims([name]) if name in files else [find_claim_id(name, known)])]
    if not ids:
        raise InputError("claim", "missing", "given, e.g. wang2017.thm6.1")
    return list(dict.fromkeys(ids)), settings


def _listed(settings: Iterable[str], key: str) -> list[str]:
    """Files that settings list under a key."""
    return [
        file for override in map(parse_override, settings) if override.key == key for file in listed_files(override)
    ]


def extended(settings: list[str], key: str, files: Sequence[str]) -> list[str]:
    """Settings with further files under a key."""
    if not files:
        return settings
    kept = [text for text in settings if parse_override(text).key != key]
    return [*kept, file_list(key, dict.fromkeys([*_listed(settings, key), *files]))]


def check_settings(overrides: Iterable[str]) -> list[str]:
    """Check the overrides of a claim and load their plugins.

    Raises
    ------
    InputError
        For another key than those of `SETTINGS`, or a value that they do not take.
    """
    checked = []
    for override in map(parse_override, overrides):
        if override.key not in SETTINGS or override.sign or override.sweep:
            allowed = f"one of the settings {', '.join(SETTINGS)}; claims are fixed by their files"
            raise InputError(override.key, override.text, allowed)
        if not _fits(override.key, override.text):
            raise InputError(override.key, override.text, SETTINGS[override.key])
        if override.key == "plugins":
            load_plugins(listed_files(override))
        if override.key == "claims":
            own_claims(listed_files(override))
        checked.append(str(override))
    return checked


def _fits(key: str, text: str) -> bool:
    choices = {"backend": ("numpy", "cupy"), "backend.dtype": ("float64", "float32")}
    if key == "seed":
        seed = parse_value(text)
        return isinstance(seed, int) and not isinstance(seed, bool) and seed >= 0
    return text in choices[key] if key in choices else bool(text)


def run_claim(entry: Mapping[str, Any], cache: JobCache) -> list[Verdict]:
    """Calibrate, run and judge one claim.

    Parameters
    ----------
    entry : mapping
        The claim's entry of a plan.
    cache : JobCache
        Where finished jobs are kept.

    Returns
    -------
    list of Verdict
        With ``runtime_s`` filled in; empty if the profile measures no part of the claim.
    """
    entry = present_results(entry, cache.calibrations_path, cache.table_path)
    for job in entry["jobs"]:
        cache.load(job)
    seconds = {(job["part"], job["calibration"]): cache.seconds(job) for job in entry["jobs"]}
    rows = judge_claim(entry, cache.load)
    return [replace(row, runtime_s=seconds.get((row.part, row.calibration), math.nan)) for row in rows]


def privacy_texts(entry: Mapping[str, Any], cache: JobCache) -> dict[tuple[str, str], str]:
    """(part, calibration) -> the largest real epsilon among the part's cells, with the sign of its kind."""
    texts = {}
    for job in entry["jobs"]:
        known = [cell for cell in cache.calibrations(job) if isinstance(cell, CalibratedCell)]
        cells = [cell for cell in known if not math.isnan(cell.epsilon_real)]
        if cells and job["calibration"] != "none":
            worst = max(cells, key=lambda cell: cell.epsilon_real)
            texts[job["part"], job["calibration"]] = bounded(worst.epsilon_real, worst.epsilon_real_kind, 3)
    return texts
