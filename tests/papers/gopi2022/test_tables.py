"""The table of value queries: claimed exponents, counts of a small run, and projections."""

import csv
import io
import math
from types import SimpleNamespace

import pytest

from dpsco_bench.claims.catalogue import table_texts
from dpsco_bench.papers.gopi2022.tables import projected_queries, queries_table
from dpsco_bench.report.tables import to_csv


@pytest.fixture(scope="module")
def rows(measured, tmp_path_factory):
    text = next(text for text in table_texts() if text.id == "gopi2022.queries")
    results = measured(tmp_path_factory.mktemp("prop9"), "gopi2022.prop9")
    table = queries_table(text, SimpleNamespace(claims=[results]))
    return list(csv.DictReader(io.StringIO(to_csv(table))))


def test_counts_stand_beside_projections_of_their_own_cell(rows):
    (call,) = [row for row in rows if row["counted_is"] == "queries per call of the oracle"]
    assert (call["n"], call["d"], call["calibration"], call["verdict"]) == ("16", "4", "paper", "match")
    assert 2 * math.e < float(call["counted"]) <= float(call["limit"]) + 3 * float(call["error"])
    assert float(call["limit"]) == pytest.approx(4 * math.e)
    assert float(call["projected"]) == projected_queries(16, 4, 1.0, 1e-3, "printed")
