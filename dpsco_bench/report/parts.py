"""How each part of a claim is measured: method, instance, grid, bound and tolerance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.claims.model import Part
from dpsco_bench.execution.jobs import Job
from dpsco_bench.problems.registry import problem_class
from dpsco_bench.report.inputs import ClaimResults
from dpsco_bench.report.numbers import NOTHING, count, plain, span
from dpsco_bench.report.tables import Column, Table
from dpsco_bench.report.wording import options_text, parameter_symbol, setting, symbols


def parts_table(claim: ClaimResults) -> Table:
    """Tabulate how each part of a claim is measured."""
    rows = [_row(claim, part) for part in claim.parts.values()]
    titles = ("Part", "Kind", "Method", "Instance", "Swept", "Replicates", "Bound", "Tolerance")
    columns = {title: Column(title, raw="", numeric=title in ("Replicates", "Tolerance")) for title in titles}
    columns["Part"] = Column("Part", raw="", kind="code")
    return Table(f"{claim.id}.parts", f"How {claim.id} is measured", columns, rows)


def _row(claim: ClaimResults, part: Part) -> dict[str, str]:
    tolerance = part.rules.tolerance_of(part)
    return {
        "Part": part.id,
        "Kind": part.rules.title,
        "Method": _methods(claim, part),
        "Instance": _instance(claim, part),
        "Swept": _swept(claim, part),
        "Replicates": _replicates(claim, part),
        "Bound": symbols(get_bound(part.bound).text) if part.bound else NOTHING,
        "Tolerance": tolerance if isinstance(tolerance, str) else plain(tolerance),
    }


def _methods(claim: ClaimResults, part: Part) -> str:
    if part.uses:
        return f"cells of {', '.join(_named(claim, name) for name in part.uses)}"
    job = _job(claim, part)
    swept = part.sweep.parameter.partition(".")[2] if part.sweep else ""
    shown: dict[str, str] = {}
    for cell in job.cells if job else ():
        options = {key: value for key, value in cell.options.items() if key != swept}
        details = ", ".join(filter(None, (cell.variant or "", options_text(options))))
        shown.setdefault(cell.method, f"{cell.method} ({details})")
    return "; ".join(shown.values()) or NOTHING


def _named(claim: ClaimResults, name: str) -> str:
    """A part's id; one that is short for what is swept, such as the constant of a norm, by the full name."""
    part = claim.parts.get(name)
    swept = part.sweep.parameter.rpartition(".")[2] if part and part.sweep else ""
    return swept if swept.endswith(f"_{name}") else name


def _job(claim: ClaimResults, part: Part) -> Job | None:
    """The part's first job: all its jobs have the same cells but for variants; None where they have no cells."""
    return next((job for job in claim.jobs if job.part == part.id and job.cells), None)


def _instance(claim: ClaimResults, part: Part) -> str:
    job = _job(claim, part)
    if job is None:
        return NOTHING
    first = job.cells[0]
    varied = {first.parameter, problem_class(part.problem).signal_option}
    varied |= {key.split(".")[-1] for key in part.along}
    shown = {key: value for key in ("n", "d", "epsilon", "delta") if (value := getattr(first, key)) is not None}
    shown |= flat(first.problem_options)
    fixed = setting({key: value for key, value in shown.items() if key not in varied})
    signals = {cell.signal for cell in job.cells if cell.signal is not None}
    grid = f"{len(signals)} signals {span(signals, plain)}" if signals else ""
    return ", ".join(filter(None, (part.problem, fixed, grid)))


def flat(values: Mapping[str, Any] | None) -> dict[str, Any]:
    """Settings with nested ones written flat: ``constants: {smoothness: 1}`` becomes ``smoothness: 1``."""
    result: dict[str, Any] = {}
    for key, value in (values or {}).items():
        result.update(value if isinstance(value, Mapping) else {key: value})
    return result


def _swept(claim: ClaimResults, part: Part) -> str:
    job = _job(claim, part)
    if job is None:
        return NOTHING
    values = sorted({cell.value for cell in job.cells})
    return f"{parameter_symbol(job.cells[0].parameter)}: {', '.join(plain(value) for value in values)}"


def _replicates(claim: ClaimResults, part: Part) -> str:
    job = _job(claim, part)
    if job is None or job.evaluation == "plan_only":
        return NOTHING
    if job.evaluation == "closed_form":
        return "exact"
    return count(job.replicates * job.data_sets)
