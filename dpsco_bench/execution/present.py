"""Jobs that cannot run here, but whose finished results are there: those are kept, and judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dpsco_bench.execution.layout import has_run, stored_json

Job = Mapping[str, Any]


def present_results(
    entry: Mapping[str, Any], calibrations: Callable[[Job], Path], runs: Callable[[Job], Path]
) -> dict[str, Any]:
    """A plan's entry in which no job counts as skipped whose results are there under the very key that it has now.

    Data may be absent here and now; a result that was made with them is still the job's result.

    Parameters
    ----------
    entry : mapping
        ``{"claim": ..., "jobs": [...]}``.
    calibrations, runs : callable
        Job -> where its calibrations and its result table would lie.

    Returns
    -------
    dict
        The entry; such jobs have an empty ``skipped``, and the reason why they could not run under ``present``.
    """
    return {**entry, "jobs": [_present(job, calibrations, runs) for job in entry["jobs"]]}


def _present(job: Job, calibrations: Callable[[Job], Path], runs: Callable[[Job], Path]) -> Job:
    if not job["skipped"]:
        return job
    stored = stored_json(calibrations(job))
    there = stored.get("key") == job["calibration_key"] and len(stored.get("cells", ())) == len(job["cells"])
    if there and has_run(job):
        there = stored_key(runs(job)) == job["key"]
    return {**job, "skipped": "", "present": job["skipped"]} if there else job


def stored_key(path: Path) -> str:
    """Key of the job that wrote a result table; empty for a skipped job's table, or none."""
    if not path.is_file():
        return ""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from dpsco_bench.jsonio import loads

    try:
        metadata = pq.read_schema(path).metadata or {}
    except (OSError, pa.ArrowInvalid):
        return ""
    return str(loads(metadata.get(b"dpsco.job", b"{}").decode()).get("key", ""))
