"""Facts of Gopi, Lee, Liu, Shen, Tian 2022 that claims rest on, and numbers of the errata ledger."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from dpsco_bench.claims.bounds.registry import BoundContext, get_bound
from dpsco_bench.claims.catalogue import load_errata
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.job import execute
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.results import read_extras
from dpsco_bench.privacy.accountants.gaussian import gdp_delta, gdp_epsilon, gdp_mu


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


def test_population_risks_are_below_printed_and_valid_bounds():
    for signal in (0.5, 2.0, 8.0):
        for bound in ("thm4", "thm4_valid"):
            assert ratio("bias_axis", 1000, 2, 1.5, 8.0, "paper", "sco", bound=bound, signal=signal) < 0.5


def test_numbers_of_the_ledger():
    def t_paper(epsilon, delta):
        return epsilon / math.sqrt(2 * math.log(0.5 / delta))

    text = " ".join(e.calculation + e.consequence for e in load_errata("gopi2022"))
    numbers = {
        "1.685": gdp_epsilon(2 * t_paper(1, 1e-5), 1e-5),
        "1.719": gdp_epsilon(2 * t_paper(1, 1e-6), 1e-6),
        "8.313": gdp_epsilon(t_paper(8, 1e-5), 1e-5),
        ".23670": gdp_mu(1, 1e-6),
        ".19520": t_paper(1, 1e-6),
        ".19162": math.sqrt(2 * math.log(5e5) + 2) - math.sqrt(2 * math.log(5e5)),
        "1.649": 2 * t_paper(1, 1e-6) / gdp_mu(1, 1e-6),
        "2.039": 2 * t_paper(8, 1e-6) / gdp_mu(8, 1e-6),
        "1.553": 0.5 * (2 + math.exp(0.1)),
        "2.359": 0.5 * (2 + math.e),
        "28.30": 0.5 * (2 + math.exp(4)),
    }
    for written, value in numbers.items():
        digits = len(written.partition(".")[2])
        assert written in text and round(value, digits) == pytest.approx(float(written), abs=1.01 * 10**-digits), (
            written
        )
    assert gdp_delta(2 * t_paper(1, 1e-6), 1.0) == pytest.approx(1.05e-3, rel=5e-3)
    assert gdp_delta(2 * t_paper(4, 1e-6), 4.0) == pytest.approx(1.48e-2, rel=5e-3)


@pytest.mark.parametrize(
    ("rule", "cells"),
    [
        (
            "erm",
            {
                "0.941": (2.0, 1, 1),
                "1.196": (2.0, 2, 1),
                "1.618": (2.0, 10, 1),
                "1.685": (2.0, 100, 1),
                "0.877": (1.5, 4, 1),
                "4.018": (1.5, 4, 4),
                "8.463": (1.5, 4, 8),
            },
        ),
        ("sco", {"1.685": (2.0, 1, 1), "1.179": (1.5, 4, 1), "5.643": (1.5, 4, 4), "13.08": (1.5, 4, 8)}),
    ],
)
def test_exact_epsilons_of_the_ledger(rule, cells):
    text = " ".join(e.calculation for e in load_errata("gopi2022"))
    for written, (p, d, epsilon) in cells.items():
        n = 1001 if p == 2.0 else 10_000
        options = {"schedule": rule, "sampler": "axis_exact", "accountant": "pairs"}
        given = Cell(
            "gopi2022.reg_exp_mech",
            "axis_linear",
            n,
            float(epsilon),
            1e-5,
            d,
            options=options,
            problem_options={"p": p},
        )
        found = calibrate_cell(given, "paper", 1)
        assert found.epsilon_real_kind == "exact"
        assert written in text and f"{found.epsilon_real:.{len(written.partition('.')[2])}f}" == written
        accounted = calibrate_cell(given, "accounted", 1)
        assert accounted.epsilon_real_kind == "upper" and accounted.privacy_status == "proven"


def test_fact_2_allows_less_than_the_paper_takes_and_that_less_than_the_exact_t():
    lam = math.log(0.5 / 1e-6)
    fact_2 = math.sqrt(2 * lam + 2) - math.sqrt(2 * lam)
    assert lam == pytest.approx(13.1223633774, rel=1e-11) and fact_2 == pytest.approx(0.191616076940, rel=1e-11)
    assert fact_2 < 1 / math.sqrt(2 * lam) < gdp_mu(1, 1e-6)


@pytest.mark.parametrize(
    ("factor", "delta", "epsilon"),
    [(1, 1e-2, 4.695), (1, 1e-3, 5.529), (1, 1e-5, 6.609), (1, 1e-6, 7.004), (1, 1e-8, 7.637),
     (2, 1e-2, 0.325), (2, 1e-3, 0.107), (2, 1e-4, 0.0285), (2, 1e-5, 0.0068)],
)  # fmt: skip
def test_where_the_papers_t_stops_being_private(factor, delta, epsilon):
    def excess(e):
        return gdp_delta(factor * e / math.sqrt(2 * math.log(0.5 / delta)), e) - delta

    assert brentq(excess, 0.5 * epsilon, 1.5 * epsilon) == pytest.approx(epsilon, rel=6e-3)


def test_rows_of_a_quadrature_say_so_and_release_nothing():
    cell = Cell("gopi2022.reg_exp_mech", "axis_pair", 1001, 1.0, 1e-5, 2)
    names = {"claim": "x.y", "part": "z", "kind": "shown", "calibration": "paper", "evaluation": "closed_form"}
    job = Job(**names, seed=1, replicates=1, cells=(cell,))
    table = execute(job, (calibrate_cell(cell, "paper", 1),))
    row = table.to_pylist()[0]
    assert "quadrature" in row["warnings"] and row["sampler_status"] == ""
    assert read_extras(table)["epsilon_pair"] == pytest.approx([0.838], abs=1e-3)
    assert row["epsilon_law"] == pytest.approx(1.6846, abs=1e-4)
    assert np.isfinite(row["risk"])
