"""Quantities that stand in the place of the risk: thresholds on a grid of signals, and formulas."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from dpsco_bench.analysis import evidence
from dpsco_bench.analysis.evidence import CellEvidence, evidence_of, thresholds
from dpsco_bench.execution.results import FINAL

SIGNALS = np.array([0.1, 0.2, 0.4, 0.8])


def test_between_grid_points_thresholds_are_linear_in_the_logarithm():
    values = np.array([[0.0, 0.0], [0.25, 0.1], [0.75, 0.5], [1.0, 1.0]])
    found, inside = thresholds(SIGNALS, values, 0.5)
    assert found == pytest.approx([0.2 * np.sqrt(2.0), 0.4]) and inside.all()


def test_a_level_that_is_reached_at_once_or_never_is_at_an_edge():
    values = np.array([[0.6, 0.0, 0.5], [0.7, 0.1, 0.1], [0.8, 0.2, 0.2], [0.9, 0.3, 0.3]])
    found, inside = thresholds(SIGNALS, values, 0.5)
    assert found == pytest.approx([0.1, 0.8, 0.1]) and not inside.any()


def test_a_smooth_curve_is_inverted_to_the_order_of_the_step_squared():
    truth = np.array([[0.15, 0.3], [0.5, 0.65]])
    values = 1.0 / (1.0 + (truth / SIGNALS[:, None, None]) ** 2)
    found, inside = thresholds(SIGNALS, values, 0.5)
    assert found.shape == truth.shape and inside.all() and np.abs(np.log(found / truth)).max() < 0.03


def test_the_first_crossing_counts():
    values = np.array([0.0, 0.9, 0.2, 0.9])[:, None]
    found, _ = thresholds(SIGNALS, values, 0.45)
    assert found == pytest.approx([0.1 * np.sqrt(2.0)])


@pytest.mark.parametrize(("signal", "at_edge", "following"), [(0.1, True, 0.05), (0.8, True, 1.6), (0.4, False, None)])
def test_the_next_signal_continues_the_grid_by_its_own_ratio(signal, at_edge, following):
    grid = [SimpleNamespace(entry=SimpleNamespace(signal=one)) for one in SIGNALS]
    found = CellEvidence.next_signal.fget(SimpleNamespace(grid=grid, signal=signal, at_edge=at_edge))
    assert found == pytest.approx(following) if following else np.isnan(found)


@dataclass(frozen=True)
class Fixed:
    """What a grid of signals asks of a calibrated cell."""

    privacy_status: str
    signal_capped: bool = False


def grid_of(*cells):
    """Cells (signal, mean risk, privacy status) of one grid, as they come from a table."""
    made = []
    for signal, mean, status in cells:
        risks = np.full((1, 4), mean)
        entry = SimpleNamespace(method="m", value=1.0, signal=signal, cell=0)
        made.append(CellEvidence(entry, Fixed(status), "paper", risks, risks[None], risks[None], 1.0, False))
    return made


@pytest.mark.parametrize("worst", range(3))
def test_a_grid_has_the_largest_mean_and_the_worst_privacy_of_its_cells(worst):
    statuses = ["proven", "proven", "proven"]
    statuses[worst] = "exceeds_claim"
    (found,) = evidence_of(grid_of(*zip((0.1, 0.2, 0.4), (0.5, 0.7, 0.3), statuses, strict=True)))
    assert (found.signal, found.final.mean(), found.at_edge) == (0.2, 0.7, False)
    assert found.calibrated.privacy_status == "exceeds_claim"
    assert [len(found.grid), found.risks.shape] == [3, (3, 1, 4)]


@pytest.mark.parametrize(("means", "at_edge"), [((0.5, 0.4, 0.3), True), ((0.3, 0.4, 0.5), True), ((1, 2, 1), False)])
def test_a_largest_mean_at_an_end_of_the_grid_is_told(means, at_edge):
    (found,) = evidence_of(grid_of(*zip((0.1, 0.2, 0.4), means, ["proven"] * 3, strict=True)))
    assert found.at_edge == at_edge


def test_a_checkpoint_that_some_replicates_lack_is_left_out_of_the_curve():
    """Of Poisson batches replicates 0 and 1, run together, evaluate less than replicate 2 does on its own."""
    runs = [(0, (0, 1, FINAL)), (1, (0, 1, FINAL)), (2, (0, 1, 2, FINAL))]
    rows = [(replicate, point) for replicate, points in runs for point in points]
    table = pa.table(
        {
            "cell": [7] * len(rows),
            "data_set": [0] * len(rows),
            "replicate": [replicate for replicate, _ in rows],
            "checkpoint": [point for _, point in rows],
            "risk": [float(10 * replicate + point) for replicate, point in rows],
            "gradient_evaluations": [float(point) for _, point in rows],
            "start_risk": [1.0] * len(rows),
            "privacy_status": ["proven"] * len(rows),
            "warnings": [""] * len(rows),
        }
    )
    job = SimpleNamespace(evaluation="", calibration="accounted")
    (rows,) = evidence._rows_of(table).values()
    cell = evidence._cell_evidence(job, SimpleNamespace(), Fixed("proven"), rows)
    last = FINAL + 10.0 * np.arange(3)
    np.testing.assert_array_equal(cell.curve_risks[:, 0], [[0, 10, 20], [1, 11, 21], last])
    np.testing.assert_array_equal(cell.risks, [last])
