"""``dpsco run key=value... [-m]``: run one algorithm on one problem, or a Hydra sweep."""

from __future__ import annotations

import argparse
import hashlib
import logging
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsco_bench.cli.options import add_shared
from dpsco_bench.cli.output import bounded, held_out_text, number, print_json
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.ledger import OF, STATUS_WORDS

if TYPE_CHECKING:
    import pyarrow as pa

    from dpsco_bench.cli.sweeps import Request, Requests
    from dpsco_bench.execution.run_config import RunConfig
    from dpsco_bench.execution.summary import Summary

FULL_ERROR = "HYDRA_FULL_ERROR"
SUMMARY = "run an algorithm on a problem (Hydra; -m sweeps)"
EPILOG = """keys are those of conf/run.yaml; options of the algorithm and the problem may be given by plain name:
  dpsco run algorithm={group} problem={problem} n=4096 d=10 epsilon=1
  dpsco run -m algorithm={group} problem={problem} n=1024,2048,4096 calibration=paper,accounted
  dpsco run -m 'algorithm=glob({paper}/*)' problem={problem} n=4096 d=10
Rows go to results/runs; out=FILE, hydra.run.dir=FOLDER or, of a sweep, hydra.sweep.dir=FOLDER puts them elsewhere.
With the extra `cluster`: -m hydra/launcher=joblib, or submitit_slurm (docs/cluster.md)"""
CFG = "job"
"""The one configuration that is shown: Hydra's own is Hydra's matter."""
INFO = ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath")
COMPLETION = (
    "left: it would complete words of a program, and `dpsco run` is a verb of one; `dpsco list` shows the names"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="Hydra overrides of conf/run.yaml")
    parser.add_argument("-m", "--multirun", action="store_true", help="comma-separated values make a sweep")
    parser.add_argument(
        "--cfg", nargs="?", const=CFG, metavar=CFG, help="print the resolved configuration and run nothing"
    )
    parser.add_argument(
        "--info", nargs="?", const="all", metavar="WHAT", help=f"what Hydra has found: {', '.join(INFO)}"
    )
    parser.add_argument("-sc", "--shell-completion", nargs="?", const="", help=argparse.SUPPRESS)
    add_shared(parser, "json", "plugin")


def execute(args: argparse.Namespace) -> int:
    """Check every run, then run them: a sweep goes through Hydra's launcher."""
    from dpsco_bench.cli.overrides import extended
    from dpsco_bench.cli.sweeps import requests

    for name, plain in (("cfg", CFG), ("info", "all")):
        if "=" in (getattr(args, name) or ""):  # the first key=value, and no word of this option
            args.overrides.insert(0, getattr(args, name))
            setattr(args, name, plain)
    if args.shell_completion is not None:
        raise InputError("--shell-completion", args.shell_completion, COMPLETION)
    if args.info is not None and args.info not in INFO:
        raise InputError("--info", args.info, "one of " + ", ".join(INFO))
    if args.cfg not in (None, CFG):
        raise InputError("--cfg", args.cfg, f"{CFG}, or left without a word")
    asked = requests(extended(args.overrides, "plugins", args.plugin), args.multirun)
    if args.info:
        _hydra([*asked.overrides, "--info", args.info], lambda config: None)
    elif args.cfg:
        _print_configs([entry.asked for entry in asked.runs], args.json)
    elif args.multirun:
        _sweep(asked, args.json)
    else:
        for entry in asked.runs:
            _run(entry, args.json)
        if args.json:
            print_json([{**entry.stored.to_json(), "out": entry.out} for entry in asked.runs])
    return 0


def _print_configs(made: Sequence[RunConfig], as_json: bool) -> None:
    from omegaconf import OmegaConf

    if as_json:
        print_json(made)
    else:
        print("---\n".join(OmegaConf.to_yaml(OmegaConf.create(dict(asked.to_json()))) for asked in made), end="")


def _sweep(asked: Requests, as_json: bool) -> None:
    """Hand a checked sweep over to Hydra; the launcher may run it elsewhere."""
    from omegaconf import OmegaConf

    from dpsco_bench.cli.sweeps import NOTES, RUNS, Failures, check_sweep_files, end_sweep, request, running
    from dpsco_bench.errors import DpscoError
    from dpsco_bench.execution.plugins import load_plugins

    labels = {entry.job.key: entry.label for entry in asked.runs if entry.job}
    folder, quiet = asked.folder or RUNS, as_json
    place = asked.folder or RUNS / "sweeps" / hashlib.sha256("\n".join(asked.overrides).encode()).hexdigest()[:16]
    end = place / "sweep" if asked.folder else place
    if asked.folder:
        check_sweep_files("hydra.sweep.dir", end)
    failures = Failures(place / NOTES)
    failures.forget()

    def task(config: Any) -> None:
        load_plugins(config.plugins)
        entry = request(OmegaConf.to_container(config, resolve=True), sweep=True, folder=folder)
        if entry.job is None:
            return
        try:
            _run(entry, quiet, labels.get(entry.job.key, ""), alone=False)
        except DpscoError as error:  # Hydra would print a page about it
            failures.note(entry.job.key, error)

    if any(entry.job for entry in asked.runs):
        with running([entry for entry in asked.runs if entry.job], failures), _launcher_named(asked.overrides):
            _hydra([*asked.overrides, f"hydra.sweep.dir={_quoted(place)}", "--multirun"], task)
    noted = failures.read()
    failures.forget()
    end_sweep(asked.runs, noted, end, as_json)


@contextmanager
def _launcher_named(overrides: Sequence[str]) -> Iterator[None]:
    """Name a launcher that cannot launch (no SLURM here, no such number of jobs) in one line."""
    from dpsco_bench.errors import DpscoError

    asked = [text.partition("=")[2] for text in overrides if text.partition("=")[0] == "hydra/launcher"]
    try:
        yield
    except DpscoError:
        raise
    except Exception as error:
        if not asked:
            raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise DpscoError(f"hydra/launcher = {asked[-1]!r}: {reason}") from error


def _quoted(path: Path) -> str:
    """Quote a path for Hydra's grammar."""
    return "'" + str(path).replace("\\", "\\\\").replace("'", "\\'") + "'"


def _hydra(arguments: list[str], task: Callable[[Any], None]) -> None:
    """Hand arguments over to Hydra. Raises DpscoError where it takes none of them."""
    import hydra
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from dpsco_bench.errors import DpscoError
    from dpsco_bench.paths import conf_dir

    logger = logging.getLogger()
    handlers, level = logger.handlers[:], logger.level  # Hydra sets its own, which outlive it
    saved, sys.argv = sys.argv, ["dpsco run", *arguments]
    os.environ[FULL_ERROR] = "1"  # else Hydra prints a page of its own and leaves
    try:
        hydra.main(config_path=str(conf_dir()), config_name="run", version_base="1.3")(task)()
    except (HydraException, OmegaConfBaseException) as error:
        raise DpscoError(f"configuration {' '.join(arguments)}: {' '.join(str(error).split())}") from error
    finally:
        sys.argv = saved
        logger.handlers[:] = handlers
        logger.setLevel(level)
        del os.environ[FULL_ERROR]


def _run(entry: Request, quiet: bool, label: str = "", alone: bool = True) -> None:
    """Calibrate, run, write the rows and print one line; a run that is ``alone`` tells how far it is."""
    from dpsco_bench.cli.sweeps import run_table, set_damaged_aside
    from dpsco_bench.errors import DpscoError
    from dpsco_bench.execution.cell import located
    from dpsco_bench.execution.results import check_writable, write_table
    from dpsco_bench.execution.summary import summarise

    assert entry.job is not None  # a refused pair is not run
    if entry.asked.out is None:
        set_damaged_aside(entry.out)
    check_writable("out", entry.out)
    cell = entry.job.cells[0]
    try:
        table = run_table(entry.job, alone)
    except MemoryError as error:
        size = f"n = {cell.n}, d = {cell.d}, replicates = {entry.job.replicates}"
        raise DpscoError(f"{size}: too large for the memory here ({error})") from None
    summary = summarise(entry.job, table)
    write_table(_with_config(table, entry.asked, summary.risk_kind), entry.out)
    if not quiet:
        placed = located(cell, entry.job.data_root)
        asked = bool(summary.sampler_status) or summary.privacy_status == "unproven"
        nominal = asked and placed.constants(entry.job.seed).status == "nominal"
        print(line(summary, label or cell.method, nominal), flush=True)
        print(f"rows: {entry.out}", file=sys.stderr)


def _with_config(table: pa.Table, asked: RunConfig, kind: str) -> pa.Table:
    from dpsco_bench.cli.sweeps import PLACES
    from dpsco_bench.execution.cell import placeless
    from dpsco_bench.jsonio import dumps_canonical

    kept = {key: value for key, value in asked.to_json().items() if key not in PLACES}
    kept["problem"] = {"name": asked.problem.name, "options": placeless(asked.problem.name, asked.problem.options)}
    said = {b"dpsco.config": dumps_canonical(kept).encode(), b"dpsco.risk_kind": dumps_canonical(kind).encode()}
    return table.replace_schema_metadata({**table.schema.metadata, **said})


def line(summary: Summary, label: str, nominal: bool = False) -> str:
    """One line per run: risk, privacy claimed and real, cost; nominal: whether the constants are only declared."""
    from dpsco_bench.leaderboard.choose import NOMINAL

    real = f"{bounded(summary.epsilon_real, summary.epsilon_real_kind)} {OF[summary.epsilon_of]}"
    kind = summary.risk_kind + " risk" * summary.risk_kind.startswith("excess")
    return (
        f"{label}: {kind} {number(summary.risk)}{_interval(summary)}, "
        f"epsilon {number(summary.epsilon_claimed)} (real {real.strip()}, {STATUS_WORDS[summary.privacy_status]}), "
        f"delta {summary.delta:g}, "
        f"{number(summary.gradient_evaluations)} gradients"
        + (f"; {_drawn(summary, nominal)}" if summary.sampler_status else "")
        + (f"; {NOMINAL}" if nominal and not (summary.sampler_status or summary.warnings) else "")
        + (f"; {held_out_text(summary.held_out)}" if summary.held_out else "")
        + (f"; {summary.warnings}" if summary.warnings else "")
    )


def _interval(summary: Summary) -> str:
    """Half of the 95 % interval of the mean; none of a single run."""
    half = summary.half_interval
    return "" if math.isnan(half) else f" +- {number(half, 2)} (95 %)"


def _drawn(summary: Summary, nominal: bool) -> str:
    """Say what is known of a drawn output."""
    from dpsco_bench.privacy.ledger import draw_statement

    known = (summary.epsilon_real, summary.epsilon_law, summary.tau, summary.delta)
    return draw_statement(summary.sampler_status, *known, nominal, summary.epsilon_real_kind)
