"""``dpsco list algorithms|claims|problems|tables``."""

from __future__ import annotations

import argparse
import re
from typing import Any

from dpsco_bench.cli.options import add_json, add_plugins, load_plugin_files
from dpsco_bench.cli.output import Column, print_json, table

SUMMARY = "what exists: algorithms, claims, problems or tables, one line each"

_COLUMNS = (Column("id", "id"), Column("summary", "summary", shrink=30), Column("source", "source", shrink=22))
_CITATION = re.compile(r"^[^0-9]*\d{4}, (?=\S)")
"""Authors and year, which the id already tells; kept in JSON."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("what", help="algorithms, claims, problems or tables")
    add_json(parser)
    add_plugins(parser)


def execute(args: argparse.Namespace) -> int:
    """Print the list."""
    from dpsco_bench.errors import InputError, nearest

    if args.what not in _LISTS:
        raise InputError("list", args.what, nearest(args.what, _LISTS))
    load_plugin_files(args.plugin)
    entries = _LISTS[args.what]()
    if args.json:
        print_json(entries)
    elif entries:
        print(table(_COLUMNS, [{**entry, "source": _CITATION.sub("", entry["source"])} for entry in entries]))
    else:
        print(f"no {args.what} yet")
    return 0


def algorithms() -> list[dict[str, Any]]:
    """Id, source, summary, variants and needs of every algorithm."""
    from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms

    return [
        {
            "id": entry.id,
            "source": entry.source,
            "summary": entry.summary,
            "variants": {name: list(allowed) for name, allowed in entry.variants.items()},
            "needs": [trait.value for trait in entry.needs],
        }
        for entry in map(get_algorithm, list_algorithms())
    ]


def claims() -> list[dict[str, Any]]:
    """Id, source, title and parts of every claim."""
    from dpsco_bench.claims.catalogue import read_claims

    return [
        {
            "id": claim.id,
            "source": claim.source,
            "summary": claim.title,
            "parts": [part.id for part in claim.parts],
            "kinds": sorted({part.kind for part in claim.parts}),
        }
        for claim in read_claims()
    ]


def problems() -> list[dict[str, Any]]:
    """Id, source and summary of every problem."""
    from dpsco_bench.problems.registry import list_problems, problem_class

    return [
        {"id": name, "source": problem_class(name).source, "summary": problem_class(name).summary}
        for name in list_problems()
    ]


def tables() -> list[dict[str, Any]]:
    """Id, source, title and claims of every table."""
    from dpsco_bench.claims.catalogue import table_texts

    return [
        {
            "id": entry["id"],
            "source": entry.get("source", ""),
            "summary": entry.get("title", ""),
            "claims": list(dict.fromkeys(claim for row in entry.get("rows", []) for claim in row.get("claims", []))),
        }
        for entry in table_texts()
    ]


_LISTS = {"algorithms": algorithms, "claims": claims, "problems": problems, "tables": tables}
