"""How each part of a claim is measured: method, instance, grid, bound and tolerance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.report.inputs import ClaimResults
from dpsco_bench.report.numbers import NOTHING, count, plain
from dpsco_bench.report.tables import Column, Table
from dpsco_bench.report.wording import KIND_NAMES, options_text, parameter_symbol, setting, symbols


def parts_table(claim: ClaimResults) -> Table:
    """How each part of a claim is measured."""
    columns = (
        Column("Part", lambda part: part["id"], kind="code"),
        Column("Kind", lambda part: KIND_NAMES[part["kind"]]),
        Column("Method", _methods),
        Column("Instance", _instance),
        Column("Swept", lambda part: _swept(claim, part)),
        Column("Replicates", lambda part: _replicates(claim, part), numeric=True),
        Column("Bound", _bound),
        Column("Tolerance", _tolerance, numeric=True),
    )
    return Table(f"{claim.id}.parts", f"How {claim.id} is measured", columns, list(claim.parts.values()))


def _methods(part: Mapping[str, Any]) -> str:
    if part["uses"]:
        return f"cells of {', '.join(part['uses'])}"
    shown = []
    for method in part["methods"]:
        details = ", ".join(filter(None, (method.get("variant") or "", options_text(method.get("options") or {}))))
        name = method.get("label") or method["algorithm"].split(".", 1)[-1]
        shown.append(f"{name} ({details})" if details else name)
    return "; ".join(shown)


def _instance(part: Mapping[str, Any]) -> str:
    if not part["problem"]:
        return NOTHING
    fixed = {key: value for key, value in flat(part["fixed"]).items()}
    return ", ".join(filter(None, (part["problem"], setting({**fixed, **flat(part["problem_options"])}))))


def flat(values: Mapping[str, Any] | None) -> dict[str, Any]:
    """Settings with nested ones written flat: ``constants: {smoothness: 1}`` becomes ``smoothness: 1``."""
    result: dict[str, Any] = {}
    for key, value in (values or {}).items():
        if isinstance(value, Mapping) and key != "n":
            result.update(value)
        elif not isinstance(value, Mapping):
            result[key] = value
    return result


def _swept(claim: ClaimResults, part: Mapping[str, Any]) -> str:
    job = next((job for job in claim.jobs if job["part"] == part["id"]), None)
    if job is None:
        return NOTHING
    values = sorted({cell["value"] for cell in job["cells"]})
    return f"{parameter_symbol(job['cells'][0]['parameter'])}: {', '.join(plain(value) for value in values)}"


def _replicates(claim: ClaimResults, part: Mapping[str, Any]) -> str:
    job = next((job for job in claim.jobs if job["part"] == part["id"]), None)
    if job is None or job["evaluation"] == "plan_only":
        return NOTHING
    if job["evaluation"] == "closed_form":
        return "exact"
    return count(job["replicates"] * job["data_sets"])


def _bound(part: Mapping[str, Any]) -> str:
    return symbols(get_bound(part["bound"]).text) if part["bound"] else NOTHING


def _tolerance(part: Mapping[str, Any]) -> str:
    return plain(part["tolerance"]) if part["kind"] in ("rate", "complexity") else NOTHING
