"""``dpsco claim ID... [--profile PROFILE]``: measure claims from their files to their verdicts."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from dpsco_bench.analysis.answer import told
from dpsco_bench.analysis.stages import staged
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.jobs import check_profile, claim_plan, left_out, unmeasured
from dpsco_bench.claims.plan import ClaimEntry
from dpsco_bench.cli.claiming import asked_claims, run_claim
from dpsco_bench.cli.console import add_shared, labelled, print_json
from dpsco_bench.cli.verbs.gate import answers_text, recorded_rows, verdict_table
from dpsco_bench.execution.layout import Layout
from dpsco_bench.execution.results import check_writable
from dpsco_bench.registry import say_once

SUMMARY = "run claims end to end and print their verdicts"
EPILOG = """settings: seed=2017 backend=numpy backend.dtype=float64 backend.fused=true stages=true data.root=data
          plugins=[FILE,...] claims=[FILE,...]
A claim of one's own is given by its file: dpsco claim my_claim.yaml --plugin my_method.py
Finished jobs are kept in results/store, where the workflow finds them too, so an interrupted claim resumes.
A claim that does not hold is a result: the exit code is 0 whatever the verdict."""


def configure(parser: argparse.ArgumentParser) -> None:
    ids = "claims (`_` may stand for `.`), papers, patterns ('paper.thm*'), files, and settings key=value"
    parser.add_argument("ids", nargs="+", metavar="ID", help=ids)
    add_shared(parser, "profile", "json", "plugin")
    drawn = "draw each claim into this folder, as SVG and PDF"
    parser.add_argument("--figures", type=Path, metavar="FOLDER", help=drawn)


def execute(args: argparse.Namespace) -> int:
    """Plan all claims first, then run and judge them one by one."""
    check_profile(args.profile)
    if args.figures:
        check_writable("--figures", args.figures / "figure.svg")
    ids, settings = asked_claims(args.ids, args.plugin)
    measured = Layout(args.profile).measured
    entries = [staged(claim_plan(id, args.profile, settings)) for id in ids]
    if not any(entry.claim.parts for entry in entries):
        raise unmeasured(args.profile, [entry.id for entry in entries])
    rows: list[Verdict] = []
    drawn: list[Path] = []
    for entry in entries:
        found = run_claim(entry, measured) if entry.claim.parts else []
        if not found:
            say_once(unmeasured(args.profile, [entry.id]))
        rows += found
        drawn += _drawn(entry, found, args) if args.figures and found else []
    if args.json:
        print_json(told(rows, recorded_rows(args.profile)))
    else:
        _print(rows)
        for id in dict.fromkeys(row.id for row in rows):
            if others := left_out(id, args.profile, settings):
                print(labelled(f"{id}:", f"profile {args.profile} has no values for {', '.join(others)}", 2 + len(id)))
        for path in drawn:
            print(f"figure: {path}")
    return 0


def _drawn(entry: ClaimEntry, rows: list[Verdict], args: argparse.Namespace) -> list[Path]:
    from dpsco_bench.report.figures import write_claim_figures
    from dpsco_bench.report.inputs import ClaimResults

    files = Layout(args.profile)
    return write_claim_figures(ClaimResults(files.measured.present(entry), files, rows), args.figures)


def _print(rows: list[Verdict]) -> None:
    """Print the answers of each claim, its rows, and every row's reasons."""
    (profile,) = {row.profile for row in rows}
    print(answers_text(rows, recorded_rows(profile)) + "\n")
    print(verdict_table(rows, privacy=True))
    print(f"profile {profile}" + "; --profile full has the complete replication's sizes" * (profile != "full"))
    several = len({row.id for row in rows}) > 1
    remarks = [
        (f"{row.id} " * several + f"{row.part} [{row.calibration}]", note)
        for row in rows
        for note in (row.sentence, _noise_off(row), *row.reservations, *row.notes)
        if note
    ]
    if remarks:
        print()
    for place, note in remarks:
        print(labelled(f"{place}:", note, 2 + len(place)))


def _noise_off(row: Verdict) -> str:
    """Say what the schedule does alone, beside each slope that was measured with noise."""
    if math.isnan(row.noise_off_slope):
        return ""
    share = row.noise_off_share
    return f"without noise: slope {row.noise_off_slope:.2f}" + (f", {share:.2g} of the risk" if share else "")
