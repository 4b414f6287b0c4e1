"""``dpsco run key=value... [-m]``: run one algorithm on one problem, or a Hydra sweep."""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from dpsco_bench.cli.options import add_json
from dpsco_bench.cli.output import bounded, number, print_json
from dpsco_bench.privacy.ledger import STATUS_WORDS

FULL_ERROR = "HYDRA_FULL_ERROR"
SUMMARY = "run an algorithm on a problem (Hydra; -m sweeps)"
EPILOG = """keys are those of conf/run.yaml; options of the algorithm and the problem may be given by plain name:
  dpsco run algorithm={group} problem={problem} n=4096 d=10 epsilon=1
  dpsco run -m algorithm={group} problem={problem} n=1024,2048,4096 calibration=paper,accounted"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="Hydra overrides of conf/run.yaml")
    parser.add_argument("-m", "--multirun", action="store_true", help="comma-separated values make a sweep")
    parser.add_argument("--cfg", action="store_true", help="print the resolved configuration and run nothing")
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    """Check every run, then run them: a sweep goes through Hydra's launcher."""
    from dpsco_bench.cli.composing import requests
    from dpsco_bench.cli.sweeps import running

    made, overrides = requests(args.overrides, args.multirun)
    if args.cfg:
        _print_configs([entry.config for entry in made], args.json)
        return 0
    if args.multirun:
        _sweep(made, overrides, args.json)
    else:
        with running(made) as pace:
            for number, entry in enumerate(made, 1):
                _run(entry, args.json)
                pace.reach(number)
        if args.json:
            print_json([stored(entry) for entry in made])
    return 0


def _print_configs(configs: list[dict[str, Any]], as_json: bool) -> None:
    from omegaconf import OmegaConf

    if as_json:
        print_json(configs)
    else:
        print("---\n".join(OmegaConf.to_yaml(OmegaConf.create(config)) for config in configs), end="")


def _sweep(made: Sequence[Any], overrides: list[str], as_json: bool) -> None:
    """Hand a checked sweep over to Hydra; the launcher may run it elsewhere."""
    import hydra
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    from dpsco_bench.cli.composing import RUNS, request
    from dpsco_bench.cli.sweeps import end_sweep, running
    from dpsco_bench.errors import DpscoError
    from dpsco_bench.execution.plugins import load_plugins
    from dpsco_bench.paths import conf_dir

    labels = {entry.job.key: entry.label for entry in made if entry.job}
    failures: dict[str, DpscoError] = {}

    def task(config: Any) -> None:
        load_plugins(config.plugins)
        entry = request(OmegaConf.to_container(config, resolve=True), sweep=True)
        if entry.job is None:
            return
        try:
            _run(entry, as_json, labels.get(entry.job.key, ""))
        except DpscoError as error:  # Hydra would print a page about it
            failures[entry.job.key] = error
        pace.reach(pace.done + 1)

    folder = RUNS / "sweeps" / hashlib.sha256("\n".join(overrides).encode()).hexdigest()[:16]
    own = [f"hydra.sweep.dir={folder}"] if not any(o.startswith("hydra.sweep.dir=") for o in overrides) else []
    arguments, sys.argv = sys.argv, ["dpsco run", *overrides, *own, "--multirun"]
    os.environ[FULL_ERROR] = "1"  # else Hydra prints a page of its own and leaves
    try:
        with running([entry for entry in made if entry.job]) as pace:
            hydra.main(config_path=str(conf_dir()), config_name="run", version_base="1.3")(task)()
    except (HydraException, OmegaConfBaseException) as error:
        raise DpscoError(f"configuration {' '.join(overrides)}: {' '.join(str(error).split())}") from error
    finally:
        sys.argv = arguments
        del os.environ[FULL_ERROR]
    end_sweep(made, failures, folder, as_json)


def _run(entry: Any, quiet: bool, label: str = "") -> None:
    """Calibrate, run, write the rows and print one line."""
    from dpsco_bench.cli.composing import set_damaged_aside
    from dpsco_bench.errors import DpscoError
    from dpsco_bench.execution.calibration import calibrate_job
    from dpsco_bench.execution.cell import located
    from dpsco_bench.execution.job import execute as execute_job
    from dpsco_bench.execution.results import check_writable, write_table
    from dpsco_bench.execution.single import summarise

    if entry.config["out"] is None:
        set_damaged_aside(entry.out)
    check_writable("out", entry.out)
    cell = entry.job.cells[0]
    try:
        table = execute_job(entry.job, calibrate_job(entry.job))
    except MemoryError as error:
        size = f"n = {cell.n}, d = {cell.d}, replicates = {entry.job.replicates}"
        raise DpscoError(f"{size}: too large for the memory here ({error})") from None
    summary = summarise(entry.job, table)
    write_table(_with_config(table, entry.config, summary["risk_kind"]), entry.out)
    if not quiet:
        placed = located(cell, entry.job.data_root)
        nominal = bool(summary["sampler_status"]) and placed.constants(entry.job.seed).status == "nominal"
        print(line(summary, label or cell.method, nominal), flush=True)
        print(f"rows: {entry.out}", file=sys.stderr)


def _with_config(table: Any, config: Mapping[str, Any], kind: str) -> Any:
    from dpsco_bench.cli.composing import PLACES
    from dpsco_bench.execution.cell import placeless
    from dpsco_bench.jsonio import dumps_canonical

    kept = {key: value for key, value in config.items() if key not in PLACES}
    problem = config["problem"]
    kept["problem"] = {**problem, "options": placeless(problem["name"], problem["options"])}
    said = {b"dpsco.config": dumps_canonical(kept).encode(), b"dpsco.risk_kind": dumps_canonical(kind).encode()}
    return table.replace_schema_metadata({**table.schema.metadata, **said})


def stored(entry: Any) -> dict[str, Any]:
    """Summary of a run from its rows on disk, wherever the launcher ran it."""
    from dpsco_bench.execution.results import read_table
    from dpsco_bench.execution.single import summarise

    return {**summarise(entry.job, read_table(entry.out)[0]), "out": entry.out}


def line(summary: Mapping[str, Any], label: str, nominal: bool = False) -> str:
    """One line per run: risk, privacy claimed and real, cost; nominal: whether the constants are only declared."""
    real = bounded(summary["epsilon_real"], summary["epsilon_real_kind"])
    spread, kind = number(summary["stderr"], 2), summary["risk_kind"]
    kind += " risk" * kind.startswith("excess")
    return (
        f"{label}: {kind} {number(summary['risk'])} +- {spread}, "
        f"epsilon {number(summary['epsilon_claimed'])} (real {real}, {STATUS_WORDS[summary['privacy_status']]}), "
        f"{number(summary['gradient_evaluations'])} gradients"
        + (f"; {_drawn(summary, nominal)}" if summary.get("sampler_status") else "")
        + (f"; {held_out_text(summary['held_out'])}" if "held_out" in summary else "")
        + (f"; {summary['warnings']}" if summary["warnings"] else "")
    )


def held_out_text(found: Mapping[str, Any]) -> str:
    """Held-out loss and accuracy in words, with those of the starting point and of the minimiser."""

    def text(values: Mapping[str, Any]) -> str:
        accuracy = f", accuracy {number(values['accuracy'], 3)}" if "accuracy" in values else ""
        return f"loss {number(values['loss'], 3)}{accuracy}"

    beside = f"trivial: {text(found['trivial'])}; without privacy: {text(found['without_privacy'])}"
    return f"held out: {text(found)} ({beside})"


def _drawn(summary: Mapping[str, Any], nominal: bool) -> str:
    """What may be said of a drawn output."""
    from dpsco_bench.privacy.ledger import draw_statement

    known = (summary["epsilon_real"], summary["epsilon_law"], summary["tau"], summary["delta"])
    return draw_statement(summary["sampler_status"], *known, nominal, summary["epsilon_real_kind"])
