"""Verb `figure`: the figures of a claim as SVG and PDF."""

from __future__ import annotations

import argparse
from pathlib import Path

SUMMARY = "figure of a claim, as SVG and PDF"
EPILOG = "A claim with nothing to draw gets a small figure that states its verdicts in words."


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--plan", type=Path, required=True, help="plan of the profile; results are read beside it")
    parser.add_argument("--claim", required=True, help="id of the claim")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")


def execute(args: argparse.Namespace) -> int:
    """Write the figures."""
    from dpsco_bench.report.figures import write_figures
    from dpsco_bench.report.inputs import read_inputs

    for path in write_figures(read_inputs(args.plan), args.claim, args.out):
        print(f"{path}.svg {path}.pdf")
    return 0
