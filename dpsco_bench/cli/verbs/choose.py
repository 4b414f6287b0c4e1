"""``dpsco choose key=value...``: every method at one point, or on one's own data, ranked."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dpsco_bench.cli.options import add_json, add_plugins
from dpsco_bench.cli.output import print_json

if TYPE_CHECKING:
    from dpsco_bench.analysis.choice import Choice

SUMMARY = "which method for one problem, or for one's own data: all that accept it, ranked"
EPILOG = """keys: problem n d epsilon=1 delta=1e-6 replicates=16 data_sets=1, options and constants of the problem, and
settings seed=2017 backend=numpy backend.dtype=float64 backend.fused=true data.root=data plugins=[FILE,...]
  dpsco choose problem=logistic_glm domain=l2_ball n=20000 d=50 epsilon=1 delta=1e-6
  dpsco choose problem=data_file path=my.csv label=LABEL clip=1 domain=l2_ball epsilon=1
Every method has the parameters of its theorem, and the noise that its accountant asks for at the same (epsilon, delta).
Finished methods are kept in results/store: a second call, with another --limit too, runs only what is missing."""
RESULTS = Path("results/choose")
ENDINGS = (".parquet", ".pq")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("keys", nargs="*", metavar="KEY=VALUE", help="the problem and the point, and settings")
    parser.add_argument(
        "--limit", type=float, default=90.0, metavar="SECONDS", help="of one core for all methods (default: 90)"
    )
    parser.add_argument("--cores", type=int, metavar="N", help="processes at a time (default: 2)")
    parser.add_argument("--out", metavar="FILE", help="Parquet file (default: results/choose/<digest>.parquet)")
    parser.add_argument("--twin", action="store_true", help="synthetic records of the shape of one's own data instead")
    add_json(parser)
    add_plugins(parser)


def execute(args: argparse.Namespace) -> int:
    """Check the point, run what fits, rank it, and write rows and figure."""
    from dpsco_bench.analysis.choice import choose_at
    from dpsco_bench.cli.choosing import Teller, asked_point, printed, say_what_is_clipped
    from dpsco_bench.errors import InputError
    from dpsco_bench.execution.layout import Layout

    if args.cores is not None and args.cores < 1:
        raise InputError("--cores", args.cores, "an integer >= 1")
    if args.out is not None:
        _check_files(Path(args.out))
    point, settings = asked_point(args.keys, args.plugin, args.twin)
    say_what_is_clipped(point)
    teller = Teller(args.limit)
    measured = Layout("").measured
    found = choose_at(point, settings, measured, args.limit, args.cores, teller.tell, teller.begin)
    files = _write(found, args.out)
    if args.json:
        print_json({**found.to_json(), **{name: str(path) for name, path in files.items()}})
    else:
        print(printed(found))
        teller.files(files)
    return 0


def _write(found: Choice, out: str | None) -> dict[str, Path]:
    """The rows, and a figure beside them."""
    from dpsco_bench.cli.composing import set_damaged_aside
    from dpsco_bench.execution.results import write_table
    from dpsco_bench.report.choice import write_figure

    rows = Path(out) if out else RESULTS / f"{found.key}.parquet"
    if not out:
        set_damaged_aside(rows)
    _check_files(rows, figure=bool(out))
    write_table(found.rows, rows)
    return {"rows": rows, "figure": write_figure(found, rows.with_suffix(".svg"))}


def _check_files(rows: Path, figure: bool = True) -> None:
    """Refuse a place where rows, or the figure beside them, would replace another file.

    Below ``results`` all figures are those of this program, older ones without their mark too.
    """
    from dpsco_bench.errors import InputError
    from dpsco_bench.execution.results import check_writable
    from dpsco_bench.report.marks import check_figure

    if rows.suffix not in ENDINGS:
        raise InputError("--out", str(rows), f"a file ending in {' or '.join(ENDINGS)}; the figure beside it is .svg")
    check_writable("--out", rows)
    if figure:
        check_figure("--out", rows.with_suffix(".svg"))
