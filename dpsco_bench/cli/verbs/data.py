"""``dpsco data NAME``: fetch a data set, or verify the copy that is there."""

from __future__ import annotations

import argparse
from pathlib import Path

from dpsco_bench.cli.console import add_shared, answer, labelled

SUMMARY = "fetch a data set, or verify the copy that is there"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="data set, e.g. covertype")
    place = "folder that holds data sets (default: data.root of the configuration)"
    parser.add_argument("--root", type=Path, help=place)
    parser.add_argument("--verify", action="store_true", help="never download")
    add_shared(parser, "json")


def execute(args: argparse.Namespace) -> int:
    from dpsco_bench.claims.jobs import plan_settings
    from dpsco_bench.datasets.registry import data_set

    found = data_set(args.name, args.root or Path(plan_settings("ci").data_root), download=not args.verify)
    room = 2 + max(map(len, found))
    return answer(args.json, found, (labelled(key, str(value), room) for key, value in found.items()))
