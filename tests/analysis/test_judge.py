"""A claim's jobs become verdicts: every kind, from made-up result tables whose answers are known."""

from dataclasses import replace

import numpy as np
import pytest

from .judging import CONSTANTS, GRID, RATE, calibrations, job, judge, part, rate_jobs, table


@pytest.mark.parametrize(
    ("exponent", "better", "word"),
    [(-2, "smaller", "match"), (-3, "smaller", "faster"), (-3, "larger", "fails"), (-1, "smaller", "fails")],
)
def test_rates(exponent, better, word):
    (row,) = judge([RATE | {"better": better}], rate_jobs(exponent))
    assert row["verdict"] == word
    assert row["slope"] == pytest.approx(exponent, abs=0.02)
    assert row["bound_slope"] == pytest.approx(-2)
    assert row["noise_off_slope"] == pytest.approx(0, abs=0.02)
    assert (row["claimed_exponent"], row["expected"], row["replicates"], row["key"]) == (-2, "match", 8, "k")
    assert row["notes"] == ["a note"] and row["fitted"] == [True] * 4
    assert row["sentence"] == f"{word}, schedule: {row['reason']}"


@pytest.mark.parametrize(
    ("problem", "options", "told"),
    [
        ("diag_quadratic", {}, "excess empirical"),
        ("linear_ball", {}, "excess population"),
        ("quadratic_ball", {"records": "centre"}, "excess empirical"),
        ("quadratic_ball", {"records": "sphere"}, "excess population"),
    ],
)
def test_a_row_says_of_which_kind_its_risks_are(problem, options, told):
    changes = {"problem": problem, "problem_options": options}
    made = [
        (replace(own, cells=tuple(replace(c, **changes) for c in own.cells)), rows, fixed)
        for own, rows, fixed in rate_jobs(-2)
    ]
    (row,) = judge([RATE], made)
    assert row["risk_kind"] == told


def test_a_match_that_the_schedule_alone_gives_is_noted():
    (row,) = judge([RATE], rate_jobs(-2, off=-2, privacy_status="exceeds_claim", epsilon_real=40.0))
    assert row["verdict"] == "match" and row["noise_off_share"] == pytest.approx(1, abs=0.05)
    assert [text.partition(":")[0] for text in row["reservations"]] == ["schedule", "not private"]
    assert row["sentence"].startswith("match, schedule, not private: slope -2")
    (row,) = judge([RATE], rate_jobs(-1, off=-9, privacy_status="unproven"))
    assert row["verdict"] == "fails" and row["sentence"].startswith("fails, not shown private: ")


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        (part("other", "explicit", uses=["n"], bound="wang2017.thm6_2_explicit"), "explicit"),
        (part("other", "band", uses=["n", "twin"], band=[0.1, 9]), "band"),
        (part("other", "control", uses=["n"], exponent=-2), "control"),
    ],
)
@pytest.mark.parametrize(
    ("status", "told"), [("exceeds_claim", "not private"), ("unproven", "not shown private"), ("proven", "")]
)
def test_every_kind_that_rests_on_noise_says_whether_it_is_private(entry, kind, status, told):
    jobs = rate_jobs(-2, privacy_status=status, epsilon_real=40.0 if told else 0.9)
    twins = [(replace(made, part="twin"), rows, fixed) for made, rows, fixed in jobs]
    row = judge([RATE, RATE | {"id": "twin"}, entry], [*jobs, *twins])[2]
    assert row["kind"] == kind and [text.partition(":")[0] for text in row["reservations"]] == [told] * bool(told)
    assert row["sentence"].startswith(f"{row['verdict']}, {told}: " if told else f"{row['verdict']}: ")


def test_where_noise_plays_no_part_nothing_is_added():
    """To a count, to a law that asks for none, to what is only shown, and to what has a word of its own for it."""
    status = {"privacy_status": "exceeds_claim", "epsilon_real": 40.0}
    jobs = rate_jobs(-2, **status)
    law = part("law", "law", uses=["n"], tolerance=0.5, noiseless="a moment", bound="wang2017.strongly_convex")
    assert judge([RATE, law], jobs)[1]["reservations"] == []
    for kind, more in (("shown", {}), ("complexity", {"bound": "wang2017.thm4_2_gradients"}), ("privacy", {})):
        made = job("one", kind, evaluation="run" if kind == "shown" else "plan_only")
        rows = table(made, lambda c: c.n**-2.0) if kind == "shown" else None
        (row,) = judge(
            [part("one", kind, **more)], [(made, rows, calibrations(made, schedule={"epochs": 7}, **status))]
        )
        assert row["reservations"] == [], kind


@pytest.mark.parametrize(
    ("moved", "word", "own"),
    [(0.6, "not_observable", "passes, and by it the rate is"), (0.4, "not_observable (frozen)", "fails as well")],
)
def test_a_part_s_own_test_of_movement_is_made_besides_that_of_the_start(moved, word, own):
    jobs = rate_jobs(-2)
    made, rows, fixed = jobs[0]
    rows = table(made, lambda c: c.n**-2.0, start=1e-9, extras={"moved": moved})
    (row,) = judge([RATE | {"requires": {"moved": 0.5}}], [(made, rows, fixed), jobs[1]])
    assert row["verdict"] == word and any("moved >= 0.5" in note and own in note for note in row["notes"])


@pytest.mark.parametrize(("scale", "word"), [(0.5, "holds"), (2.0, "violated")])
def test_explicit_bounds_judge_the_rows_of_other_parts(scale, word):
    bound = lambda c: 0.9**5 * 1.0 + 4 * 0.01 / 0.2  # noqa: E731  (1 - mu/L)^T start + d sigma^2 / (2 mu)
    jobs = rate_jobs(-2)
    made = jobs[0][0]
    jobs[0] = (made, table(made, lambda c: scale * bound(c), start=1.0), jobs[0][2])
    explicit = part("explicit", "explicit", uses=["n"], bound="wang2017.thm6_2_explicit")
    row = judge([RATE, explicit], jobs)[1]
    assert row["verdict"] == word
    assert row["worst_ratio"] == pytest.approx(scale, rel=0.1)


@pytest.mark.parametrize(("band", "word"), [([2, 4], "holds"), ([4, 5], "violated")])
def test_bands_compare_two_parts_at_common_values(band, word):
    jobs = rate_jobs(-2)
    for made, rows, fixed in rate_jobs(-2):
        other = replace(made, part="other")
        jobs.append((other, table(other, lambda c: c.n**-2.0 / 3) if rows else None, fixed))
    parts = [RATE, RATE | {"id": "other"}, part("price", "band", uses=["n", "other"], band=band)]
    row = judge(parts, jobs)[2]
    assert row["verdict"] == word
    assert row["worst_ratio"] == pytest.approx(3, rel=0.05)


NOMINAL = replace(CONSTANTS, status="nominal")


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "holds"),
        ({"epsilon_real": lambda c: c.n / 256, "epsilon_real_kind": "lower"}, "fails (real eps 8)"),
        ({"constants": NOMINAL, "privacy_status": "unproven"}, "unproven (nominal constants, value 0.9)"),
        ({"constants": NOMINAL, "privacy_status": "proven"}, "holds"),  # the run clips what a record may change
        (
            {"epsilon_real_kind": "upper", "privacy_status": "target_law_only"},
            "unproven (target law only, upper bound 0.9)",
        ),
    ],
)
def test_privacy_needs_no_run(changes, verdict):
    made = job("eps", "privacy", evaluation="plan_only")
    (row,) = judge([part("eps", "privacy")], [(made, None, calibrations(made, **changes))])
    assert row["verdict"] == verdict
    assert row["replicates"] == 0 and "risk_kind" not in row


@pytest.mark.parametrize(
    ("count", "more", "word", "reservations"),
    [
        (lambda c: 1.0 * c.n, {"tolerance": 0.05}, "match", ["twice the formula"]),
        (lambda c: c.n**2.0, {"tolerance": 0.05}, "fails", []),
        (lambda c: 7 * c.n + 70, {"exact": True}, "match", ["twice the formula"]),
        (lambda c: 7 * c.n + 71, {"exact": True}, "fails", []),
    ],
)
def test_complexity_needs_no_run_and_an_authors_reservation_stands_beside_a_match_alone(
    count, more, word, reservations
):
    made = job("gc", "complexity", evaluation="plan_only")
    counted = calibrations(made, gradient_evaluations=count, schedule={"epochs": 7})
    said = {"reservations": {"paper": "twice the formula"}, "note": "a note", **more}
    entry = part("gc", "complexity", bound="wang2017.thm4_2_gradients", **said)
    if "exact" in more:
        del entry["tolerance"]
    (row,) = judge([entry], [(made, None, counted)])
    assert row["verdict"] == word and "risk_kind" not in row
    assert row["reservations"] == reservations and row["notes"] == ["a note"]


@pytest.mark.parametrize(
    ("compared", "early", "cost", "word"),
    [
        (None, 1.5, 60.0, "holds"),
        (None, 3.0, 60.0, "inconclusive"),
        ("end", 3.0, 60.0, "holds"),
        ("equal evaluations", 3.0, 60.0, "reversed"),
    ],
)
def test_orderings_at_the_end_and_at_equal_evaluations(compared, early, cost, word):
    """The new method ends lower at 100 evaluations; the old one stops at 60, where the new one is at `early`."""
    made = job("pair", "ordering", labels=("new", "old"))
    rows = table(
        made,
        risk=lambda c: 1.0 if c.method == "new" else 2.0,
        cost=lambda c: 100.0 if c.method == "new" else cost,
        checkpoints=[(50.0, lambda c: early if c.method == "new" else 2.0)],
    )
    more = {"compared": compared} if compared else {}
    entry = part("pair", "ordering", labels=["new", "old"], pair=["new", "old"], **more)
    (row,) = judge([entry], [(made, rows, calibrations(made))])
    assert row["verdict"] == word and len(row["ratio"]) == len(GRID) * (1 if compared else 2)
    for name, ratio in row["ratio"].items():
        assert name.startswith(compared or ("end", "equal evaluations"))
        assert ratio == pytest.approx(0.5 if name.startswith("end") else early / 2, rel=0.05)


def test_skipped_jobs_skip_their_parts_and_rates_may_be_judged_without_noise_alone():
    made = job("n", "rate", skipped="data absent (dpsco data covertype)")
    off = job("n", "rate", "none", skipped="data absent (dpsco data covertype)")
    (row,) = judge([RATE], [(made, None, {"cells": []}), (off, None, {"cells": []})])
    assert row["verdict"] == "skipped: data absent (dpsco data covertype)"
    assert row["replicates"] == 0
    made = job("n", "rate", "none")
    jobs = [(made, table(made, lambda c: c.n**-2.0), calibrations(made, privacy_status="none", epsilon_real=np.inf))]
    (row,) = judge([RATE | {"calibrations": ["none"]}], jobs)
    assert row["verdict"] == "match" and row["noise_off_slope"] is None and row["notes"] == ["a note"]


LAW = {"bound": "wang2017.strongly_convex"}


def law_value(cell):
    return 4 * np.log(1e5) / cell.n**2  # d l / (n eps)^2


@pytest.mark.parametrize(
    ("factor", "tolerance", "word"), [(1.0, 0.05, "holds"), (1.2, 0.05, "violated"), (0.995, 1e-9, "inconclusive")]
)
def test_laws_compare_the_means_with_a_formula(factor, tolerance, word):
    made = job("law", "law")
    rows = table(made, lambda c: factor * law_value(c))
    entry = part("law", "law", tolerance=tolerance, **LAW)
    (row,) = judge([entry], [(made, rows, calibrations(made))])
    assert (row["verdict"], row["replicates"], row["tolerance"]) == (word, 8, tolerance)
    assert row["worst_ratio"] == pytest.approx(factor, rel=0.05)


@pytest.mark.parametrize(("factor", "constant", "word"), [(2, "stated", "holds"), (0.5, "stated", "violated")])
def test_lower_bounds_lie_below_every_method(factor, constant, word):
    made = job("floor", "lower_bound", labels=("a", "b"))
    rows = table(made, lambda c: (factor if c.method == "b" else 3) * law_value(c))
    entry = part("floor", "lower_bound", labels=["a", "b"], constant=constant, **LAW)
    (row,) = judge([entry], [(made, rows, calibrations(made))])
    assert row["verdict"] == word and len(row["values"]) == 2 * len(GRID)
    (row,) = judge([{**entry, "constant": "none"}], [(made, rows, calibrations(made))])
    assert row["verdict"] == "shown" and row["worst_ratio"] == pytest.approx(factor, rel=0.1)
    assert row["slope"] is None  # two methods have no common one


def test_lower_bounds_without_constants_are_compared_by_their_slopes():
    made = job("floor", "lower_bound")
    rows = table(made, lambda c: c.n**-1.5)
    entry = part("floor", "lower_bound", constant="none", exponent=-2, **LAW)
    (row,) = judge([entry], [(made, rows, calibrations(made))])
    assert row["verdict"] == "shown" and row["slope"] == pytest.approx(-1.5, abs=0.05)
    assert row["bound_slope"] == pytest.approx(-2) and row["claimed_exponent"] == -2


@pytest.mark.parametrize(
    ("exponent", "band", "word"),
    [(0.0, [], "holds"), (-1.0, [], "fails"), (0.0, [2, 3], "fails"), (0.0, [0, 1e9], "holds")],
)
def test_controls(exponent, band, word):
    made = job("still", "control")
    rows = table(made, lambda c: c.n**exponent)
    entry = part("still", "control", exponent=0, tolerance=0.05, band=band, **LAW)
    (row,) = judge([entry], [(made, rows, calibrations(made))])
    assert (row["verdict"], row["claimed_exponent"]) == (word, 0.0)
    assert row["slope"] == pytest.approx(exponent, abs=0.03) and ("worst_ratio" in row) == bool(band)


@pytest.mark.parametrize("bound", ["", "wang2017.strongly_convex"])
def test_shown_parts_have_a_slope_and_no_verdict(bound):
    made = job("look", "shown")
    rows = table(made, lambda c: 1 / c.n)
    (row,) = judge([part("look", "shown", bound=bound)], [(made, rows, calibrations(made))])
    assert row["verdict"] == "shown" and len(row["mean"]) == 4 and len(row["bound"]) == 4 * bool(bound)
    assert row["slope"] == pytest.approx(-1, abs=0.05) and row["ci"][0] < row["slope"] < row["ci"][1]
    several = job("look", "shown", labels=("a", "b"))
    rows = table(several, lambda c: 1 / c.n)
    (row,) = judge([part("look", "shown", labels=["a", "b"])], [(several, rows, calibrations(several))])
    assert row["slope"] is None and len(row["mean"]) == 8


def test_kinds_that_run_judge_the_rows_of_other_parts_too():
    jobs = rate_jobs(-2)
    made = jobs[0][0]
    jobs[0] = (made, table(made, law_value), jobs[0][2])
    same = RATE | {"id": "again", "uses": ["n"]}
    for key in ("methods", "problem", "sweep"):
        del same[key]
    rows = judge([RATE, part("law", "law", uses=["n"], tolerance=0.05, **LAW), same], jobs)
    assert [row["verdict"] for row in rows] == ["match", "holds", "match"]
    assert rows[2]["slope"] == rows[0]["slope"] and rows[2]["noise_off_slope"] == rows[0]["noise_off_slope"]
    assert [row["replicates"] for row in rows] == [8, 0, 0]


def test_notes_on_results_that_are_present_come_in_one_order():
    for number in range(8):
        made = [
            (replace(own, present=f"{name}{number}"), *rest)
            for name, (own, *rest) in zip("ba", rate_jobs(-2), strict=True)
        ]
        (row,) = judge([RATE], made)
        notes = [note for note in row["notes"] if note.endswith(str(number))]
        assert notes == sorted(notes) and len(notes) == 2
