"""``dpsco show ID``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dpsco_bench.claims.kinds import get_kind
from dpsco_bench.cli.options import add_json, add_plugins, load_plugin_files
from dpsco_bench.cli.output import Column, constants_text, labelled, number, print_json, table

SUMMARY = "everything about an algorithm, a claim, a problem, a table or an erratum"
EPILOG = "examples: dpsco show {algorithm}; dpsco show {claim}; dpsco show {erratum}; dpsco show {paper}"

Entry = Mapping[str, Any]


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


def algorithm(entry: Entry) -> Iterator[str]:
    """Lines about an algorithm."""
    yield from _head(entry)
    yield labelled("needs", ", ".join(entry["needs"]) or "nothing of the problem")
    for name, allowed in entry["variants"].items():
        defaults = [c for c, variant in entry["default_variants"].items() if variant == name]
        shown = ", ".join(f"{c} (default)" if c in defaults else c for c in allowed)
        yield labelled(f"variant {name}", f"calibrations {shown}", 28)
    yield from _options(entry["options"])
    yield "\n" + entry["doc"]
    yield from _told_elsewhere(entry["options"])
    yield "\n" + labelled("measured by", ", ".join(entry["claims"]) or "no claim yet")
    yield from _errata_titles(entry["errata"])


def problem(entry: Entry) -> Iterator[str]:
    """Lines about a problem."""
    yield from _head(entry)
    about = ", realised values depend on the data" if entry["data_dependent_constants"] else ""
    yield labelled("constants", f"{constants_text(entry['constants'])} ({entry['constants']['status']}{about})")
    effective = entry["effective_dimension"]
    note = f" (schedules and bounds use {effective})" if effective != entry["dimension"] else ""
    yield labelled("dimension", f"{entry['dimension']} by default{note}")
    yield labelled("traits", ", ".join(entry["traits"]))
    yield from _options(entry["options"])
    yield "\n" + entry["doc"]
    yield "\n" + labelled("used by", ", ".join(entry["claims"]) or "no claim yet")


def claim(entry: Entry) -> Iterator[str]:
    """Lines about a claim."""
    yield from _head({**entry, "summary": entry["title"]})
    yield labelled("statement", entry["statement"])
    for assumption in entry["assumptions"]:
        yield labelled("assumes", assumption)
    columns = (
        Column("id", "part"),
        Column("kind", "kind"),
        Column("calibrations", "calibrations"),
        Column("sweep", "over", shrink=12),
        Column("exponent", "exponent", numeric=True),
        Column("tolerance", "tolerance", numeric=True),
        Column("bound", "bound", shrink=12),
    )
    yield "\n" + table(columns, [_part_row(part) for part in entry["parts"]]) + "\n"
    for name, text in {part["bound"]: part["formula"] for part in entry["parts"] if part.get("bound")}.items():
        yield labelled("bound", f"{_short(name)} = {text}")
    for name, symbol in entry["symbols"].items():
        place = f"   ({symbol['entry']})" if symbol.get("entry", name) != name else ""
        yield labelled("", f"{name} = {symbol['means']}{place}")
    for part in entry["parts"]:
        if part.get("note"):
            yield labelled(part["id"], part["note"], 2 + max(len(p["id"]) for p in entry["parts"]))
    yield from _errata_titles(entry["errata"])
    yield labelled("measure", f"dpsco claim {entry['id']}")


def _part_row(part: Entry) -> dict[str, Any]:
    sweep = part.get("sweep") or {}
    return {
        **part,
        "calibrations": ", ".join(part["calibrations"]),
        "sweep": sweep.get("parameter") or ("rows of " + ", ".join(part.get("uses", [])))[:24],
        "tolerance": get_kind(part["kind"]).tolerance_of(part),
        "bound": _short(part.get("bound", "")),
    }


def _short(name: str) -> str:
    """A bound's name without its paper."""
    return name.partition(".")[2]


def paper_table(entry: Entry) -> Iterator[str]:
    """Lines about a table."""
    yield from _head({**entry, "summary": entry.get("title", "")})
    if entry.get("note"):
        yield labelled("note", " ".join(str(entry["note"]).split()))
    if entry.get("computed_rows"):
        rows = [
            {key: value if isinstance(value, str) else number(value) for key, value in row.items()}
            for row in entry["computed_rows"]
        ]
        yield "\n" + table([Column(key, key.replace("_", " "), numeric=key != "verdict") for key in rows[0]], rows)
    for row in entry.get("rows", []):
        yield ""
        for key, value in row.items():
            yield labelled(key, ", ".join(value) if isinstance(value, list) else str(value))


def errata(entry: Entry) -> Iterator[str]:
    """Lines about one or all errata of a paper."""
    if len(entry["errata"]) > 1:
        yield from _errata_titles(entry["errata"])
        yield f"\ndpsco show {entry['paper']}.E1 shows one of them"
        return
    for erratum in entry["errata"]:
        yield f"{erratum['paper']}.{erratum['id']}   {erratum['title']}\n"
        for key in ("printed", "calculation", "consequence"):
            yield labelled(key, erratum[key]) + "\n"
        if entry["letters"]:
            yield labelled("letters", entry["letters"]) + "\n"
        yield labelled("check", erratum["command"])


def _head(entry: Entry) -> Iterator[str]:
    yield f"{entry['id']}   ({entry['kind']})"
    yield labelled("", entry.get("summary", "")) if entry.get("summary") else ""
    yield labelled("source", entry.get("source", ""))


def _options(options: Sequence[Entry]) -> Iterator[str]:
    for option in options:
        default = "null" if option["default"] is None else number(option["default"])
        kind = ", ".join(filter(None, (option["type"], option.get("allowed"))))
        meaning = f": {option['meaning']}" if "allowed" in option else ""
        yield labelled("option", f"{option['name']} = {default}   ({kind}){meaning}")


def _told_elsewhere(options: Sequence[Entry]) -> Iterator[str]:
    """What options mean whose docstring refers to another one."""
    told = [option for option in options if option["told_by"]]
    for place in dict.fromkeys(option["told_by"] for option in told):
        yield f"\n{place}:"
        yield from (labelled(option["name"], option["meaning"], 20) for option in told if option["told_by"] == place)


def _errata_titles(entries: Sequence[Entry]) -> Iterator[str]:
    for erratum in entries:
        yield labelled(f"{erratum['paper']}.{erratum['id']}", erratum["title"], 17)


_PRINTERS: dict[str, Callable[[Entry], Iterator[str]]] = {
    "algorithm": algorithm,
    "problem": problem,
    "claim": claim,
    "table": paper_table,
    "errata": errata,
}
