"""``dpsco claim ID... [--profile PROFILE]``: measure claims from their files to their verdicts.

Results lie in the store that the workflow uses too.
"""

from __future__ import annotations

import argparse
import fnmatch
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from dpsco_bench.analysis.answer import told
from dpsco_bench.analysis.judge import judge_claim
from dpsco_bench.analysis.stages import decider, staged
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.catalogue import claim_ids, find_claim_id
from dpsco_bench.claims.jobs import claim_plan, left_out, unmeasured
from dpsco_bench.claims.plan import ClaimEntry
from dpsco_bench.cli.console import add_shared, answer, labelled, say
from dpsco_bench.cli.overrides import asked_ids
from dpsco_bench.cli.verbs.gate import answers_text, predictor, recorded_rows, verdict_table
from dpsco_bench.errors import InputError
from dpsco_bench.execution.job_results import Measured
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.results import check_writable
from dpsco_bench.execution.worker import make_all
from dpsco_bench.registry import say_once

SUMMARY = "run claims end to end and print their verdicts"
EPILOG = """settings: seed=2017 backend=numpy backend.dtype=float64 backend.fused=true stages=true data.root=data
          plugins=[FILE,...] claims=[FILE,...]
A claim of one's own is given by its file: dpsco claim my_claim.yaml --plugin my_method.py
Finished jobs are kept in results/store, where the workflow finds them too, so an interrupted claim resumes.
A claim that does not hold is a result: the exit code is 0 whatever the verdict."""
LEAST_SECONDS = 0.02  # least seconds of a cell, beside its steps


def configure(parser: argparse.ArgumentParser) -> None:
    ids = "claims (`_` may stand for `.`), papers, patterns ('paper.thm*'), files, and settings key=value"
    parser.add_argument("ids", nargs="+", metavar="ID", help=ids)
    add_shared(parser, "profile", "json", "plugin")
    drawn = "draw each claim into this folder, as SVG and PDF"
    parser.add_argument("--figures", type=Path, metavar="FOLDER", help=drawn)


def execute(args: argparse.Namespace) -> int:
    """Plan all claims first, then run and judge them one by one."""
    files = Layout(args.profile)
    if args.figures:
        check_writable("--figures", args.figures / "figure.svg")
    ids, settings = asked_claims(args.ids, args.plugin)
    entries = [staged(claim_plan(id, args.profile, settings)) for id in ids]
    if not any(entry.claim.parts for entry in entries):
        raise unmeasured(args.profile, [entry.id for entry in entries])
    rows, drawn = list[Verdict](), list[Path]()
    for entry in entries:
        found = run_claim(entry, files.measured) if entry.claim.parts else []
        if not found:
            say_once(unmeasured(args.profile, [entry.id]))
        elif args.figures:
            from dpsco_bench.report.figures import write_claim_figures
            from dpsco_bench.report.inputs import ClaimResults

            drawn += write_claim_figures(ClaimResults(files.measured.present(entry), files, found), args.figures)
        rows += found
    beside = recorded_rows(args.profile)
    return answer(args.json, told(rows, beside), _screen(rows, beside, args.profile, settings, drawn))


def asked_claims(arguments: Sequence[str], plugins: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Sort arguments into ids of claims and settings, each once. Raises InputError for an unknown one, or no claim."""

    def find(name: str, known: list[str]) -> list[str]:
        return fnmatch.filter(known, f"{name}.*" if name.isidentifier() else name) or [find_claim_id(name, known)]

    ids, known, settings = asked_ids(arguments, plugins, "claims", claim_ids(), find)
    if not ids:
        raise InputError("claim", "missing", "given" + "".join(f", e.g. {id}" for id in known[:1]))
    return ids, settings


def run_claim(entry: ClaimEntry, measured: Measured) -> list[Verdict]:
    """Calibrate and run what the store lacks of a claim, a line on stderr for each job that is run, and judge it.

    In its verdicts ``runtime_s`` is the CPU time of the part's own run, NaN where it has none.
    """
    entry = measured.present(entry)
    make_all(entry.jobs, measured, say, weigh, decide=decider([entry], measured))
    run = ((job, measured.cost("run", job)) for job in entry.jobs if job.has_run)
    seconds = {(job.part, job.calibration): cost[0] for job, cost in run if cost}
    rows = judge_claim(entry, measured.load, measured.decided)
    return [replace(row, runtime_s=seconds.get((row.part, row.calibration), math.nan)) for row in rows]


def weigh(step: str, job: Job) -> list[float]:
    """Predict the time of each cell of a job: its share of the recorded time, else by the model."""
    own = [LEAST_SECONDS + one for one in job.seconds] if step == "run" and any(job.seconds) else []
    own = own or [1.0] * len(job.cells)
    return [max(predictor(job.profile)(step, job), LEAST_SECONDS) * one / sum(own) for one in own]


def _screen(
    rows: list[Verdict], beside: list[Verdict], profile: str, settings: list[str], drawn: list[Path]
) -> Iterator[str]:
    """Give the answers of each claim, its rows, and every row's reasons."""
    yield answers_text(rows, beside) + "\n"
    yield verdict_table(rows, privacy=True)
    yield f"profile {profile}" + "; --profile full has the complete replication's sizes" * (profile != "full")
    ids = dict.fromkeys(row.id for row in rows)
    remarks = [
        (f"{row.id} " * (len(ids) > 1) + f"{row.part} [{row.calibration}]", note)
        for row in rows
        for note in (row.sentence, _noise_off(row), *row.reservations, *row.notes)
        if note
    ]
    yield from [""] if remarks else []
    without = ((id, left_out(id, profile, settings)) for id in ids)
    remarks += [(id, f"profile {profile} has no values for {', '.join(others)}") for id, others in without if others]
    yield from (labelled(f"{place}:", note, 2 + len(place)) for place, note in remarks)
    yield from (f"figure: {path}" for path in drawn)


def _noise_off(row: Verdict) -> str:
    """Say what the schedule does alone, beside each slope that was measured with noise."""
    if math.isnan(row.noise_off_slope):
        return ""
    share = row.noise_off_share
    return f"without noise: slope {row.noise_off_slope:.2f}" + (f", {share:.2g} of the risk" if share else "")
