"""The table of value queries: claimed exponents, counts of a small run, and projections."""

import csv
import io
import math
from types import SimpleNamespace

import pytest

from dpsco_bench.claims.catalogue import table_texts
from dpsco_bench.claims.jobs import claim_plan
from dpsco_bench.cli.verbs.claim import run_claim
from dpsco_bench.execution.layout import Layout
from dpsco_bench.jsonio import dumps_canonical, sealed, write_atomic
from dpsco_bench.papers.gopi2022.tables import projected_queries, queries_table
from dpsco_bench.report.inputs import ClaimResults
from dpsco_bench.report.tables import to_csv


def test_counts_stand_beside_projections_of_their_own_cell(tmp_path):
    claim = "gopi2022.prop9"
    entry, files = claim_plan(claim, "smoke"), Layout("smoke", tmp_path)
    rows = run_claim(entry, files.measured)
    write_atomic(files.verdicts(claim), sealed(dumps_canonical({"claim": claim, "digest": "d", "verdicts": rows})))
    results = ClaimResults(files.measured.present(entry), files)
    text = next(text for text in table_texts() if text.id == "gopi2022.queries")
    table = to_csv(queries_table(text, SimpleNamespace(claims=[results])))
    rows = csv.DictReader(io.StringIO(table))
    (call,) = [row for row in rows if row["counted_is"] == "queries per call of the oracle"]
    assert (call["n"], call["d"], call["calibration"], call["verdict"]) == ("16", "4", "paper", "match")
    assert 2 * math.e < float(call["counted"]) <= float(call["limit"]) + 3 * float(call["error"])
    assert float(call["limit"]) == pytest.approx(4 * math.e)
    assert float(call["projected"]) == projected_queries(16, 4, 1.0, 1e-3, "printed")
