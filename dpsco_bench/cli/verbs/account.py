"""``dpsco account ALGORITHM key=value...``: what is charged, without running anything."""

from __future__ import annotations

import argparse

from dpsco_bench.cli.console import add_algorithm, algorithm_keys, answer
from dpsco_bench.errors import InputError, Refusal, integral

SUMMARY = "noise, real epsilon and gradient evaluations of an algorithm; nothing is run"
EPILOG = """keys: problem, n (both required), d, epsilon (1), delta (1e-5), variant, seed (2017),
and every schedule option, problem option and problem constant by name. Example:
  dpsco account {algorithm} problem={problem} n=16384 d=10 epsilon=1 delta=1e-5"""


def configure(parser: argparse.ArgumentParser) -> None:
    add_algorithm(parser, "problem=... n=... and any other key")


def execute(args: argparse.Namespace) -> int:
    from dpsco_bench.cli.accounting import account, screen
    from dpsco_bench.execution.request import make_cell
    from dpsco_bench.problems.registry import problem_class

    algorithm, keys = algorithm_keys(args.algorithm, args.keys)
    if "problem" not in keys:
        raise InputError("problem", "missing", "given: `dpsco list problems` lists them")
    seed, problem = integral(keys.pop("seed", 2017)), str(keys.pop("problem"))
    try:
        report = account(make_cell(algorithm, problem, keys), seed)
    except Refusal as refused:
        cures = [f"which accept it: dpsco list algorithms --for problem={problem}"] * (f" on {problem}" in refused.what)
        needs_ball = "domain = space" in refused.reason and "l2_ball" in refused.reason
        if needs_ball and "radius" in problem_class(problem).options:
            cures = ["give domain=l2_ball radius=1"]
        raise Refusal(refused.what, "; ".join([refused.reason, *cures]), refused.source) from None
    return answer(args.json, report, screen(report))
