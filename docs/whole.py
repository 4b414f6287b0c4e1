"""Whole runs of two checkouts, side by side: `python docs/whole.py OLD NEW [PROFILE]...` writes docs/whole.json.

Each checkout has its `.venv`; its results are removed first. Both run `make replicate` at once, on one core each, so
that whatever else the machine does meets both. `python docs/benchmarks.py` puts what was found on its page.
`python docs/whole.py FOLDER` prints what the jobs of a checkout's last run took by stage.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from dpsco_bench.jsonio import dumps_pretty, loads, write_atomic

KEPT = Path(__file__).resolve().parent / "whole.json"


@dataclass(frozen=True)
class Whole:
    """Times of a whole run.

    Attributes
    ----------
    commit : str, of the checkout
    wall, cpu : float, seconds from the start of `make replicate` to its end, and of all processes that it waited for
    lines : int, what it printed
    stages : mapping, seconds by the clock of the jobs of each of `STAGES`, and of what is left beside them
    jobs : int, of Snakemake that had outputs
    cores : int, that it was given
    date : str, year first, the day on which it ended, by the clock of UTC
    """

    commit: str
    wall: float
    cpu: float
    lines: int
    stages: Mapping[str, float] = field(default_factory=dict)
    jobs: int = 0
    cores: int = 1
    date: str = field(default_factory=lambda: datetime.now(UTC).date().isoformat())


STAGES = {
    "calibrations": ("calibrate",),
    "runs": ("run", "time", "claim", "part", "rank"),
    "judging": ("judge", "verdict"),
    "figures and site": ("figure", "board_figure", "draw", "report", "write_site", "site"),
}
"""Stages of a workflow, with the prefixes of their rules' names."""
BESIDE = "plan and all else"


def stage_of(rule: str) -> str:
    named = {name: stage for stage, names in STAGES.items() for name in names}
    return named.get(rule) or named.get(rule.partition("_")[0]) or BESIDE


def noted_jobs(folder: Path) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """Begin and end of each output of the jobs of a run, from what Snakemake notes of them."""
    jobs: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for path in (folder / ".snakemake" / "metadata").rglob("*"):
        if path.is_file():
            noted = loads(path.read_text(encoding="utf-8"))
            job = (noted["rule"], noted["shellcmd"] or str(round(noted["starttime"])))
            jobs.setdefault(job, []).append((noted["starttime"], noted["endtime"]))
    return jobs


def of_jobs(folder: Path) -> dict[str, float]:
    """Seconds of the jobs of each stage: a job ends with its last output."""
    found = dict.fromkeys([*STAGES, BESIDE], 0.0)
    for (rule, _), times in noted_jobs(folder).items():
        found[stage_of(rule)] += max(ended for _, ended in times) - min(begun for begun, _ in times)
    return found


def stages(folder: Path, wall: float) -> dict[str, float]:
    """Seconds of each stage of a run on one core, and what the clock has beside its jobs."""
    found = of_jobs(folder)
    return found | {BESIDE: wall - sum(value for stage, value in found.items() if stage != BESIDE)}


def started(folder: Path, profile: str) -> tuple[subprocess.Popen[bytes], Path]:
    """`make replicate` from empty on one core, and where it prints to."""
    for left in ("results", f"figures/{profile}", ".snakemake"):
        shutil.rmtree(folder / left, ignore_errors=True)
    out = folder / f"whole-{profile}.log"
    command = ["make", "replicate", f"PROFILE={profile}", "CORES=1"]
    with out.open("wb") as stream:
        return subprocess.Popen(command, cwd=folder, stdout=stream, stderr=subprocess.STDOUT), out


def side_by_side(folders: list[Path], profile: str) -> list[Whole]:
    """Time both, in their order. Raises SystemExit where one fails."""
    begun = time.monotonic()
    running = {process.pid: (folder, out) for folder in folders for process, out in [started(folder, profile)]}
    found: dict[Path, Whole] = {}
    while running:
        pid, status, used = os.wait4(-1, 0)
        folder, out = running.pop(pid)
        if os.waitstatus_to_exitcode(status) != 0:
            sys.exit(f"{folder}: make replicate PROFILE={profile} failed; see {out}")
        commit = subprocess.check_output(["git", "rev-parse", "--short=8", "HEAD"], cwd=folder, text=True).strip()
        lines = len(out.read_text(encoding="utf-8", errors="replace").splitlines())
        wall = time.monotonic() - begun
        cpu = used.ru_utime + used.ru_stime
        found[folder] = Whole(commit, wall, cpu, lines, stages(folder, wall), len(noted_jobs(folder)))
    return [found[folder] for folder in folders]


def keep(path: Path, profile: str, before: Whole, after: Whole) -> None:
    """Write what both took into the file, and leave all else that it has, noted by hand."""
    kept = loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    kept[profile] = kept.get(profile, {}) | {"before": asdict(before), "after": asdict(after)}
    write_atomic(path, dumps_pretty(kept))


def main() -> None:
    if len(sys.argv) == 2:
        print(dumps_pretty({stage: round(value, 1) for stage, value in of_jobs(Path(sys.argv[1])).items()}))
        return
    old, new, *profiles = sys.argv[1:]
    for profile in profiles or ["smoke", "ci"]:
        before, after = side_by_side([Path(old).resolve(), Path(new).resolve()], profile)
        keep(KEPT, profile, before, after)
        print(f"{profile}: {before.cpu:.0f} s before, {after.cpu:.0f} s now, {after.cpu / before.cpu:.2f} of it")


if __name__ == "__main__":
    main()
