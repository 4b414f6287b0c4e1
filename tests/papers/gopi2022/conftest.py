"""Results of a claim's small run, for its figures and tables."""

import pytest

from dpsco_bench.claims.compose import claim_plan
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
