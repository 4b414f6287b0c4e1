"""A claim's jobs become verdicts: every kind, from made-up result tables whose answers are known."""

from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench.analysis.evidence import job_cells
from dpsco_bench.analysis.judge import CLAIMS_NAMED, judge_claim
from dpsco_bench.execution.jobs import Decided, stage_ends

from .judging import CONSTANTS, GRID, RATE, at_signals, calibrations, claim_of, job, judge, part, rate_jobs, table


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
    made = []
    for own, *rest in rate_jobs(-2):
        cells = tuple(replace(cell, problem=problem, problem_options=options) for cell in own.cells)
        made.append((replace(own, cells=cells), *rest))
    assert judge([RATE], made)[0]["risk_kind"] == told


def with_twin(entry, jobs, twins):
    """The row of a part that uses part n and its twin, or one of them."""
    twins = [(replace(made, part="twin"), *rest) for made, *rest in twins]
    return judge([RATE, RATE | {"id": "twin"}, entry], [*jobs, *twins])[2]


EXPLICIT = part("judged", "explicit", uses=["n"], bound="wang2017.thm6_2_explicit")
TOLD = {"exceeds_claim": "not private", "unproven": "not shown private", "proven": ""}


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        (EXPLICIT, "explicit"),
        (part("other", "band", uses=["n", "twin"], band=[0.1, 9]), "band"),
        (part("other", "control", uses=["n"], exponent=-2), "control"),
    ],
)
@pytest.mark.parametrize(("status", "told"), TOLD.items())
def test_every_kind_that_rests_on_noise_says_whether_it_is_private(entry, kind, status, told):
    jobs = rate_jobs(-2, privacy_status=status, epsilon_real=40.0 if told else 0.9)
    row = with_twin(entry, jobs, jobs)
    assert row["kind"] == kind and [text.partition(":")[0] for text in row["reservations"]] == [told] * bool(told)
    assert row["sentence"].startswith(f"{row['verdict']}, {told}: " if told else f"{row['verdict']}: ")


def test_where_noise_plays_no_part_nothing_is_added():
    """To a count, to a law that asks for none, to what is only shown, and to what has a word of its own for it."""
    status = {"privacy_status": "exceeds_claim", "epsilon_real": 40.0}
    law = part("law", "law", uses=["n"], tolerance=0.5, noiseless="a moment", bound="wang2017.strongly_convex")
    assert judge([RATE, law], rate_jobs(-2, **status))[1]["reservations"] == []
    for kind, more in (("shown", {}), ("complexity", {"bound": "wang2017.thm4_2_gradients"}), ("privacy", {})):
        made = job("one", kind, evaluation="run" if kind == "shown" else "plan_only")
        rows = table(made, lambda c: c.n**-2.0) if kind == "shown" else None
        fixed = calibrations(made, schedule={"epochs": 7}, **status)
        assert judge([part("one", kind, **more)], [(made, rows, fixed)])[0]["reservations"] == [], kind


@pytest.mark.parametrize(("moved", "word"), [(0.6, "not_observable"), (0.4, "not_observable (frozen)")])
def test_a_part_s_own_test_of_movement_is_made_besides_that_of_the_start(moved, word):
    (made, _, fixed), off = rate_jobs(-2)
    rows = table(made, lambda c: c.n**-2.0, start=1e-9, extras={"moved": moved})
    assert judge([RATE | {"requires": {"moved": 0.5}}], [(made, rows, fixed), off])[0]["verdict"] == word


@pytest.mark.parametrize(
    ("entry", "scale", "ratio", "word"),
    [
        (EXPLICIT, 0.5, 0.5, "holds"),
        (EXPLICIT, 2.0, 2.0, "violated"),
        (part("judged", "band", uses=["n", "twin"], band=[2, 4]), 3.0, 3.0, "holds"),
        (part("judged", "band", uses=["n", "twin"], band=[4, 5]), 3.0, 3.0, "violated"),
    ],
)
def test_explicit_bounds_and_bands_judge_the_rows_of_other_parts(entry, scale, ratio, word):
    """The bound is (1 - mu/L)^T start + d sigma^2 / (2 mu), which the twin's risks are."""
    bound, ((made, _, fixed), off) = 0.9**5 * 1.0 + 4 * 0.01 / 0.2, rate_jobs(-2)
    scaled, exact = (table(made, lambda c, of=of: of * bound, start=1.0) for of in (scale, 1.0))
    row = with_twin(entry, [(made, scaled, fixed), off], [(made, exact, fixed), off])
    assert row["verdict"] == word and row["worst_ratio"] == pytest.approx(ratio, rel=0.1)


NOMINAL = replace(CONSTANTS, status="nominal")
OF_THE_LAW = {"epsilon_real_kind": "upper", "privacy_status": "target_law_only"}


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "holds"),
        ({"epsilon_real": lambda c: c.n / 256, "epsilon_real_kind": "lower"}, "fails (real eps 8)"),
        ({"constants": NOMINAL, "privacy_status": "unproven"}, "unproven (nominal constants, value 0.9)"),
        ({"constants": NOMINAL, "privacy_status": "proven"}, "holds"),  # the run clips what a record may change
        (OF_THE_LAW, "unproven (target law only, upper bound 0.9)"),
    ],
)
def test_privacy_needs_no_run(changes, verdict):
    made = job("eps", "privacy", evaluation="plan_only")
    (row,) = judge([part("eps", "privacy")], [(made, None, calibrations(made, **changes))])
    assert (row["verdict"], row["replicates"]) == (verdict, 0) and "risk_kind" not in row


@pytest.mark.parametrize(
    ("count", "more", "word", "reservations"),
    [
        (lambda c: 1.0 * c.n, {"tolerance": 0.05}, "match", ["twice the formula"]),
        (lambda c: c.n**2.0, {"tolerance": 0.05}, "fails", []),
        (lambda c: 7 * c.n + 70, {"exact": True, "tolerance": None}, "match", ["twice the formula"]),
        (lambda c: 7 * c.n + 71, {"exact": True, "tolerance": None}, "fails", []),
    ],
)
def test_complexity_needs_no_run_and_its_reservation_stands_beside_a_match_alone(count, more, word, reservations):
    made = job("gc", "complexity", evaluation="plan_only")
    counted = calibrations(made, gradient_evaluations=count, schedule={"epochs": 7})
    said = {"reservations": {"paper": "twice the formula"}, "note": "a note", **more}
    (row,) = judge([part("gc", "complexity", bound="wang2017.thm4_2_gradients", **said)], [(made, None, counted)])
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
        assert row["ratio_ci"][name][0] <= ratio <= row["ratio_ci"][name][1]


def test_demoted_rows_demote_their_cell():
    made = job("n", "rate")
    rows = table(made, lambda c: 1.0, privacy_status="target_law_only")
    for cell in job_cells(made, rows, calibrations(made)):
        assert cell.calibrated.privacy_status == "target_law_only" and np.isnan(cell.calibrated.epsilon_real)


def test_skipped_jobs_skip_their_parts_and_rates_may_be_judged_without_noise_alone():
    reason = "data absent (dpsco data covertype)"
    made = [job("n", "rate", calibration, skipped=reason) for calibration in ("paper", "none")]
    (row,) = judge([RATE], [(own, None, {"cells": []}) for own in made])
    assert (row["verdict"], row["replicates"]) == (f"skipped: {reason}", 0)
    (row,) = judge([RATE | {"calibrations": ["none"]}], rate_jobs(-2, off=-2.0)[1:])
    assert row["verdict"] == "match" and row["noise_off_slope"] is None and row["notes"] == ["a note"]


LAW = {"bound": "wang2017.strongly_convex"}


def law_value(cell):
    return 4 * np.log(1e5) / cell.n**2  # d l / (n eps)^2


TWO = {"labels": ["a", "b"], **LAW}
FLAT = {"exponent": 0, "tolerance": 0.05, **LAW}
BARE = {"constant": "none", "exponent": -2, **LAW}  # without constants slopes are compared


@pytest.mark.parametrize(
    ("kind", "more", "risk", "word", "told"),
    [
        ("law", {"tolerance": 0.05, **LAW}, law_value, "holds", {"worst_ratio": 1.0, "tolerance": 0.05}),
        ("law", {"tolerance": 0.05, **LAW}, lambda c: 1.2 * law_value(c), "violated", {"worst_ratio": 1.2}),
        ("law", {"tolerance": 1e-9, **LAW}, lambda c: 0.995 * law_value(c), "inconclusive", {"worst_ratio": 0.995}),
        ("lower_bound", TWO, lambda c: (2 + (c.method == "a")) * law_value(c), "holds", {}),
        ("lower_bound", TWO, lambda c: (0.5 + (c.method == "a")) * law_value(c), "violated", {}),
        ("lower_bound", {"constant": "none", **TWO}, law_value, "shown", {"slope": None, "worst_ratio": 1.0}),
        ("lower_bound", BARE, lambda c: c.n**-1.5, "shown", {"slope": -1.5, "bound_slope": -2, "claimed_exponent": -2}),
        ("control", FLAT, lambda c: 1.0, "holds", {"slope": 0.0, "claimed_exponent": 0}),
        ("control", FLAT, lambda c: 1 / c.n, "fails", {"slope": -1.0}),
        ("shown", {}, lambda c: 1 / c.n, "shown", {"slope": -1.0, "bound": []}),
        ("shown", LAW, lambda c: 1 / c.n, "shown", {"slope": -1.0, "bound_slope": -2}),
        ("shown", {"labels": ["a", "b"]}, lambda c: 1 / c.n, "shown", {"slope": None}),  # two have no common one
    ],
)
def test_kinds_on_their_own_runs(kind, more, risk, word, told):
    labels = more.get("labels", ["gd"])
    made = job("one", kind, labels=labels)
    (row,) = judge([part("one", kind, **more)], [(made, table(made, risk), calibrations(made))])
    assert row["verdict"] == word and len(row["mean"]) == len(labels) * len(GRID) and row["replicates"] == 8
    for name, value in told.items():
        assert row[name] == (value if value in (None, []) else pytest.approx(value, abs=0.08)), name


def test_kinds_that_run_judge_the_rows_of_other_parts_too():
    (made, _, fixed), off = rate_jobs(-2)
    same = part("again", "rate", uses=["n"], bound="wang2017.strongly_convex", exponent=-2)
    law = part("law", "law", uses=["n"], tolerance=0.05, **LAW)
    rows = judge([RATE, law, same], [(made, table(made, law_value), fixed), off])
    assert [(row["verdict"], row["replicates"]) for row in rows] == [("match", 8), ("holds", 0), ("match", 0)]
    assert rows[2]["slope"] == rows[0]["slope"] and rows[2]["noise_off_slope"] == rows[0]["noise_off_slope"]


MOST = EXPLICIT | {"id": "most", "uses": ["a", "b"]}


def pairs(**changes):
    """Parts `a` and `b` on the same made-up runs, and their jobs."""
    made = [replace(rate_jobs(-2)[0][0], part=name, **changes) for name in "ab"]
    return made, [(own, table(own, lambda c: c.n**-2.0), calibrations(own)) for own in made]


@pytest.mark.parametrize(("values", "told"), [((4.0, 4.0), 4.0), ((4.0, 8.0), None), ((None, None), 1.0)])
def test_a_row_has_the_open_value_that_all_its_parts_have(values, told):
    opened = [{"open_constant": "c", **({"open_value": value} if value else {})} for value in values]
    shown = [part(name, "shown", **more) for name, more in zip("ab", opened, strict=True)]
    row = judge([*shown, MOST], pairs()[1])[2]
    assert row.get("open_value") == told and row["open_constant"] == "c"


@pytest.mark.parametrize("field", CLAIMS_NAMED)
def test_a_row_names_the_claims_that_its_claim_names(field):
    named = ["wang2017.thm4.1"] if field != "audited_by" else ["wang2017.audit dp_gd-paper"]
    rows = judge([RATE], rate_jobs(-2), **{field: named})
    assert [list(row[field]) for row in rows] == [named] and field not in judge([RATE], rate_jobs(-2))[0]


@pytest.mark.parametrize(("moved", "reached"), [(0.6, 0.5), (0.4, 2.0)])
def test_a_threshold_is_where_the_extra_reaches_what_the_part_requires(moved, reached):
    made = at_signals(job("one", "shown"))
    entry = part("one", "shown", quantity="threshold", requires={"moved": 0.5}, signals={"ci": [0.5, 1.0, 2.0]})
    rows = table(made, lambda c: 1 / c.n, extras={"moved": moved})
    assert judge([entry], [(made, rows, calibrations(made))])[0]["mean"] == pytest.approx([reached] * 4)


@pytest.mark.parametrize("looks", [(1, 3), (3, 1), (2, 2)])
def test_a_row_tells_the_longest_of_its_looks(looks):
    made, loaded = pairs(replicates=64)
    made = [replace(own, decisions=own.part) for own in made]
    found = {
        own.part: Decided({own.name: tuple(own.block(0, end) for end in stage_ends(64))}, {}, {"most.paper": look})
        for own, look in zip(made, looks, strict=True)
    }
    by_name = {own.name: rest for own, *rest in loaded}
    entry = claim_of([part("a", "shown"), part("b", "shown"), MOST], made)
    row = judge_claim(entry, lambda own, look=0: by_name[own.name], lambda own: found[own.decisions])[2]
    assert (row.look, row.stages, row.replicates) == (max(looks), tuple(stage_ends(64)), 0)


def test_notes_on_results_that_are_present_come_in_one_order():
    for number in range(8):
        (made, *rest), (off, *silent) = rate_jobs(-2)
        jobs = [(replace(made, present=f"b{number}"), *rest), (replace(off, present=f"a{number}"), *silent)]
        notes = [note for note in judge([RATE], jobs)[0]["notes"] if note.endswith(str(number))]
        assert notes == sorted(notes) and len(notes) == 2
