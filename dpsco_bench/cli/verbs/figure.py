"""Verb `figure`: the figures of a claim as SVG and PDF."""

from __future__ import annotations

import argparse
from pathlib import Path

from dpsco_bench.cli.options import add_json
from dpsco_bench.cli.output import print_json

SUMMARY = "figure of a claim, as SVG and PDF"
FORMATS = ("svg", "pdf")
EPILOG = "A claim with nothing to draw gets a small figure that states its verdicts in words."


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--plan", type=Path, required=True, help="plan of the profile; results are read beside it")
    parser.add_argument("--claim", required=True, help="id of the claim")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    """Write the figures."""
    from dpsco_bench.report.figures import write_figures
    from dpsco_bench.report.inputs import read_inputs

    written = write_figures(read_inputs(args.plan, only=args.claim), args.claim, args.out)
    files = [f"{path}.{suffix}" for path in written for suffix in FORMATS]
    if args.json:
        print_json(files)
    else:
        print("\n".join(files))
    return 0
