"""The leaderboard's tables: winners with their margins, all methods, and what was not run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import isnan
from operator import attrgetter
from typing import Any

from dpsco_bench.algorithms.registry import ALGORITHMS
from dpsco_bench.analysis.decided import to_decide
from dpsco_bench.analysis.ranking import Contender, Ranked, Standing, Unrun
from dpsco_bench.analysis.standings import TRIVIAL
from dpsco_bench.claims.board import Instance
from dpsco_bench.claims.board_jobs import REFERENCE
from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.execution.progress import duration
from dpsco_bench.privacy.ledger import STATUS_WORDS
from dpsco_bench.report.address import address
from dpsco_bench.report.held_out import held_out_columns, held_out_text
from dpsco_bench.report.inputs import BoardResults
from dpsco_bench.report.numbers import NOTHING, count, is_number, number, plain
from dpsco_bench.report.tables import Column, Raw, Table
from dpsco_bench.report.wording import epsilon_text, options_text, symbols

LEFT_OUT_WORDS = {
    "refused": "refuses",
    "incomparable": "bounds another quantity",
    "too_long": "too long here",
    "failed": "failed",
    "not_run": "not run",
}
STATED = "its theorem's own steps"
POINTS_NOTE = (
    "Excess risks, of the sample (empirical) or of the population, as the column Kind says; every method with the "
    "noise that its accountant asks for at the same (ε, δ), and the hyper-parameters of its theorem. Where a schedule "
    "fixes the noise only up to a formula (parameter_free), less than ε is spent: the real ε is in the table of all "
    "methods. Margin: how much lower the winner’s mean risk is than the runner-up’s, with the 95 % interval of a "
    "paired bootstrap, which ends at 1 since no risk is negative. Tied with the winner is every method, the runner-up "
    "or another, over which this interval contains 0. Undecided: a method is left out as too long that was tied at "
    "the nearest point where it ran, or behind there by less than the factor by which n has grown since, so that the "
    "least risk of those that ran decides nothing. A method that is too long at every point of an instance is named "
    "with its diagram: nothing is known of it there. Competing: methods of proven privacy that ran, each of which is "
    "also held against the starting point. Public grid search: the best of several settings, chosen on half of the "
    "replicates and measured on the other half; the choice is not paid for, so that this column is not private, and "
    "the settings were widened after a look at these instances. Lower bounds are orders without known constants, for "
    "the worst case of a class of losses: an instance can lie below them. Where an order exceeds the risk of the "
    "trivial solution, which looks at no data, it is cut at that risk. Held out: the winner’s loss without the ridge, "
    "and accuracy, on records that no method sees; beside it those of the starting point, and of the minimiser of the "
    "risk on the records in use."
)


def interval(pair: Sequence[object], digits: int = 2) -> str:
    low, high = pair
    return f"[{number(low, digits)}, {number(high, digits)}]" if is_number(low) and is_number(high) else ""


def measured(board: BoardResults) -> list[Standing]:
    """Rows of the points that were run."""
    return [row for row in board.rows if isinstance(row, Standing)]


def kind_text(row: Standing) -> str:
    """Whether risks of a point are ``empirical`` or of the ``population``; all are excess risks."""
    return row.risk_kind.removeprefix("excess ")


def winner_text(row: Standing) -> str:
    """The winner, or those that cannot be told apart from it."""
    if row.runner_up is None:
        return "no method whose privacy is proven was run" if row.methods else "no method was run"
    if row.contenders:
        return f"undecided; least of those run: {row.winner}; {contenders_text(row)}"
    if len(row.tied) == 1:
        return str(row.winner)
    return "tie: " + ", ".join(row.tied)


def contenders_text(row: Standing) -> str:
    """Each contender that is left out, and where it was how good."""
    told = [
        f"{c.method} (no. {c.place} at {_point_text(row, c)}{c.cost and f'; here {c.cost}'})" for c in row.contenders
    ]
    return ("contenders left out: " if len(told) > 1 else "contender left out: ") + ", ".join(told) + ", too long here"


def cost_text(row: Standing) -> str:
    """What deciding an undecided point would take, all its contenders together: ``3 min 52 s``; empty if unknown."""
    seconds = to_decide(row)
    return "" if isnan(seconds) else duration(seconds)


def _point_text(row: Standing, other: Contender) -> str:
    """Another point, by n and by what differs."""
    pairs = (("n", other.n, None), ("d", other.d, row.d), ("ε", other.epsilon, row.epsilon))
    return ", ".join(f"{name} = {plain(there)}" for name, there, here in pairs if there != here)


def named(item: Ranked | Unrun) -> str:
    """Id of a method's algorithm, with its label where the board has several of that algorithm."""
    return item.algorithm if item.algorithm.endswith(f".{item.method}") else f"{item.algorithm} ({item.method})"


def competing(row: Standing) -> int:
    """How many methods were run at a point that can win."""
    return sum(bool(method.ranked) for method in row.methods)


def _margin(row: Standing, part: int | None = None) -> Any:
    """Margin, or an end of its interval; none where the point is undecided."""
    if row.contenders:
        return None
    return row.margin if part is None else row.margin_ci[part]


def _margin_text(row: Standing) -> str:
    return NOTHING if row.contenders else f"{number(row.margin, 2)} {interval(row.margin_ci)}".strip()


def _bound_cell(row: Standing) -> str:
    return number(row.lower_bound) + (" (cut)" if row.lower_bound_cut else "")


def _risk(row: Standing) -> Any:
    return next((m.risk for m in row.methods if m.method == row.winner), row.trivial)


def _gradients(row: Standing) -> Any:
    return next((m.gradient_evaluations for m in row.methods if m.method == row.winner), None)


def _search(row: Standing) -> str:
    found = row.search
    own = options_text(found.options) if found else ""
    return f"{number(found.risk)} ({found.method}, {own or STATED})" if found else NOTHING


def _reference_risk(row: Standing) -> str:
    found = row.without_privacy
    return f"{number(found.risk)} {interval(found.ci) if found.risk else ''}".strip()


def _key(key: str) -> Raw:
    return {key: attrgetter(key)}


PLACE = (
    Column("n", lambda row: plain(row.n), _key("n"), True),
    Column("d", lambda row: plain(row.d), _key("d"), True),
    Column("ε", lambda row: plain(row.epsilon), _key("epsilon"), True),
)


def data_note(board: BoardResults) -> str:
    """How many data sets stand behind the intervals of a profile."""
    count_ = board.board.data_sets.get(board.profile)
    if not count_:
        return ""
    several = f"{count_} data sets" if count_ > 1 else "one data set"
    return (
        " Where replicates share their data (all instances but linear, heavy-tailed and noisy quadratic losses), this "
        f"profile has {several}{'' if count_ > 1 else ', so that intervals there speak of the noise alone'}."
    )


def algorithms(board: BoardResults) -> dict[str, str]:
    """Label of each method that was run -> id of its algorithm."""
    return {method.method: method.algorithm for row in measured(board) for method in row.methods}


def _page(board: BoardResults) -> Callable[[Sequence[Any]], str]:
    """Of an entry that begins with a method's label, the address of its page; empty where there is none."""
    here = set(ALGORITHMS.names())
    known = {label: id for label, id in algorithms(board).items() if id in here}
    return lambda entry: address("method", known[entry[0]]) if entry[0] in known else ""


def points_table(board: BoardResults) -> Table:
    page = _page(board)
    columns = (
        Column("Instance", lambda row: row.instance, _key("instance"), kind="code"),
        *PLACE,
        Column(
            "Winner",
            winner_text,
            {
                **_key("winner"),
                "tied": lambda row: list(row.tied),
                "contenders": lambda row: [one.method for one in row.contenders],
                **_key("uncompared"),
            },
            link=lambda row: page((row.winner,)) if len(row.tied) == 1 and not row.contenders else "",
        ),
        Column("Competing", lambda row: str(competing(row)), {"competing": competing}, True),
        Column("Risk", lambda row: number(_risk(row)), {"risk": _risk}, True),
        Column("Kind", kind_text, _key("risk_kind")),
        Column(
            "Margin [95 %]",
            _margin_text,
            {"margin": _margin, "margin_low": partial(_margin, part=0), "margin_high": partial(_margin, part=1)},
            True,
        ),
        Column("Gradients", lambda row: count(_gradients(row)), {"gradient_evaluations": _gradients}, True),
        *held_out_columns(),
        Column(
            "Public grid search (not private)",
            _search,
            {"search_risk": lambda row: row.search.risk if row.search else None},
        ),
        Column(
            "Without privacy [95 %]",
            _reference_risk,
            {"without_privacy": lambda row: row.without_privacy.risk},
            True,
        ),
        Column("Trivial solution", lambda row: number(row.trivial), _key("trivial"), True),
        Column("Lower bound, order", _bound_cell, {**_key("lower_bound"), **_key("lower_bound_cut")}, True),
    )
    group = lambda row: (f"{symbols(row.title)}: {row.risk_kind} risks", "")  # noqa: E731
    return Table(board.id, "Winners, point by point", columns, measured(board), POINTS_NOTE + data_note(board), group)


def _said(pair: Any) -> str:
    row, method = pair
    if not method.ranked:
        return f"not ranked: {STATUS_WORDS[method.privacy_status]}"
    said = ("first" if len(row.tied) == 1 else "tied") if method.tied else ""
    if said and row.contenders:
        said = f"{said} of those run"
    return ", ".join(part for part in (said, "stays at the starting point" if method.at_start else "") if part)


def _of(key: str) -> Any:
    return lambda pair: getattr(pair[1], key)


def methods_table(board: BoardResults) -> Table:
    pairs = [(row, method) for row in measured(board) for method in row.methods]
    columns = (
        Column("Instance", lambda pair: pair[0].instance, {"instance": lambda pair: pair[0].instance}, kind="code"),
        *(Column(c.title, _shown_first(c), _first(c.raw), True) for c in PLACE),
        Column(
            "Method",
            lambda pair: named(pair[1]),
            {"algorithm": _of("algorithm"), "method": _of("method")},
            kind="code",
            link=lambda pair: address("method", pair[1].algorithm),
        ),
        Column("Risk", lambda pair: number(pair[1].risk), {"risk": _of("risk")}, True),
        Column("Kind", lambda pair: kind_text(pair[0]), {"risk_kind": lambda pair: pair[0].risk_kind}),
        Column(
            "95 % interval",
            lambda pair: interval(pair[1].ci, 3),
            {"ci_low": lambda pair: pair[1].ci[0], "ci_high": lambda pair: pair[1].ci[1]},
            True,
        ),
        Column(
            "Gradients",
            lambda pair: count(pair[1].gradient_evaluations),
            {"gradient_evaluations": _of("gradient_evaluations")},
            True,
        ),
        Column(
            "Real ε",
            lambda pair: epsilon_text(pair[1].epsilon_real, pair[1].epsilon_real_kind),
            {"epsilon_real": _of("epsilon_real"), "privacy_status": _of("privacy_status")},
            True,
        ),
        Column(
            "Held out",
            lambda pair: held_out_text(pair[1].held_out),
            {"held_out_loss": _of("held_out_loss"), "held_out_accuracy": _of("held_out_accuracy")},
            True,
        ),
        Column("Says", _said, {"says": _said}),
    )
    return Table(f"{board.id}.methods", "All methods at all points", columns, pairs)


def _shown_first(column: Column) -> Any:
    return lambda pair: column.show(pair[0])


def _first(raw: Raw) -> Raw:
    return {name: partial(_value_first, value) for name, value in raw.items()}


def _value_first(value: Any, pair: Any) -> Any:
    return value(pair[0])


def left_out_table(board: BoardResults) -> Table:
    """What was not run, with the reason; alike points are told once."""
    columns = (
        Column("Instance", lambda item: item[0], {"instance": lambda item: item[0]}, kind="code"),
        Column("Method", lambda item: item[1], {"algorithm": lambda item: item[1]}, kind="code"),
        Column("Points", lambda item: item[4], {"points": lambda item: item[4]}),
        Column("Status", lambda item: LEFT_OUT_WORDS[item[2]], {"status": lambda item: item[2]}),
        Column("Reason", lambda item: symbols(item[3]), {"reason": lambda item: item[3]}),
    )
    return Table(f"{board.id}.left_out", "Methods that were not run, and why", columns, list(_left_out(board)))


def references_table(board: BoardResults) -> Table:
    """What stands beside the risks of an instance, and where it comes from."""
    columns = (
        Column("Instance", lambda item: item.id, {"instance": lambda item: item.id}, kind="code"),
        Column("Problem", lambda item: item.problem, _key("problem")),
        Column("Without privacy", _reference_text, {"without_privacy": _reference_text}),
        Column("Public grid search", _searches_text, {"search": _searches_text}),
        Column("Lower bound, order", _bound_text, {"lower_bound": _bound_text}),
        Column("Note", lambda item: symbols(item.note), _key("note")),
    )
    title = "References of each instance, and their sources"
    return Table(f"{board.id}.references", title, columns, board.board.instances)


def _reference_text(item: Instance) -> str:
    found = item.without_privacy
    return f"{found.algorithm} without noise" if found else "minimum of the sample’s risk: 0"


def _searches_text(item: Instance) -> str:
    return "; ".join(f"{one.algorithm}, {' × '.join(one.grid)}" for one in item.searches) or NOTHING


def _bound_text(item: Instance) -> str:
    return symbols(get_bound(item.lower_bound).text) if item.lower_bound else "none stated in the papers"


def _left_out(board: BoardResults) -> Iterator[tuple[str, str, str, str, str]]:
    found: dict[tuple[str, str, str], list[str]] = {}
    totals = Counter(row.instance for row in measured(board))
    for row in measured(board):
        for item in row.left_out:
            found.setdefault((row.instance, named(item), item.status), []).append(str(item.reason))
    for (instance, algorithm, status), reasons in found.items():
        several = f", and alike at {len(reasons) - 1} more" if len(set(reasons)) > 1 else ""
        share = "all" if len(reasons) >= totals[instance] else f"{len(reasons)} of {totals[instance]}"
        yield instance, algorithm, status, reasons[0] + several, share


def nowhere_run(board: BoardResults) -> list[tuple[str, str]]:
    """(method, reason) of those that were run at no point: too long before incomparable before refused."""
    ran = {method.method for row in measured(board) for method in row.methods}
    found: dict[str, Counter[tuple[int, str]]] = {}
    for row in measured(board):
        for item in row.left_out:
            if item.method not in ran | {REFERENCE}:
                rank = list(LEFT_OUT_WORDS).index(item.status)
                found.setdefault(item.method, Counter())[rank, symbols(str(item.reason))] += 1
    last = {name: max(counts, key=lambda key: (key[0], counts[key])) for name, counts in found.items()}
    words = list(LEFT_OUT_WORDS.values())
    return [
        (name, reason if rank == 0 else f"{words[rank]}: {reason}") for name, (rank, reason) in sorted(last.items())
    ]


def decided(row: Standing) -> bool:
    """Whether a method was run at a point, and none is left out that would contend for the first place."""
    return row.runner_up is not None and not row.contenders


def wins(board: BoardResults) -> list[tuple[str, int, int]]:
    """(method, points won alone, points shared), the most first; the trivial solution among them."""
    alone: Counter[str] = Counter()
    shared: Counter[str] = Counter()
    for row in measured(board):
        if not decided(row):
            continue
        if len(row.tied) == 1:
            alone[row.winner] += 1
        else:
            shared.update(row.tied)
    names = sorted({*alone, *shared}, key=lambda name: (-alone[name], -shared[name], name))
    return [(name, alone[name], shared[name]) for name in names]


def wins_table(board: BoardResults) -> Table:
    total = sum(map(decided, measured(board)))
    undecided = sum(bool(row.contenders) for row in measured(board))
    columns = (
        Column("Method", lambda item: item[0], {"method": lambda item: item[0]}, kind="code", link=_page(board)),
        Column("Wins alone", lambda item: str(item[1]), {"wins": lambda item: item[1]}, True),
        Column("Tied for first", lambda item: str(item[2]), {"ties": lambda item: item[2]}, True),
    )
    note = (
        f"Of the {total} decided points of all instances; {undecided} more are undecided, since a contender is left "
        "out there as too long, and count for nobody. "
        f"“{TRIVIAL}” is the starting point: no private method helps there."
    )
    return Table(f"{board.id}.wins", "Points won", columns, wins(board), note)


def board_tables(board: BoardResults) -> list[Table]:
    tables = [wins_table, points_table, references_table, methods_table, left_out_table]
    return [table(board) for table in tables]
