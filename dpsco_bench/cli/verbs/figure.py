"""Verb `figure`: the figures of a claim as SVG and PDF."""

from __future__ import annotations

import argparse

from dpsco_bench.cli.console import add_shared, answer
from dpsco_bench.execution.layout import Layout

SUMMARY = "figure of a claim or leaderboard, or of all audits, of the last run, as SVG and PDF"
EPILOG = "A claim with nothing to draw gets a small figure that states its verdicts in words."


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="claim or leaderboard, or audits: all of them in one")
    add_shared(parser, "profile", "json", "plugin")


def execute(args: argparse.Namespace) -> int:
    from dpsco_bench.report.figures import AUDITS, write_figures
    from dpsco_bench.report.inputs import read_inputs

    layout = Layout(args.profile)
    inputs = read_inputs(layout, only="" if args.id == AUDITS else args.id)
    files = write_figures(inputs, args.id, layout.figures)
    return answer(args.json, files, map(str, files))
