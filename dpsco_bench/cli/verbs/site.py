"""Verb `site`: the pages of a profile, which open from the file system, and its tables in four formats."""

from __future__ import annotations

import argparse

from dpsco_bench.cli.console import add_shared, answer
from dpsco_bench.errors import checked_count
from dpsco_bench.execution.layout import Layout

SUMMARY = "write the site of a profile: findings, papers, claims, methods, ledgers; it opens without a network"
EPILOG = "Verdicts and results of the last run are read; what is missing is shown as not measured."


def configure(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "profile", "json", "plugin")
    parser.add_argument("--cores", type=int, default=1, metavar="N", help="processes that write pages (default: 1)")
    parser.add_argument("--single", action="store_true", help="write one file to mail, site.html, instead of the site")


def execute(args: argparse.Namespace) -> int:
    from dpsco_bench.report.inputs import read_inputs
    from dpsco_bench.site.write import write_all, write_one

    cores = checked_count("cores", args.cores)
    files = Layout(args.profile)
    given = read_inputs(files), files.results, files.figures
    page, pages = (write_one(*given), 1) if args.single else write_all(*given, cores)
    return answer(args.json, {"page": page, "pages": pages}, [f"{page}" + f", {pages} pages" * (pages > 1)])
