"""A claim's jobs become verdicts: every kind, from made-up result tables whose answers are known."""

from dataclasses import replace
from functools import partial
from json import dumps, loads
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from dpsco_bench.analysis.judge import judge_claim
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.files import read_yaml
from dpsco_bench.claims.kinds import get_kind
from dpsco_bench.claims.model import parse_claim
from dpsco_bench.claims.plan import ClaimEntry
from dpsco_bench.execution.calibrated import CalibratedCell
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.results import FINAL, RESULT_FIELDS, build_block, join_blocks
from dpsco_bench.problems.base import Constants

SCHEMA_FILE = Path(__file__).parents[2] / "workflows" / "schemas" / "verdict.schema.yaml"
SCHEMA = Draft202012Validator(read_yaml(SCHEMA_FILE))
"""Of every row that is judged here."""
GRID = [256.0, 512.0, 1024.0, 2048.0]
BLANK = {"string": "", "bool": False}
CONSTANTS = Constants(lipschitz=1.0, smoothness=1.0, strong_convexity=0.1)


def part(id, kind, **more):
    entry = {"id": id, "kind": kind, "calibrations": ["paper"], "tolerance": 0.15}
    if "uses" not in more:
        entry |= {
            "methods": [{"algorithm": "wang2017.dp_gd_pl", "label": label} for label in more.pop("labels", ["gd"])],
            "problem": "diag_quadratic",
            "sweep": {"parameter": "n", "values": {"ci": GRID}},
        }
    return entry | more


def job(part_id, kind, calibration="paper", labels=("gd",), evaluation="run", skipped=""):
    cells = [
        Cell("wang2017.dp_gd_pl", "diag_quadratic", int(n), 1.0, 1e-5, 4, method=label, parameter="n", value=n, cell=i)
        for i, (label, n) in enumerate((label, n) for label in labels for n in GRID)
    ]
    names = {"claim": "wang2017.made_up", "part": part_id, "calibration": calibration, "profile": "ci", "key": "k"}
    run = {"seed": 1, "replicates": 8, "data_sets": 1, "evaluation": evaluation, "skipped": skipped}
    return Job(**names, **run, kind=kind, cells=tuple(cells))


def calibrations(made, **changes):
    one = {
        "calibration": made.calibration,
        "variant": "standard",
        "schedule": {"steps": 5},
        "scales": {"gradient": 0.1},
        "epsilon_real": 0.9,
        "epsilon_real_kind": "exact",
        "accountant": "made up",
        "privacy_status": "proven",
        "gradient_evaluations": 100,
        "constants": CONSTANTS,
        "dimension": 4,
        "signal_capped": False,
        "warnings": (),
    } | changes
    cells = [{k: v(c) if callable(v) else v for k, v in one.items()} for c in made.cells]
    charged = [{key: cell.pop(key) for key in ("schedule", "gradient_evaluations")} for cell in cells]
    return tuple(CalibratedCell(charged=plan, **cell) for plan, cell in zip(charged, cells, strict=True))


def table(made, risk, start=1e3, checkpoints=(), cost=lambda c: 100.0, replicates=8, extras=None):
    """Rows in arbitrary order; `risk` and `cost` map a cell to its final values, `checkpoints` to earlier ones."""
    rows = []
    for cell in made.cells:
        noise = 1 + 0.02 * np.random.default_rng(cell.cell).standard_normal(replicates)
        for replicate in range(replicates):
            final = {"checkpoint": FINAL, "gradient_evaluations": cost(cell), "risk": risk(cell) * noise[replicate]}
            early = [
                {"checkpoint": i, "gradient_evaluations": cost, "risk": at(cell) * noise[replicate]}
                for i, (cost, at) in enumerate(checkpoints)
            ]
            blank = {name: BLANK.get(str(kind), 0) for name, kind in RESULT_FIELDS}
            begin = start(cell) if callable(start) else start
            ids = {"cell": cell.cell, "data_set": 0, "replicate": replicate, "start_risk": begin}
            rows += [blank | ids | row for row in (final, *early)]
    columns = {name: np.array([row[name] for row in rows[::-1]]) for name in rows[0]}
    noted = {name: np.full(len(rows), value) for name, value in (extras or {}).items()}
    return join_blocks([build_block({**columns, "extras": noted})], {})


def judge(parts, jobs):
    """`jobs` holds (job, table, calibrations)."""
    claim = {"id": "wang2017.made_up", "title": "t", "source": "s", "statement": "x", "parts": parts}
    loaded = {(made.part, made.calibration): (rows, fixed) for made, rows, fixed in jobs}
    entry = ClaimEntry.of(parse_claim(claim), (made for made, _, _ in jobs))
    rows = [v.to_json() for v in judge_claim(entry, lambda made: loaded[made.part, made.calibration])]
    for row in rows:
        SCHEMA.validate(loads(dumps(row)))
        rules, verdict = get_kind(row["kind"]), Verdict.from_json(row)
        assert set(rules.fields) <= set(row)
        assert verdict.word == "skipped" or {verdict.word, verdict.verdict} & set(rules.words)
    return rows


def rate_jobs(exponent, off=0.0, **changes):
    made, noise_off = job("n", "rate"), job("n", "rate", "none")
    return [
        (made, table(made, lambda c: c.n**exponent), calibrations(made, **changes)),
        (noise_off, table(noise_off, lambda c: c.n**off), calibrations(noise_off, privacy_status="none")),
    ]


RATE = part("n", "rate", bound="wang2017.strongly_convex", exponent=-2, note="a note", expected="match")


@pytest.mark.parametrize(("exponent", "word"), [(-2, "match"), (-3, "faster"), (-1, "fails")])
def test_rates(exponent, word):
    (row,) = judge([RATE], rate_jobs(exponent))
    assert row["verdict"] == word
    assert row["slope"] == pytest.approx(exponent, abs=0.02)
    assert row["bound_slope"] == pytest.approx(-2)
    assert row["noise_off_slope"] == pytest.approx(0, abs=0.02)
    assert (row["claimed_exponent"], row["expected"], row["replicates"], row["key"]) == (-2, "match", 8, "k")
    assert row["notes"] == ["a note"] and row["fitted"] == [True] * 4
    assert row["sentence"] == f"{word}, schedule: {row['reason']}"


def test_a_match_that_the_schedule_alone_gives_is_noted():
    (row,) = judge([RATE], rate_jobs(-2, off=-2, privacy_status="exceeds_claim", epsilon_real=40.0))
    assert row["verdict"] == "match" and row["noise_off_share"] == pytest.approx(1, abs=0.05)
    assert row["reservations"][0].startswith("schedule: without noise the risk is")
    assert row["reservations"][1:] == ["not private: the real eps is 40"]
    assert row["sentence"].startswith("match, schedule, not private: slope -2")


def test_reservations_stand_beside_every_word():
    (row,) = judge([RATE], rate_jobs(-1, off=-9, privacy_status="unproven"))
    assert row["verdict"] == "fails" and row["sentence"].startswith("fails, not private: ")


def test_saturated_rates_are_not_observable():
    jobs = rate_jobs(-2)
    made = jobs[0][0]
    jobs[0] = (made, table(made, lambda c: c.n**-2.0, start=1e-9), jobs[0][2])
    assert judge([RATE], jobs)[0]["verdict"] == "not_observable"


@pytest.mark.parametrize(("better", "word"), [("smaller", "faster"), ("larger", "fails")])
def test_which_slopes_are_faster(better, word):
    assert judge([RATE | {"better": better}], rate_jobs(-3))[0]["verdict"] == word


@pytest.mark.parametrize(
    ("moved", "word", "own"),
    [
        (0.6, "not_observable", "passes, and by it the rate is observable"),
        (0.4, "not_observable (frozen)", "fails as well"),
    ],
)
def test_a_part_s_own_test_of_movement_is_made_besides_that_of_the_start(moved, word, own):
    jobs = rate_jobs(-2)
    made, rows, fixed = jobs[0]
    rows = table(made, lambda c: c.n**-2.0, start=1e-9, extras={"moved": moved})
    (row,) = judge([RATE | {"requires": {"moved": 0.5}}], [(made, rows, fixed), jobs[1]])
    assert row["verdict"] == word
    told = (
        "risk above 0.9 of the starting point's at the same signal in 4 of 4 cells; the part's own test, moved >= 0.5"
    )
    assert f"{told} at the largest signal, {own}" in row["notes"]


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
        ({"epsilon_real": 7.0}, "fails (real eps 7)"),
        ({"epsilon_real": lambda c: c.n / 256, "epsilon_real_kind": "lower"}, "fails (real eps 8)"),
        ({"epsilon_real": 7.0, "epsilon_real_kind": "upper"}, "unproven (upper bound 7)"),
        ({"epsilon_real": np.nan, "epsilon_real_kind": "upper"}, "unproven (no accountant covers it)"),
        ({"constants": NOMINAL, "privacy_status": "unproven"}, "unproven (value 0.9)"),
        ({"constants": NOMINAL, "privacy_status": "proven"}, "holds"),  # the run clips what a record may change
        ({"epsilon_real_kind": "upper", "privacy_status": "target_law_only"}, "unproven (upper bound 0.9)"),
    ],
)
def test_privacy_needs_no_run(changes, verdict):
    made = job("eps", "privacy", evaluation="plan_only")
    (row,) = judge([part("eps", "privacy")], [(made, None, calibrations(made, **changes))])
    assert row["verdict"] == verdict
    assert row["replicates"] == 0


@pytest.mark.parametrize(("exponent", "word"), [(1.0, "match"), (2.0, "fails")])
def test_complexity_needs_no_run(exponent, word):
    made = job("gc", "complexity", evaluation="plan_only")
    counted = calibrations(made, gradient_evaluations=lambda c: c.n**exponent, schedule={"epochs": 7})
    entry = part("gc", "complexity", bound="wang2017.thm4_2_gradients", tolerance=0.05)
    (row,) = judge([entry], [(made, None, counted)])
    assert row["verdict"] == word


@pytest.mark.parametrize(("exponent", "reservations"), [(1.0, ["twice the formula"]), (2.0, [])])
def test_an_authors_reservation_stands_beside_a_match_alone(exponent, reservations):
    made = job("gc", "complexity", evaluation="plan_only")
    counted = calibrations(made, gradient_evaluations=lambda c: c.n**exponent, schedule={"epochs": 7})
    said = {"reservations": {"paper": "twice the formula"}, "note": "a note", "tolerance": 0.05}
    entry = part("gc", "complexity", bound="wang2017.thm4_2_gradients", **said)
    (row,) = judge([entry], [(made, None, counted)])
    assert row["reservations"] == reservations and row["notes"] == ["a note"]


@pytest.mark.parametrize(("early", "cost", "word"), [(1.5, 60.0, "holds"), (3.0, 60.0, "inconclusive")])
def test_orderings_at_the_end_and_at_equal_evaluations(early, cost, word):
    """The new method ends lower at 100 evaluations; the old one stops at 60, where the new one is at `early`."""
    made = job("pair", "ordering", labels=("new", "old"))
    rows = table(
        made,
        risk=lambda c: 1.0 if c.method == "new" else 2.0,
        cost=lambda c: 100.0 if c.method == "new" else cost,
        checkpoints=[(50.0, lambda c: early if c.method == "new" else 2.0)],
    )
    entry = part("pair", "ordering", labels=["new", "old"], pair=["new", "old"])
    (row,) = judge([entry], [(made, rows, calibrations(made))])
    assert row["verdict"] == word
    early_word = (
        "at equal evaluations 4 of 4 hold" if word == "holds" else "at equal evaluations 0 of 4 hold, 4 reversed"
    )
    assert row["sentence"] == f"{word}: at the end 4 of 4 hold; {early_word}"
    assert len(row["ratio"]) == 2 * len(GRID)
    for name, ratio in row["ratio"].items():
        assert ratio == pytest.approx(0.5 if name.startswith("end") else early / 2, rel=0.05)


@pytest.mark.parametrize(("compared", "word"), [("end", "holds"), ("equal evaluations", "reversed")])
def test_an_ordering_may_be_of_one_comparison(compared, word):
    made = job("pair", "ordering", labels=("new", "old"))
    rows = table(
        made,
        risk=lambda c: 1.0 if c.method == "new" else 2.0,
        cost=lambda c: 100.0 if c.method == "new" else 60.0,
        checkpoints=[(50.0, lambda c: 3.0 if c.method == "new" else 2.0)],
    )
    entry = part("pair", "ordering", labels=["new", "old"], pair=["new", "old"], compared=compared)
    (row,) = judge([entry], [(made, rows, calibrations(made))])
    assert row["verdict"] == word
    assert len(row["ratio"]) == len(GRID) and all(name.startswith(compared) for name in row["ratio"])
    assert row["sentence"].count("4 of 4 hold") == (word == "holds")


def test_skipped_jobs_skip_their_parts():
    made = job("n", "rate", skipped="data absent (dpsco data covertype)")
    off = job("n", "rate", "none", skipped="data absent (dpsco data covertype)")
    (row,) = judge([RATE], [(made, None, {"cells": []}), (off, None, {"cells": []})])
    assert row["verdict"] == "skipped: data absent (dpsco data covertype)"
    assert row["replicates"] == 0


LAW = {"bound": "wang2017.strongly_convex"}


def law_value(cell):
    return 4 * np.log(1e5) / cell.n**2  # d l / (n eps)^2


@pytest.mark.parametrize(("factor", "tolerance", "word"), [(1.0, 0.05, "holds"), (1.2, 0.05, "violated")])
def test_laws_compare_the_means_with_a_formula(factor, tolerance, word):
    made = job("law", "law")
    rows = table(made, lambda c: factor * law_value(c))
    entry = part("law", "law", tolerance=tolerance, **LAW)
    (row,) = judge([entry], [(made, rows, calibrations(made))])
    assert (row["verdict"], row["replicates"], row["tolerance"]) == (word, 8, tolerance)
    assert row["worst_ratio"] == pytest.approx(factor, rel=0.05)


def test_laws_within_sampling_error_are_undecided():
    made = job("law", "law")
    rows = table(made, lambda c: 0.995 * law_value(c))
    (row,) = judge([part("law", "law", tolerance=1e-9, **LAW)], [(made, rows, calibrations(made))])
    assert row["verdict"] == "inconclusive"


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


def test_rates_may_be_judged_without_noise_alone():
    made = job("n", "rate", "none")
    jobs = [(made, table(made, lambda c: c.n**-2.0), calibrations(made, privacy_status="none", epsilon_real=np.inf))]
    (row,) = judge([RATE | {"calibrations": ["none"]}], jobs)
    assert row["verdict"] == "match" and row["noise_off_slope"] is None and row["notes"] == ["a note"]


def test_counts_may_have_to_be_equal():
    made = job("gc", "complexity", evaluation="plan_only")
    entry = part("gc", "complexity", bound="wang2017.thm4_2_gradients", exact=True)
    for extra, word in ((0, "match"), (1, "fails")):
        evaluations = partial(lambda extra, c: 7 * c.n + 70 + extra, extra)
        counted = calibrations(made, gradient_evaluations=evaluations, schedule={"epochs": 7})
        assert judge([entry], [(made, None, counted)])[0]["verdict"] == word


SIGNALS = [0.5, 1.0, 2.0]


def at_signals(made):
    """The job with each of its cells at every signal."""
    cells = [replace(cell, signal=s) for cell in made.cells for s in SIGNALS]
    return replace(made, cells=tuple(replace(cell, cell=i) for i, cell in enumerate(cells)))


def signal_jobs(risk, capped=lambda c: False):
    made, off = (at_signals(job("n", "rate", calibration)) for calibration in ("paper", "none"))
    start = 1e6
    rows = [table(m, risk, start) for m in (made, off)]
    return [
        (made, rows[0], calibrations(made, signal_capped=capped)),
        (off, rows[1], calibrations(off, signal_capped=capped)),
    ]


SUPREMUM = RATE | {"signals": {"ci": SIGNALS}}


def test_the_risk_of_a_value_is_the_largest_mean_over_the_signals():
    jobs = signal_jobs(lambda c: c.n**-2.0 / (1 + (c.signal - 1) ** 2))
    (row,) = judge([SUPREMUM], jobs)
    assert row["verdict"] == "match" and row["replicates"] == 8 and row["values"] == GRID
    np.testing.assert_allclose(row["mean"], np.array(GRID) ** -2, rtol=0.05)
    assert row["notes"][-1] == "largest mean over 3 signals, attained at signal 1"


@pytest.mark.parametrize(
    ("risk", "capped", "edge"),
    [
        (lambda c: c.n**-2.0 * c.signal, lambda c: False, True),
        (lambda c: c.n**-2.0 * c.signal, lambda c: c.signal == 2.0, False),
        (lambda c: c.n**-2.0 / c.signal, lambda c: True, True),
    ],
)
def test_a_maximum_at_the_edge_of_the_grid_is_said_unless_the_signal_is_capped(risk, capped, edge):
    (row,) = judge([SUPREMUM], signal_jobs(risk, capped))
    message = "at the edge of the signal grid at n = 256, 512, 1024, 2048: a wider one may show more"
    assert (message in row["notes"]) == edge
    assert row["verdict"] == ("inconclusive (edge)" if edge else "match")


def test_a_free_signal_may_leave_nine_tenths_of_the_start_and_a_capped_one_half():
    """Risk 0.7 of the start throughout."""
    for capped, word in ((False, "match"), (True, "not_observable")):
        jobs = signal_jobs(lambda c: c.n**-2.0 / (1 + (c.signal - 1) ** 2), lambda c, capped=capped: capped)
        jobs = [(made, table(made, lambda c: c.n**-2.0 / (1 + (c.signal - 1) ** 2), start), fixed)
                for (made, _, fixed), start in zip(jobs, [lambda c: c.n**-2.0 / 0.7, 1e6], strict=True)]  # fmt: skip
        assert judge([SUPREMUM], jobs)[0]["verdict"] == word


def test_slopes_are_fitted_on_the_axis_of_the_exponent():
    """The risk falls like 1/sqrt(n eps), along a sweep over n."""
    entry = RATE | {"axis": "n eps", "exponent": -1, "bound": "wang2017.thm6_3"}
    (row,) = judge([entry], rate_jobs(-1))
    assert row["parameter"] == "n eps" and row["values"] == GRID  # eps = 1
    entry = RATE | {"axis": "n^2", "exponent": -1}
    (row,) = judge([entry], rate_jobs(-2))
    assert row["slope"] == pytest.approx(-1, abs=0.02) and row["bound_slope"] == pytest.approx(-1)
    assert row["values"] == pytest.approx([n**2 for n in GRID])


def test_orderings_compare_each_method_at_its_own_worst_signal():
    made = at_signals(job("pair", "ordering", labels=("new", "old")))
    rows = table(made, lambda c: c.signal if c.method == "new" else 4.0 / c.signal)
    entry = part("pair", "ordering", labels=["new", "old"], pair=["new", "old"], signals={"ci": SIGNALS})
    (row,) = judge([entry], [(made, rows, calibrations(made, signal_capped=False))])
    assert row["verdict"] == "holds"
    assert all(ratio == pytest.approx(2 / 8, rel=0.05) for ratio in row["ratio"].values())


def test_values_are_compared_with_the_printed_formula_and_slopes_with_the_accounted_noise():
    """eps/sqrt(l) stands in a bound as it is printed; only slopes take the noise's own dependence on eps."""
    from dpsco_bench.privacy.accountants.gaussian import gdp_mu

    parts = [
        part("n", "rate", bound="wang2017.thm6_3", tolerance=0.15, calibrations=["accounted", "none"]),
        part("printed", "explicit", uses=["n"], bound="wang2017.thm6_3", calibrations=["accounted"]),
    ]
    made = [job("n", "rate", c) for c in ("accounted", "none")]
    rows = judge(parts, [(m, table(m, lambda cell: 1.0 / cell.n), calibrations(m)) for m in made])
    slope, printed = rows[0], rows[2]
    assert (slope["kind"], printed["kind"]) == ("rate", "explicit")
    ratio = np.array(slope["bound"]) / np.array(printed["bound"])
    np.testing.assert_allclose(ratio, 1.0 / np.sqrt(np.log(1e5)) / gdp_mu(1.0, 1e-5), rtol=1e-12)
