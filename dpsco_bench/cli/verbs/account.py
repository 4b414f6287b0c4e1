"""``dpsco account ALGORITHM key=value...``: what is charged, without running anything."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dpsco_bench.cli.options import add_algorithm, add_shared, algorithm_keys, load_plugin_files
from dpsco_bench.cli.output import Heading, bounded, constants_text, labelled, number, print_json, table
from dpsco_bench.privacy.ledger import OF, OUTPUT, SEQUENCE, STATUS_WORDS

if TYPE_CHECKING:
    from dpsco_bench.cli.accounting import Account, CalibrationAccount
    from dpsco_bench.execution.cell import Cell

SUMMARY = "noise, real epsilon and gradient evaluations of an algorithm; nothing is run"
EPILOG = """keys: problem, n (both required), d, epsilon (1), delta (1e-5), variant, seed (2017),
and every schedule option, problem option and problem constant by name. Example:
  dpsco account {algorithm} problem={problem} n=16384 d=10 epsilon=1 delta=1e-5"""
_COLUMNS = (
    Heading("what", ""),
    Heading("paper", "paper", numeric=True),
    Heading("accounted", "accounted", numeric=True),
)


def configure(parser: argparse.ArgumentParser) -> None:
    add_algorithm(parser, "problem=... n=... and any other key")
    add_shared(parser, "json", "plugin")


def execute(args: argparse.Namespace) -> int:
    """Print the account."""
    from dpsco_bench.errors import InputError, integral
    from dpsco_bench.execution.request import check_run, make_cell

    load_plugin_files(args.plugin)
    algorithm, keys = algorithm_keys(args.algorithm, args.keys)
    if "problem" not in keys:
        raise InputError("problem", "missing", "given: `dpsco list problems` lists them")
    seed = integral(keys.pop("seed", 2017))
    cell = make_cell(algorithm, str(keys.pop("problem")), keys)
    check_run("none", 1, seed)
    return _account(cell, seed, args.json)


def _account(cell: Cell, seed: int, as_json: bool) -> int:
    from dpsco_bench.cli.accounting import account

    report = account(cell, seed)
    if as_json:
        print_json(report)
    else:
        print("\n".join(screen(report)))
    return 0


def screen(report: Account) -> Iterator[str]:
    """One screen: the case, both calibrations side by side, and what it means."""
    from dpsco_bench.cli.accounting import sentences

    yield (
        f"{report.algorithm} on {report.problem}: n = {report.n}, d = {report.d}, "
        f"epsilon = {report.epsilon:g}, delta = {report.delta:g}"
    )
    yield labelled("source", report.source, 11)
    yield labelled("constants", f"{constants_text(report.constants)} ({report.constants.status})", 11)
    yield "\n" + table(_COLUMNS, list(_rows(report))) + "\n"
    yield from (labelled("*", sentence, 2) for sentence in sentences(report))


def _rows(report: Account) -> Iterator[dict[str, str]]:
    from dpsco_bench.claims.bounds.registry import schedule_letter

    def row(what: str, show: Callable[[CalibrationAccount], str], refused: str = "-") -> dict[str, str]:
        shown = {name: show(entry) for name, entry in report.charged.items()}
        return {"what": what, **dict.fromkeys(report.calibrations, refused), **shown}

    yield row("variant", lambda e: e.variant, "refused")
    yield row("real epsilon (replace-one)", lambda e: bounded(e.epsilon_real, e.epsilon_real_kind))
    yield row("it is that", lambda e: OF[e.epsilon_of])
    if any(
        entry.epsilon_of == OUTPUT and entry.epsilon_sequence != entry.epsilon_real for entry in report.charged.values()
    ):
        what = f"the same {OF[SEQUENCE]}"
        yield row(what, lambda e: bounded(e.epsilon_sequence, e.epsilon_sequence_kind))
    yield row("real epsilon (add/remove)", lambda e: bounded(e.epsilon_add_remove, e.epsilon_add_remove_kind))
    yield row("privacy", lambda e: STATUS_WORDS[e.privacy_status])
    drawn = any(entry.sampler_status for entry in report.charged.values())
    for name in _names(entry.noise for entry in report.charged.values()):
        what = "scale S/(G t)" if drawn else "noise scale"
        yield row(f"{what} of `{name}`", lambda e, name=name: number(e.noise.get(name)))  # type: ignore[misc]
    yield row("gradient evaluations", lambda e: number(e.gradient_evaluations))
    paper = report.algorithm.partition(".")[0]
    for name in _names(entry.schedule for entry in report.charged.values()):
        letter = schedule_letter(paper, name)
        yield row(letter, lambda e, name=name: _schedule_value(e.schedule.get(name)))  # type: ignore[misc]


def _names(mappings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Names that either calibration has, in order; the schedule repeats n."""
    names = dict.fromkeys(name for mapping in mappings for name in mapping)
    return [name for name in names if name != "n"]


def _schedule_value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " .. ".join(number(item) for item in value)
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else number(value)
