"""Everything that is known about an algorithm, a claim, a problem, a table or an erratum, as ``show`` prints it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import get_args

from dpsco_bench.algorithms.registry import ALGORITHMS, CALIBRATIONS, list_algorithms
from dpsco_bench.analysis.answer import answers
from dpsco_bench.analysis.record import read_record
from dpsco_bench.claims import catalogue
from dpsco_bench.claims.bounds.registry import alphabetical, errata_letters, get_bound
from dpsco_bench.claims.model import Part
from dpsco_bench.claims.parsing import parse_claim
from dpsco_bench.cli.console import constants_text, digits, full_id, labelled, number, table
from dpsco_bench.cli.verbs.gate import lines_of, recorded_path
from dpsco_bench.errors import InputError, nearest
from dpsco_bench.execution.request import problem_options
from dpsco_bench.plain import Plain
from dpsco_bench.problems.constants import need_text
from dpsco_bench.problems.registry import PROBLEMS, list_problems
from dpsco_bench.report.tables import Column, Number

_PARAMETERS = "Parameters\n----------\n"
_ENTRY = re.compile(r"^(\w[\w, ]*?)(?: : .*)?\n((?:    .*(?:\n|$))+)", re.MULTILINE)
_HEADING = re.compile(r"^\w+\n-+\n")
_REFERENCE = re.compile(r"^As (?:for|in) `+([\w.]+)`+")
_OTHERS = "and the other options"
"""Stands, in an entry of a docstring, for all options that no other entry names."""


def describe(id: str, kind: str = "") -> Plain:
    """Describe what has this id (and ``kind``): its kind, and what is known of it. Raises InputError if nothing has it.

    It is of an algorithm, claim or table (``paper.name``; claims accept ``_`` for ``.``; an algorithm that shares its
    name with nothing else also ``name``, as rankings show it), a problem, an erratum (``paper.E1``), a paper (its
    ledger), or the file of a user's claim.
    """
    for find in (_claim, _table, _errata, _algorithm, _problem):  # what loads little first
        if find.__name__.endswith(kind) and (found := find(id)) is not None:
            return found
    if (found := _algorithm(full_id(id))) is not None:
        return found
    papers, tables = catalogue.errata_papers(), (table.id for table in catalogue.table_texts())
    errata = (f"{paper}.{entry.id}" for paper in papers for entry in catalogue.load_errata(paper))
    known = [*list_algorithms(), *list_problems(), *catalogue.claim_ids(), *tables, *papers, *errata]
    raise InputError("id", id, nearest(id, known, "dpsco list algorithms|problems|claims|tables|errata"))


def _algorithm(id: str) -> Plain | None:
    name = id.replace("/", ".", 1)
    entry = ALGORITHMS.find(name) if "." in name else None
    if entry is None:
        return None

    def doc_of(id: str) -> str:
        found = ALGORITHMS.find(id)
        return (inspect.getdoc(found.plan_function) or "") if found else ""

    doc = doc_of(entry.id)
    named = catalogue.read_claims(entry.id.rpartition(".")[2])
    claims = [c for c in named if any(m.algorithm == entry.id for part in c.parts for m in part.methods)]
    touched = {(claim.paper, id) for claim in claims for id in claim.errata}
    errata = [e for paper in sorted({paper for paper, _ in touched}) for e in catalogue.load_errata(paper)]
    defined = [c for c in CALIBRATIONS if any(c in allowed for allowed in entry.variants.values())]
    return {
        "kind": "algorithm",
        "id": entry.id,
        "source": entry.source,
        "summary": entry.summary,
        "needs": [*map(need_text, entry.needs)],
        "variants": entry.variants,
        "default_variants": {calibration: entry.variant_for(calibration) for calibration in defined},
        "options": [_option(p, meaning=_meaning(key, doc, doc_of)) for key, p in entry.options.items()],
        "doc": doc,
        "claims": [claim.id for claim in claims],
        "errata": [e for e in errata if (e.paper, e.id) in touched],
    }


def _option(parameter: inspect.Parameter, **said: str) -> Plain:
    kinds = get_args(parameter.annotation) or (parameter.annotation,)
    names = ["null" if k is type(None) else getattr(k, "__name__", str(k)) for k in kinds]
    if parameter.annotation is parameter.empty:
        names = [type(parameter.default).__name__]
    default = None if parameter.default is parameter.empty else parameter.default
    return {"name": parameter.name, "type": " or ".join(names), "default": default, **said}


def _meaning(key: str, doc: str, doc_of: Callable[[str], str]) -> str:
    """Find what a docstring says of an option, or where it refers to another one, what that says."""
    found = _entries(doc)
    named = (text for names, text in found.items() if key in names.split(", "))
    text = next(named, "") or next((text for names, text in found.items() if _OTHERS in names), "")
    reference = _REFERENCE.match(text)
    return (_meaning(key, doc_of(reference[1]), doc_of) if reference else "") or text


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


def on_others(page: Plain) -> Iterator[str]:
    """Tell what a docstring says of more than options: of ``given`` and ``variant``, say."""
    options = {option["name"] for option in page["options"]}
    said = _entries(page["doc"]).items()
    return (f"{names.capitalize()}: {text}" for names, text in said if not {*names.split(", ")} <= options)


def _problem(id: str) -> Plain | None:
    cls = PROBLEMS.find(id) if id.isidentifier() else None
    if cls is None:
        return None
    problem, doc = cls(None), inspect.getdoc(cls) or ""
    options = []
    for key, p in problem_options(cls).items():
        told = {"meaning": _meaning(key, doc, lambda _: "")}
        if o := cls.options.get(key):
            told = {"meaning": o.meaning, "allowed": o.allowed if o.choices or o.interval or o.words else ""}
        options.append(_option(p, **told))
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
        "claims": [c.id for c in catalogue.read_claims(id) if any(part.problem == id for part in c.parts)],
    }


def _table(id: str) -> Plain | None:
    """Describe a table; a computed one with its note and rows (name -> value) as they are before any measurement."""
    text = next((table for table in catalogue.table_texts() if table.id == id.replace("/", ".", 1)), None)
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
    if paper not in catalogue.errata_papers() or (number and not named):
        return None
    ids = [f"E{named[1]}{named[2].lower()}"] if named else []
    entries = catalogue.find_errata(paper, ids) if ids else catalogue.load_errata(paper)
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
    files = [id] if id.endswith(catalogue.CLAIM_SUFFIXES) else []
    if files:
        ((name, entry),) = catalogue.own_claims(files).items()
        with catalogue.errors_of(name, files):
            claim = parse_claim(entry)
    elif id.replace("/", ".", 1).replace("_", ".") in {known.replace("_", ".") for known in catalogue.claim_ids()}:
        claim = catalogue.read_claim(catalogue.find_claim_id(id))
    else:
        return None
    with catalogue.errors_of(claim.id, files):
        bounds = {part.bound: get_bound(part.bound) for part in claim.parts if part.bound}
    symbols = {name: symbol for bound in bounds.values() for name, symbol in bound.all_symbols.items()}
    meant = {name: {"means": s.words, **({"entry": s.place} if s.place else {})} for name, s in symbols.items()}
    return {
        "kind": "claim",
        **{key: getattr(claim, key) for key in ("id", "title", "source", "statement", "assumptions")},
        "parts": [PartText(part, bounds[part.bound].text if part.bound else "") for part in claim.parts],
        "symbols": {name: meant[name] for name in alphabetical(symbols)},
        "errata": catalogue.find_errata(claim.paper, list(claim.errata)),
    }


def shown_entry(page: Plain) -> Iterator[str]:
    """Lines about an algorithm or a problem, with what its docstring says beside the summary and the options."""
    yield from _head(page)
    if page["kind"] == "algorithm":
        yield labelled("needs", ", ".join(page["needs"]) or "nothing of the problem")
        for name, allowed in page["variants"].items():
            defaults = [c for c, variant in page["default_variants"].items() if variant == name]
            shown = ", ".join(f"{c} (default)" if c in defaults else c for c in allowed)
            yield labelled(f"variant {name}", f"calibrations {shown}", 28)
    else:
        constants, effective = page["constants"], page["effective_dimension"]
        about = ", realised values depend on the data" if page["data_dependent_constants"] else ""
        yield labelled("constants", f"{constants_text(constants)} ({constants.status}{about})")
        note = f" (schedules and bounds use {effective})" if effective != page["dimension"] else ""
        yield labelled("dimension", f"{page['dimension']} by default{note}")
        yield labelled("traits", ", ".join(page["traits"]))
    for option in page["options"]:
        default = "null" if option["default"] is None else number(option["default"])
        kind = ", ".join(filter(None, (option["type"], option.get("allowed"))))
        meaning = f": {option['meaning']}" if option["meaning"] else ""
        yield labelled("option", f"{option['name']} = {default}   ({kind}){meaning}")
    for text in paragraphs(page["doc"]):
        if " ".join(text.split()) != page["summary"]:
            yield "\n" + text.replace("``", "")
    yield from ("\n" + labelled("", text, 0) for text in on_others(page))
    users = "measured by" if page["kind"] == "algorithm" else "used by"
    yield "\n" + labelled(users, ", ".join(page["claims"]) or "no claim yet")
    yield from _errata_titles(page.get("errata", ()))


def _over(part: Part) -> str:
    return part.sweep.parameter if part.sweep else ("rows of " + ", ".join(part.uses))[:24]


def shown_claim(page: Plain) -> Iterator[str]:
    parts = [told.part for told in page["parts"]]
    yield from _head({**page, "summary": page["title"]})
    yield labelled("statement", page["statement"])
    for assumption in page["assumptions"]:
        yield labelled("assumes", assumption)
    columns = {
        **{"part": Column("id"), "kind": Column("kind"), "calibrations": Column("calibrations", ", ".join)},
        **{"over": Column(_over), "exponent": Number("exponent", digits())},
        "tolerance": Number(lambda part: part.rules.tolerance_of(part), digits()),
        "bound": Column(lambda part: part.bound.partition(".")[2]),
    }
    yield "\n" + table(columns, parts, {"over": 12, "bound": 12}) + "\n"
    for name, text in {told.part.bound: told.formula for told in page["parts"] if told.formula}.items():
        yield labelled("bound", f"{name.partition('.')[2]} = {text}")
    for name, symbol in page["symbols"].items():
        entry = symbol.get("entry", "")
        place = f"   ({entry})" if entry not in ("", name) else ""
        yield labelled("", f"{name} = {symbol['means']}{place}")
    for part in parts:
        for text in filter(None, (part.aside, part.note)):
            yield labelled(part.id, text, 2 + max(len(p.id) for p in parts))
    yield from _errata_titles(page["errata"])
    recorded = read_record(recorded_path("ci"), paper=page["id"].partition(".")[0])  # a claim names no other paper's
    if own := [row for row in recorded if row.id == page["id"]]:
        for line in lines_of(answers(own, recorded)[page["id"]]):
            yield labelled("recorded", line)
    yield labelled("measure", f"dpsco claim {page['id']}")


def shown_table(page: Plain) -> Iterator[str]:
    yield from _head({"source": "", **page, "summary": page.get("title", "")})
    if note := " ".join(page.get("note", "").split()):
        yield labelled("note", note)
    if rows := page.get("computed_rows"):
        columns = {key.replace("_", " "): Column(key, number, numeric=key != "verdict") for key in rows[0]}
        yield "\n" + table(columns, rows)
    for row in page.get("rows", ()):
        yield ""
        for key, value in row.to_json().items():
            told = [f"{name}: {text}" for name, text in value.items()] if isinstance(value, dict) else value
            yield labelled(key, ", ".join(told) if isinstance(told, list) else str(told))


def shown_errata(page: Plain) -> Iterator[str]:
    from dpsco_bench.report.wording import find_citation

    found = find_citation(page["paper"]) if page["id"] == page["paper"] else None
    if found:
        yield labelled(page["paper"], found.title)
        links = [f"https://arxiv.org/abs/{found.arxiv}"] * bool(found.arxiv)
        links += [f"https://doi.org/{found.doi}"] * bool(found.doi) + [found.address] * bool(found.address)
        told = {"authors": ", ".join(found.authors), "published": found.published, "link": " ".join(links)}
        yield from (labelled(label, text) for label, text in told.items() if text)
        yield ""
    if len(page["errata"]) > 1:
        yield from _errata_titles(page["errata"])
        yield "\n" + catalogue.counted_changes(page["errata"])
        yield f"\ndpsco show {page['paper']}.E1 shows one of them"
        return
    for erratum in page["errata"]:
        yield f"{erratum.paper}.{erratum.id}   {erratum.title}\n"
        for key in ("printed", "calculation", "consequence"):
            yield labelled(key, getattr(erratum, key)) + "\n"
        yield labelled("changes", f"{erratum.changes}: {catalogue.CHANGES[erratum.changes].meaning}") + "\n"
        if page["letters"]:
            yield labelled("letters", page["letters"]) + "\n"
        yield labelled("check", erratum.check)


def _head(page: Plain) -> Iterator[str]:
    yield f"{page['id']}   ({page['kind']})"
    yield labelled("", page["summary"]) if page["summary"] else ""
    yield labelled("source", page["source"])


def _errata_titles(entries: Sequence[catalogue.Erratum]) -> Iterator[str]:
    for erratum in entries:
        yield labelled(f"{erratum.paper}.{erratum.id}", f"{erratum.title} ({erratum.changes})", 17)


PRINTERS: dict[str, Callable[[Plain], Iterator[str]]] = dict.fromkeys(("algorithm", "problem"), shown_entry)
PRINTERS |= {"claim": shown_claim, "table": shown_table, "errata": shown_errata}
"""Kind of what is described -> the lines that ``show`` prints of it."""
