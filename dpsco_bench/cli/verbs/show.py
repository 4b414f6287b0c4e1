"""``dpsco show ID``."""

from __future__ import annotations

import argparse

from dpsco_bench.cli.options import add_shared, load_plugin_files
from dpsco_bench.cli.output import print_json

SUMMARY = "everything about an algorithm, a claim, a problem, a table or an erratum"
EPILOG = "examples: dpsco show {algorithm}; dpsco show {claim}; dpsco show {erratum}; dpsco show {paper}"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "id", help="paper.name of an algorithm, claim or table, a problem, an erratum paper.E1, or the file of a claim"
    )
    add_shared(parser, "json", "plugin")


def execute(args: argparse.Namespace) -> int:
    """Print the description."""
    from dpsco_bench.cli.describe import PRINTERS, describe

    load_plugin_files(args.plugin)
    entry = describe(args.id)
    if args.json:
        print_json(entry)
    else:
        print("\n".join(PRINTERS[entry["kind"]](entry)))
    return 0
