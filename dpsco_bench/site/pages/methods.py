"""A page per method: what it does beside its listing, what its noise costs, where it stands."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from statistics import median

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.claims.erratum import Erratum
from dpsco_bench.cli.describe import describe
from dpsco_bench.cli.docstrings import on_others, paragraphs
from dpsco_bench.cli.pages import AlgorithmPage
from dpsco_bench.leaderboard.tables import named
from dpsco_bench.problems.registry import problem_class
from dpsco_bench.report.address import address
from dpsco_bench.report.numbers import number
from dpsco_bench.report.tables import Column, Columns, Table, leads_to
from dpsco_bench.site.content import Content, Pages
from dpsco_bench.site.ledger import ledger_table
from dpsco_bench.site.markdown import beside, bullets, code, fenced, heading, link, prose, table, text, toctree
from dpsco_bench.site.queries import account_table, command_of, named_variant, nearest_point, place, queries_table

STANDARD = "n=4096 epsilon=1 delta=1e-6"
"""The point of the page's command where no claim has charged the method."""


def method_pages(content: Content) -> Pages:
    """A page per method, and the list of them."""
    known = [describe(id) for id in content.algorithms]
    pages = [page for page in known if isinstance(page, AlgorithmPage)]
    columns = {
        "Method": Column("id", kind="code", link=leads_to("id", kind="method")),
        "What it is": Column("summary", kind="prose"),
        "Source": Column("source"),
        "Claims": Column(lambda page: len(_claims(content, page)), numeric=True),
    }
    index = [
        heading("Methods", target="methods"),
        "Every method of the papers: its schedule and noise, its code, and where it stands.\n",
        table(Table("methods", "Methods", columns, pages)),
        toctree([page.id for page in pages]),
    ]
    return {"methods/index": "\n".join(index), **{f"methods/{page.id}": _method(content, page) for page in pages}}


def _claims(content: Content, page: AlgorithmPage) -> list[str]:
    return [id for id in page.claims if id in content.claims]


def _method(content: Content, page: AlgorithmPage) -> str:
    known = {(entry.paper, entry.id) for entries in content.errata.values() for entry in entries}
    errata = [entry for entry in page.errata if (entry.paper, entry.id) in known]
    claims = ", ".join(link(code(id), address(id)) for id in _claims(content, page))
    variants = [
        f"variant {code(name)}: noise of calibration {', '.join(allowed)}" for name, allowed in page.variants.items()
    ]
    pieces = [
        heading(page.id, target=address("method", page.id)),
        f"{prose(page.summary.replace('``', '`'))} {text(page.source)}.\n",
        bullets([f"needs {text(', '.join(page.needs) or 'nothing of the problem')}", *variants]),
        f"Measured by {claims}.\n" if claims else "",
        *(() if content.short else _details(content, page)),
        _errata(errata),
    ]
    return "\n".join(filter(None, pieces))


def _details(content: Content, page: AlgorithmPage) -> list[str]:
    """Say what it costs, where it stands, and its code."""
    return [
        _account(content, page),
        _queries(content, page.id),
        heading("What its noise gives", 2),
        _ledger(content, page.id),
        _standing(content, page.id),
        _options(page),
        heading("What it does, and its listing", 2),
        beside(_told(page), fenced(_code(page.id), "python")),
    ]


def _account(content: Content, page: AlgorithmPage) -> str:
    """Say what an accountant says at one point, and the command that says it there or at a point of one's own."""
    point, problem = nearest_point(content, page.id), _problem(content, page)
    private = any({"paper", "accounted"} & {*allowed} for allowed in page.variants.values())
    if point is None and not (problem and private):
        return ""
    usual = f"dpsco account {page.id} problem={problem} {STANDARD}"
    command = command_of(point.cell, named_variant(point)) if point else usual
    pieces = [
        heading(f"What it costs at a point{': ' + place(point) if point else ''}", 2),
        table(account_table(content, page.id)),
        "Schedule, noise and queries of this or another point, without running it:\n",
        fenced(command, "console"),
    ]
    return "\n".join(filter(None, pieces))


def _problem(content: Content, page: AlgorithmPage) -> str:
    """A problem that its claims run it on, one without a data set of its own where there is one; empty for none."""
    parts = (part for id in _claims(content, page) for part in content.claims[id].results.claim.parts)
    found = [part.problem for part in parts if part.problem and any(m.algorithm == page.id for m in part.methods)]
    return min(found, key=lambda name: problem_class(name).needs_data_root, default="")


def _told(page: AlgorithmPage) -> str:
    """Say what its docstring says but of options, which have a table."""
    others = on_others(page.doc, [option.name for option in page.options])
    said = [*paragraphs(page.doc), *(f"{names.capitalize()}: {words}" for names, words in others)]
    return "\n".join(f"{prose(words.replace('``', '`'))}\n" for words in said)


def _code(id: str) -> str:
    """The module of a method without its docstring."""
    module = inspect.getmodule(get_algorithm(id).plan_function)
    return inspect.getsource(module) if module else ""


def _queries(content: Content, id: str) -> str:
    """Say what it asks of the data at a point that was calibrated; nothing where no claim charges it."""
    shown = table(queries_table(content, id))
    return f"{heading('Its queries, and what each is charged for', 2)}\n{shown}" if shown else ""


def _ledger(content: Content, id: str) -> str:
    rows = [row for row in content.ledger.rows if row.first.cell.algorithm == id]
    return ledger_table(content, rows, hidden=("Algorithm",)) or "No claim of this profile charges it.\n"


@dataclass(frozen=True)
class Places:
    """Say where a method stands on one instance of a board, over its points."""

    instance: str
    name: str
    places: list[int]
    decided: list[bool]
    """Of each decided point, whether it has the least mean risk there, the starting point's counted too."""
    ratios: list[float]

    @property
    def text(self) -> str:
        """Its places, the best first."""
        return f"{min(self.places)}" if len(set(self.places)) == 1 else f"{min(self.places)} to {max(self.places)}"


def places(content: Content, id: str) -> list[Places]:
    """Say where a method stands among those of proven privacy, instance by instance."""
    found: dict[tuple[str, str], Places] = {}
    for board in content.inputs.boards:
        for row in board.points:
            for position, method in enumerate(row.order, start=1):
                if method.algorithm == id:
                    key = row.instance, named(method)
                    own = found.setdefault(key, Places(*key, [], [], []))
                    own.places.append(position)
                    own.decided.extend([method.method == row.winner] * row.decided)
                    if row.order[0].risk > 0:
                        own.ratios.append(method.risk / row.order[0].risk)
    return [*found.values()]


PLACES: Columns = {
    "Instance": Column("instance", kind="code"),
    "Method": Column("name", kind="code"),
    "Points": Column("places", lambda found: str(len(found)), numeric=True),
    "Decided": Column("decided", lambda found: str(len(found)), numeric=True),
    "First at": Column("decided", lambda found: str(sum(found)), numeric=True),
    "Places of those run": Column("text", numeric=True),
    "Risk over the least, median": Column("ratios", lambda found: number(median(found or [nan])), numeric=True),
}


def _standing(content: Content, id: str) -> str:
    """Its places on the boards."""
    found = places(content, id)
    if not found:
        return ""
    shown = table(Table(f"{id}.standing", "Standing", PLACES, found))
    return "\n".join([heading("Where it stands at equal accounted privacy", 2), shown])


def _options(page: AlgorithmPage) -> str:
    if not page.options:
        return ""
    columns = {
        "Option": Column("name", kind="code"),
        "Default": Column("default", lambda value: "null" if value is None else str(value), kind="code"),
        "Meaning": Column("meaning", kind="prose"),
    }
    return "\n".join([heading("Options", 2), table(Table(f"{page.id}.options", "Options", columns, page.options))])


def _errata(errata: Sequence[Erratum]) -> str:
    if not errata:
        return ""
    told = (f"{link(f'{e.paper} {e.id}', address(e.paper, e.id))} {text(e.title)}" for e in errata)
    return "\n".join([heading("Errata that touch its claims", 2), bullets(told)])
