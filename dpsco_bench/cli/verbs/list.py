"""``dpsco list WHAT [WORD ...]``, of algorithms, audits, claims and so on; ``list algorithms --for ...``.

Each entry has ``id``, ``source`` and ``summary``, and what is of its kind.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from dpsco_bench.claims.kinds import KINDS, all_kinds
from dpsco_bench.cli.console import add_shared, answer, labelled, number, table
from dpsco_bench.errors import InputError
from dpsco_bench.plain import Plain
from dpsco_bench.registry import PLUGIN
from dpsco_bench.report.tables import Column, Number

SUMMARY = "what exists: algorithms, audits, claims, errata, kinds of parts, papers, problems or tables, one line each"

_ENTRY = {"id": Column("id"), "summary": Column("summary")}
SCREEN = 24  # entries that a screen has room for; below more of them stands how to get fewer
_CITATION = re.compile(r"^[^0-9]*\d{4}, (?=\S)")
"""Authors and year, which the id already tells; kept in JSON."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=_LISTS, metavar="|".join(_LISTS), help="what to list")
    parser.add_argument("words", nargs="*", default=[], metavar="WORD", help="only what has all of these in its entry")
    point = "which algorithms accept a problem: problem=NAME and its options (n=4096 epsilon=1 delta=1e-6)"
    parser.add_argument("--for", dest="point", nargs="+", metavar="KEY=VALUE", help=point)
    add_shared(parser, "json", "plugin")


def execute(args: argparse.Namespace) -> int:
    if args.point is not None:
        if args.what != "algorithms":
            allowed = f"left out for {args.what}: it asks which algorithms accept"
            raise InputError("--for", " ".join(args.point), allowed)
        accepting = _accepting(args.point, args.plugin)
        return answer(args.json, accepting, _accepting_lines(accepting))
    everything, words = _LISTS[args.what](), [word.lower() for word in args.words]
    entries = [one for one in everything if all(word in str(one).lower() for word in words)]
    if everything and not entries:
        raise InputError("word", " ".join(args.words), f"in an entry of `dpsco list {args.what}`")
    return answer(args.json, entries, _audit_lines(entries) if args.what == "audits" else _lines(args.what, entries))


def _lines(what: str, entries: Sequence[Plain]) -> Iterator[str]:
    source = {"source": Column("source", lambda text: _CITATION.sub("", text))}
    errata = {"id": Column("id"), "changes": Column("changes"), "summary": Column("summary")}
    yield table(errata if what == "errata" else {**_ENTRY, **source}, entries, {"summary": 30, "source": 22})
    if len(entries) > SCREEN:
        yield f"\n{len(entries)} {what}; dpsco list {what} WORD ... has those with all words alone"


def _accepting(arguments: Sequence[str], plugins: Sequence[str] = ()) -> list[Plain]:
    """List every method, those that accept a point first; n is 4096 where neither keys nor a file tell it."""
    from dpsco_bench.algorithms.registry import get_algorithm
    from dpsco_bench.cli.verbs.choose import asked_point
    from dpsco_bench.execution.request import DEFAULT_RECORDS
    from dpsco_bench.leaderboard.board import contestants
    from dpsco_bench.leaderboard.choose import candidates
    from dpsco_bench.problems.registry import problem_class

    keys = dict(text.partition("=")[::2] for text in arguments)
    cls = problem_class(keys["problem"]) if "problem" in keys else None
    own = cls is not None and cls.file_options and "path" in keys
    more = [] if own or "n" in keys else [f"n={DEFAULT_RECORDS}"]
    twin = bool(cls and cls.twin and not own)  # the same losses and constants, without a file
    point, settings = asked_point([*arguments, *more], plugins, twin)
    refused = {item.method: item.reason for item in candidates(point.board, settings)[1] if item.status != "not_run"}
    found = []
    for method in contestants():
        entry, reason = get_algorithm(method.algorithm), refused.get(method.name, "")
        told = {"id": entry.id, "label": method.label, "summary": entry.summary}
        found.append({**told, "accepts": method.name not in refused, "reason": reason})
    return sorted(found, key=lambda one: (not one["accepts"], one["id"], one["label"]))


def _accepting_lines(entries: Sequence[Plain]) -> Iterator[str]:
    named = [{**one, "id": one["id"] + f" ({one['label']})" * bool(one["label"])} for one in entries]
    room = max(len(one["id"]) for one in named)
    columns = {f"{'accept it':<{room}}": Column("id"), "": Column("summary")}
    yield table(columns, [one for one in named if one["accepts"]], {"": 30}) + "\n\nrefuse it, and why"
    yield from (labelled(one["id"], one["reason"], room + 2) for one in named if not one["accepts"])


def _listed(id: str, source: str, summary: str, **more: Any) -> Plain:
    return {"id": id, "source": source, "summary": summary, **more}


def algorithms() -> list[Plain]:
    from dpsco_bench.algorithms.registry import get_algorithm, list_algorithms
    from dpsco_bench.problems.constants import need_text

    return [
        _listed(entry.id, entry.source, entry.summary, variants=entry.variants, needs=[*map(need_text, entry.needs)])
        for entry in map(get_algorithm, list_algorithms())
    ]


def claims() -> list[Plain]:
    from dpsco_bench.claims.catalogue import read_claims

    return [
        _listed(c.id, c.source, c.title, parts=[p.id for p in c.parts], kinds=sorted({p.kind for p in c.parts}))
        for c in read_claims()
    ]


def errata() -> list[Plain]:
    from dpsco_bench.claims.catalogue import errata_papers, load_errata

    found = [entry for paper in errata_papers() for entry in load_errata(paper)]
    return [_listed(f"{e.paper}.{e.id}", f"{e.paper}, errata", e.title, changes=e.changes) for e in found]


def kinds() -> list[Plain]:
    return [
        _listed(
            kind.name,
            KINDS.module(kind.name).removeprefix(PLUGIN),
            f"{kind.title}: {', '.join(kind.words)}",
            words=list(kind.words),
            fields=kind.fields,
            own_fields={name: field.schema for name, field in kind.own_fields.items()},
            keys=kind.keys,
        )
        for kind in all_kinds()
    ]


def papers() -> list[Plain]:
    from dpsco_bench import registry
    from dpsco_bench.report.wording import Citation, find_citation

    found = [(name, find_citation(name) or Citation(f"no conf/paper/{name}.yaml", [])) for name in registry.papers()]
    return [_listed(name, one.published, one.title, authors=one.authors) for name, one in found]


def problems() -> list[Plain]:
    from dpsco_bench.problems.registry import list_problems, problem_class

    return [_listed(name, cls.source, cls.summary) for name in list_problems() for cls in [problem_class(name)]]


def tables() -> list[Plain]:
    from dpsco_bench.claims.catalogue import table_texts

    return [
        _listed(text.id, text.source, text.title, claims=[*dict.fromkeys(id for row in text.rows for id in row.claims)])
        for text in table_texts()
    ]


def audits() -> list[Plain]:
    from dpsco_bench.algorithms.registry import get_algorithm
    from dpsco_bench.audit.canaries import trials

    return [
        _listed(
            _audit(trial) + ", fused" * trial["fused"],
            get_algorithm(trial["algorithm"]).source,
            trial["reason"] or f"on {_canary(trial)}, by its {trial['statistic']}",
            **trial,
        )
        for trial in map(asdict, trials())
    ]


def _audit_lines(entries: Sequence[Plain]) -> Iterator[str]:
    """Give a row for each audit; then those that are not tried, each with its reason."""
    columns = {
        "audit": Column(lambda entry: _audit(entry).replace(" standard ", " ")),  # a variant that is the only one
        "canary": Column(lambda entry: _canary(entry).removeprefix("canary_")),
        "claim": Column("epsilon", "eps={:g}".format),
        **{"n": Number("n"), "d": Number("d")},
        "statistic": Column(lambda entry: entry["statistic"] + ", fused" * entry["fused"]),
    }
    yield table(columns, [entry for entry in entries if not entry["reason"]], {"canary": 18})
    yield "\nnot tried, and why"
    reasons = dict.fromkeys(entry["reason"] for entry in entries)
    yield from (labelled("-", reason, 2) for reason in reasons if reason)
    yield "\nAn audit can refute a claim of privacy. It never proves one."


def _audit(trial: Plain) -> str:
    return " ".join(filter(None, (trial["algorithm"], trial["variant"], trial["calibration"])))


def _canary(trial: Plain) -> str:
    keys = {**trial["problem_options"], **trial["options"]}
    return " ".join((trial["problem"], *(f"{key}={number(value)}" for key, value in keys.items())))


_LISTS: dict[str, Callable[[], list[Plain]]] = {
    made.__name__: made for made in (algorithms, audits, claims, errata, kinds, papers, problems, tables)
}
