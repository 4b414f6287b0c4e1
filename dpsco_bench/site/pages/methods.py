"""A page per method: what it does beside its code, what it asks of the data, what its noise costs, its places."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.audit.canaries import CANARIES
from dpsco_bench.cli.describe import describe, on_others, paragraphs
from dpsco_bench.execution.cell import Cell
from dpsco_bench.leaderboard.tables import named
from dpsco_bench.plain import Plain
from dpsco_bench.privacy.ledger import STATUS_WORDS
from dpsco_bench.problems.registry import problem_class
from dpsco_bench.report.inputs import Charged, grouped
from dpsco_bench.report.numbers import count, number, plain
from dpsco_bench.report.tables import Column, Columns, Number, ReportTable, address, leads_to
from dpsco_bench.report.wording import epsilon_text, method_name
from dpsco_bench.site import markdown as md
from dpsco_bench.site.content import Pages, SiteContent
from dpsco_bench.site.pages.ledgers import ledger_table, with_erratum

STANDARD_N = 16384  # shown point of a profile: the nearest to this n, and to epsilon 1
HALF = "::::::::"  # more than any line of a listing begins with
SCHEMES = {
    "Full": "all records",
    "Poisson": "a Poisson sample",
    "SingleIndex": "one record, drawn anew",
    "Disjoint": "a block of its own",
    "WithReplacement": "a sample with replacement",
    "WithoutReplacement": "a sample without replacement",
    "RandomAllocation": "a batch of a random order",
    "Nodes": "sums over the nodes of a tree",
}


def method_pages(content: SiteContent) -> Pages:
    known = content.inputs.answers
    pages = [
        {**page, "claims": [id for id in page["claims"] if id in known]}
        for page in (describe(id, "algorithm") for id in content.algorithms)
    ]
    columns = {
        "Method": Column(lambda page: method_name(page["id"]), link=leads_to("id", kind="method")),
        "Id": Column("id", kind="code"),
        "What it is": Column("summary", kind="prose"),
        "Source": Column("source"),
        "Claims": Number("claims", lambda ids: str(len(ids))),
    }
    index = [
        md.heading("Methods", target="methods"),
        "Every method of the papers: its schedule and noise, its code, and where it stands.\n",
        md.table(ReportTable("methods", "Methods", columns, pages)),
        md.toctree([page["id"] for page in pages]),
    ]
    return {"methods/index": "\n".join(index), **{f"methods/{page['id']}": _method(content, page) for page in pages}}


def _method(content: SiteContent, page: Plain) -> str:
    claims = ", ".join(md.link(md.code(id), address(id)) for id in page["claims"])
    noises = page["variants"].items()
    variants = [f"variant {md.code(name)}: noise of calibration {', '.join(allowed)}" for name, allowed in noises]
    needs = ", ".join(page["needs"]) or "nothing of the problem"
    errata = [
        f"{md.link(f'{entry.paper} {entry.id}', address(entry.paper, entry.id))} {md.text(entry.title)}"
        for entry in page["errata"]
        if entry in content.errata.get(entry.paper, ())
    ]
    return md.page(
        md.heading(method_name(page["id"]), target=address("method", page["id"])),
        md.code(page["id"]) + "\n",
        md.prose(page["summary"].replace("``", "`")) + f" {md.text(page['source'])}.\n",
        md.bullets([f"needs {md.text(needs)}", *variants]),
        f"Measured by {claims}.\n" if claims else "",
        *(() if content.short else _details(content, page)),
        *([md.heading("Errata that touch its claims", 2), md.bullets(errata)] if errata else ()),
    )


def _details(content: SiteContent, page: Plain) -> list[str]:
    """Show its noise and what that costs, its places on the boards, its options, and what it does beside its code."""
    id, found = page["id"], nearest_points(content, page["id"])
    module = inspect.getmodule(get_algorithm(id).plan_function)
    source = md.fenced(inspect.getsource(module) if module else "", "python")
    told = [md.prose(words.replace("``", "`")) + "\n" for words in (*paragraphs(page["doc"]), *on_others(page))]
    halves = (f"{HALF}{{container}} half\n{piece}{HALF}\n" for piece in ("\n".join(told), source))
    rows = [row for row in content.ledger.rows if row.first.cell.algorithm == id]

    def titled(title: str, table: ReportTable) -> str:
        return f"{md.heading(title, 2)}\n{md.table(table)}" if table.rows else ""

    return [
        *_account(content, page, found),
        titled("Its queries, and what each is charged for", queries_table(content, id, found)),
        md.heading("What its noise gives", 2),
        ledger_table(content, rows, hidden=("Algorithm",)) or "No claim of this profile charges it.\n",
        titled("Where it stands at equal accounted privacy", ReportTable("standing", "", PLACES, places(content, id))),
        titled("Options", ReportTable("options", "", OPTIONS, page["options"])),
        md.heading("What it does, and its listing", 2),
        f"{HALF}:{{container}} beside\n{''.join(halves)}{HALF}:\n" if told else source,  # below it on a narrow page
    ]


def _account(content: SiteContent, page: Plain, found: Sequence[Charged]) -> list[str]:
    """Show an accountant's answer under each noise at one point, and the command that asks for it there or elsewhere.

    A method that no claim charges has the command alone, on a problem of its claims, one without data where there is.
    """
    if found:
        point, command = f"At {place(found[0])}:\n", command_of(found[0].cell, _named(found[0]))
    else:
        parts = (part for id in page["claims"] for part in content.inputs.claim(id).claim.parts)
        problems = [p.problem for p in parts if p.problem and any(m.algorithm == page["id"] for m in p.methods)]
        private = any({"paper", "accounted"} & {*allowed} for allowed in page["variants"].values())
        if not (problems and private):
            return []
        problem = min(problems, key=lambda name: problem_class(name).needs_data_root)
        point, command = "", f"dpsco account {page['id']} problem={problem} n={STANDARD_N} epsilon=1"
    columns = {
        "Noise": Column("calibration"),
        "Variant": Column(lambda charged: _variant(content, charged)),
        "Real ε": Number("noise", lambda noise: epsilon_text(noise.epsilon_real, noise.epsilon_real_kind)),
        "It is": Column("noise.whose"),
        "Privacy": Column("noise.status", STATUS_WORDS.__getitem__),
        "Accountant": Column("calibrated.accountant"),
        "Gradients of a run": Number("calibrated.gradient_evaluations", count),
    }
    columns |= {"At": Column(place)} if len({command_of(charged.cell) for charged in found}) > 1 else {}
    return [
        md.heading("What it costs at a point", 2),
        md.text(point) + "\n" * bool(point),
        md.table(ReportTable("account", "Account", columns, found)),
        "Schedule, noise and queries of this or another point, without running it:\n",
        md.fenced(command, "console"),
    ]


OPTIONS: Columns = {
    "Option": Column("name", kind="code"),
    "Default": Column("default", lambda value: "null" if value is None else str(value), kind="code"),
    "Meaning": Column("meaning", kind="prose"),
}


def places(content: SiteContent, id: str) -> list[dict[str, Any]]:
    """Find where a method stands on the boards among those of proven privacy, instance by instance, over its points.

    ``decided`` has for each decided point whether it has the least mean risk there, the start's counted too, and
    ``ratios`` its risk over the least, where that is not 0.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in (row for board in content.inputs.boards for row in board.points):
        for position, method in enumerate(row.order, start=1):
            if method.algorithm == id:
                empty: dict[str, Any] = {"instance": row.instance, "name": named(method)}
                empty |= {"places": [], "decided": [], "ratios": []}
                own = found.setdefault((row.instance, named(method)), empty)
                own["places"].append(position)
                own["decided"].extend([method.method == row.winner] * row.decided)
                own["ratios"].extend([method.risk / row.order[0].risk] if row.order[0].risk > 0 else [])
    return [*found.values()]


PLACES: Columns = {
    "Instance": Column("instance", kind="code"),
    "Method": Column("name", kind="code"),
    "Points": Number("places", lambda found: str(len(found))),
    "Decided": Number("decided", lambda found: str(len(found))),
    "First at": Number("decided", lambda found: str(sum(found))),
    "Places of those run": Number("places", lambda found: " to ".join(map(str, sorted({min(found), max(found)})))),
    "Risk over the least, median": Number("ratios", lambda found: number(median(found or [math.nan]))),
}


def queries_table(content: SiteContent, id: str, found: Sequence[Charged]) -> ReportTable:
    """Tabulate the private queries of a method under each noise, at the point nearest to the standard one."""

    def seen(records: Mapping[str, Any]) -> str:
        scheme, rate = str(records.get("kind")), records.get("rate")
        return SCHEMES.get(scheme, scheme) + (f", rate {number(rate)}" if isinstance(rate, float) else "")

    columns = {
        "Noise": Column("charged.calibration"),
        "Variant": Column(lambda asked: _variant(content, asked["charged"])),
        "Query": Column("query.name", kind="code"),
        "Sees": Column("query.records", seen),
        "Releases": Number("query.releases", count),
        "Sensitivity": Number("query.sensitivity", number),
        "In the norm": Column("query.norm", lambda norm: f"l_{plain(norm)}"),
        "Noise scale": Number(lambda asked: asked["charged"].calibrated.scales.get(asked["query"]["name"]), number),
        "Gradients of the run": Number("charged.calibrated.gradient_evaluations", count),
        "At": Column("charged", place),
    }
    rows = [{"charged": one, "query": query} for one in found for query in one.calibrated.charged.queries]
    return ReportTable(f"{id}.queries", "Queries", columns, rows)


def _variant(content: SiteContent, charged: Charged) -> str:
    return with_erratum(content, charged, charged.calibrated.variant.replace("_", " "))


def place(charged: Charged) -> str:
    cell, found = charged.cell, charged.calibrated
    return f"{cell.problem}, n = {plain(cell.n)}, d = {found.dimension}, ε = {plain(cell.epsilon)}"


def command_of(cell: Cell, variant: str | None = None) -> str:
    """Write the command that accounts for a cell, under each noise by its usual variant where none is named."""
    sizes = {"problem": cell.problem, "n": cell.n, "d": cell.d, "epsilon": cell.epsilon, "delta": cell.delta}
    given: dict[str, Any] = {**sizes, "variant": variant, **cell.options, **cell.problem_options}
    given |= given.pop("constants", {})  # a command names them like options
    written = {key: str(value).removesuffix(".0") for key, value in given.items() if isinstance(value, float)}
    written |= {key: str(value).lower() for key, value in given.items() if isinstance(value, bool)}
    keys = (f"{key}={written.get(key, value)}" for key, value in given.items() if value is not None)
    return f"dpsco account {cell.algorithm} {' '.join(keys)}"


def nearest_points(content: SiteContent, id: str) -> list[Charged]:
    """Pick of each noise and variant the cell nearest to the standard point, all of one point where there is one.

    What a noise has where no variant is named comes first. Instances that are made for audits stand in where no claim
    charges it on another.
    """
    made = {problem for problem, _ in CANARIES}
    noises: dict[str, set[tuple[str, str]]] = {}
    cells = (cell for row in content.ledger.rows for cell in row.cells if cell.cell.algorithm == id)
    groups = grouped(cells, lambda cell: (cell.calibration, cell.calibrated.variant))
    for noise, cell in ((noise, cell) for noise, own in groups.items() for cell in own):
        noises.setdefault(command_of(cell.cell), set()).add(noise)

    def distance(charged: Charged) -> tuple[bool, float, float, float]:
        """Rank a cell: audits last, then many noises at its point, few things to name, the distance of sizes."""
        cell = charged.cell
        needed = len(cell.options) + len(cell.problem_options) + 20.0 * (cell.variant is not None)
        needed += 10.0 * problem_class(cell.problem).needs_data_root
        sized = cell.n and cell.epsilon > 0
        far = abs(math.log(cell.n / STANDARD_N)) + abs(math.log(cell.epsilon)) if sized else math.inf
        return cell.problem in made, -len(noises[command_of(cell)]), needed, far

    found = [min(own, key=distance) for (noise, _), own in groups.items() if noise in ("paper", "accounted")]
    return sorted(found, key=lambda cell: (cell.calibration != "paper", bool(_named(cell))))


def _named(charged: Charged) -> str | None:
    """Give the variant that a command has to name; None where the noise has it anyway."""
    usual = get_algorithm(charged.cell.algorithm).variant_for(charged.calibration, None)
    return None if charged.calibrated.variant == usual else charged.calibrated.variant
