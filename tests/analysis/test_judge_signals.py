"""What is judged on a grid of signals, and on an axis of its own."""

from dataclasses import replace

import numpy as np
import pytest

from dpsco_bench.privacy.accountants.gaussian import gdp_mu

from .judging import GRID, RATE, calibrations, job, judge, part, rate_jobs, table

SIGNALS = [0.5, 1.0, 2.0]


def at_signals(made):
    cells = [replace(cell, signal=s) for cell in made.cells for s in SIGNALS]
    return replace(made, cells=tuple(replace(cell, cell=i) for i, cell in enumerate(cells)))


def signal_jobs(risk, capped=lambda c: False):
    made, off = (at_signals(job("n", "rate", calibration)) for calibration in ("paper", "none"))
    return [(m, table(m, risk, 1e6), calibrations(m, signal_capped=capped)) for m in (made, off)]


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
