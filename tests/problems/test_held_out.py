import numpy as np
import pytest

from dpsco_bench.datasets.distribution import Table
from dpsco_bench.problems.real import CovertypeHeldOut, _ordered
from dpsco_bench.problems.registry import get_problem


@pytest.fixture
def small(monkeypatch):
    """Covertype of 30 records in use and 10 held out."""
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((40, 54))
    table = Table(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.where(rows[:, 0] > 0, 1.0, -1.0))
    monkeypatch.setattr(CovertypeHeldOut, "in_use", 30)
    monkeypatch.setattr(CovertypeHeldOut, "table", lambda self: table)
    return get_problem("covertype_held_out"), table


def test_the_last_records_are_held_out_and_never_drawn(small):
    problem, table = small
    data = problem.draw(30, None)
    np.testing.assert_array_equal(data.features, table.features[:30])
    x = problem.minimiser(data)[None]
    found = problem.beside(np.concatenate([x, 0 * x]), data)
    margins = table.features[30:] @ x[0]
    assert found["held_out_loss"][0] == pytest.approx(np.log1p(np.exp(-table.labels[30:] * margins)).mean())
    assert found["held_out_accuracy"].tolist() == [np.mean(np.sign(margins) == table.labels[30:]), 0.5]
    assert found["held_out_loss"][1] == pytest.approx(np.log(2.0))


def test_the_order_mixes_all_but_what_has_to_stay_last():
    table = Table(np.arange(12.0)[:, None], np.ones(12))
    found = _ordered(table, "twelve", 9, 3)
    assert sorted(found.features[:9, 0]) == list(range(9)) != found.features[:9, 0].tolist()
    assert found.features[9:, 0].tolist() == [9, 10, 11]
    assert _ordered(table, "twelve", 9, 3) is found
