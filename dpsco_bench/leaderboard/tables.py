"""Tables of a leaderboard for the site and its files: each column shows a field of the standings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from dpsco_bench.algorithms.registry import ALGORITHMS
from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.claims.plan import Unrun
from dpsco_bench.execution.cell import EPSILONS
from dpsco_bench.execution.job_results import HeldOut
from dpsco_bench.leaderboard.board import REFERENCE
from dpsco_bench.leaderboard.standings import TRIVIAL, Ranked, Standing
from dpsco_bench.privacy.ledger import OF, STATUS_WORDS
from dpsco_bench.report.inputs import BoardResults
from dpsco_bench.report.numbers import NOTHING, count, interval, number, plain
from dpsco_bench.report.tables import Column, Columns, Number, ReportTable, address, leads_to
from dpsco_bench.report.wording import epsilon_text, options_text, symbols

LEFT_OUT_WORDS = {
    "refused": "refuses",
    "incomparable": "bounds another quantity",
    "too_long": "too long here",
    "failed": "failed",
    "not_run": "not run",
}
STATED = "its theorem's own steps"
LEAST, UNSTATED = "minimum of the sample’s risk: 0", "none stated in the papers"
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
    "replicates and measured on the other half; the choice is not paid for, so that this column is not private. "
    "Lower bounds are orders without known constants, for "
    "the worst case of a class of losses: an instance can lie below them. Where an order exceeds the risk of the "
    "trivial solution, which looks at no data, it is cut at that risk. Held out: the winner’s loss without the ridge, "
    "and accuracy, on records that no method sees; beside it those of the starting point, and of the minimiser of the "
    "risk on the records in use."
)


def kind_text(kind: str) -> str:
    """Shorten a kind of risk to ``empirical`` or ``population``; all are excess risks."""
    return kind.removeprefix("excess ")


def winner_text(row: Standing, name: Callable[[str], str] = str) -> str:
    """Name the winner, or those that cannot be told apart from it; ``name`` names a label."""
    if row.runner_up is None:
        return "no method whose privacy is proven was run" if row.methods else "no method was run"
    if row.contenders:
        return f"undecided; least of those run: {name(row.winner)}; {contenders_text(row, name)}"
    return name(row.winner) if len(row.tied) == 1 else f"tie: {', '.join(map(name, row.tied))}"


def contenders_text(row: Standing, name: Callable[[str], str] = str) -> str:
    """Name each contender that is left out, and where it was how good."""
    told = []
    for one in row.contenders:
        pairs = (("n", one.n, None), ("d", one.d, row.d), ("ε", one.epsilon, row.epsilon))
        place = ", ".join(f"{key} = {plain(there)}" for key, there, here in pairs if there != here)
        told.append(f"{name(one.method)} (no. {one.place} at {place}{one.cost and f'; here {one.cost}'})")
    return f"contender{'s' * (len(told) > 1)} left out: {', '.join(told)}, too long here"


def named(item: Ranked | Unrun) -> str:
    """Name a method by the id of its algorithm, with its label where the board has several of that algorithm."""
    return item.algorithm if item.algorithm.endswith(f".{item.method}") else f"{item.algorithm} ({item.method})"


def held_out_text(found: HeldOut | None) -> str:
    """Show loss and accuracy: ``0.647 (61 %)``."""
    if found is None:
        return NOTHING
    return number(found.loss) + ("" if found.accuracy is None else f" ({number(100 * found.accuracy)} %)")


def algorithms(board: BoardResults) -> dict[str, str]:
    """Collect the label of each method that was run -> id of its algorithm."""
    return {method.method: method.algorithm for row in board.points for method in row.methods}


def _page(algorithm: str) -> str:
    """Address the page of a method; empty for one that is not registered here."""
    return address("method", algorithm) if algorithm in ALGORITHMS.names() else ""


def _place(path: str = "") -> Columns:
    """Make the columns of a point, which stands at a path of the row."""
    places = {title: Number(f"{path}{key}", plain) for title, key in {"n": "n", "d": "d", "ε": "epsilon"}.items()}
    return {"Instance": Column(f"{path}instance", kind="code"), **places}


def _held_out(path: str, name: str) -> Column:
    return Number(path, held_out_text, {name: f"{path}.loss"})


POINTS: Columns = {
    **_place(),
    "Winner": Column(
        winner_text,
        raw={
            "winner": "winner",
            "tied": "tied",
            "contenders": lambda row: [one.method for one in row.contenders],
            "uncompared": "uncompared",
        },
        link=lambda row: _page(row.best.algorithm) if row.best and len(row.tied) == 1 and not row.contenders else "",
    ),
    "Competing": Number(lambda row: len(row.order), raw="competing"),
    "Risk": Number("least", number, "risk"),
    "Kind": Column("risk_kind", kind_text),
    "Margin [95 %]": Number(
        "told_margin",
        lambda told: f"{number(told[0], 2)} {interval(told[1:], show=number)}".strip() if told else NOTHING,
        {"margin": "told_margin.0", "margin_low": "told_margin.1", "margin_high": "told_margin.2"},
    ),
    "Gradients": Number("best.gradient_evaluations", count),
    "Held out": _held_out("best.held_out", "held_out_loss"),
    "Held out, trivial": _held_out("held_out.trivial", "held_out_loss_trivial"),
    "Held out, no privacy": _held_out("held_out.without_privacy", "held_out_loss_without_privacy"),
    "Public grid search (not private)": Column(
        "search",
        lambda own: f"{number(own.risk)} ({own.method}, {options_text(own.options) or STATED})" if own else NOTHING,
        {"search_risk": "search.risk"},
    ),
    "Without privacy [95 %]": Number(
        "without_privacy",
        lambda found: f"{number(found.risk)} {interval(found.ci, show=number) if found.risk else ''}".strip(),
        {"without_privacy": "without_privacy.risk"},
    ),
    "Trivial solution": Number("trivial", number),
    "Lower bound, order": Number(
        lambda row: number(row.lower_bound) + " (cut)" * row.lower_bound_cut,
        raw={"lower_bound": "lower_bound", "lower_bound_cut": "lower_bound_cut"},
    ),
}


def points_table(board: BoardResults) -> ReportTable:
    sets = board.board.data_sets.get(board.files.profile, 0)
    told = f"{sets} data sets" if sets > 1 else "one data set, so that intervals there speak of the noise alone"
    note = POINTS_NOTE + f" Where replicates share their data, this profile has {told}." * bool(sets)
    return ReportTable(board.id, "Winners, point by point", POINTS, board.points, note)


def _said(pair: Mapping[str, Any]) -> str:
    point, method = pair["point"], pair["method"]
    if not method.ranked:
        return f"not ranked: {STATUS_WORDS[method.privacy_status]}"
    said = ("first" if len(point.tied) == 1 else "tied") if method.tied else ""
    said += " of those run" * bool(said and point.contenders)
    dropped = f"dropped after {method.dropped} replicates" if method.dropped else ""
    return ", ".join(filter(None, (said, dropped, "stays at the starting point" if method.at_start else "")))


METHODS: Columns = {
    **_place("point."),
    "Method": Column(
        lambda pair: named(pair["method"]),
        raw={"algorithm": "method.algorithm", "method": "method.method"},
        kind="code",
        link=leads_to("method.algorithm", kind="method"),
    ),
    "Risk": Number("method.risk", number),
    "Kind": Column("point.risk_kind", kind_text),
    "95 % interval": Number(
        "method.ci", lambda ci: interval(ci, 3, number), {"ci_low": "method.ci.0", "ci_high": "method.ci.1"}
    ),
    "Gradients": Number("method.gradient_evaluations", count),
    "Real ε": Number(
        lambda pair: epsilon_text(pair["method"].epsilon_real, pair["method"].epsilon_real_kind),
        raw={**{name: f"method.{name}" for name in EPSILONS}, "privacy_status": "method.privacy_status"},
    ),
    "It is": Column("method.epsilon_of", OF.__getitem__),
    "Held out": Number(
        "method.held_out",
        held_out_text,
        {"held_out_loss": "method.held_out_loss", "held_out_accuracy": "method.held_out_accuracy"},
    ),
    "Says": Column(_said, raw="says"),
}


def methods_table(board: BoardResults) -> ReportTable:
    pairs = [{"point": row, "method": method} for row in board.points for method in row.methods]
    return ReportTable(f"{board.id}.methods", "All methods at all points", METHODS, pairs)


LEFT_OUT: Columns = {
    "Instance": Column("instance", kind="code"),
    "Method": Column("algorithm", kind="code"),
    "Points": Column("points"),
    "Status": Column("status", LEFT_OUT_WORDS.__getitem__),
    "Reason": Column("reason", symbols),
}


def left_out_table(board: BoardResults) -> ReportTable:
    """Tabulate what was not run, with the reason; alike points are told once."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for row in board.points:
        for item in row.left_out:
            found.setdefault((row.instance, named(item), item.status), []).append(item.reason)
    totals, rows = Counter(row.instance for row in board.points), []
    for (instance, algorithm, status), reasons in found.items():
        reason = reasons[0] + f", and alike at {len(reasons) - 1} more" * (len(set(reasons)) > 1)
        share = "all" if len(reasons) >= totals[instance] else f"{len(reasons)} of {totals[instance]}"
        rows.append(dict(instance=instance, algorithm=algorithm, points=share, status=status, reason=reason))
    return ReportTable(f"{board.id}.left_out", "Methods that were not run, and why", LEFT_OUT, rows)


def references_table(board: BoardResults) -> ReportTable:
    """Tabulate what stands beside the risks of an instance, and where it comes from."""
    columns = {
        "Instance": Column("id", raw="instance", kind="code"),
        "Problem": Column("problem"),
        "Without privacy": Column(
            lambda one: f"{one.without_privacy.algorithm} without noise" if one.without_privacy else LEAST,
            raw="without_privacy",
        ),
        "Public grid search": Column(
            lambda one: "; ".join(f"{own.algorithm}, {' × '.join(own.grid)}" for own in one.searches) or NOTHING,
            raw="search",
        ),
        "Lower bound, order": Column(
            lambda one: symbols(get_bound(one.lower_bound).text) if one.lower_bound else UNSTATED, raw="lower_bound"
        ),
        "Note": Column("note", symbols),
    }
    title = "References of each instance, and their sources"
    return ReportTable(f"{board.id}.references", title, columns, board.board.instances)


def nowhere_run(board: BoardResults) -> list[tuple[str, str]]:
    """List (method, reason) of those that ran at no point: too long before incomparable before refused."""
    ran, order = {*algorithms(board), REFERENCE}, list(LEFT_OUT_WORDS)
    found: dict[str, Counter[tuple[int, str]]] = {}
    for item in (item for row in board.points for item in row.left_out if item.method not in ran):
        found.setdefault(item.method, Counter())[order.index(item.status), symbols(item.reason)] += 1
    last = {name: max(counts, key=lambda key: (key[0], counts[key])) for name, counts in found.items()}
    words = ["", *(f"{LEFT_OUT_WORDS[status]}: " for status in order[1:])]
    return [(name, words[rank] + reason) for name, (rank, reason) in sorted(last.items())]


def wins_table(board: BoardResults) -> ReportTable:
    """Count (method, points won alone, points shared), the most first; the trivial solution among them."""
    known, decided = algorithms(board), [row for row in board.points if row.decided]
    alone = Counter(name for row in decided for name in row.tied if len(row.tied) == 1)
    shared = Counter(name for row in decided for name in row.tied if len(row.tied) > 1)
    wins = [(name, alone[name], shared[name]) for name in {*alone, *shared}]
    columns = {
        "Method": Column("0", raw="method", kind="code", link=lambda won: _page(known.get(won[0], ""))),
        "Wins alone": Number("1", raw="wins"),
        "Tied for first": Number("2", raw="ties"),
    }
    note = (
        f"Of the {len(decided)} decided points of all instances; "
        f"{sum(bool(row.contenders) for row in board.points)} more are undecided, since a contender is left "
        "out there as too long, and count for nobody. "
        f"“{TRIVIAL}” is the starting point: no private method helps there."
    )
    rows = sorted(wins, key=lambda won: (-won[1], -won[2], won[0]))
    return ReportTable(f"{board.id}.wins", "Points won", columns, rows, note)


def board_tables(board: BoardResults) -> list[ReportTable]:
    return [make(board) for make in (wins_table, points_table, references_table, methods_table, left_out_table)]
