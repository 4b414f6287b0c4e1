"""``dpsco run key=value... [-m]``: run one algorithm on one problem, or a Hydra sweep."""

from __future__ import annotations

import argparse

from dpsco_bench.cli.console import add_shared, print_json

SUMMARY = "run an algorithm on a problem (Hydra; -m sweeps)"
EPILOG = """keys are those of conf/run.yaml; options of the algorithm and the problem may be given by plain name:
  dpsco run algorithm={group} problem={problem} n=16384 d=10 epsilon=1
  dpsco run -m algorithm={group} problem={problem} n=1024,2048,4096 calibration=paper,accounted
  dpsco run -m 'algorithm=glob({paper}/*)' problem={problem} n=16384 d=10
Rows go to results/runs; out=FILE, hydra.run.dir=FOLDER or, of a sweep, hydra.sweep.dir=FOLDER puts them elsewhere.
With the extra `cluster`: -m hydra/launcher=joblib, or submitit_slurm (docs/cluster.md)"""
INFO = ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="Hydra overrides of conf/run.yaml")
    parser.add_argument("-m", "--multirun", action="store_true", help="comma-separated values make a sweep")
    parser.add_argument("--cfg", action="store_true", help="print the resolved configuration and run nothing")
    parser.add_argument("--info", choices=INFO, help="what Hydra has found")
    add_shared(parser, "json", "plugin")


def execute(args: argparse.Namespace) -> int:
    """Check every run, then run them: a sweep goes through Hydra's launcher."""
    from omegaconf import OmegaConf

    from dpsco_bench.cli.overrides import extended
    from dpsco_bench.cli.sweeps import launch, requests, run_request, run_sweep

    asked = requests(extended(args.overrides, "plugins", args.plugin), args.multirun)
    made = [entry.asked for entry in asked.runs]
    if args.info:
        launch([*asked.overrides, "--info", args.info], lambda config: None)
    elif args.cfg and args.json:
        print_json(made)
    elif args.cfg:
        print("---\n".join(OmegaConf.to_yaml(OmegaConf.create(dict(one))) for one in made), end="")
    elif args.multirun:
        run_sweep(asked, args.json)
    else:
        for entry in asked.runs:
            run_request(entry, args.json)
        if args.json:
            print_json(asked.runs)
    return 0
