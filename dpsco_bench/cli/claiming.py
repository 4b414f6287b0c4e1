"""A claim from its file to its verdicts in one process, over the store that the workflow uses too."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from dpsco_bench.analysis.judge import judge_claim
from dpsco_bench.analysis.stages import decider
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.catalogue import CLAIM_SUFFIXES, claim_ids, find_claim_id, own_claims
from dpsco_bench.claims.plan import ClaimEntry
from dpsco_bench.cli.console import parse_value, say, single_values
from dpsco_bench.cli.overrides import extended, listed_by, listed_files
from dpsco_bench.errors import InputError
from dpsco_bench.execution.job_results import Measured
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.plugins import load_plugins
from dpsco_bench.execution.worker import Weigh, make_all
from dpsco_bench.leaderboard.board import own_boards

LEAST_SECONDS = 0.02
"""Least seconds of a cell, beside its steps."""
CHOICES = {
    "backend": ("numpy", "cupy"),
    "backend.dtype": ("float64", "float32"),
    "backend.fused": ("true", "false"),
    "stages": ("true", "false"),
}
SETTINGS = {
    "seed": "an integer >= 0",
    **{key: " or ".join(values) for key, values in CHOICES.items()},
    "data.root": "a folder",
    "plugins": "a list of Python files, plugins=[FILE,...]",
    "claims": "a list of YAML files, claims=[FILE,...]",
    "boards": "a list of YAML files, boards=[FILE,...]",
}


def asked_files(arguments: Sequence[str], plugins: Sequence[str], key: str) -> tuple[list[str], list[str], list[str]]:
    """Sort arguments into names, those of them that are files of ``key`` (claims or boards), and checked settings."""
    names = [text for text in arguments if "=" not in text or Path(text).is_file()]
    files = [name for name in names if name.endswith(CLAIM_SUFFIXES)]
    settings = extended([text for text in arguments if text not in names], "plugins", plugins)
    return names, files, check_settings(extended(settings, key, files))


def asked_claims(arguments: Sequence[str], plugins: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Sort the arguments of a verb into ids of claims and settings, overrides of ``conf/plan.yaml``, each once.

    They are ids, papers (all their claims), patterns such as ``paper.thm*``, files of one's own claims (``.yaml``), and
    settings ``key=value``. Raises InputError for an unknown claim or setting, or no claim at all.
    """
    names, files, settings = asked_files(arguments, plugins, "claims")
    known = [*claim_ids(), *own_claims(listed_by(settings, "claims"))]
    ids: list[str] = []
    for name in names:
        found = fnmatch.filter(known, f"{name}.*" if name.isidentifier() else name)
        if not found and set(name) & set("*?[") and name not in files:
            raise InputError("claim", name, "a pattern that some claims match: `dpsco list claims` shows all")
        ids += own_claims([name]) if name in files else found or [find_claim_id(name, known)]
    if not ids:
        raise InputError("claim", "missing", "given" + "".join(f", e.g. {id}" for id in known[:1]))
    return list(dict.fromkeys(ids)), settings


def check_settings(overrides: Iterable[str]) -> list[str]:
    """Check the overrides of a claim and load their plugins.

    Raises InputError for another key than those of `SETTINGS`, one given twice, or a value that they do not take.
    """
    readers: dict[str, Callable[[list[str]], object]] = {
        "plugins": load_plugins,  # they come first: claims and boards may name what they register
        "claims": own_claims,
        "boards": own_boards,
    }
    given = single_values(overrides)
    for key, override in given.items():
        if key not in SETTINGS:
            raise InputError(
                key, override.text, f"one of the settings {', '.join(SETTINGS)}; claims are fixed by their files"
            )
        if not _fits(key, override.text):
            raise InputError(key, override.text, SETTINGS[key])
    for key, read in readers.items():
        if key in given:
            read(listed_files(given[key]))
    return [*map(str, given.values())]


def _fits(key: str, text: str) -> bool:
    if key == "seed":
        seed = parse_value(text)
        return isinstance(seed, int) and not isinstance(seed, bool) and seed >= 0
    return text in CHOICES[key] if key in CHOICES else bool(text)


def cell_weights(profile: str) -> Weigh:
    """Predict the time of each cell of a job: its share of the recorded time, else by the model."""
    from dpsco_bench.cli.verbs.gate import predictor

    predict = predictor(profile)

    def weigh(step: str, job: Job) -> list[float]:
        own = [LEAST_SECONDS + one for one in job.seconds] if step == "run" and any(job.seconds) else []
        own = own or [1.0] * len(job.cells)
        return [max(predict(step, job), LEAST_SECONDS) * one / sum(own) for one in own]

    return weigh


def run_claim(entry: ClaimEntry, measured: Measured) -> list[Verdict]:
    """Calibrate and run what the store lacks of a claim, a line on stderr for each job that is run, and judge it.

    In its verdicts ``runtime_s`` is the CPU time of the part's own run, NaN where it has none.
    """
    entry = measured.present(entry)
    weigh = cell_weights(next((job.profile for job in entry.jobs), ""))
    make_all(entry.jobs, measured, say, weigh, decide=decider([entry], measured))
    costs = {(job.part, job.calibration): measured.cost("run", job) for job in entry.jobs if job.has_run}
    rows = judge_claim(entry, measured.load, measured.decided)
    seconds = {place: cost[0] for place, cost in costs.items() if cost}
    return [replace(row, runtime_s=seconds.get((row.part, row.calibration), math.nan)) for row in rows]
