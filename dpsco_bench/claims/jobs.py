"""From a claim's part to resolved jobs: pure data, and the key that names what affects their numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.claims.model import Claim, Method, Part
from dpsco_bench.errors import InputError
from dpsco_bench.execution.cell import check_data_sets, located, pinned, without_places
from dpsco_bench.execution.digest import code_digest
from dpsco_bench.execution.library import check_sampled
from dpsco_bench.execution.rounds import NO_ROUNDS, OBSERVERS
from dpsco_bench.jsonio import dumps_canonical
from dpsco_bench.problems.registry import problem_class

NOISE_OFF_REPLICATES = 4
WORKER_MODULES = ("dpsco_bench.execution.job",)
CALIBRATION_MODULES = ("dpsco_bench.execution.calibration",)
UNTIMED = ("ci",)
"""Profiles whose runs are too small for figures with a time axis; a timing job has the machine to itself."""
CELL_FIELDS = ("n", "d", "epsilon", "delta")
SWEPT = (*CELL_FIELDS, "problem", "algorithm")


def part_jobs(claim: Claim, part: Part, profile: str, settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Jobs of one part: one per judged calibration, and for rates the noise-off companion, where it is not judged.

    Parameters
    ----------
    claim, part
        What to measure.
    profile : str
        ``smoke``, ``ci`` or ``full``.
    settings : mapping
        ``seed``, ``backend``, ``dtype``, ``data_root``, ``plugins``.

    Returns
    -------
    list of dict
        Resolved jobs with their ``key`` and ``calibration_key``.
    """
    jobs = [_job(claim, part, profile, calibration, settings) for calibration in part.calibrations]
    if part.has_companion and "none" not in part.calibrations:
        jobs.append(_job(claim, part, profile, "none", settings))
    return jobs


def _job(claim: Claim, part: Part, profile: str, calibration: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    replicates = int(part.replicates.get(profile, 1))
    if calibration == "none" and "none" not in part.calibrations:
        replicates = min(replicates, NOISE_OFF_REPLICATES)
    job: dict[str, Any] = {
        "claim": claim.id,
        "part": part.id,
        "kind": part.kind,
        "calibration": calibration,
        "profile": profile,
        "seed": settings["seed"],
        "backend": settings["backend"],
        "dtype": settings["dtype"],
        "replicates": replicates,
        "data_sets": int(part.data_sets.get(profile, 1)),
        "charged": part.runs or part.rules.charged,
        "evaluation": part.evaluation if part.runs else "plan_only",
        "record": part.record,
        "rounds": part.rounds,
        "timing": part.timing and calibration != "none" and profile not in UNTIMED,
        "plugins": list(settings["plugins"]),
        "data_root": settings["data_root"],
        "cells": [],
    }
    for method in part.methods:
        for number in range(len(part.sweep.values[profile])):  # type: ignore[union-attr]
            cell = _cell(part, method, profile, calibration, number)
            for signal in part.signals.get(profile, [None]):
                found = pinned(cell if signal is None else _at_signal(part, cell, signal), job["data_root"])
                job["cells"].append({"cell": len(job["cells"]), **found})
    return finished(job)


def finished(job: dict[str, Any]) -> dict[str, Any]:
    """A job with its reason to be skipped, if any, and the keys of its calibrations and of its numbers."""
    job["skipped"] = _skip_reason(job)
    job["calibration_key"] = _digest(
        _numbers(job, calibrating=True), _modules(job, CALIBRATION_MODULES), job["plugins"]
    )
    job["key"] = _digest(_numbers(job, calibrating=False), _modules(job, WORKER_MODULES), job["plugins"])
    return job


def _at_signal(part: Part, cell: Mapping[str, Any], signal: float) -> dict[str, Any]:
    """A cell at one value of its problem's signal."""
    option = problem_class(part.problem).signal_option
    if not option or option in cell["problem_options"]:
        allowed = f"without, and {option} not given otherwise" if option else f"none: {part.problem} has no free signal"
        raise InputError(f"signals of {part.id}", list(part.signals), allowed)
    options = {**cell["problem_options"], option: float(signal)}
    return {**cell, "problem_options": options, "signal": float(signal)}


def _cell(part: Part, method: Method, profile: str, calibration: str, number: int) -> dict[str, Any]:
    assert part.sweep is not None
    value = part.sweep.values[profile][number]
    options = {**method.options, **method.profile_options.get(profile, {})}
    cell: dict[str, Any] = {
        "method": method.label or method.algorithm.split(".")[-1],
        "algorithm": method.algorithm,
        "variant": method.variant or _judged_variant(part, method, calibration),
        "options": {k: v for k, v in options.items() if v is not None},
        "problem": part.problem,
        "problem_options": dict(part.problem_options),
        "parameter": part.sweep.parameter.split(".")[-1],
        "value": float(value),
    }
    cell.update({k: v[profile] if isinstance(v, Mapping) else v for k, v in part.fixed.items()})
    if not part.along or part.sweep.parameter.split(".")[0] in SWEPT:
        _set(part, cell, part.sweep.parameter, value)
    for key, values in part.along.items():
        _set(part, cell, key, values[profile][number])
    return cell


def _set(part: Part, cell: dict[str, Any], key: str, value: float) -> None:
    """Put a swept value in its place."""
    target, _, option = key.partition(".")
    if target in CELL_FIELDS and not option:
        if target in ("n", "d") and not float(value).is_integer():
            raise InputError(f"sweep of {part.id}: {target}", value, "an integer >= 1")
        cell[target] = int(value) if target in ("n", "d") else float(value)
    elif target in ("problem", "algorithm") and option:
        cell["problem_options" if target == "problem" else "options"][option] = value
    else:
        allowed = "n, d, epsilon, delta, problem.<option> or algorithm.<option>"
        raise InputError(f"sweep parameter of {part.id}", key, allowed)


def _judged_variant(part: Part, method: Method, calibration: str) -> str:
    """The variant of a calibration; noise-off runs take that of the first judged one with noise, if it allows."""
    judged = [other for other in part.calibrations if other != "none"] or ["none"]
    entry = get_algorithm(method.algorithm)
    variant = entry.variant_for(judged[0] if calibration == "none" else calibration)
    return variant if calibration in entry.variants[variant] else entry.variant_for(calibration)


def _skip_reason(job: Mapping[str, Any]) -> str:
    """Why a job cannot run here (absent data), or an empty string."""
    for name in sorted({cell["problem"] for cell in job["cells"]}):
        reason = problem_class(name).unavailable(Path(job["data_root"]))
        if reason:
            return reason
    return ""


_NOT_NUMBERS = ("profile", "claim", "part", "plugins", "data_root", "timing", "kind", "skipped")


def _numbers(job: Mapping[str, Any], calibrating: bool) -> dict[str, Any]:
    """What affects the numbers: neither names, places nor profile; for a calibration neither replicates nor backend.

    Nor whether the data are here: a result that was made with them is the job's result wherever it is judged.
    """
    kept = {k: v for k, v in job.items() if k not in _NOT_NUMBERS}
    kept["cells"] = [without_places(cell) for cell in job["cells"]]
    if calibrating:
        for key in ("replicates", "data_sets", "backend", "dtype", "record", "rounds"):
            kept.pop(key)
    else:
        kept["calibration_key"] = kept.pop("calibration_key")
    return kept


def _modules(job: Mapping[str, Any], base: Iterable[str]) -> Iterator[str]:
    """Modules that a job uses: those of the worker, of its algorithms and of its problems."""
    yield from base
    for cell in job["cells"]:
        yield from get_algorithm(cell["algorithm"]).modules(cell["options"])
        yield problem_class(cell["problem"]).__module__
        observer = job["rounds"] or get_algorithm(cell["algorithm"]).rounds
        if observer not in ("", NO_ROUNDS):
            yield OBSERVERS.module(observer)


def _digest(numbers: Mapping[str, Any], modules: Iterable[str], plugins: Iterable[str]) -> str:
    code = code_digest(set(modules), [Path(p) for p in plugins])
    return hashlib.sha256(dumps_canonical({"numbers": numbers, "code": code}).encode()).hexdigest()[:32]


def check_job(job: Mapping[str, Any]) -> None:
    """Refuse an impossible job before anything runs: every cell's plan is made once.

    Raises
    ------
    InputError, Refusal
        As the cell's plan raises them.
    """
    if job["skipped"]:
        return
    for entry in job["cells"]:
        check_data_sets(entry["problem"], job["data_sets"])
        cell = located(entry, job["data_root"])
        cell.problem_entry.check_records(cell.n)
        if job["evaluation"] == "run":
            check_sampled(cell)
        if not cell.problem_entry.data_dependent_constants:
            cell.plan(job["calibration"], job["seed"])
