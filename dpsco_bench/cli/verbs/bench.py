"""``dpsco bench``: the performance suite, as ratios within one process."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from dpsco_bench.cli.console import add_shared, labelled, number, print_json
from dpsco_bench.errors import InputError
from dpsco_bench.jsonio import dumps_pretty, write_atomic
from dpsco_bench.plain import Plain

if TYPE_CHECKING:
    from dpsco_bench.bench.measure import Row
    from dpsco_bench.execution.timing import Machine

SUMMARY = "performance as ratios against rooflines and peers, with goals"
EPILOG = """A ratio compares processor times of two tasks measured in turn in this process: at most 0.6 means that ours
takes at most 0.6 of the peer's time, at least 3 that it is at least three times as fast (G6: that it
reaches that part of the peer's rate). Goals are for one core; a case without a goal is shown only. --gpu measures the
card instead: a sequential step (G8), the sizes from which it is faster than one core, and the memory it takes."""

_LINE = "  {case:<45} {peer:<39} {ours_ns:>7} {peer_ns:>7} {ratio:>5} {wanted:<6} {outcome}"
_SIGNS = {"at most": "<=", "at least": ">="}
_HEADS = {name: name for name in ("case", "ratio", "wanted")}
_HEADS |= {"peer": "against", "ours_ns": "ours ns", "peer_ns": "peer ns", "outcome": "met"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="goals to measure, e.g. G1 G6")
    parser.add_argument("--gpu", action="store_true", help="measure the card: G8, and where it overtakes one core")
    parser.add_argument("--quick", action="store_true", help="shorter samples: a look, not figures to quote")
    parser.add_argument("--out", type=Path, help="file that keeps the rows, with hardware and versions, as JSON")
    add_shared(parser, "json")


def execute(args: argparse.Namespace) -> int:
    """Measure, and print each row as it comes; a missed goal is reported, not an error."""
    from dpsco_bench.bench import card, suite

    suite.selected(args.only)
    if args.gpu and args.only:
        raise InputError("only", " ".join(args.only), "left out with --gpu")
    measured = suite.run_card(args.quick) if args.gpu else suite.run_suite(args.only, args.quick)
    about = suite.environment(args.gpu)
    rows: list[Row] = []
    if not args.json:
        print("\n".join([*_machine(about), "", _LINE.format(**_HEADS)]), flush=True)
    for row in measured:
        rows.append(row)
        if args.out:
            write_atomic(args.out, dumps_pretty(_placed(rows, about)))
        if not args.json:
            heading = [f"{row.id}: {suite.title(row.id)}"] * (row.id not in {one.id for one in rows[:-1]})
            print("\n".join([*heading, line(row)]), flush=True)
    if args.json:
        print_json(_placed(rows, about))
    elif args.gpu:
        print("\n" + labelled("crossover", card.crossing([row for row in rows if isinstance(row, card.CardRow)])))
    return 0


def _placed(rows: Sequence[Row], about: Machine) -> list[Plain]:
    """Rows as they are kept: each with what it holds for."""
    return [{**asdict(row), "machine": about} for row in rows]


def line(row: Row) -> str:
    """Print a row, with what keeps it from its goal, or why it was not measured; times per unit of work."""
    if row.reason:
        return f"  {row.case:<45} not measured: {row.reason}"
    wanted = "" if row.goal is None else f"{_SIGNS[row.sense]} {number(row.goal)}"
    outcome = {True: "yes", False: "NO", None: "-"}[row.met]
    digits = {key: number(getattr(row, key), 3) for key in ("ours_ns", "peer_ns", "ratio")}
    told = _LINE.format(case=row.case, peer=row.peer, **digits, wanted=wanted, outcome=outcome).rstrip()
    return f"{told}\n    {row.limit}" if row.limit else told


def _machine(about: Machine) -> list[str]:
    core = about.blas_core_type or "chosen by OpenBLAS"
    noise = "compiled by Numba" if about.numba else "plain NumPy: Numba is missing or switched off"
    return [
        labelled("processor", f"{about.processor}, NumPy {about.numpy}, Python {about.python}"),
        *([labelled("card", f"{about.device}, CuPy {about.cupy}")] if about.device else []),
        labelled("noise", noise),
        labelled("matrix kernel", f"{core} (OPENBLAS_CORETYPE), threads {about.blas_threads or 'not set'}"),
    ]
