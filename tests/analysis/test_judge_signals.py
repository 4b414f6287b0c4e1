"""Judging on a grid of signals, on an axis of its own, of chains, and of quantities in the place of the risk."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from dpsco_bench.analysis.evidence import MeasuredCell, evidence_of, job_cells, thresholds
from dpsco_bench.analysis.judge import gated, settled, signal_notes, uncertified, unchecked
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.execution.results import FINAL, RESULT_SCHEMA
from dpsco_bench.privacy.accountants.gaussian import gdp_mu

from .judging import GRID, RATE, at_signals, calibrations, job, judge, part, rate_jobs, table

SIGNALS = [0.5, 1.0, 2.0]


def signal_jobs(risk, capped=lambda c: False):
    made, off = (at_signals(job("n", "rate", calibration)) for calibration in ("paper", "none"))
    return [(m, table(m, risk, 1e6), calibrations(m, signal_capped=capped)) for m in (made, off)]


SUPREMUM = RATE | {"signals": {"ci": SIGNALS}}


@pytest.mark.parametrize(
    ("risk", "capped", "edge"),
    [
        (lambda c: c.n**-2.0 * c.signal, lambda c: False, True),
        (lambda c: c.n**-2.0 * c.signal, lambda c: c.signal == 2.0, False),
        (lambda c: c.n**-2.0 / c.signal, lambda c: True, True),
        (lambda c: c.n**-2.0 / (1 + (c.signal - 1) ** 2), lambda c: False, False),
    ],
)
def test_a_maximum_at_the_edge_of_the_grid_is_said_unless_the_signal_is_capped(risk, capped, edge):
    (row,) = judge([SUPREMUM], signal_jobs(risk, capped))
    message = "at the edge of the signal grid at n = 256, 512, 1024, 2048: a wider one may show more"
    assert (message in row["notes"]) == edge
    assert row["verdict"] == ("inconclusive (edge)" if edge else "match") and row["values"] == GRID
    signal = row["notes"][-1 - edge].removeprefix("largest mean over 3 signals, attained at signal ")
    np.testing.assert_allclose(row["mean"], [risk(SimpleNamespace(n=n, signal=float(signal))) for n in GRID], rtol=0.05)


def test_a_free_signal_may_leave_nine_tenths_of_the_start_and_a_capped_one_half():
    """Risk 0.7 of the start throughout."""

    def risk(c):
        return c.n**-2.0 / (1 + (c.signal - 1) ** 2)

    for capped, word in ((False, "match"), (True, "not_observable")):
        (made, _, fixed), off = signal_jobs(risk, lambda c, capped=capped: capped)
        rows = table(made, risk, lambda c: c.n**-2.0 / 0.7)
        assert judge([SUPREMUM], [(made, rows, fixed), off])[0]["verdict"] == word


@pytest.mark.parametrize("end", [2.0, 0.5])
@pytest.mark.parametrize(("hollow", "word"), [(True, "match"), (False, "inconclusive (edge)")])
def test_an_edge_in_a_cell_that_is_not_fitted_neither_decides_nor_reserves_the_word(end, hollow, word):
    """At n = 256 the risk is largest at an end of the grid that could be extended, and 0.95 of the start or 1e-6."""

    def risk(c):
        best = end if c.n == GRID[0] else 1.0
        return c.n**-2.0 / (1 + (c.signal - best) ** 2)

    def start(c):
        return risk(c) / 0.95 if hollow and c.n == GRID[0] else 1e6 * risk(c)

    jobs = [(made, table(made, risk, start), fixed) for made, _, fixed in signal_jobs(risk)]
    (row,) = judge([SUPREMUM], jobs)
    assert row["verdict"] == word and row["fitted"] == [not hollow, True, True, True]
    assert row["reservations"] == ["schedule: without noise the risk is 1 of it"]
    assert any("edge of the signal grid" in note for note in row["notes"]) == (not hollow)
    assert ("edge" in row["reason"]) == (not hollow)


def test_slopes_are_fitted_on_the_axis_of_the_exponent():
    """The risk falls like 1/sqrt(n eps), along a sweep over n."""
    (row,) = judge([RATE | {"axis": "n eps", "exponent": -1, "bound": "wang2017.thm6_3"}], rate_jobs(-1))
    assert row["parameter"] == "n eps" and row["values"] == GRID  # eps = 1
    (row,) = judge([RATE | {"axis": "n^2", "exponent": -1}], rate_jobs(-2))
    assert row["slope"] == pytest.approx(-1, abs=0.02) and row["bound_slope"] == pytest.approx(-1)
    assert row["values"] == pytest.approx([n**2 for n in GRID])


def test_orderings_compare_each_method_at_its_own_worst_signal():
    made = at_signals(job("pair", "ordering", labels=("new", "old")))
    rows = table(made, lambda c: c.signal if c.method == "new" else 4.0 / c.signal)
    entry = part("pair", "ordering", labels=["new", "old"], pair=["new", "old"], signals={"ci": SIGNALS})
    (row,) = judge([entry], [(made, rows, calibrations(made, signal_capped=False))])
    assert row["verdict"] == "holds" and [*row["ratio"].values()] == pytest.approx([2 / 8] * 8, rel=0.05)


def test_values_are_compared_with_the_printed_formula_and_slopes_with_the_accounted_noise():
    """eps/sqrt(l) stands in a bound as it is printed; only slopes take the noise's own dependence on eps."""
    rate = part("n", "rate", bound="wang2017.thm6_3", calibrations=["accounted", "none"])
    explicit = part("printed", "explicit", uses=["n"], bound="wang2017.thm6_3", calibrations=["accounted"])
    made = [job("n", "rate", c) for c in ("accounted", "none")]
    rows = judge([rate, explicit], [(m, table(m, lambda cell: 1.0 / cell.n), calibrations(m)) for m in made])
    slope, printed = rows[0], rows[2]
    assert (slope["kind"], printed["kind"]) == ("rate", "explicit")
    ratio = np.array(slope["bound"]) / np.array(printed["bound"])
    np.testing.assert_allclose(ratio, 1.0 / np.sqrt(np.log(1e5)) / gdp_mu(1.0, 1e-5), rtol=1e-12)


def noted(**extras):
    return SimpleNamespace(extras={name: np.full((1, 4), value) for name, value in extras.items()})


def chain(rhat, ess):
    return noted(rhat=rhat, ess=ess, chain_risk=1.0)


def test_cells_without_chains_pass():
    assert settled([noted(), noted(value_queries=1.0)]) == ""
    assert "not certified" in settled([noted(chain_risk=1.0)]), "they never moved"
    verdict = gated(Verdict("shown", "shown", ""), False, settled([chain(2.0, 3.0)]))
    assert verdict.verdict == "shown" and "R-hat up to 2.000" in verdict.notes[0] and uncertified(verdict)


@pytest.mark.parametrize(("rhat", "ess", "good"), [(1.01, 400.0, True), (1.011, 1e4, False), (1.0, 399.0, False)])
def test_the_gate(rhat, ess, good):
    verdict = Verdict("match", "rate", "slopes agree")
    found = gated(verdict, True, settled([chain(1.0, 1e4), chain(rhat, ess)]))
    assert (found is verdict) == good == (not uncertified(found))
    if not good:
        assert found.verdict == "inconclusive" and "not certified" in found.reason


NUMBERS = {"slope": -1.0, "ci": (-1.1, -0.9), "worst_ratio": 2.0, "worst_cell": 1, "ratio": {"end": 0.5}}


@pytest.mark.parametrize("of_the_law", [True, False])
def test_no_slope_and_no_ratio_is_made_of_chains_that_are_not_certified(of_the_law):
    verdict = Verdict("shown", "shown", "x", mean=(1.0, 2.0), stderr=(0.1, 0.1), **NUMBERS)
    row = gated(verdict, of_the_law, "not certified: x").to_json()
    assert [row[name] for name in ("slope", "ci", "worst_ratio", "mean")] == [None, [None, None], None, [1.0, 2.0]]
    assert "ratio" not in row and "worst_cell" not in row


def test_the_code_of_the_chains_is_checked_where_the_law_is_known():
    assert unchecked("check", Verdict("holds", "law", "")) == ""
    assert "is violated" in unchecked("check", Verdict("violated", "law", ""))
    assert "is not measured" in unchecked("check", None) and unchecked("", None)


GRID_OF_SIGNALS = np.array([0.1, 0.2, 0.4, 0.8])


def test_thresholds_by_hand():
    values = np.array([[0.0, 0.0], [0.25, 0.1], [0.75, 0.5], [1.0, 1.0]])
    found, inside = thresholds(GRID_OF_SIGNALS, values, 0.5)
    assert found == pytest.approx([0.2 * np.sqrt(2.0), 0.4]) and inside.all()
    values = np.array([[0.6, 0.0, 0.5], [0.7, 0.1, 0.1], [0.8, 0.2, 0.2], [0.9, 0.3, 0.3]])
    found, inside = thresholds(GRID_OF_SIGNALS, values, 0.5)
    assert found == pytest.approx([0.1, 0.8, 0.1]) and not inside.any()
    values = np.array([0.0, 0.9, 0.2, 0.9])[:, None]
    found, _ = thresholds(GRID_OF_SIGNALS, values, 0.45)
    assert found == pytest.approx([0.1 * np.sqrt(2.0)])
    for first, edge in ((0.1, False), (0.6, True)):  # one replicate reaches the level at once
        moved = {0.1: [0.1, first], 0.2: [0.7, 0.7], 0.4: [0.9, 0.9]}
        grid = [replace(measured(s, 1.0, "proven", 2), extras={"moved": np.array([own])}) for s, own in moved.items()]
        assert evidence_of(grid, "threshold", {"moved": 0.5})[0].at_edge == edge


@pytest.mark.parametrize(
    ("grid", "signal", "following"),
    [(GRID_OF_SIGNALS, 0.1, 0.05), (GRID_OF_SIGNALS, 0.8, 1.6), ((0.1, 0.4), 0.1, 0.025), ((0.1, 0.4), 0.4, 1.6)]
    + [(GRID_OF_SIGNALS, 0.4, np.nan)],  # not at an edge
)
def test_the_next_signal_continues_the_grid_by_its_own_ratio(grid, signal, following):
    grid = [SimpleNamespace(entry=SimpleNamespace(signal=one)) for one in grid]
    cell = SimpleNamespace(grid=grid, signal=signal, at_edge=not np.isnan(following))
    assert MeasuredCell.next_signal.fget(cell) == pytest.approx(following, nan_ok=True)


@dataclass(frozen=True)
class Fixed:
    privacy_status: str
    signal_capped: bool = False


def measured(signal, mean, status, replicates):
    """A cell of a grid, as it comes from a table."""
    entry, risks = SimpleNamespace(method="m", value=1.0, signal=signal, cell=0), np.full((1, replicates), mean)
    return MeasuredCell(entry, Fixed(status), "paper", risks, risks[None], risks[None], 1.0, False)


@pytest.mark.parametrize(("worst", "replicates"), [(0, 4), (1, 1), (2, 4)])
def test_a_grid_has_the_largest_mean_and_the_worst_privacy_of_its_cells(worst, replicates):
    statuses = ["proven", "proven", "proven"]
    statuses[worst] = "exceeds_claim"
    for means, signal in (((0.5, 0.7, 0.3), 0.2), ((0.7, 0.4, 0.3), 0.1), ((0.3, 0.4, 0.7), 0.4)):
        cells = zip((0.1, 0.2, 0.4), means, statuses, strict=True)
        (found,) = evidence_of([measured(*cell, replicates) for cell in cells])
        assert (found.signal, found.final.mean(), found.at_edge) == (signal, 0.7, signal != 0.2)
        assert found.calibrated.privacy_status == "exceeds_claim"
        assert [len(found.grid), found.risks.shape] == [3, (3, 1, replicates)]


def test_a_cell_is_read_by_checkpoint_data_set_and_replicate():
    """Rows stand in any order. Replicates 0 and 1 with Poisson batches, run together, evaluate less than 2 does alone.

    A checkpoint that some replicates lack is no part of the curve, and a name that some final outputs lack none of the
    extras.
    """
    places = [(s, r, at) for r in (2, 0, 1) for s in (1, 0) for at in (FINAL, 0, 1, 2)[: 4 if r == 2 else 3]]
    notes = [[("rhat", 10.0 * s + r), *[("odd", 1.0)] * s] if at == FINAL else [] for s, r, at in places]
    columns = dict(zip(("data_set", "replicate", "checkpoint"), zip(*places, strict=True), strict=True))
    columns |= {"risk": [100.0 * s + 10.0 * r + at for s, r, at in places], "start_risk": [1.0] * len(places)}
    columns |= {"cell": [7] * len(places), "gradient_evaluations": [float(at) for *_, at in places]}
    columns |= dict.fromkeys(("privacy_status", "warnings"), [""] * len(places))
    columns |= {"extras": pa.array(notes, RESULT_SCHEMA.field("extras").type)}
    job = SimpleNamespace(evaluation="", calibration="accounted", cells=[SimpleNamespace(cell=7)])
    (cell,) = job_cells(job, pa.table(columns), [Fixed("proven")])
    runs = np.array([[0.0, 10.0, 20.0], [100.0, 110.0, 120.0]])
    np.testing.assert_array_equal(cell.curve_risks, [runs, runs + 1, runs + FINAL])
    np.testing.assert_array_equal(cell.risks, runs + FINAL)
    np.testing.assert_array_equal(cell.curve_evaluations[:, 1, 2], [0, 1, FINAL])
    np.testing.assert_array_equal(cell.extras["rhat"], [[0, 1, 2], [10, 11, 12]])
    assert [*cell.extras] == ["rhat"] and cell.start_risk == 1.0


def test_signals_are_told_from_the_least_to_the_largest():
    cells = [SimpleNamespace(signal=own, grid=(), risks=[[1.0]], at_edge=False) for own in (0.4, 0.1, 0.3, 0.8, 0.2)]
    assert signal_notes(cells)[0].endswith("signal 0.1 to 0.8") and signal_notes(cells[:1])[0].endswith("signal 0.4")
    looked = [SimpleNamespace(**vars(cells[0]) | {"grid": [None] * 4, "risks": [[1.0]] * most}) for most in (2, 4)]
    assert "4 signals (2 of them after 8 replicates)," in signal_notes(looked[:1])[0]
    assert "4 signals," in signal_notes(looked)[0]
    entry = SimpleNamespace(parameter="n")
    edges = [SimpleNamespace(**vars(cell) | {"at_edge": cell.signal != 0.3, "value": 9 - at, "entry": entry})
             for at, cell in enumerate(cells)]  # fmt: skip
    first, second = signal_notes(edges, [True] * 4 + [False])
    assert first == signal_notes(cells)[0] and "at n = 9, 8, 6: " in second
