"""Everything that is known about an algorithm, a claim, a problem, a table or an erratum, as plain data."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, get_args

from dpsco_bench.algorithms.registry import CALIBRATIONS, Algorithm, get_algorithm, list_algorithms
from dpsco_bench.claims.catalogue import claim_texts, errata_papers, find_errata, load_errata, table_texts
from dpsco_bench.errors import InputError
from dpsco_bench.execution.request import problem_options
from dpsco_bench.problems.registry import list_problems, problem_class


def describe(id: str) -> dict[str, Any]:
    """Describe whatever has this id.

    Parameters
    ----------
    id : str
        An algorithm, claim or table (``paper.name``; claims accept ``_`` for ``.``), a problem, an erratum
        (``paper.E1``), a paper (its errata ledger), or the file of one's own claim.

    Returns
    -------
    dict
        JSON-ready; ``kind`` is ``algorithm``, ``claim``, ``table``, ``problem`` or ``errata``.

    Raises
    ------
    InputError
        If nothing has this id.
    """
    for find in (_algorithm, _problem, _table, _errata, _claim):
        found = find(id)
        if found is not None:
            return found
    known = [*list_algorithms(), *list_problems(), *(c["id"] for c in claim_texts()), *(t["id"] for t in table_texts())]
    raise InputError("id", id, "one of " + ", ".join(known) + ", or an erratum such as wang2017.E1")


def _algorithm(id: str) -> dict[str, Any] | None:
    if id.replace("/", ".", 1) not in list_algorithms():
        return None
    entry = get_algorithm(id)
    claims = [claim for claim in claim_texts() if entry.id in _algorithms_of(claim)]
    return {
        "kind": "algorithm",
        "id": entry.id,
        "source": entry.source,
        "summary": entry.summary,
        "needs": [trait.value for trait in entry.needs],
        "variants": {name: list(allowed) for name, allowed in entry.variants.items()},
        "default_variants": _default_variants(entry),
        "options": [_option(parameter) for parameter in entry.options.values()],
        "doc": inspect.getdoc(entry.plan_function) or "",
        "claims": [claim["id"] for claim in claims],
        "errata": _errata_rows(claims),
    }


def _default_variants(entry: Algorithm) -> dict[str, str]:
    defined = [c for c in CALIBRATIONS if any(c in allowed for allowed in entry.variants.values())]
    return {calibration: entry.variant_for(calibration) for calibration in defined}


def _option(parameter: inspect.Parameter) -> dict[str, Any]:
    kinds = get_args(parameter.annotation) or (parameter.annotation,)
    names = ["null" if k is type(None) else getattr(k, "__name__", str(k)) for k in kinds]
    if parameter.annotation is parameter.empty:
        names = [type(parameter.default).__name__]
    return {"name": parameter.name, "type": " or ".join(names), "default": _plain(parameter.default)}


def _plain(default: Any) -> Any:
    return None if default is inspect.Parameter.empty else default


def _algorithms_of(claim: Mapping[str, Any]) -> set[str]:
    parts = claim.get("parts", [])
    return {entry.get("algorithm", "") for part in parts for entry in (part, *part.get("methods", []))}


def _errata_rows(claims: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Ledger entries that touch any of the claims, each once, in the ledger's order."""
    wanted = {(claim["id"].split(".")[0], id) for claim in claims for id in claim.get("errata") or []}
    papers = sorted({paper for paper, _ in wanted})
    return [asdict(e) for paper in papers for e in load_errata(paper) if (paper, e.id) in wanted]


def _problem(id: str) -> dict[str, Any] | None:
    if id not in list_problems():
        return None
    cls = problem_class(id)
    problem = cls(None)
    return {
        "kind": "problem",
        "id": id,
        "source": cls.source,
        "summary": cls.summary,
        "dimension": problem.dimension,
        "effective_dimension": problem.effective_dimension,
        "constants": asdict(problem.constants),
        "data_dependent_constants": cls.data_dependent_constants,
        "traits": sorted(trait.value for trait in problem.properties),
        "options": [_option(parameter) for parameter in problem_options(cls).values()],
        "doc": inspect.getdoc(cls) or "",
        "claims": [c["id"] for c in claim_texts() if any(part.get("problem") == id for part in c.get("parts", []))],
    }


def _table(id: str) -> dict[str, Any] | None:
    name = id.replace("/", ".", 1)
    found = next((table for table in table_texts() if table["id"] == name), None)
    return {"kind": "table", **found, **_computed(found)} if found else None


def _computed(text: Mapping[str, Any]) -> dict[str, Any]:
    """Note and rows (name -> value) of a computed table, as it is before any measurement."""
    from dpsco_bench.execution.layout import Layout
    from dpsco_bench.report.computed import computed_table
    from dpsco_bench.report.inputs import Inputs

    if "computed" not in text:
        return {}
    table = computed_table(text, Inputs(Layout(""), []))
    raw = {name: value for column in table.columns for name, value in column.raw.items()}
    rows = [{name: value(row) for name, value in raw.items()} for row in table.rows]
    return {"note": table.note, "computed_rows": rows}


def _errata(id: str) -> dict[str, Any] | None:
    paper, _, number = id.replace("/", ".", 1).partition(".")
    if paper not in errata_papers() or (number and not number.upper().removeprefix("E").isdigit()):
        return None
    entries = find_errata(paper, [f"E{number.upper().removeprefix('E')}"]) if number else load_errata(paper)
    return {"kind": "errata", "id": id, "paper": paper, "errata": [asdict(entry) for entry in entries]}


def _claim(id: str) -> dict[str, Any] | None:
    from dpsco_bench.claims.bounds.registry import get_bound
    from dpsco_bench.claims.compose import CLAIM_SUFFIXES, claim_ids, errors_of, find_claim_id, load_claim, own_claims
    from dpsco_bench.claims.model import parse_claim

    wanted = id.replace("/", ".", 1).replace("_", ".")
    if id.endswith(CLAIM_SUFFIXES):
        ((name, entry),) = own_claims([id]).items()
        with errors_of(name, [id]):
            claim = parse_claim(entry)
    elif wanted in {known.replace("_", ".") for known in claim_ids()}:
        claim, _ = load_claim(find_claim_id(id))
    else:
        return None
    parts = []
    for part in claim.parts:
        row = {key: value for key, value in asdict(part).items() if value not in ("", None, [], {})}
        with errors_of(claim.id, [id] if id.endswith(CLAIM_SUFFIXES) else []):
            formula = {"formula": get_bound(part.bound).text} if part.bound else {}
        parts.append({**row, **formula})
    return {
        "kind": "claim",
        "id": claim.id,
        "title": claim.title,
        "source": claim.source,
        "statement": claim.statement,
        "assumptions": list(claim.assumptions),
        "parts": parts,
        "errata": [asdict(entry) for entry in find_errata(claim.paper, list(claim.errata))],
    }
