"""``dpsco list WHAT [WORD ...]``, of algorithms, audits, claims and so on; ``list algorithms --for ...``."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from dpsco_bench.claims.files import read_yaml
from dpsco_bench.claims.kinds import Kind, all_kinds
from dpsco_bench.cli.console import Heading, add_shared, labelled, number, numbers, print_json, table
from dpsco_bench.errors import DpscoError, InputError, nearest
from dpsco_bench.paths import shared_dir
from dpsco_bench.plain import Plain
from dpsco_bench.registry import PLUGIN

SUMMARY = "what exists: algorithms, audits, claims, errata, kinds of parts, papers, problems or tables, one line each"

_COLUMNS = (Heading("id", "id"), Heading("summary", "summary", shrink=30), Heading("source", "source", shrink=22))
SCREEN = 24
"""Entries that a screen has room for; below more of them stands how to get fewer."""
_WITH_CHANGES = (Heading("id", "id"), Heading("changes", "changes"), Heading("summary", "summary", shrink=30))
_AUDITS = (
    Heading("audit"),
    Heading("canary", shrink=18),
    Heading("claim"),
    *numbers("n", "d"),
    Heading("statistic"),
)
_CITATION = re.compile(r"^[^0-9]*\d{4}, (?=\S)")
"""Authors and year, which the id already tells; kept in JSON."""


def configure(parser: argparse.ArgumentParser) -> None:
    known = "algorithms, audits, claims, errata, kinds, papers, problems or tables"
    parser.add_argument("what", nargs="?", default="", help=known)
    parser.add_argument("words", nargs="*", metavar="WORD", help="only what has all of these in its entry")
    point = "of algorithms: which accept a problem, problem=NAME with its options (n=4096 epsilon=1 delta=1e-6)"
    parser.add_argument("--for", dest="point", nargs="+", metavar="KEY=VALUE", help=point)
    add_shared(parser, "json", "plugin")


def execute(args: argparse.Namespace) -> int:
    if not args.what:
        raise DpscoError(f"list: needs one of {', '.join(_LISTS)}, as in `dpsco list claims`")
    if args.what not in _LISTS:
        raise InputError("list", args.what, nearest(args.what, _LISTS))
    if args.point is not None:
        if args.what != "algorithms":
            allowed = f"left out for {args.what}: it asks which algorithms accept"
            raise InputError("--for", " ".join(args.point), allowed)
        return _print_accepting(args)
    everything = _LISTS[args.what]()
    texts = [str(one if isinstance(one, dict) else asdict(one)).lower() for one in everything]
    words = [word.lower() for word in args.words]
    entries = [one for one, text in zip(everything, texts, strict=True) if all(word in text for word in words)]
    if everything and not entries:
        raise InputError("word", " ".join(args.words), f"in an entry of `dpsco list {args.what}`")
    if args.what == "audits":
        print_json(listed_audits(entries)) if args.json else print_audits(entries)
    elif args.json:
        print_json(entries)
    elif entries:
        columns = _WITH_CHANGES if args.what == "errata" else _COLUMNS
        print(table(columns, [{**entry, "source": _CITATION.sub("", entry["source"])} for entry in entries]))
        if len(entries) > SCREEN:
            print(f"\n{len(entries)} {args.what}; dpsco list {args.what} WORD ... has those with all words alone")
    else:
        print(f"no {args.what} yet")
    return 0


def _accepting(arguments: Sequence[str], plugins: Sequence[str] = ()) -> list[Plain]:
    """List every method, those that accept a point first; n is 4096 where neither keys nor a file tell it.

    A ``label`` is what a leaderboard calls an algorithm of which it has several settings. Raises InputError as
    `choose.asked_point`.
    """
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
    try:
        point, settings = asked_point([*arguments, *more], plugins, twin)
    except InputError as error:
        if not twin or error.key in keys:
            raise
        raise InputError(error.key, error.value, "given, or path=FILE: without one only this key tells it") from None
    refused = {item.method: item.reason for item in candidates(point.board, settings)[1] if item.status != "not_run"}
    found = []
    for method in contestants():
        entry, reason = get_algorithm(method.algorithm), refused.get(method.name, "")
        told = {"id": entry.id, "label": method.label, "summary": entry.summary}
        found.append({**told, "accepts": method.name not in refused, "reason": reason})
    return sorted(found, key=lambda one: (not one["accepts"], one["id"], one["label"]))


def _print_accepting(args: argparse.Namespace) -> int:
    entries = _accepting(args.point, args.plugin)
    if args.json:
        print_json(entries)
        return 0
    named = [{**one, "id": one["id"] + f" ({one['label']})" * bool(one["label"])} for one in entries]
    room = 2 + max(len(one["id"]) for one in named)
    columns = (Heading("id", f"{'accept it':<{room - 2}}"), Heading("summary", "", shrink=30))
    print(table(columns, [one for one in named if one["accepts"]]) + "\n\nrefuse it, and why")
    for one in (one for one in named if not one["accepts"]):
        print(labelled(one["id"], one["reason"], room))
    return 0


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
    from dpsco_bench.claims.catalogue import claim_files, read_claims
    from dpsco_bench.claims.files import read_shipped

    try:  # their files as they stand: to check them all takes longer than to list them
        return [_listed_claim(read_shipped(path)) for path in claim_files().values()]
    except (KeyError, TypeError, ValueError):
        read_claims()  # names the file and what is wrong with it
        raise


def _listed_claim(entry: Plain) -> Plain:
    more = {"parts": [part["id"] for part in entry["parts"]], "kinds": sorted({p["kind"] for p in entry["parts"]})}
    return _listed(entry["id"], entry["source"], entry["title"], **more)


def errata() -> list[Plain]:
    from dpsco_bench.claims.catalogue import errata_papers, load_errata

    found = [entry for paper in errata_papers() for entry in load_errata(paper)]
    return [_listed(f"{e.paper}.{e.id}", f"{e.paper}, errata", e.title, changes=e.changes) for e in found]


def kinds() -> list[Plain]:
    from dpsco_bench.claims.kinds import KINDS, all_kinds

    return [
        _listed(
            kind.name,
            KINDS.module(kind.name).removeprefix(PLUGIN),
            f"{kind.title}: {', '.join(kind.words)}",
            words=list(kind.words),
            fields=kind.fields,
            own_fields=own_schema(kind)["properties"],
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
    from dpsco_bench.claims.catalogue import TableText, table_texts

    def claims_of(text: TableText) -> list[str]:
        return list(dict.fromkeys(claim for row in text.rows for claim in row.claims))

    return [_listed(text.id, text.source, text.title, claims=claims_of(text)) for text in table_texts()]


def audits() -> Sequence[Any]:
    from dpsco_bench.audit.canaries import trials

    return list(trials())


def print_audits(trials: Sequence[Any]) -> None:
    """Print a row for each audit; then those that are not tried, each with its reason."""
    rows = [
        {
            "audit": _audit(trial).replace(" standard ", " "),  # a variant that is the only one
            "canary": _canary(trial).removeprefix("canary_"),
            "claim": f"eps={trial.epsilon:g}",
            "n": trial.n,
            "d": trial.d,
            "statistic": f"{trial.statistic}{', fused' * trial.fused}",
        }
        for trial in trials
        if not trial.reason
    ]
    print(table(_AUDITS, rows))
    print("\nnot tried, and why")
    for reason in dict.fromkeys(trial.reason for trial in trials if trial.reason):
        print(labelled("-", reason, 2))
    print("\nAn audit can refute a claim of privacy. It never proves one.")


def listed_audits(trials: Sequence[Any]) -> list[Plain]:
    """Give each as JSON: id, source of the algorithm and summary, as of every list, and its own fields."""
    from dpsco_bench.algorithms.registry import get_algorithm

    return [
        _listed(
            _audit(trial) + ", fused" * trial.fused,
            get_algorithm(trial.algorithm).source,
            trial.reason or f"on {_canary(trial)}, by its {trial.statistic}",
            **asdict(trial),
        )
        for trial in trials
    ]


def _audit(trial: Any) -> str:
    return " ".join(filter(None, (trial.algorithm, trial.variant, trial.calibration)))


def _canary(trial: Any) -> str:
    keys = {**trial.problem_options, **trial.options}
    return " ".join((trial.problem, *(f"{key}={number(value)}" for key, value in keys.items())))


_LISTS: dict[str, Callable[[], Sequence[Any]]] = {
    made.__name__: made for made in (algorithms, audits, claims, errata, kinds, papers, problems, tables)
}


def verdict_schema() -> Plain:
    """Build the schema of a row of any kind; a kind's own fields are required of its rows only."""
    schema = dict(read_yaml(shared_dir("workflows") / "schemas" / "verdict.schema.yaml"))
    kinds = [kind for kind in all_kinds() if kind.own_fields]
    owners = {
        name: [kind.name for kind in kinds if name in kind.own_fields] for kind in kinds for name in kind.own_fields
    }
    schema["properties"] = {**schema["properties"], **dict.fromkeys(owners, {})}
    cases = [(_of([kind.name]), own_schema(kind)) for kind in kinds]
    cases += [({"required": [name]}, _of(allowed)) for name, allowed in owners.items()]
    return schema | ({"allOf": [{"if": given, "then": then} for given, then in cases]} if cases else {})


def own_schema(kind: Kind) -> Plain:
    own = {name: field.schema for name, field in kind.own_fields.items()}
    return {"properties": own, "required": list(own)}


def _of(kinds: list[str]) -> Plain:
    return {"properties": {"kind": {"enum": kinds}}}
