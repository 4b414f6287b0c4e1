"""Verb `gpu`: hand a machine with a GPU what it needs, and check there that runs are those of a core."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dpsco_bench.cli.options import MINUTES

SUMMARY = "pack plans and scales for a machine with a GPU, and check there"
EPILOG = """`pack` composes profiles smoke and ci, calibrates the claims of some papers and writes the folder; result
tables that are in the store go with it, and the others are made there. `check` needs the checkout, the folder, CuPy,
Numba, SciPy, pyarrow and pytest, no network. Nothing begins that would end after --minutes: tests, verdicts on the card
against those on a core, the time of a sequential step (G8), the sizes from which the card is faster, and peak memory,
in one report."""
FOLDER = Path("results/gpu")
NEEDED = ("numpy", "scipy", "numba", "pyarrow", "pytest", "cupy")
"""What `check` imports on the device machine."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    kinds = parser.add_subparsers(dest="work", required=True, metavar="pack|check")
    for name, text in (("pack", "write the folder"), ("check", "compare a card with a core")):
        kind = kinds.add_parser(name, help=text, description=text, allow_abbrev=False)
        kind.add_argument("--folder", type=Path, default=FOLDER, help=f"the pack (default: {FOLDER})")
        if name == "pack":
            kind.add_argument("--papers", nargs="+", help="whose claims (default: all that are installed)")
        else:
            given = f"begin nothing that ends later (default: {MINUTES:g})"
            kind.add_argument("--minutes", type=float, default=MINUTES, help=given)


def execute(args: argparse.Namespace) -> int:
    """Write the pack, or check; a difference, and no comparison at all, is exit code 1."""
    if args.work == "check":
        _need(NEEDED)
    from dpsco_bench.cli import gpu

    def say(line: str) -> None:
        print(line, flush=True)

    if args.work == "pack":
        from dpsco_bench.cli.verbs.plan import current_plan
        from dpsco_bench.errors import InputError, nearest
        from dpsco_bench.execution.layout import Layout
        from dpsco_bench.registry import papers

        asked = args.papers or list(papers())
        for name in asked:
            if name not in papers():
                raise InputError("papers", name, nearest(name, papers()))
        gpu.write_pack(args.folder, tuple(asked), lambda name: current_plan(name, (), Layout(name)), say)
        say(f"the other machine needs {', '.join(NEEDED)} beside the checkout and this folder, and no network")
        return 0
    from dpsco_bench.backend.namespace import get_namespace

    get_namespace("cupy")
    out = args.folder / "report.json"
    return 0 if gpu.check(args.folder, out, args.minutes, say) else 1


def _need(packages: tuple[str, ...]) -> None:
    """Raises DpscoError that names all packages that this Python lacks."""
    from importlib.util import find_spec

    from dpsco_bench.errors import DpscoError

    lacking = [name for name in packages if name not in sys.modules and find_spec(name) is None]
    if lacking:
        raise DpscoError(f"gpu check: {sys.executable} lacks {', '.join(lacking)}; it needs {', '.join(packages)}")
