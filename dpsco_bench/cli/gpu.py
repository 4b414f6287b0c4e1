"""What a machine with a GPU is handed, and what it finds: runs on the card against runs on a core.

The pack has plans and calibrated scales, so that the other machine needs neither Hydra nor an accountant nor a network.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dpsco_bench.analysis.judge import judge_claim
from dpsco_bench.claims.plan import ClaimEntry, WorkPlan, read_plan
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.job import execute
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.timing import machine
from dpsco_bench.execution.worker import make
from dpsco_bench.jsonio import dumps_pretty, write_atomic

PROFILES = ("smoke", "ci")
SCALES = "scales.json"
"""Of the contract suite's cases, in the pack."""
SCALES_OF_TESTS = "DPSCO_SCALES"
"""Environment variable: the file with them."""
TESTS = ("tests/device/test_draws.py", "tests/contract/test_gpu.py")
MINUTES = 20
SHARES = {"tests": 0.4, "bench": 0.15, "verdicts": 0.4}
"""Of the time."""


def write_pack(
    folder: Path, papers: tuple[str, ...], planned: Callable[[str], WorkPlan], say: Callable[[str], None]
) -> None:
    """Write plans of the papers' claims, with calibrations, and result tables where the store has them.

    Parameters
    ----------
    papers : names of papers
    planned : callable, the plan of a profile
    say : callable, shown a line for each step
    """
    for profile in PROFILES:
        plan = planned(profile)
        claims = tuple(entry for entry in plan.claims if entry.paper in papers)
        here, there = Layout(profile), Layout(profile, folder)
        taken = 0
        for job in (job for entry in claims for job in entry.jobs if not job.skipped):
            make("calibrate", job, here.measured)
            for kind, key in (("calibrations", job.calibration_key), ("runs", job.key)):
                content = here.measured.store.read(kind, key)
                if content is not None:
                    there.measured.store.write(kind, key, content, here.measured.store.costs(kind, key))
                    taken += kind == "runs"
        replace(plan, claims=claims, boards=()).write(there.plan)
        say(f"{profile}: {len(claims)} claims, {taken} result tables")
    _pytest("-k", "scales_travel", "tests/device/test_pack.py", seconds=600.0, scales=folder / SCALES)
    say(f"pack: {folder}")


def check(folder: Path, out: Path, minutes: float, say: Callable[[str], None]) -> bool:
    """Do all that a machine with a GPU can be asked, and write what it finds to ``out``; whether nothing failed."""
    import cupy

    if not (folder / SCALES).is_file():
        raise InputError("pack", str(folder), "a folder written by `make gpu-pack`")
    begin, seconds = time.monotonic(), 60.0 * minutes
    found: dict[str, Any] = {"machine": {**machine("cupy"), **_card(cupy)}}
    write_atomic(out, dumps_pretty(found))
    found["tests"] = _tests(folder, SHARES["tests"] * seconds)
    say(f"tests: {found['tests']['said']}")
    write_atomic(out, dumps_pretty(found))
    found["bench"] = _bench(cupy, time.monotonic() + SHARES["bench"] * seconds)
    for row in found["bench"]["G8"]:
        say(f"G8: {row['replicates']} x {row['d']}: {row['us']:.3f} us a step, goal {row['goal']}")
    found["verdicts"] = []
    for row in verdicts(folder, begin + 0.95 * seconds):
        found["verdicts"].append(row)
        write_atomic(out, dumps_pretty(found))
        if not row.get("same"):
            say(f"{row['profile']} {row['claim']}: {row.get('left_out') or row.get('failed') or 'other words'}")
    found["peak_memory_mb"] = cupy.get_default_memory_pool().total_bytes() / 2**20
    found["seconds"] = time.monotonic() - begin
    write_atomic(out, dumps_pretty(found))
    good = found["tests"]["passed"] and all(row.get("same", "left_out" in row) for row in found["verdicts"])
    say(f"{out}: {'nothing failed' if good else 'something failed'}, {found['seconds']:.0f} s")
    return bool(good)


def _card(cupy: Any) -> dict[str, Any]:
    free, total = cupy.cuda.Device().mem_info
    runtime = cupy.cuda.runtime
    return {
        "memory_gb": total / 2**30,
        "free_gb": free / 2**30,
        "driver": getattr(runtime, "driverGetVersion", int)(),
        "runtime": getattr(runtime, "runtimeGetVersion", int)(),
    }


def _pytest(*arguments: str, seconds: float, scales: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, SCALES_OF_TESTS: str(scales.resolve())}
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=environment)
    if done.returncode not in (0, 1):
        raise DpscoError(f"tests: {' '.join((done.stdout + done.stderr).split())[-400:]}")
    return done


def _tests(folder: Path, seconds: float) -> dict[str, Any]:
    """The tests that are for a card, by pytest."""
    try:
        done = _pytest("-m", "gpu", *TESTS, seconds=seconds, scales=folder / SCALES)
    except subprocess.TimeoutExpired:
        return {"passed": False, "said": f"not done in {seconds:.0f} s"}
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return {"passed": done.returncode == 0, "said": lines[-1] if lines else "", "failed": failed}


def _bench(cupy: Any, deadline: float) -> dict[str, Any]:
    from dpsco_bench.bench.card import crossover, goal_rows

    return {"G8": goal_rows(cupy), "crossover": crossover(cupy, np, deadline)}


def verdicts(folder: Path, deadline: float) -> Iterator[dict[str, Any]]:
    """Of each claim in the pack its words by a core and by a card, the quickest first, until the clock says so."""
    took = thought = 0.0  # what is predicted counts for more where it has been too little
    for profile in PROFILES:
        files = Layout(profile, folder)
        claims = [files.measured.present(entry) for entry in read_plan(files.plan).claims]
        for entry in sorted(claims, key=_predicted):
            row, start, predicted = {"profile": profile, "claim": entry.id}, time.monotonic(), _predicted(entry)
            if start + predicted * max(1.0, took / max(thought, 1.0)) > deadline:
                yield {**row, "left_out": "no time left"}
                continue
            try:
                yield {**row, **_compared(entry, files)}
            except Exception as error:
                yield {**row, "same": False, "failed": " ".join(f"{type(error).__name__}: {error}".split())}
            took, thought = took + time.monotonic() - start, thought + predicted


def _predicted(entry: ClaimEntry) -> float:
    """Seconds of a claim's runs on a core; those on the card are thought to take as long."""
    return 2.0 * sum(sum(job.seconds) for job in entry.jobs if job.has_run)


def _compared(entry: ClaimEntry, files: Layout) -> dict[str, Any]:
    """Words by both, the largest difference of a risk in units of the part's largest, and what both took."""
    apart, seconds, tables = 0.0, {"numpy": 0.0, "cupy": 0.0}, dict[tuple[str, str], Any]()
    for job in (job for job in entry.jobs if job.has_run and not job.skipped):
        for backend in seconds:
            start = time.monotonic()
            tables[job.key, backend] = _table(job, files, backend)
            seconds[backend] += time.monotonic() - start
        risks = [np.asarray(tables[job.key, backend]["risk"], dtype=np.float64) for backend in seconds]
        apart = max(apart, float(np.abs(risks[1] - risks[0]).max(initial=0.0) / np.abs(risks[0]).max(initial=1e-300)))

    def words(backend: str) -> list[str]:
        rows = judge_claim(entry, lambda job: (tables.get((job.key, backend)), files.measured.calibrations(job) or ()))
        return [f"{row.part} [{row.calibration}]: {row.verdict}" for row in rows]

    core, card = words("numpy"), words("cupy")
    took = {"core_s": seconds["numpy"], "card_s": seconds["cupy"]}
    return {"same": core == card, "words": core, "other": [w for w in card if w not in core], "apart": apart, **took}


def _table(job: Job, files: Layout, backend: str) -> Any:
    calibrations = files.measured.calibrations(job)
    if calibrations is None:
        raise InputError("calibrations", job.title, "in the pack")
    known = files.measured.table(job) if backend == "numpy" else None
    return execute(replace(job, backend=backend), calibrations) if known is None else known


def markdown(found: dict[str, Any]) -> str:
    """The report as a page."""
    about = found["machine"]
    lines = [
        "# GPU report",
        "",
        f"{about['device']}, {about['memory_gb']:.0f} GB, CuPy {about['cupy']}, NumPy {about['numpy']}, driver "
        f"{about['driver']}, runtime {about['runtime']}; {about['processor']}.",
        "",
        f"Tests: {found['tests']['said']}.",
        "",
        "| replicates | d | us a step | goal |",
        "| ---: | ---: | ---: | ---: |",
        *(f"| {r['replicates']} | {r['d']} | {r['us']:.3f} | {r['goal']} |" for r in found["bench"]["G8"]),
        "",
        "| replicates | d | us a step on the card | on one core |",
        "| ---: | ---: | ---: | ---: |",
        *(
            f"| {r['replicates']} | {r['d']} | {r['card_us']:.2f} | {r['core_us']:.2f} |"
            for r in found["bench"]["crossover"]
        ),
        "",
    ]
    same = [row for row in found["verdicts"] if row.get("same")]
    left = [row for row in found["verdicts"] if "left_out" in row]
    lines.append(f"Claims: {len(same)} of {len(found['verdicts'])} with the words of a core, {len(left)} left out.")
    for row in found["verdicts"]:
        if not row.get("same") and row not in left:
            lines.append(f"* {row['profile']} {row['claim']}: {row.get('failed') or '; '.join(row['other'])}")
    if same:
        lines.append(f"Their risks differ by at most {max(row['apart'] for row in same):.1e} of the largest.")
    lines += ["", f"Peak memory {found['peak_memory_mb']:.0f} MB; {found['seconds']:.0f} s in all.", ""]
    return "\n".join(lines)


def report(path: Path) -> str:
    """The page of a report that `check` wrote."""
    return markdown(json.loads(path.read_text(encoding="utf-8")))
