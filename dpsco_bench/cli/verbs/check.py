"""``dpsco check ALGORITHM key=value...``: what every private algorithm must satisfy, on one problem."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from dpsco_bench.cli.console import add_algorithm, algorithm_keys, answer, labelled
from dpsco_bench.errors import integral

if TYPE_CHECKING:
    from dpsco_bench.audit.contract import CheckResult

SUMMARY = "check that an algorithm draws, counts and protects what it declares"
EPILOG = """keys: problem (ridge_logistic), n (24), d, epsilon (1), delta (1e-5), calibration (accounted), seed (2017),
variant, and every schedule option, problem option and problem constant by name; short schedules are enough.
Exit code 1 if a check fails. Example:
  dpsco check {algorithm} problem={problem} n=24 d=3"""
WORDS = {True: "ok", False: "FAIL", None: "-"}


def configure(parser: argparse.ArgumentParser) -> None:
    add_algorithm(parser, "problem=... n=... and any other key")


def execute(args: argparse.Namespace) -> int:
    """Print a line per check; 1 if one fails."""
    from dpsco_bench.audit.contract import check_algorithm
    from dpsco_bench.cli.overrides import default_name

    algorithm, keys = algorithm_keys(args.algorithm, args.keys)
    problem = str(keys.pop("problem", "") or default_name("problem"))
    calibration, seed = str(keys.pop("calibration", "accounted")), integral(keys.pop("seed", 2017))
    findings = check_algorithm(algorithm, problem, calibration, seed=seed, **keys)
    answer(args.json, [asdict(finding) for finding in findings], _lines(findings))
    return int(any(finding.passed is False for finding in findings))


def _lines(findings: Sequence[CheckResult]) -> Iterator[str]:
    """Tell each check; a cause that fails several is told with the first."""
    told = set[str]()
    for one in findings:
        why = "for the same reason" if one.passed is False and one.detail in told else one.detail
        told.add(one.detail)
        yield labelled(WORDS[one.passed], f"{one.check} ({why})", 6)
