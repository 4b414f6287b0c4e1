"""``dpsco show ID``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from dpsco_bench.cli.options import add_json, add_plugins, load_plugin_files
from dpsco_bench.cli.output import Heading, Row, constants_text, labelled, number, print_json, table
from dpsco_bench.plain import Plain

if TYPE_CHECKING:
    from dpsco_bench.claims.erratum import Erratum
    from dpsco_bench.claims.model import Part

SUMMARY = "everything about an algorithm, a claim, a problem, a table or an erratum"
EPILOG = "examples: dpsco show {algorithm}; dpsco show {claim}; dpsco show {erratum}; dpsco show {paper}"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "id", help="paper.name of an algorithm, claim or table, a problem, an erratum paper.E1, or the file of a claim"
    )
    add_json(parser)
    add_plugins(parser)


def execute(args: argparse.Namespace) -> int:
    """Print the description."""
    from dpsco_bench.cli.describe import describe

    load_plugin_files(args.plugin)
    entry = describe(args.id)
    if args.json:
        print_json(entry)
    else:
        print("\n".join(_PRINTERS[entry["kind"]](entry)))
    return 0


def registered(page: Plain) -> Iterator[str]:
    """Lines about an algorithm or a problem, with what its docstring says beside the summary and the options."""
    from dpsco_bench.cli.describe import on_others, paragraphs

    yield from _head(page)
    yield from _of_algorithm(page) if page["kind"] == "algorithm" else _of_problem(page)
    for option in page["options"]:
        default = "null" if option["default"] is None else number(option["default"])
        kind = ", ".join(filter(None, (option["type"], option.get("allowed"))))
        meaning = f": {option['meaning']}" if option["meaning"] else ""
        yield labelled("option", f"{option['name']} = {default}   ({kind}){meaning}")
    for text in paragraphs(page["doc"]):
        if " ".join(text.split()) != page["summary"]:
            yield "\n" + text
    for names, text in on_others(page["doc"], [option["name"] for option in page["options"]]):
        yield "\n" + labelled("", f"{names.capitalize()}: {text}", 0)
    users = "measured by" if page["kind"] == "algorithm" else "used by"
    yield "\n" + labelled(users, ", ".join(page["claims"]) or "no claim yet")
    yield from _errata_titles(page.get("errata", ()))


def _of_algorithm(page: Plain) -> Iterator[str]:
    yield labelled("needs", ", ".join(page["needs"]) or "nothing of the problem")
    for name, allowed in page["variants"].items():
        defaults = [c for c, variant in page["default_variants"].items() if variant == name]
        shown = ", ".join(f"{c} (default)" if c in defaults else c for c in allowed)
        yield labelled(f"variant {name}", f"calibrations {shown}", 28)


def _of_problem(page: Plain) -> Iterator[str]:
    constants, effective = page["constants"], page["effective_dimension"]
    about = ", realised values depend on the data" if page["data_dependent_constants"] else ""
    yield labelled("constants", f"{constants_text(constants)} ({constants.status}{about})")
    note = f" (schedules and bounds use {effective})" if effective != page["dimension"] else ""
    yield labelled("dimension", f"{page['dimension']} by default{note}")
    yield labelled("traits", ", ".join(page["traits"]))


def claim(page: Plain) -> Iterator[str]:
    """Lines about a claim."""
    parts = [told.part for told in page["parts"]]
    yield from _head({**page, "summary": page["title"]})
    yield labelled("statement", page["statement"])
    for assumption in page["assumptions"]:
        yield labelled("assumes", assumption)
    columns = [Heading(key, {"id": "part"}.get(key, key)) for key in ("id", "kind", "calibrations")]
    columns += [Heading("over", "over", shrink=12), *(Heading(key, key, True) for key in ("exponent", "tolerance"))]
    yield "\n" + table([*columns, Heading("bound", "bound", shrink=12)], map(_part_row, parts)) + "\n"
    for name, text in {told.part.bound: told.formula for told in page["parts"] if told.formula}.items():
        yield labelled("bound", f"{_short(name)} = {text}")
    for name, symbol in page["symbols"].items():
        entry = symbol.get("entry", "")
        place = f"   ({entry})" if entry not in ("", name) else ""
        yield labelled("", f"{name} = {symbol['means']}{place}")
    for part in parts:
        for text in filter(None, (part.aside, part.note)):
            yield labelled(part.id, text, 2 + max(len(p.id) for p in parts))
    yield from _errata_titles(page["errata"])
    yield from _recorded(page["id"])
    yield labelled("measure", f"dpsco claim {page['id']}")


def _recorded(id: str) -> Iterator[str]:
    """Lines of a claim's answers as profile ci has them on record; none of a claim that is not."""
    from dpsco_bench.analysis.answer import answers
    from dpsco_bench.analysis.record import read_record
    from dpsco_bench.cli.verbs.gate import recorded_path
    from dpsco_bench.cli.verdict_table import lines_of

    rows = read_record(recorded_path("ci"), paper=id.partition(".")[0])  # a claim names none of another paper's
    if own := [row for row in rows if row.id == id]:
        for line in lines_of(answers(own, rows)[id]):
            yield labelled("recorded", line)


def _part_row(part: Part) -> Row:
    return {
        "id": part.id,
        "kind": part.kind,
        "calibrations": ", ".join(part.calibrations),
        "over": part.sweep.parameter if part.sweep else ("rows of " + ", ".join(part.uses))[:24],
        "exponent": part.exponent,
        "tolerance": part.rules.tolerance_of(part),
        "bound": _short(part.bound),
    }


def _short(name: str) -> str:
    """A bound's name without its paper."""
    return name.partition(".")[2]


def paper_table(page: Plain) -> Iterator[str]:
    """Lines about a table."""
    yield from _head({"source": "", **page, "summary": page.get("title", "")})
    if note := " ".join(page.get("note", "").split()):
        yield labelled("note", note)
    if rows := page.get("computed_rows"):
        shown = [{key: v if isinstance(v, str) else number(v) for key, v in row.items()} for row in rows]
        yield "\n" + table([Heading(key, key.replace("_", " "), numeric=key != "verdict") for key in rows[0]], shown)
    for row in page.get("rows", ()):
        yield ""
        for key, value in row.to_json().items():
            yield labelled(key, ", ".join(value) if isinstance(value, list) else str(value))


def errata(page: Plain) -> Iterator[str]:
    """Lines about one or all errata of a paper."""
    from dpsco_bench.claims.erratum import CHANGES, counted_changes

    if len(page["errata"]) > 1:
        yield from _errata_titles(page["errata"])
        yield "\n" + counted_changes(page["errata"])
        yield f"\ndpsco show {page['paper']}.E1 shows one of them"
        return
    for erratum in page["errata"]:
        yield f"{erratum.paper}.{erratum.id}   {erratum.title}\n"
        for key in ("printed", "calculation", "consequence"):
            yield labelled(key, getattr(erratum, key)) + "\n"
        yield labelled("changes", f"{erratum.changes}: {CHANGES[erratum.changes].meaning}") + "\n"
        if page["letters"]:
            yield labelled("letters", page["letters"]) + "\n"
        yield labelled("check", erratum.check)


def _head(page: Plain) -> Iterator[str]:
    yield f"{page['id']}   ({page['kind']})"
    yield labelled("", page["summary"]) if page["summary"] else ""
    yield labelled("source", page["source"])


def _errata_titles(entries: Sequence[Erratum]) -> Iterator[str]:
    for erratum in entries:
        yield labelled(f"{erratum.paper}.{erratum.id}", f"{erratum.title} ({erratum.changes})", 17)


_PRINTERS: dict[str, Callable[..., Iterator[str]]] = {
    "algorithm": registered,
    "problem": registered,
    "claim": claim,
    "table": paper_table,
    "errata": errata,
}
