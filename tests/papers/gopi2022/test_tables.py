"""The table of value queries: claimed exponents, counts of a small run, and projections."""

import csv
import io
import math
from types import SimpleNamespace

import pytest

from dpsco_bench.claims.catalogue import table_texts
from dpsco_bench.papers.gopi2022.tables import projected_queries, queries_table, risk_table
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


def test_table_1_has_three_rows_with_exponents_and_ratios_of_both_risks(measured, tmp_path):
    text = next(text for text in table_texts() if text.id == "gopi2022.table1")
    claims = [measured(tmp_path, f"gopi2022.table1.{name}", "ci") for name in ("p_above_2", "sco_above_2")]
    rows = list(csv.DictReader(io.StringIO(to_csv(risk_table(text, SimpleNamespace(claims=claims))))))
    assert [row["row"] for row in rows] == ["1 < p < 2 (*)", "p = 1 (+)", "p >= 2 (+), the cube"]
    cube = rows[-1]
    assert cube["erm_exponents"].startswith("n: −1.0") and "d: " in cube["sco_exponents"]
    assert 0.1 < float(cube["erm_ratio"]) < 0.64 and 0 < float(cube["sco_ratio"]) < 0.64
    assert rows[0]["erm_ratio"] == "" and rows[0]["erm_exponents"] == ""
