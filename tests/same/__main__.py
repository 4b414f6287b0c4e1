"""Hold a finished run of ci against the record, after an edit that should change no number: ``make same``.

Judges every claim anew from the store and compares every recorded field of every row; runs 20 cells and the jobs of
profile smoke anew and compares bytes; builds the site's tables and compares them byte for byte; compares the
transcripts of README and docs. ``--all`` runs every job of ci anew in place of the cells; ``--whole`` runs every job to
its end in place of all else and names the words that stages changed; ``--record`` records the bytes of cells and tables
(words are recorded by ``dpsco compare --record``).
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

from dpsco_bench.analysis.evidence import job_cells
from dpsco_bench.analysis.judge import judge_claim
from dpsco_bench.analysis.record import record
from dpsco_bench.analysis.stages import near
from dpsco_bench.claims.catalogue import claim_ids
from dpsco_bench.claims.plan import read_plan
from dpsco_bench.execution.jobs import PILOT, Job, stage_end
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.results import without_names
from dpsco_bench.execution.worker import make_all
from dpsco_bench.jsonio import dumps_canonical, loads

from . import cells, points

TABLES = Path(__file__).with_name("tables.json")
SMOKE = Path(__file__).with_name("smoke.json")
SCREENS = ("tests/cli/test_readme.py", "tests/cli/test_listings.py")
SHOWN = 20


def rows_of(text):
    """Rows of a record, by claim, part and noise."""
    return {(row["id"], row["part"], row["calibration"]): row for row in json.loads(text)}


def words(files, folder):
    """Judge all claims of a finished run anew; a line for each field that is not the recorded one."""
    plan, measured, found = read_plan(files.plan), files.measured, []
    for entry in plan.claims:
        found += judge_claim(measured.present(entry), measured.load, measured.decided)
    record(folder / "rows.json", found)
    now = rows_of((folder / "rows.json").read_text())
    was = rows_of(Path(f"workflows/recorded/{files.profile}.json").read_text())
    print(f"  {len(now)} rows of {len(plan.claims)} claims judged anew")
    for name in sorted(now.keys() | was.keys()):
        one, other = was.get(name, {}), now.get(name, {})
        for field in sorted(one.keys() | other.keys()):
            if one.get(field) != other.get(field):
                yield f"{' '.join(name)}: {field} {one.get(field)} -> {other.get(field)}"


def anew(text, blocks=None):
    """Run a job, given as JSON, or some of its blocks, without the store."""
    job = Job.from_json(loads(text))
    return job.title, cells.digested(job, blocks)


def every_job(files):
    """Run every job of a profile anew; a line for each whose stored table has other bytes."""
    jobs = [job for job in read_plan(files.plan).jobs() if job.has_run and not job.skipped]
    jobs = list({(job.key, job.decisions): job for job in jobs}.values())
    decided = [files.measured.decided(job) for job in jobs]
    blocks = [found and found.up_to(job) for job, found in zip(jobs, decided, strict=True)]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for job, (title, now) in zip(jobs, pool.map(anew, map(dumps_canonical, jobs), blocks), strict=True):
            stored = files.measured.table(job)
            if stored is None:
                yield f"{title}: not in the store"
            elif cells.of_table(without_names(stored))["sha256"] != now["sha256"]:
                yield f"{title}: other bytes than in the store"


def whole(files):
    """Run all replicates of every claim; a line for each word that is not that of the finished run."""
    entries, measured = read_plan(files.plan).claims, files.measured
    for entry in map(measured.present, entries):
        full = replace(entry, jobs=tuple(replace(job, group="", decisions="", pilot=False) for job in entry.jobs))
        make_all(full.jobs, measured, print)
        now, was = (judge_claim(one, measured.load, measured.decided) for one in (full, entry))
        for row, staged in zip(now, was, strict=True):
            if row.verdict != staged.verdict:
                yield f"{row.id} {row.part} [{row.calibration}]: {staged.verdict}, {row.verdict} where all is run"
        for job, own in zip(full.jobs, entry.jobs, strict=True):
            part = entry.claim.part(job.part)
            if own.decisions and part.rules.asks(part) and has_rare_cells(own, job_cells(job, *measured.load(job))):
                yield f"{job.title}: few replicates have the values that move a mean; its file needs `stages: none`"


def has_rare_cells(job, cells):
    """Tell whether a first look, of the pilot or the first stage, misleads at a signal that can be the worst one."""
    grids = {}
    for cell in cells:
        grids.setdefault((cell.entry.method, cell.entry.value), []).append(cell.risks)
    size = PILOT if job.pilot else stage_end(job, 1)
    kept = [risks for grid in grids.values() for risks, goes_on in zip(grid, near(grid), strict=True) if goes_on]
    return any(has_rare(risks.ravel(), size) for risks in kept)


def has_rare(values, size, samples=400):
    """Tell whether over 5 % of samples have means more than 5 %, and three normal errors by their own, from all."""
    numbers = np.tile(np.arange(len(values)), (samples, 1))
    own = values[np.random.default_rng(0).permuted(numbers, axis=1)[:, :size]]
    off, errors = np.abs(own.mean(axis=1) - values.mean()), own.std(axis=1, ddof=1) / size**0.5
    return bool(((off > 0.05 * abs(values.mean())) & (off > stdtrit(size - 1, 0.99865) * errors)).mean() > 0.05)


def smoke(keep):
    """Run the jobs of profile smoke anew; a line for each that is not as recorded."""
    jobs = [job for id in claim_ids() for job in cells.planned(id, "smoke") if job.has_run and not job.skipped]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = dict(pool.map(anew, map(dumps_canonical, jobs)))
    print(f"  {len(found)} jobs run anew")
    return kept(SMOKE, cells.about(found), keep)


def kept(path, now, keep):
    """Compare bytes with the record, or record them."""
    if keep:
        path.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n")
        return []
    return cells.differences(json.loads(path.read_text()), now)


def tables(files, keep):
    """Build the site; a line for each of its tables that is not as recorded, on the recording machine alone."""
    subprocess.run([sys.executable, "-m", "dpsco_bench", "site", "--profile", files.profile], check=True, stdout=-3)
    made = [p for p in sorted((files.results / "tables").glob("*.csv")) if p.stem != "jobs"]  # which tells times
    found = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in made}
    print(f"  {len(found)} tables of the site")
    now = {"machine": cells.machine(), "tables": found}
    if keep:
        TABLES.write_text(json.dumps(now, indent=1) + "\n")
    was = json.loads(TABLES.read_text())
    if was["machine"] != now["machine"]:
        print(f"  recorded on another machine ({was['machine']}): not compared")
        return []
    names = sorted(was["tables"].keys() | found.keys())
    return [f"{name}: other bytes" for name in names if was["tables"].get(name) != found.get(name)]


def screens():
    """Compare the transcripts of README and docs with what the verbs print."""
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", *SCREENS], capture_output=True, text=True)
    return [] if done.returncode == 0 else done.stdout.splitlines()[-SHOWN:]


def main():
    """Run all comparisons; exit code 1 where one differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.same", description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="run every job of ci anew")
    parser.add_argument("--whole", action="store_true", help="run every job to its end, and compare words")
    parser.add_argument("--record", action="store_true", help="record the bytes of cells and tables")
    asked, files = parser.parse_args(), Layout("ci")
    if not files.plan.is_file():
        parser.error("needs a finished run of ci: make replicate")
    folder = files.results / "same"
    folder.mkdir(exist_ok=True)
    steps = {
        "words and numbers": lambda: words(files, folder),
        "tables of the site": lambda: tables(files, asked.record),
        "bytes of 20 cells": lambda: kept(cells.RECORD, cells.fresh(), asked.record),
        "numbers at points": lambda: points.compared(asked.record),
        "transcripts": screens,
        "bytes of smoke": lambda: smoke(asked.record),
    }
    if asked.whole:
        steps = {"words where all replicates are run": lambda: whole(files)}
    if asked.all:
        steps = {"bytes of every job of ci": lambda: every_job(files)}
    with ThreadPoolExecutor(2) as pool:  # most of their work is done by processes of their own
        return int(any([*pool.map(done, steps, steps.values())]))


def done(name, step):
    """Do a step and tell its differences; whether there are any."""
    begun, lines = time.monotonic(), list(step())
    said = [f"{name}: {len(lines) or 'no'} differences, {time.monotonic() - begun:.0f} s", *lines[:SHOWN]]
    print("\n  ".join(said), flush=True)
    return bool(lines)


if __name__ == "__main__":
    raise SystemExit(main())
