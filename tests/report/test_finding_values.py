"""Numbers that findings read: points of a board, what noise spends and costs, and which results are not there."""

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest

from dpsco_bench.claims.kinds import get_kind
from dpsco_bench.errors import InputError
from dpsco_bench.leaderboard.standings import TRIVIAL, Searched, Skipped, Standing
from dpsco_bench.report import findings
from dpsco_bench.report.findings import COMMON, NotMeasured, Results
from tests.leaderboard.test_tables import ROWS, UNDECIDED


def of_board(*rows):
    points = [row for row in rows if isinstance(row, Standing)]
    boards = [SimpleNamespace(id="leaderboard.other", points=ROWS[:1]), SimpleNamespace(id=COMMON, points=points)]
    return Results(SimpleNamespace(boards=boards, profile="ci"), [], {})


def of_scores(*scores):
    return Results(SimpleNamespace(profile="ci"), scores, {})


def test_only_decided_points_of_the_board_count():
    results = of_board(*ROWS, UNDECIDED, Skipped("s", "a skipped instance", "no data"))
    decided, single = results.decided(), replace(UNDECIDED, contenders=(), runner_up=None)
    assert (len(decided), findings.won(decided, "dp_gd"), findings.shared(decided, TRIVIAL)) == (4, 3, 1)
    assert results.undecided("i") == [UNDECIDED] and not results.undecided("s") and results.decided("i") == decided
    assert of_board(*ROWS, single).decided() == decided
    for instances in (["s"], ["i", "gone"]):
        with pytest.raises(NotMeasured, match=f"{COMMON} has not all of these instances in profile ci"):
            results.decided(*instances)
    assert of_board(*ROWS).point("i", n=512, d=4, epsilon=1) is ROWS[1]
    with pytest.raises(NotMeasured, match="has no such point in profile ci"):
        of_board(*ROWS).point("i", n=512, d=5, epsilon=1)


def test_points_of_some_epsilons_ties_gains_and_methods_that_ran():
    """ROWS[0] at three epsilons; at the last the starting point is the best, and shares nothing."""
    first = ROWS[0]
    method, other = (replace(first.methods[0], method=name, algorithm=f"{name}.a", ranked=True) for name in ("p", "q"))

    def at(epsilon, share, tied, methods=(method,)):
        ours = tuple(replace(one, risk=share * first.trivial) for one in methods)
        return replace(first, epsilon=epsilon, methods=ours, tied=tied, winner=tied[0])

    results = of_board(at(0.5, 0.75, ("p",)), at(1, 0.25, ("p", "q"), (method, other)), at(4, 2.0, (TRIVIAL,)))
    rows = results.decided()
    assert (
        findings.ties(rows),
        len(results.decided(epsilon=(0.5, 4))),
        findings.won(results.decided(epsilon=(1,)), "p"),
    ) == (1, 2, 1)
    assert (
        findings.won(rows, "p"),
        findings.won(rows, "q"),
        findings.shared(rows, "q"),
        findings.won(rows, "p", TRIVIAL),
    ) == (2, 0, 1, 3)
    assert findings.gains(rows) == pytest.approx([25, 75, 0])
    assert (findings.ran(rows), findings.ran(rows, "q"), findings.ran(rows, "r")) == (2, 1, 0)


def test_a_frontier_is_a_bracket():
    """The start shares the first place at 512 and at 1024; a method beats it at 2048, and elsewhere between the two."""

    def at(n, tied, d=4):
        return replace(ROWS[0], n=n, d=d, epsilon=2, tied=(tied,), winner=tied)

    rows = [at(512, TRIVIAL), at(1024, TRIVIAL), at(1024, "dp_gd"), at(2048, "dp_gd"), at(4096, "dp_gd", d=16)]
    assert findings.bracket(rows) == (1024, 2048) and findings.bracket([*rows, at(1500, "dp_gd")]) == (1024, 1500)
    assert findings.bracket([*rows, at(512, "dp_gd")]) == (1024, 2048)
    assert findings.bracket([at(512, "dp_gd"), at(700, "dp_gd")]) == (0, 512)
    with pytest.raises(NotMeasured):
        findings.bracket(rows[:2])


def test_a_search_is_held_against_the_best_method_and_against_its_own():
    """0.3 of ``last`` against a search of it; where the searched method did not run, the point does not count."""
    found = [Searched("s", name, {}, 0.1, (0.1, 0.1), 3) for name in ("wang2017.last", "wang2017.gone")]
    rows = [replace(ROWS[0], search=one) for one in (*found, None)]
    assert findings.over_search(rows) == pytest.approx([1, 1]) and findings.over_search(
        rows, own=True
    ) == pytest.approx([3])
    with pytest.raises(NotMeasured):
        findings.over_search(rows[2:])


def charged(*shares, calibration="paper", id="c", part="p"):
    cells = [SimpleNamespace(real=2 * s, claimed=2.0, noise=SimpleNamespace(severity=s)) for s in shares]
    row = SimpleNamespace(id=id, part=part, calibration=calibration)
    return SimpleNamespace(row=row, charged=cells)


def test_what_noise_spends_is_the_largest_share_of_the_printed_noise():
    scores = [charged(0.2, math.nan, 0.4), charged(0.9, calibration="accounted"), charged(0.8, id="other")]
    assert of_scores(*scores).spent("c") == 0.4 and of_scores(*scores).spent("c", "other") == 0.8
    assert of_scores(*scores).charged("c", "p", "accounted")[0].real == 1.8
    for read in (lambda: of_scores(*scores).spent("gone"), lambda: of_scores(charged()).charged("c", "p")):
        with pytest.raises(NotMeasured, match="no noise in profile ci"):
            read()


def test_a_verdict_is_found_by_claim_part_and_calibration():
    def results(word):
        row = {
            "id": "c",
            "part": "p",
            "calibration": "paper",
            "word": word,
            "verdict": word,
            "skipped": word != "match",
        }
        rows = [SimpleNamespace(**row, values=(4096.0, 8192.0), mean=(0.2, 0.1))]
        return Results(SimpleNamespace(claims=[SimpleNamespace(id="c", rows=rows)], profile="ci"), [], {})

    found = results("match")
    assert found.mean_at(found.row("c", "p"), 8192) == 0.1
    for read in (
        lambda: results("skipped").row("d", "p"),
        lambda: results("skipped").row("c", "p"),
        lambda: found.mean_at(found.row("c", "p"), 512),
    ):
        with pytest.raises(NotMeasured):
            read()
    with pytest.raises(InputError, match="part of c = 'p accounted'"):
        found.row("c", "p", "accounted")


def test_what_accounted_noise_buys_is_of_sweeps_that_are_private_under_both_noises():

    def rows(part, accounted, paper, status="proven", kind="rate", quantity="risk"):
        for calibration, mean in (("accounted", accounted), ("paper", paper)):
            noise = SimpleNamespace(status=status if calibration == "paper" else "proven")
            row = {"id": "c", "part": part, "kind": kind, "calibration": calibration, "noise": noise, "mean": mean}
            made = SimpleNamespace(**row, values=(1.0, 2.0, 3.0)[: len(mean)])
            part_ = SimpleNamespace(quantity=quantity, rules=get_kind(kind))
            yield from [SimpleNamespace(row=made, part=part_)] * bool(mean)

    open_ = [*rows("open", (1e-9,), (1.0,), status="unproven")]
    results = of_scores(
        *rows("half", (1.0, 2.0, 0.5), (2.0, 4.0, 5.0)),
        *rows("same", (1.0, 2.0, 0.5), (2.0, 4.0, 5.0)),
        *rows("other", (0.9,), (1.0,)),
        *rows("zero", (0.3, 7.0), (1.0, 0.0)),
        *open_,
        *rows("alone", (1e-9,), ()),
        *rows("bound", (1e-9,), (1.0,), kind="explicit"),
        *rows("gradients", (1e-9,), (1.0,), quantity="gradient_evaluations"),
    )
    assert results.accounted_over_printed() == [[0.5, 0.5, 0.1], [0.9], [0.3]]
    with pytest.raises(NotMeasured):
        of_scores(*open_).accounted_over_printed()
