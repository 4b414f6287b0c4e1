"""Everything that is known about an algorithm, a claim, a problem, a table or an erratum."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import get_args

from dpsco_bench.algorithms.registry import ALGORITHMS, CALIBRATIONS, Algorithm, get_algorithm, list_algorithms
from dpsco_bench.claims.catalogue import (
    claim_ids,
    errata_papers,
    find_errata,
    load_errata,
    read_claim,
    read_claims,
    table_texts,
)
from dpsco_bench.claims.erratum import Erratum
from dpsco_bench.claims.model import Claim
from dpsco_bench.claims.parsing import parse_claim
from dpsco_bench.claims.tables import TableText
from dpsco_bench.cli.docstrings import entries
from dpsco_bench.cli.pages import (
    AlgorithmPage,
    ClaimPage,
    ErrataPage,
    OptionText,
    Page,
    PartText,
    ProblemPage,
    SymbolText,
    TablePage,
)
from dpsco_bench.errors import InputError, nearest
from dpsco_bench.execution.request import problem_options
from dpsco_bench.problems.registry import list_problems, problem_class
from dpsco_bench.problems.traits import need_text


def describe(id: str) -> Page:
    """The page of whatever has this id. Raises InputError if nothing has it.

    Parameters
    ----------
    id : str
        An algorithm, claim or table (``paper.name``; claims accept ``_`` for ``.``; an algorithm that shares its name
        with nothing else also ``name``, as rankings show it), a problem, an erratum (``paper.E1``), a paper (its errata
        ledger), or the file of one's own claim.
    """
    for find in (_algorithm, _problem, _table, _errata, _claim, _algorithm_by_name):
        found = find(id)
        if found is not None:
            return found
    errata = [f"{paper}.{entry.id}" for paper in errata_papers() for entry in load_errata(paper)]
    known = [*list_algorithms(), *list_problems(), *claim_ids(), *(t.id for t in table_texts())]
    known += [*errata, *errata_papers()]
    raise InputError("id", id, nearest(id, known, "dpsco list algorithms|problems|claims|tables|errata"))


def _algorithm_by_name(name: str) -> AlgorithmPage | None:
    """Of the one algorithm that is called so in its paper."""
    found = [id for id in list_algorithms() if id.partition(".")[2] == name]
    return _algorithm(found[0]) if len(found) == 1 else None


def _algorithm(id: str) -> AlgorithmPage | None:
    if id.replace("/", ".", 1) not in list_algorithms():
        return None
    entry = get_algorithm(id)
    doc = inspect.getdoc(entry.plan_function) or ""
    claims = [c for c in read_claims() if any(m.algorithm == entry.id for part in c.parts for m in part.methods)]
    return AlgorithmPage(
        id=entry.id,
        source=entry.source,
        summary=entry.summary,
        needs=tuple(map(need_text, entry.needs)),
        variants={name: tuple(allowed) for name, allowed in entry.variants.items()},
        default_variants=_default_variants(entry),
        options=_options(entry.options, doc, _plan_doc),
        doc=doc,
        claims=tuple(claim.id for claim in claims),
        errata=_errata_of(claims),
    )


def _default_variants(entry: Algorithm) -> dict[str, str]:
    defined = [c for c in CALIBRATIONS if any(c in allowed for allowed in entry.variants.values())]
    return {calibration: entry.variant_for(calibration) for calibration in defined}


_REFERENCE = re.compile(r"^As (?:for|in) `+([\w.]+)`+")
_OTHERS = "and the other options"
"""Stands, in an entry of a docstring, for all options that no other entry names."""


def _options(
    parameters: Mapping[str, inspect.Parameter], doc: str, doc_of: Callable[[str], str]
) -> tuple[OptionText, ...]:
    return tuple(_option(parameter, **_meaning(key, doc, doc_of)) for key, parameter in parameters.items())


def _meaning(key: str, doc: str, doc_of: Callable[[str], str]) -> dict[str, str]:
    """What a docstring says of an option; where it refers to another one, what is said there, and where that is."""
    found = entries(doc)
    named = next((text for names, text in found.items() if key in names.split(", ")), "")
    text = named or next((text for names, text in found.items() if _OTHERS in names), "")
    reference = _REFERENCE.match(text)
    told = _meaning(key, doc_of(reference[1]), doc_of)["meaning"] if reference else ""
    return {"meaning": told or text, "told_by": reference[1] if reference and told else ""}


def _plan_doc(id: str) -> str:
    found = ALGORITHMS.find(id)
    return (inspect.getdoc(found.plan_function) or "") if found else ""


def _option(parameter: inspect.Parameter, **said: str) -> OptionText:
    kinds = get_args(parameter.annotation) or (parameter.annotation,)
    names = ["null" if k is type(None) else getattr(k, "__name__", str(k)) for k in kinds]
    if parameter.annotation is parameter.empty:
        names = [type(parameter.default).__name__]
    default = None if parameter.default is parameter.empty else parameter.default
    return OptionText(parameter.name, " or ".join(names), default, **said)


def _errata_of(claims: Iterable[Claim]) -> tuple[Erratum, ...]:
    """Ledger entries that touch any of the claims, each once, in the ledger's order."""
    wanted = {(claim.paper, id) for claim in claims for id in claim.errata}
    papers = sorted({paper for paper, _ in wanted})
    return tuple(e for paper in papers for e in load_errata(paper) if (paper, e.id) in wanted)


def _problem(id: str) -> ProblemPage | None:
    if id not in list_problems():
        return None
    cls = problem_class(id)
    problem, doc = cls(None), inspect.getdoc(cls) or ""
    return ProblemPage(
        id=id,
        source=cls.source,
        summary=cls.summary,
        dimension=problem.dimension,
        effective_dimension=problem.effective_dimension,
        constants=problem.constants,
        data_dependent_constants=cls.data_dependent_constants,
        traits=tuple(sorted(trait.value for trait in problem.properties)),
        options=tuple(
            _option(p, meaning=o.meaning, allowed=o.allowed if o.choices or o.interval or o.words else "")
            if (o := cls.options.get(key))
            else _option(p, **_meaning(key, doc, lambda _: ""))
            for key, p in problem_options(cls).items()
        ),
        doc=doc,
        claims=tuple(c.id for c in read_claims() if any(part.problem == id for part in c.parts)),
    )


def _table(id: str) -> TablePage | None:
    name = id.replace("/", ".", 1)
    found = next((table for table in table_texts() if table.id == name), None)
    return _table_page(found) if found else None


def _table_page(text: TableText) -> TablePage:
    """Of a computed table with its note and rows (name -> value) as they are before any measurement."""
    from dpsco_bench.execution.layout import Layout
    from dpsco_bench.report.inputs import Inputs
    from dpsco_bench.report.rebuilt import computed_table
    from dpsco_bench.report.tables import at

    if not text.computed:
        return TablePage(text)
    table = computed_table(text, Inputs(Layout(""), []))
    rows = tuple({name: at(row, path) for name, path in table.fields.items()} for row in table.rows)
    return TablePage(text, table.note, rows)


def _errata(id: str) -> ErrataPage | None:
    paper, _, number = id.replace("/", ".", 1).partition(".")
    named = re.fullmatch(r"(?i:E?)(\d+)([A-Za-z]?)", number)
    if paper not in errata_papers() or (number and not named):
        return None
    entries = find_errata(paper, [f"E{named[1]}{named[2].lower()}"]) if named else load_errata(paper)
    from dpsco_bench.claims.bounds.registry import errata_letters

    return ErrataPage(id, paper, errata_letters(paper, entries), tuple(entries))


def _claim(id: str) -> ClaimPage | None:
    from dpsco_bench.claims.bounds.registry import alphabetical, get_bound
    from dpsco_bench.claims.compose import CLAIM_SUFFIXES, errors_of, find_claim_id, own_claims

    wanted = id.replace("/", ".", 1).replace("_", ".")
    if id.endswith(CLAIM_SUFFIXES):
        ((name, entry),) = own_claims([id]).items()
        with errors_of(name, [id]):
            claim = parse_claim(entry)
    elif wanted in {known.replace("_", ".") for known in claim_ids()}:
        claim = read_claim(find_claim_id(id))
    else:
        return None
    with errors_of(claim.id, [id] if id.endswith(CLAIM_SUFFIXES) else []):
        bounds = {part.bound: get_bound(part.bound) for part in claim.parts if part.bound}
    symbols = {name: symbol for bound in bounds.values() for name, symbol in bound.all_symbols.items()}
    return ClaimPage(
        claim,
        tuple(PartText(part, bounds[part.bound].text if part.bound else "") for part in claim.parts),
        {name: SymbolText(symbols[name].words, symbols[name].place) for name in alphabetical(symbols)},
        tuple(find_errata(claim.paper, list(claim.errata))),
    )
