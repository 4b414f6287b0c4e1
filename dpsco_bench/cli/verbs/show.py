"""``dpsco show ID``."""

from __future__ import annotations

import argparse

from dpsco_bench.cli.console import add_shared, answer

SUMMARY = "everything about an algorithm, a claim, a problem, a table or an erratum"
EPILOG = "examples: dpsco show {algorithm}; dpsco show {paper}.E1; dpsco show {paper}"


def configure(parser: argparse.ArgumentParser) -> None:
    known = "paper.name of an algorithm, claim or table, a problem, an erratum paper.E1, or the file of a claim"
    parser.add_argument("id", help=known)
    add_shared(parser, "json", "plugin")


def execute(args: argparse.Namespace) -> int:
    from dpsco_bench.cli.describe import PRINTERS, describe

    entry = describe(args.id)
    return answer(args.json, entry, PRINTERS[entry["kind"]](entry))
