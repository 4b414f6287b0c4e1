"""The leaderboard's tables: winners with their margins, all methods, and what was not run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isnan
from typing import Any

from dpsco_bench.algorithms.registry import ALGORITHMS
from dpsco_bench.analysis.decided import to_decide
from dpsco_bench.analysis.ranking import Contender, Ranked, Reference, Searched, Standing, Unrun
from dpsco_bench.analysis.standings import TRIVIAL
from dpsco_bench.claims.board import Instance
from dpsco_bench.claims.board_jobs import REFERENCE
from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.execution.progress import duration
from dpsco_bench.execution.summary import HeldOut
from dpsco_bench.privacy.ledger import STATUS_WORDS
from dpsco_bench.report.address import address
from dpsco_bench.report.inputs import BoardResults
from dpsco_bench.report.numbers import NOTHING, count, is_number, number, plain
from dpsco_bench.report.tables import Column, Columns, Table, leads_to
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
    """Check whether risks of a point are ``empirical`` or of the ``population``; all are excess risks."""
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
    """Say what deciding a point would take, all its contenders together: ``3 min 52 s``; empty if unknown."""
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
    """Count how many methods were run at a point that can win."""
    return sum(bool(method.ranked) for method in row.methods)


def best(row: Standing) -> Ranked | None:
    """The method with the least risk; None where that is the starting point."""
    return next((method for method in row.methods if method.method == row.winner), None)


def _risk(row: Standing) -> float:
    found = best(row)
    return found.risk if found else row.trivial


def _gradients(row: Standing) -> float | None:
    found = best(row)
    return found.gradient_evaluations if found else None


def held_out(row: Standing, whose: str) -> HeldOut | None:
    """Numbers on held-out records: of the ``winner``, the ``trivial`` solution, or ``without_privacy``."""
    if whose != "winner":
        return row.held_out.get(whose)
    found = best(row)
    return found.held_out if found else None


def held_out_text(found: HeldOut | None) -> str:
    """Show loss and accuracy: ``0.647 (61 %)``."""
    if found is None:
        return NOTHING
    return number(found.loss) + ("" if found.accuracy is None else f" ({number(100 * found.accuracy)} %)")


def _held_out_column(whose: str, name: str) -> Column:
    def numbers(row: Standing) -> HeldOut | None:
        return held_out(row, whose)

    def loss(row: Standing) -> float | None:
        found = numbers(row)
        return found.loss if found else None

    return Column(numbers, held_out_text, {name: loss}, numeric=True)


def _margin_text(row: Standing) -> str:
    return NOTHING if row.contenders else f"{number(row.margin, 2)} {interval(row.margin_ci)}".strip()


def _margin(row: Standing) -> dict[str, float]:
    """Margin and its interval; nothing where the point is undecided."""
    return {} if row.contenders else {"margin": row.margin, "low": row.margin_ci[0], "high": row.margin_ci[1]}


def _search_text(found: Searched | None) -> str:
    if found is None:
        return NOTHING
    return f"{number(found.risk)} ({found.method}, {options_text(found.options) or STATED})"


def _reference_risk(found: Reference) -> str:
    return f"{number(found.risk)} {interval(found.ci) if found.risk else ''}".strip()


def data_note(board: BoardResults) -> str:
    """Count how many data sets stand behind the intervals of a profile."""
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


def _pages(board: BoardResults) -> dict[str, str]:
    """Label of each method that has a page -> its address."""
    here = set(ALGORITHMS.names())
    return {label: address("method", id) for label, id in algorithms(board).items() if id in here}


def place_columns(path: str = "") -> Columns:
    """Columns of a point, which stands at a path of the row."""
    return {
        "n": Column(f"{path}n", plain, numeric=True),
        "d": Column(f"{path}d", plain, numeric=True),
        "ε": Column(f"{path}epsilon", plain, numeric=True),
    }


POINTS: Columns = {
    "Instance": Column("instance", kind="code"),
    **place_columns(),
    "Winner": Column(
        winner_text,
        raw={
            "winner": "winner",
            "tied": "tied",
            "contenders": lambda row: [one.method for one in row.contenders],
            "uncompared": "uncompared",
        },
    ),
    "Competing": Column(competing, str, "competing", numeric=True),
    "Risk": Column(_risk, number, "risk", numeric=True),
    "Kind": Column(kind_text, raw={"risk_kind": "risk_kind"}),
    "Margin [95 %]": Column(
        _margin_text,
        raw={
            "margin": lambda row: _margin(row).get("margin"),
            "margin_low": lambda row: _margin(row).get("low"),
            "margin_high": lambda row: _margin(row).get("high"),
        },
        numeric=True,
    ),
    "Gradients": Column(_gradients, count, "gradient_evaluations", numeric=True),
    "Held out": _held_out_column("winner", "held_out_loss"),
    "Held out, trivial": _held_out_column("trivial", "held_out_loss_trivial"),
    "Held out, no privacy": _held_out_column("without_privacy", "held_out_loss_without_privacy"),
    "Public grid search (not private)": Column("search", _search_text, {"search_risk": "search.risk"}),
    "Without privacy [95 %]": Column(
        "without_privacy", _reference_risk, {"without_privacy": "without_privacy.risk"}, numeric=True
    ),
    "Trivial solution": Column("trivial", number, numeric=True),
    "Lower bound, order": Column(
        lambda row: number(row.lower_bound) + " (cut)" * bool(row.lower_bound_cut),
        raw={"lower_bound": "lower_bound", "lower_bound_cut": "lower_bound_cut"},
        numeric=True,
    ),
}


def points_table(board: BoardResults) -> Table:
    """Tabulate the winners, point by point."""
    pages = _pages(board)

    def page(row: Standing) -> str:
        alone = len(row.tied) == 1 and not row.contenders
        return pages.get(row.winner, "") if alone else ""

    columns = {**POINTS, "Winner": replace(POINTS["Winner"], link=page)}
    return Table(board.id, "Winners, point by point", columns, measured(board), POINTS_NOTE + data_note(board))


def _said(pair: Mapping[str, Any]) -> str:
    point, method = pair["point"], pair["method"]
    if not method.ranked:
        return f"not ranked: {STATUS_WORDS[method.privacy_status]}"
    said = ("first" if len(point.tied) == 1 else "tied") if method.tied else ""
    if said and point.contenders:
        said = f"{said} of those run"
    return ", ".join(part for part in (said, "stays at the starting point" if method.at_start else "") if part)


METHODS: Columns = {
    "Instance": Column("point.instance", kind="code"),
    **place_columns("point."),
    "Method": Column(
        lambda pair: named(pair["method"]),
        raw={"algorithm": "method.algorithm", "method": "method.method"},
        kind="code",
        link=leads_to("method.algorithm", kind="method"),
    ),
    "Risk": Column("method.risk", number, numeric=True),
    "Kind": Column("point", kind_text, {"risk_kind": "point.risk_kind"}),
    "95 % interval": Column(
        "method.ci", partial(interval, digits=3), {"ci_low": "method.ci.0", "ci_high": "method.ci.1"}, numeric=True
    ),
    "Gradients": Column("method.gradient_evaluations", count, numeric=True),
    "Real ε": Column(
        lambda pair: epsilon_text(pair["method"].epsilon_real, pair["method"].epsilon_real_kind),
        raw={"epsilon_real": "method.epsilon_real", "privacy_status": "method.privacy_status"},
        numeric=True,
    ),
    "Held out": Column(
        "method.held_out",
        held_out_text,
        {"held_out_loss": "method.held_out_loss", "held_out_accuracy": "method.held_out_accuracy"},
        numeric=True,
    ),
    "Says": Column(_said, raw="says"),
}


def methods_table(board: BoardResults) -> Table:
    """Tabulate the frame of standings: a row per point and method."""
    pairs = [{"point": row, "method": method} for row in measured(board) for method in row.methods]
    return Table(f"{board.id}.methods", "All methods at all points", METHODS, pairs)


LEFT_OUT: Columns = {
    "Instance": Column("instance", kind="code"),
    "Method": Column("algorithm", kind="code"),
    "Points": Column("points"),
    "Status": Column("status", LEFT_OUT_WORDS.__getitem__),
    "Reason": Column("reason", symbols),
}


def left_out_table(board: BoardResults) -> Table:
    """Tabulate what was not run, with the reason; alike points are told once."""
    return Table(f"{board.id}.left_out", "Methods that were not run, and why", LEFT_OUT, _left_out(board))


def _reference_text(item: Instance) -> str:
    found = item.without_privacy
    return f"{found.algorithm} without noise" if found else "minimum of the sample’s risk: 0"


def _searches_text(item: Instance) -> str:
    return "; ".join(f"{one.algorithm}, {' × '.join(one.grid)}" for one in item.searches) or NOTHING


def _bound_text(item: Instance) -> str:
    return symbols(get_bound(item.lower_bound).text) if item.lower_bound else "none stated in the papers"


REFERENCES: Columns = {
    "Instance": Column("id", raw="instance", kind="code"),
    "Problem": Column("problem"),
    "Without privacy": Column(_reference_text, raw="without_privacy"),
    "Public grid search": Column(_searches_text, raw="search"),
    "Lower bound, order": Column(_bound_text, raw="lower_bound"),
    "Note": Column("note", symbols),
}


def references_table(board: BoardResults) -> Table:
    """Tabulate what stands beside the risks of an instance, and where it comes from."""
    title = "References of each instance, and their sources"
    return Table(f"{board.id}.references", title, REFERENCES, board.board.instances)


def _left_out(board: BoardResults) -> list[dict[str, str]]:
    rows = []
    found: dict[tuple[str, str, str], list[str]] = {}
    totals = Counter(row.instance for row in measured(board))
    for row in measured(board):
        for item in row.left_out:
            found.setdefault((row.instance, named(item), item.status), []).append(str(item.reason))
    for (instance, algorithm, status), reasons in found.items():
        several = f", and alike at {len(reasons) - 1} more" if len(set(reasons)) > 1 else ""
        share = "all" if len(reasons) >= totals[instance] else f"{len(reasons)} of {totals[instance]}"
        told = {"points": share, "status": status, "reason": reasons[0] + several}
        rows.append({"instance": instance, "algorithm": algorithm, **told})
    return rows


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
    """Check whether a method was run at a point, and none is left out that would contend for the first place."""
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
    """Tabulate how many points each method wins."""
    total = sum(map(decided, measured(board)))
    undecided = sum(bool(row.contenders) for row in measured(board))
    pages = _pages(board)
    columns = {
        "Method": Column("0", raw="method", kind="code", link=lambda won: pages.get(won[0], "")),
        "Wins alone": Column("1", raw="wins", numeric=True),
        "Tied for first": Column("2", raw="ties", numeric=True),
    }
    note = (
        f"Of the {total} decided points of all instances; {undecided} more are undecided, since a contender is left "
        "out there as too long, and count for nobody. "
        f"“{TRIVIAL}” is the starting point: no private method helps there."
    )
    return Table(f"{board.id}.wins", "Points won", columns, wins(board), note)


def board_tables(board: BoardResults) -> list[Table]:
    tables = [wins_table, points_table, references_table, methods_table, left_out_table]
    return [table(board) for table in tables]
