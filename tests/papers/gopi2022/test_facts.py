"""Facts of Gopi, Lee, Liu, Shen, Tian 2022 that claims rest on, and numbers of the errata ledger."""

import pytest

from dpsco_bench.claims.bounds.registry import BoundContext, get_bound
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.cell import Cell


def ratio(problem, n, d, p, epsilon, calibration, schedule="erm", sampler="auto", bound="thm3", **options):
    """Mean excess risk over bound in one cell."""
    cell = Cell("gopi2022.reg_exp_mech", problem, n, epsilon, 1e-6, d,
                options={"schedule": schedule, "sampler": sampler}, problem_options={"p": p, **options})  # fmt: skip
    found = calibrate_cell(cell, calibration, 0)
    risk = cell.problem_entry.expected_gap(cell.algorithm, found.schedule, found.scales)
    context = BoundContext(n, d, epsilon, 1e-6, found.constants, calibration, found.schedule, found.scales)
    return risk / get_bound(f"gopi2022.{bound}").value(context)


@pytest.mark.parametrize("calibration", ["paper", "accounted"])
def test_empirical_risks_use_less_than_064_of_the_bound(calibration):
    found = [
        ratio(name, n, d, p, epsilon, calibration, sampler=sampler)
        for name, sampler in (("axis_linear", "auto"), ("radial_norm", "radial_exact"))
        for n in (10, 300, 10_000)
        for d in (1, 2, 32)
        for p in (1.05, 2.0)
        for epsilon in (0.1, 8.0)
    ]
    assert 0.5 < max(found) < 0.64


def test_the_radial_instance_is_tight_up_to_two():
    assert ratio("radial_norm", 10**6, 16, 1.5, 1.0, "paper", sampler="radial_exact") == pytest.approx(0.5, rel=1e-4)
    assert ratio("axis_linear", 10**6, 16, 1.5, 1.0, "paper") == pytest.approx((1 + 15 / 1.5) / 32, rel=1e-3)
