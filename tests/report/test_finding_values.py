"""Values that findings are said with: counts of verdicts and errata, and what a board says."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from dpsco_bench.analysis.ranking import Searched
from dpsco_bench.analysis.standings import TRIVIAL
from dpsco_bench.claims.kinds import get_kind
from dpsco_bench.errors import InputError
from dpsco_bench.site.board_values import NotMeasured
from dpsco_bench.site.finding_figures import figure
from dpsco_bench.site.findings import FigureRow, FigureText
from dpsco_bench.site.values import reference, value_of
from tests.report.test_board import ROWS, UNDECIDED, results


def test_only_decided_points_of_a_board_count():
    """What is undecided counts for nobody: ROWS has one more point than are decided, and a skipped instance."""
    content = SimpleNamespace(inputs=SimpleNamespace(boards=[results([*ROWS, UNDECIDED])], profile="ci"))
    wins = reference({"wins": "leaderboard.x", "methods": ["dp_gd"]}, "wins")
    points = reference({"points": "leaderboard.x"}, "points")
    assert value_of(content, wins, {}, "wins") == 3.0 and value_of(content, points, {}, "points") == 4.0
    shared = reference({"wins": "leaderboard.x", "methods": [TRIVIAL], "shared": True}, "shared")
    assert value_of(content, shared, {}, "shared") == 1.0


def test_frontier_and_search_are_of_decided_points():
    """The starting point is first at n = 512, d = 4, epsilon = 4 alone; a search is better at one of two points."""
    content = SimpleNamespace(inputs=SimpleNamespace(boards=[results([*ROWS, UNDECIDED])], profile="ci"))

    def value(**entry):
        return value_of(content, reference(entry, "x"), {}, "x")

    assert value(frontier="leaderboard.x") == 512 * 4 / 2
    board = content.inputs.boards[0]
    found = [Searched("s", "p.s", {}, risk, (risk, risk), 3) for risk in (1e-6, 1e6)]
    board.__dict__["rows"] = [replace(ROWS[0], search=one) for one in found]
    assert (value(search="leaderboard.x", take="count"), value(search="leaderboard.x", take="above")) == (2, 1)
    assert value(search="leaderboard.x", take="max") > value(search="leaderboard.x", take="median") > 0
    with pytest.raises(NotMeasured):
        value(frontier="leaderboard.x")


def test_a_frontier_is_a_bracket():
    """The start shares the first place at 512 and at 1024; a method beats it at 2048, and elsewhere between the two."""

    def at(n, tied, d=4, **more):
        return replace(ROWS[0], n=n, d=d, epsilon=2, tied=(tied,), winner=tied, **more)

    open_one = at(1536, TRIVIAL, contenders=UNDECIDED.contenders)
    rows = [
        at(512, TRIVIAL),
        at(1024, TRIVIAL),
        at(1024, "dp_gd"),
        open_one,
        at(2048, "dp_gd"),
        at(4096, "dp_gd", d=16),
    ]
    content = SimpleNamespace(inputs=SimpleNamespace(boards=[results(rows)], profile="ci"))

    def value(**entry):
        return value_of(content, reference({"frontier": "leaderboard.x", **entry}, "x"), {}, "x")

    assert (value(), value(beyond=True), value(d=4, beyond=True)) == (1024, 2048, 2048)
    for entry in ({"d": 16}, {"d": 16, "beyond": True}):
        with pytest.raises(NotMeasured):
            value(**entry)
    content.inputs.boards = [results([at(512, TRIVIAL)])]
    with pytest.raises(NotMeasured):
        value(beyond=True)


def test_a_frontier_that_nothing_reaches_is_the_least_that_was_tried():
    """With ``beaten`` alone; with ``either`` an instance that the profile lacks is left out."""
    rows = [replace(ROWS[0], n=n, d=4, epsilon=2, tied=("dp_gd",), winner="dp_gd") for n in (512, 1024)]
    content = SimpleNamespace(inputs=SimpleNamespace(boards=[results(rows)], profile="ci"))

    def value(**entry):
        return value_of(content, reference({"frontier": "leaderboard.x", **entry}, "x"), {}, "x")

    assert value(beaten=True) == 512
    assert value(beaten=True, instances=["gone", ROWS[0].instance], either=True) == 512
    for entry in ({"beyond": True}, {"beaten": True, "d": 5}, {"beaten": True, "instances": ["gone"], "either": True}):
        with pytest.raises(NotMeasured):
            value(**entry)
    rows.append(replace(rows[0], tied=(TRIVIAL, "dp_gd"), n=700))
    content.inputs.boards = [results(rows)]
    assert value(beaten=True) == value(beyond=True) == 1024


def test_points_of_some_epsilons_ties_gains_and_methods_that_ran():
    """ROWS[0] at three epsilons; at the last the starting point is the best, and shares nothing."""
    first = ROWS[0]
    method, other = (replace(first.methods[0], method=name, algorithm=f"{name}.a", ranked=True) for name in ("p", "q"))

    def at(epsilon, share, tied, methods=(method,)):
        ours = tuple(replace(one, risk=share * first.trivial) for one in methods)
        return replace(first, epsilon=epsilon, methods=ours, tied=tied, winner=tied[0])

    rows = [at(0.5, 0.75, ("p",)), at(1, 0.25, ("p", "q"), (method, other)), at(4, 2.0, (TRIVIAL,))]
    content = SimpleNamespace(inputs=SimpleNamespace(boards=[results(rows)], profile="ci"))

    def value(**entry):
        return value_of(content, reference(entry, "x"), {}, "x")

    id = "leaderboard.x"
    assert (value(points=id), value(points=id, tied=True), value(points=id, epsilon=[0.5, 4])) == (3, 1, 2)
    assert (value(wins=id, methods=["p"]), value(wins=id, methods=["p"], epsilon=[1])) == (2, 1)
    assert value(gain=id, take="max") == pytest.approx(75) and value(gain=id, take="min") == 0
    assert value(gain=id, take="max", epsilon=[0.5]) == pytest.approx(25)
    assert (value(ran=id), value(ran=id, paper="q"), value(ran=id, paper="r")) == (2, 1, 0)


def test_verdicts_of_some_claims_are_counted_by_claim_or_by_part():
    def row(id, part, word="fails"):
        given = {"kind": "privacy", "calibration": "paper", "reserved": (), "beside": None}
        return SimpleNamespace(row=SimpleNamespace(id=id, part=part, word=word, **given))

    content = SimpleNamespace(scores=[row("a", "x"), row("a", "y"), row("b", "x"), row("b", "z", "holds")])

    def count(**asked):
        return value_of(content, reference({"rows": {"kind": "privacy", **asked}}, "x"), {}, "x")

    assert (count(), count(distinct=True), count(words=["fails"], claims=["a"])) == (4, 2, 2)
    assert (count(parts=["x"]), count(claims=["b"], words=["fails"], distinct=True), count(claims=["c"])) == (2, 1, 0)


def test_numbers_of_the_worst_cell_and_their_product():
    worst = SimpleNamespace(
        cell=SimpleNamespace(n=1000), calibrated=SimpleNamespace(schedule={"epochs": 4}, dimension=10)
    )
    row = SimpleNamespace(id="c", part="p", calibration="paper")
    content = SimpleNamespace(
        scores=[SimpleNamespace(row=row, privacy=SimpleNamespace(worst=worst))], inputs=SimpleNamespace(profile="ci")
    )

    def value(entry, known=()):
        return value_of(content, reference(entry, "x"), dict(known), "x")

    asked = {"charged": "c", "part": "p"}
    assert [value({**asked, "column": name}) for name in ("n", "d", "epochs")] == [1000, 10, 4]
    assert value({"times": ["a", "b", "b"]}, {"a": 2.0, "b": 3.0}) == 18
    with pytest.raises(NotMeasured):
        value({**asked, "part": "q", "column": "n"})
    with pytest.raises(InputError):
        value({**asked, "column": "rounds"})
    for known in ({"a": 2.0}, {"a": 2.0, "b": "word"}):
        with pytest.raises(InputError):
            value({"times": ["a", "b"]}, known)


def test_errata_are_counted_by_what_checks_them():
    ours = [SimpleNamespace(command=command) for command in ("dpsco claim x", "", "dpsco show y")]
    content = SimpleNamespace(errata={"a": ours, "b": ours[:2]}, inputs=SimpleNamespace(papers=["a", "b"]))
    for by, all, first in (("", 5, 3), ("command", 3, 2), ("hand", 2, 1)):
        assert value_of(content, reference({"errata": "all", "by": by}, "x"), {}, "x") == all
        assert value_of(content, reference({"errata": "a", "by": by}, "x"), {}, "x") == first
    with pytest.raises(InputError):
        value_of(content, reference({"errata": "all", "by": "eye"}, "x"), {}, "x")


def test_errata_are_counted_by_what_they_change():
    words = ("text", "guarantee", "text", "constant")
    ours = [
        SimpleNamespace(command=command, changes=word) for command, word in zip(("x", "", "x", ""), words, strict=True)
    ]
    content = SimpleNamespace(errata={"a": ours}, inputs=SimpleNamespace(papers=["a"]))

    def count(**asked):
        return value_of(content, reference({"errata": "all", **asked}, "x"), {}, "x")

    assert [count(changes=word) for word in ("rate", "constant", "guarantee", "text")] == [0, 1, 1, 2]
    assert count(changes="text", by="command") == 2 and count(changes="constant", by="command") == 0
    with pytest.raises(InputError, match="x: changes = 'rates': must be one of rate, constant, guarantee, text"):
        count(changes="rates")


def test_what_is_open_is_counted_with_its_cost():
    slow, slower = (
        replace(UNDECIDED, n=n, contenders=(replace(UNDECIDED.contenders[0], cost=f"about {cost} on one core"),))
        for n, cost in ((2048, "5 min 00 s"), (4096, "2 h 10 min"))
    )
    content = SimpleNamespace(inputs=SimpleNamespace(boards=[results([*ROWS, slow, slower])], profile="ci"))

    def value(**entry):
        return value_of(content, reference(entry, "x"), {}, "x")

    assert value(undecided="leaderboard.x") == 2.0 and value(points="leaderboard.x", largest=True) == 512.0
    assert value(undecided="leaderboard.x", instances=["i"], cost=True) == "5 min 00 s or 2 h 10 min"
    assert value(winners="leaderboard.x") == 2.0
    content.inputs.boards = [results(ROWS)]
    assert value(undecided="leaderboard.x") == 0.0
    with pytest.raises(NotMeasured):
        value(undecided="leaderboard.x", cost=True)


def test_a_search_is_held_against_its_own_method_too():
    """0.3 of ``last`` against a search of it; where the searched method did not run, the point does not count."""
    found = [Searched("s", name, {}, 0.1, (0.1, 0.1), 3) for name in ("wang2017.last", "wang2017.gone")]
    board = results([replace(ROWS[0], search=one) for one in found])
    content = SimpleNamespace(inputs=SimpleNamespace(boards=[board], profile="ci"))

    def value(**entry):
        return value_of(content, reference({"search": "leaderboard.x", **entry}, "x"), {}, "x")

    assert (value(take="count"), value(take="count", own=True)) == (2, 1)
    assert value(take="max") == pytest.approx(1) and value(take="max", own=True) == pytest.approx(3)


def test_what_accounted_noise_buys_is_of_sweeps_that_are_private_under_both_noises():
    """Equal runs are one sweep; unproven noise, a single calibration and other quantities do not count."""

    def rows(part, accounted, paper, status="proven", kind="rate", quantity="risk", values=(1.0, 2.0, 3.0)):
        for calibration, mean in (("accounted", accounted), ("paper", paper)):
            noise = SimpleNamespace(status=status if calibration == "paper" else "proven")
            row = {"id": "c", "part": part, "kind": kind, "calibration": calibration, "noise": noise}
            row |= {"values": values[: len(mean)], "mean": mean}
            if mean:
                yield SimpleNamespace(
                    row=SimpleNamespace(**row), part=SimpleNamespace(quantity=quantity, rules=get_kind(kind))
                )

    def value(*sweeps, take):
        scores = [score for sweep in sweeps for score in sweep]
        content = SimpleNamespace(scores=scores, inputs=SimpleNamespace(profile="ci"))
        return value_of(content, reference({"accounted": take}, "x"), {}, "x")

    def found(take):
        return value(
            rows("half", (1.0, 2.0, 0.5), (2.0, 4.0, 5.0)),
            rows("same", (1.0, 2.0, 0.5), (2.0, 4.0, 5.0)),
            rows("other", (0.9,), (1.0,)),
            rows("zero", (0.3, 7.0), (1.0, 0.0)),
            rows("open", (1e-9,), (1.0,), status="unproven"),
            rows("broken", (1e-9,), (1.0,), status="exceeds_claim"),
            rows("alone", (1e-9,), ()),
            rows("bound", (1e-9,), (1.0,), kind="explicit"),
            rows("gradients", (1e-9,), (1.0,), quantity="gradient_evaluations"),
            take=take,
        )

    assert {take: found(take) for take in ("count", "sweeps", "median", "min", "max")} == {
        "count": 5.0,
        "sweeps": 3.0,
        "median": 0.5,
        "min": 0.1,
        "max": 0.9,
    }
    with pytest.raises(NotMeasured):
        value(rows("open", (1.0,), (2.0,), status="unproven"), take="median")
    with pytest.raises(InputError):
        found("mode")


def test_a_bound_in_a_figure_is_rounded_as_one():
    def shown(**row):
        rows = [FigureRow("real", "real", **row)]
        drawn = figure(
            SimpleNamespace(id="x", values={"real": 887_900.0}, text=SimpleNamespace(figure=FigureText(rows)))
        )
        return [text.get_text() for text in drawn.axes[0].texts]

    assert (shown(), shown(bound="lower"), shown(bound="upper")) == (["8.88×10⁵"], ["8.87×10⁵"], ["8.88×10⁵"])
    with pytest.raises(InputError, match="bound = 'below': must be lower or upper"):
        shown(bound="below")
