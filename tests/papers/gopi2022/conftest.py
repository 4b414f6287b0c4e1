"""Results of a claim's small run, for its figures and tables."""

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

from dpsco_bench.claims.jobs import claim_plan
from dpsco_bench.cli.claiming import run_claim
from dpsco_bench.execution.layout import Layout
from dpsco_bench.jsonio import dumps_canonical, sealed, write_atomic
from dpsco_bench.report.inputs import ClaimResults


@pytest.fixture(scope="session")
def measured():
    """(folder, claim) -> the claim's results, run on profile smoke and judged in a folder."""

    def measured(folder, claim, profile="smoke"):
        entry, files = claim_plan(claim, profile), Layout(profile, folder)
        rows = run_claim(entry, files.measured)
        write_atomic(files.verdicts(claim), sealed(dumps_canonical({"claim": claim, "digest": "d", "verdicts": rows})))
        return ClaimResults(files.measured.present(entry), files)

    return measured


@pytest.fixture(scope="session")
def quadrature():
    """Law along an axis -> distribution function of x_1, smooth between its values at 100 quantiles and the ends.

    Straight lines between quantiles would be wrong by a good part of what 2e5 draws resolve.
    """

    def quadrature(law):
        levels = np.array([1, 2, 5, 10, *range(20, 1981, 20), 1990, 1995, 1998, 1999])
        grid = np.unique(np.concatenate([law.quantiles(2000)[levels], [-1.0, 1.0]]))
        return PchipInterpolator(grid, [1.0 - law.tail(t) for t in grid])

    return quadrature
