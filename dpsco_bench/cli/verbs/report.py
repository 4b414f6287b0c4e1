"""Verb `report`: opens the site of a profile in a browser."""

from __future__ import annotations

import argparse

from dpsco_bench.cli.console import add_shared
from dpsco_bench.errors import InputError
from dpsco_bench.execution.layout import Layout

SUMMARY = "open the site of a profile in a browser"
EPILOG = "The workflow and `dpsco site` write it."


def configure(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "profile")
    parser.add_argument("--no-browser", action="store_true", help="say where it is, and open nothing")


def execute(args: argparse.Namespace) -> int:
    import webbrowser

    page = Layout(args.profile).site
    if not page.is_file():
        raise InputError("site", str(page.resolve()), f"written first: make site PROFILE={args.profile}")
    print(page)
    if not args.no_browser:
        webbrowser.open(page.resolve().as_uri())
    return 0
