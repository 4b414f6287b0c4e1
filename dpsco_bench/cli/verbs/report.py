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
    from dpsco_bench.execution.drawn import drawing
    from dpsco_bench.execution.layout import FORMATS, Layout
    from dpsco_bench.report.inputs import read_inputs
    from dpsco_bench.report.page import write_report
    from dpsco_bench.report.tables import WRITERS

    cores = checked_count("cores", args.cores)
    files = Layout(check_profile(args.profile))
    inputs, out, figures = read_inputs(files), args.out or files.results, args.figures or files.figures
    ours = out.resolve() == files.results.resolve() or figures.resolve() == files.figures.resolve()
    with drawing(files.reported if ours else None) as drawn:
        written = write_report(inputs, out, figures, cores)
        drawn += written.files
    counts = {"tables": len(written.tables) // len(WRITERS), "figures": len(written.figures) // len(FORMATS)}
    if args.json:
        print_json({"page": written.page, **counts})
    else:
        print(f"{written.page}, {counts['tables']} tables beside it and {counts['figures']} figures of papers")
    return 0
