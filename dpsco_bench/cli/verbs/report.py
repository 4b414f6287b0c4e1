"""Verb `report`: the HTML page of a profile, and its tables as Markdown, CSV and LaTeX."""

from __future__ import annotations

import argparse
from pathlib import Path

from dpsco_bench.cli.options import add_json
from dpsco_bench.cli.output import print_json
from dpsco_bench.errors import checked_count

SUMMARY = "the report of a profile: one HTML page, and tables as Markdown, CSV and LaTeX"
EPILOG = "Verdicts and results of the last run are read; what is missing is shown as not measured."


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--profile", default="ci", help="smoke, ci or full (default: ci)")
    parser.add_argument("--out", type=Path, help="folder to write to (default: results/PROFILE)")
    parser.add_argument("--figures", type=Path, help="folder of the papers' own figures (default: figures/PROFILE)")
    parser.add_argument("--cores", type=int, default=1, metavar="N", help="processes that draw (default: 1)")
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    """Write the report."""
    from dpsco_bench.claims.model import check_profile
    from dpsco_bench.execution.layout import Layout
    from dpsco_bench.report.inputs import read_inputs
    from dpsco_bench.report.page import write_report

    cores = checked_count("cores", args.cores)
    files = Layout(check_profile(args.profile))
    written = write_report(read_inputs(files), args.out or files.results, args.figures or files.figures, cores)
    if args.json:
        print_json(written)
    else:
        print(f"{written['page']}, {written['tables']} tables beside it and {written['figures']} figures of papers")
    return 0
