"""Everything that is known about an algorithm, a claim, a problem, a table or an erratum, as ``show`` prints it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass
from typing import get_args

from dpsco_bench.algorithms.registry import ALGORITHMS, CALIBRATIONS, list_algorithms
from dpsco_bench.claims.bounds.registry import alphabetical, get_bound
from dpsco_bench.claims.catalogue import (
    CLAIM_SUFFIXES,
    claim_ids,
    errata_papers,
    errors_of,
    find_claim_id,
    find_errata,
    load_errata,
    own_claims,
    read_claim,
    read_claims,
    table_texts,
)
from dpsco_bench.claims.model import Part
from dpsco_bench.claims.parsing import parse_claim
from dpsco_bench.errors import InputError, nearest
from dpsco_bench.execution.request import problem_options
from dpsco_bench.plain import Plain
from dpsco_bench.problems.registry import PROBLEMS, list_problems
from dpsco_bench.problems.traits import need_text

_PARAMETERS = "Parameters\n----------\n"
_ENTRY = re.compile(r"^(\w[\w, ]*?)(?: : .*)?\n((?:    .*(?:\n|$))+)", re.MULTILINE)
_HEADING = re.compile(r"^\w+\n-+\n")
_REFERENCE = re.compile(r"^As (?:for|in) `+([\w.]+)`+")
_OTHERS = "and the other options"
"""Stands, in an entry of a docstring, for all options that no other entry names."""


def describe(id: str) -> Plain:
    """Describe whatever has this id: its ``kind``, and what is known of it. Raises InputError if nothing has it.

    Parameters
    ----------
    id : str
        An algorithm, claim or table (``paper.name``; claims accept ``_`` for ``.``; an algorithm that shares its name
        with nothing else also ``name``, as rankings show it), a problem, an erratum (``paper.E1``), a paper (its errata
        ledger), or the file of one's own claim.
    """
    for find in (_claim, _table, _errata, _algorithm, _problem):  # what loads little first
        if (found := find(id)) is not None:
            return found
    alone = [name for name in list_algorithms() if name.partition(".")[2] == id]
    if len(alone) == 1 and (found := _algorithm(alone[0])):
        return found
    errata = [f"{paper}.{entry.id}" for paper in errata_papers() for entry in load_errata(paper)]
    known = [*list_algorithms(), *list_problems(), *claim_ids(), *(t.id for t in table_texts())]
    known += [*errata, *errata_papers()]
    raise InputError("id", id, nearest(id, known, "dpsco list algorithms|problems|claims|tables|errata"))


def _algorithm(id: str) -> Plain | None:
    name = id.replace("/", ".", 1)
    entry = ALGORITHMS.find(name) if "." in name else None
    if entry is None:
        return None
    doc = inspect.getdoc(entry.plan_function) or ""
    named = read_claims(entry.id.rpartition(".")[2])
    claims = [c for c in named if any(m.algorithm == entry.id for part in c.parts for m in part.methods)]
    touched = {(claim.paper, id) for claim in claims for id in claim.errata}
    defined = [c for c in CALIBRATIONS if any(c in allowed for allowed in entry.variants.values())]
    return {
        "kind": "algorithm",
        "id": entry.id,
        "source": entry.source,
        "summary": entry.summary,
        "needs": [*map(need_text, entry.needs)],
        "variants": entry.variants,
        "default_variants": {calibration: entry.variant_for(calibration) for calibration in defined},
        "options": [_option(p, **_meaning(key, doc, _plan_doc)) for key, p in entry.options.items()],
        "doc": doc,
        "claims": [claim.id for claim in claims],
        "errata": [
            e for paper in sorted({p for p, _ in touched}) for e in load_errata(paper) if (paper, e.id) in touched
        ],
    }


def _option(parameter: inspect.Parameter, **said: str) -> Plain:
    """Describe an option: its name, types, default and meaning.

    ``allowed`` has the values that a problem declares, ``told_by`` the algorithm whose docstring tells the meaning.
    """
    kinds = get_args(parameter.annotation) or (parameter.annotation,)
    names = ["null" if k is type(None) else getattr(k, "__name__", str(k)) for k in kinds]
    if parameter.annotation is parameter.empty:
        names = [type(parameter.default).__name__]
    default = None if parameter.default is parameter.empty else parameter.default
    return {"name": parameter.name, "type": " or ".join(names), "default": default, **said}


def _meaning(key: str, doc: str, doc_of: Callable[[str], str]) -> dict[str, str]:
    """Find what a docstring says of an option; where it refers to another one, what that says, and which it is."""
    found = _entries(doc)
    named = next((text for names, text in found.items() if key in names.split(", ")), "")
    text = named or next((text for names, text in found.items() if _OTHERS in names), "")
    reference = _REFERENCE.match(text)
    told = _meaning(key, doc_of(reference[1]), doc_of)["meaning"] if reference else ""
    return {"meaning": told or text, "told_by": reference[1] if reference and told else ""}


def _plan_doc(id: str) -> str:
    found = ALGORITHMS.find(id)
    return (inspect.getdoc(found.plan_function) or "") if found else ""


def _entries(doc: str) -> dict[str, str]:
    """Names of parameters as an entry of a docstring has them, such as ``n, d`` -> what it says, on one line."""
    section = doc.partition(_PARAMETERS)[2].partition("\n\n")[0]
    return {names: " ".join(text.split()) for names, text in _ENTRY.findall(section)}


def paragraphs(doc: str) -> list[str]:
    """Give a docstring's prose, the summary first: other sections, such as notes, without headings, no parameters."""
    before, _, section = doc.partition(_PARAMETERS)
    after = section.partition("\n\n")[2]
    pieces = [_HEADING.sub("", piece) for piece in f"{before}\n\n{after}".split("\n\n")]
    return [piece.strip("\n") for piece in pieces if piece.strip()]


def on_others(doc: str, options: Collection[str]) -> Iterator[tuple[str, str]]:
    """Find the entries that speak of more than options, such as ``given`` and ``variant``, and what they say."""
    for names, text in _entries(doc).items():
        if not set(names.split(", ")) <= set(options):
            yield names, text


def _problem(id: str) -> Plain | None:
    cls = PROBLEMS.find(id) if id.isidentifier() else None
    if cls is None:
        return None
    problem, doc = cls(None), inspect.getdoc(cls) or ""
    options = []
    for key, p in problem_options(cls).items():
        if o := cls.options.get(key):
            allowed = o.allowed if o.choices or o.interval or o.words else ""
            options.append(_option(p, meaning=o.meaning, allowed=allowed))
        else:
            options.append(_option(p, **_meaning(key, doc, lambda _: "")))
    return {
        "kind": "problem",
        "id": id,
        "source": cls.source,
        "summary": cls.summary,
        "dimension": problem.dimension,
        "effective_dimension": problem.effective_dimension,
        "constants": problem.constants,
        "data_dependent_constants": cls.data_dependent_constants,
        "traits": sorted(trait.value for trait in problem.properties),
        "options": options,
        "doc": doc,
        "claims": [c.id for c in read_claims(id) if any(part.problem == id for part in c.parts)],
    }


def _table(id: str) -> Plain | None:
    """Describe a table; a computed one with its note and rows (name -> value) as they are before any measurement."""
    text = next((table for table in table_texts() if table.id == id.replace("/", ".", 1)), None)
    if text is None:
        return None
    told = {"kind": "table", **text.to_json()}
    if text.computed:
        from dpsco_bench.execution.layout import Layout
        from dpsco_bench.report.inputs import Inputs
        from dpsco_bench.report.rebuilt import computed_table
        from dpsco_bench.report.tables import at

        table = computed_table(text, Inputs(Layout(""), []))
        rows = [{name: at(row, path) for name, path in table.fields.items()} for row in table.rows]
        told |= {"note": table.note, "computed_rows": rows}
    return told


def _errata(id: str) -> Plain | None:
    """Describe one or all entries of a paper's ledger; ``letters`` says what the paper calls our symbols."""
    paper, _, number = id.replace("/", ".", 1).partition(".")
    named = re.fullmatch(r"(?i:E?)(\d+)([A-Za-z]?)", number)
    if paper not in errata_papers() or (number and not named):
        return None
    entries = find_errata(paper, [f"E{named[1]}{named[2].lower()}"]) if named else load_errata(paper)
    from dpsco_bench.claims.bounds.registry import errata_letters

    letters = errata_letters(paper, entries)
    return {"kind": "errata", "id": id, "paper": paper, "letters": letters, "errata": entries}


@dataclass(frozen=True)
class PartText:
    """A part with the text of its bound; its JSON leaves empty keys out."""

    part: Part
    formula: str

    def to_json(self) -> Plain:
        row = {k: v for k, v in asdict(self.part).items() if v not in ("", None, [], {})}
        return {**row, **({"formula": self.formula} if self.formula else {})}


def _claim(id: str) -> Plain | None:
    """Describe a claim: parts, symbols of their bounds (what each means, its ``entry`` of the context), errata."""
    files = [id] if id.endswith(CLAIM_SUFFIXES) else []
    if files:
        ((name, entry),) = own_claims(files).items()
        with errors_of(name, files):
            claim = parse_claim(entry)
    elif id.replace("/", ".", 1).replace("_", ".") in {known.replace("_", ".") for known in claim_ids()}:
        claim = read_claim(find_claim_id(id))
    else:
        return None
    with errors_of(claim.id, files):
        bounds = {part.bound: get_bound(part.bound) for part in claim.parts if part.bound}
    symbols = {name: symbol for bound in bounds.values() for name, symbol in bound.all_symbols.items()}
    meant = {name: {"means": s.words, **({"entry": s.place} if s.place else {})} for name, s in symbols.items()}
    return {
        "kind": "claim",
        **{key: getattr(claim, key) for key in ("id", "title", "source", "statement", "assumptions")},
        "parts": [PartText(part, bounds[part.bound].text if part.bound else "") for part in claim.parts],
        "symbols": {name: meant[name] for name in alphabetical(symbols)},
        "errata": find_errata(claim.paper, list(claim.errata)),
    }
