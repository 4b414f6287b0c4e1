"""The text of every bound against the function that judges, at random cells."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import dblquad, quad

from dpsco_bench.claims.bounds.context import BoundContext
from dpsco_bench.claims.bounds.glossary import glossary_of
from dpsco_bench.claims.bounds.registry import BOUNDS, get_bound
from dpsco_bench.execution.calibration import calibrate_cell
from dpsco_bench.execution.cell import Cell
from dpsco_bench.privacy.accountants.gaussian import gdp_mu
from dpsco_bench.privacy.temperature import Temperature
from dpsco_bench.problems.base import Constants

NAMES = [name for name in BOUNDS.names() if BOUNDS.module(name).startswith("dpsco_bench.papers.gopi2022.")]
EXPONENTS = {"cor2": (1.2, 1.7, 2.0), "cor3": (1.0,), "cor4": (2.0, 3.0, math.inf), "law": (1.2, 1.7, 2.0)}
ALL = (1.0, 1.3, 2.0, 3.5, math.inf)


def contexts(name, accounted):
    """Cells of the paper's calibration (S = G, t = eps/sqrt(2 Lam)) or of the accounted one."""
    rng = np.random.default_rng(2022)
    for p in next((p for part, p in EXPONENTS.items() if part in name), ALL):
        n, d, epsilon, delta = int(rng.integers(50, 5000)), 12, rng.uniform(0.1, 3.0), 10.0 ** rng.uniform(-9, -4)
        G, D, theta, mu = rng.uniform(0.3, 3.0, 4)
        t = gdp_mu(epsilon, delta) if accounted else epsilon / math.sqrt(2.0 * math.log(0.5 / delta))
        S = G * rng.uniform(1.0, 2.0) if accounted else G
        rule = "strongly_convex" if "thm5" in name or "thm6" in name else rng.choice(["erm", "sco"])
        domain = f"schatten_ball:{p}:4" if "cor" in name and p in (1.0, 2.0, math.inf) else f"lp_ball:{p}"
        constants = Constants(
            G, 0.0, diameter=D, domain=domain, norm=p, strong_convexity=mu, loss_range=G * rng.uniform(1.0, 2.0)
        )
        schedule = Temperature(str(rule), n, d, G, S, theta, mu).entries
        yield BoundContext(n, d, epsilon, delta, constants, "paper", schedule, {"draw": S / (G * t)})


@pytest.mark.parametrize("name", [name for name in NAMES if name != "gopi2022.projected_queries"])
def test_the_text_is_what_judges(as_written, name):
    for context in contexts(name, accounted=False):
        as_written(name, context, printed=True)
    for context in contexts(name, accounted=True):
        as_written(name, context)  # compared by value
        as_written(name, replace(context, calibration="accounted"))  # fitted


def test_the_text_of_the_samplers_queries(as_written):
    cell = Cell("gopi2022.proximal_sampler", "axis_linear", 400, 1.0, 1e-6, 4, problem_options={"p": 2.0})
    found = calibrate_cell(cell, "paper", 0)
    context = BoundContext(400, 4, 1.0, 1e-6, found.constants, "paper", found.schedule, found.scales)
    as_written("gopi2022.projected_queries", context)


def small(p, d):
    """A cell whose law is wide, and the symbols of its density."""
    schedule = Temperature("sco", 40, d, 1.0, 1.0, 0.8, 0.0).entries
    constants = Constants(1.0, 0.0, diameter=2.0, domain=f"lp_ball:{p}", norm=p)
    context = BoundContext(40, d, 1.0, 1e-6, constants, "paper", schedule, {"draw": 6.0})
    known = glossary_of("gopi2022.thm3")
    return context, known["k"].source(context), known["mu"].source(context)


@pytest.mark.parametrize("p", [1.3, 1.6, 2.0])
def test_the_gap_is_that_of_the_density_by_a_plain_double_integral(p):
    """Of exp(-k (F + mu r)), F = -x_1 and r = ||x||_p^2/(2 (p - 1)), on the disc of l_p."""
    context, k, mu = small(p, 2)

    def density(y, x):
        return math.exp(k * x - k * mu * (abs(x) ** p + y**p) ** (2 / p) / (2 * (p - 1)))

    def top(x):
        return (1 - abs(x) ** p) ** (1 / p)

    moments = [
        dblquad(lambda y, x, i=i: (1 - x) ** i * density(y, x), -1, 1, 0, top, epsabs=0, epsrel=1e-9)[0] for i in (0, 1)
    ]
    assert get_bound("gopi2022_law.axis").value(context) == pytest.approx(moments[1] / moments[0], rel=1e-6)


@pytest.mark.parametrize(("p", "d"), [(1.3, 3), (2.0, 5)])
def test_the_radius_is_that_of_the_density_by_a_plain_integral(p, d):
    context, k, mu = small(p, d)

    def density(r):
        return r ** (d - 1) * math.exp(-k * r - k * mu * r * r / (2 * (p - 1)))

    moments = [quad(lambda r, i=i: r**i * density(r), 0, 1, epsabs=0, epsrel=1e-11)[0] for i in (0, 1)]
    assert get_bound("gopi2022_law.radial").value(context) == pytest.approx(moments[1] / moments[0], rel=1e-9)
