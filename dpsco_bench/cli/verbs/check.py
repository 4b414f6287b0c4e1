"""``dpsco check ALGORITHM key=value...``: what every private algorithm must satisfy, on one problem."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from dpsco_bench.cli.console import add_checked_algorithm, answer, checked_algorithm, labelled, parse_value

SUMMARY = "check that an algorithm draws, counts and protects what it declares"
EPILOG = """keys: problem (ridge_logistic), n (24), d, epsilon (1), delta (1e-5), variant, and every schedule option,
problem option and problem constant by name; short schedules are enough. Exit code 1 if a check fails. Example:
  dpsco check {algorithm} problem={problem} n=24 d=3"""
WORDS = {True: "ok", False: "FAIL", None: "-"}


def configure(parser: argparse.ArgumentParser) -> None:
    add_checked_algorithm(parser, "problem=... n=... and any other key")


def execute(args: argparse.Namespace) -> int:
    """Print a line per check; 1 if one fails."""
    from dpsco_bench.audit.contract import check_algorithm

    algorithm, calibration, keys = checked_algorithm(args)
    problem = str(keys.pop("problem", "ridge_logistic"))
    findings = check_algorithm(algorithm, problem, calibration, seed=parse_value(args.seed), **keys)
    lines = (labelled(WORDS[one.passed], f"{one.check} ({one.detail})", 6) for one in findings)
    answer(args.json, [asdict(finding) for finding in findings], lines)
    return int(any(finding.passed is False for finding in findings))
