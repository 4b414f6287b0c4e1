"""``dpsco data NAME``: fetch a data set, or verify the copy that is there."""

from __future__ import annotations

import argparse
from pathlib import Path

from dpsco_bench.cli.options import add_shared
from dpsco_bench.cli.output import answer, labelled

SUMMARY = "fetch a data set, or verify the copy that is there"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="data set, e.g. covertype")
    place = "folder that holds data sets (default: data.root of the configuration)"
    parser.add_argument("--root", type=Path, help=place)
    parser.add_argument("--verify", action="store_true", help="never download")
    add_shared(parser, "json")


def execute(args: argparse.Namespace) -> int:
    """Verify, or download and verify."""
    from dpsco_bench.datasets.registry import fetch, get_data_set, verify

    get_data_set(args.name)
    root = args.root if args.root is not None else configured_root()
    found = (verify if args.verify else fetch)(args.name, root)
    room = 2 + max(map(len, found))
    return answer(args.json, found, (labelled(key, str(value), room) for key, value in found.items()))


def configured_root() -> Path:
    """``data.root`` of the configuration."""
    from hydra import compose, initialize_config_dir

    from dpsco_bench.paths import conf_dir

    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        return Path(compose("plan").data.root)
