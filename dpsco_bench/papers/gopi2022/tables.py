"""Table 1 as the paper has it; value queries of the alternating sampler: claimed, counted, and of a proven draw."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.analysis.cells import ratios_to
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.claims.catalogue import TableRow, TableText
from dpsco_bench.claims.model import Part
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.registry import get_problem
from dpsco_bench.report.inputs import ClaimResults, Inputs
from dpsco_bench.report.numbers import NOTHING, count, is_number, number, plain, slope, with_error, with_interval
from dpsco_bench.report.rebuilt import computed
from dpsco_bench.report.tables import Column, Columns, Number, ReportTable, if_known
from dpsco_bench.report.wording import symbols, tone

Row = dict[str, Any]
CLAIM, COMMON_N = "gopi2022.prop9", 16
PROJECTED = (20, 50, 200, 1000)
"""Records at which only the projected number is shown, at (1, 1e-6)."""
COUNTS = {
    "queries_per_call": "queries per call of the oracle",
    "value_queries": "queries per draw",
    "relaxation_queries": "queries until the mean error has shrunk by e",
}


@cache
def projected_queries(
    n: int, d: int = 4, epsilon: float = 1.0, delta: float = 1e-6, variant: str = "replace_one", p: float = math.inf
) -> float:
    """Value queries that a draw with a proof is expected to cost: 4 e T of the theorem's schedule, on an l_p ball."""
    problem = get_problem("cube_onehot", d) if math.isinf(p) else get_problem("lp_onehot", d, p=p)
    entry = get_algorithm("gopi2022.proximal_sampler")
    return float(entry.plan(problem.constants, n, d, PrivacySpec(epsilon, delta), variant).expected_queries)


PLACE = ("n", "d", "epsilon", "delta", "calibration")
"""Quantities of a cell that say where a count was taken."""


@computed("gopi2022.queries")
def queries_table(text: TableText, inputs: Inputs) -> ReportTable:
    """Tabulate every formula of the file: claimed exponents beside measured ones, counts beside projected ones."""
    claims = [claim for claim in inputs.claims if claim.id == CLAIM]
    rows: list[Row] = []
    for entry in text.rows:
        rows += [row for claim in claims for row in _measured(entry, claim)] if entry.claims else []
        rows += _unmeasured(entry, {verdict.part for claim in claims for verdict in claim.rows})
        rows += _projections(entry) if entry.claims else []
    return ReportTable(text.id, text.title, _COLUMNS, rows, symbols(text.note_line))


@computed("gopi2022.table1")
def risk_table(text: TableText, inputs: Inputs) -> ReportTable:
    """Three norms, for each the printed bounds, measured exponents and the largest ratio of a risk to its bound."""
    rows = []
    for entry in text.rows:
        claims = [claim for claim in inputs.claims if claim.id in entry.claims]
        row: Row = {"row": entry.row, "erm": entry.own["erm"], "sco": entry.own["sco"]}
        for side in ("erm", "sco"):
            of_side = [claim for claim in claims if (claim.id in entry.own["erm_claims"]) == (side == "erm")]
            own = [(claim.part(found), found) for claim in of_side for found in claim.rows]
            own = [(part, found) for part, found in own if found.calibration == "paper"]
            row |= {f"{side}_exponents": _exponents(own), f"{side}_ratio": _largest_ratio(own)}
        rows.append(row)
    columns: dict[str, Column] = {"Norm": Column("row", symbols)}
    for side in ("erm", "sco"):
        columns[f"{side.upper()}, as printed"] = Column(side, symbols)
        columns[f"{side.upper()} exponents (of the bound)"] = Column(f"{side}_exponents")
        columns[f"{side.upper()} risk / bound"] = Number(f"{side}_ratio", number)
    return ReportTable(text.id, text.title, columns, rows, symbols(text.note_line))


def _exponents(own: list[tuple[Part, Verdict]]) -> str:
    rows = [row for _, row in own if row.rules.measures_slope and not row.rules.counts and is_number(row.slope)]
    texts = (f"{symbols(r.parameter)}: {with_interval(r.slope, r.ci)} ({slope(r.bound_slope)})" for r in rows)
    return "; ".join(texts)


def _largest_ratio(own: list[tuple[Part, Verdict]]) -> float | None:
    """Largest mean over a bound as printed."""
    rows = [row for part, row in own if row.rules.checks_bounds and not part.bound.endswith(("_unsplit", "_valid"))]
    return max((float(ratios_to(row.mean, row.bound).max()) for row in rows if row.mean), default=None)


def _row(entry: TableRow, counted_is: str, **known: Any) -> Row:
    """Make a row of a formula: ``counted_is`` names the count, ``known`` has the setting and other columns by name."""
    return {"formula": entry.row, "counted_is": counted_is, "parameter": "", "claimed": "", **known}


def _measured(entry: TableRow, claim: ClaimResults) -> list[Row]:
    """Choose, for every part of the profile, the cell nearest to the common size."""
    rows = []
    for row in claim.rows:
        sweep, part = row.part in entry.own["exponents"], claim.part(row)
        cells = claim.evidence(row.part, row.calibration)
        if not cells or cells[0].context.constants.norm != float(entry.own["norm"]):
            continue
        cell = min(cells, key=lambda c: (abs(c.context.n - COMMON_N), abs(c.context.d - 4), abs(c.context.epsilon - 1)))
        place, c = [c.value for c in cells].index(cell.value), cell.context
        counted, error = ((column or [None] * len(cells))[place] for column in (row.mean, row.stderr))
        asked = (c.n, c.d, c.epsilon, c.delta, cell.calibrated.variant, c.constants.norm)
        known = dict(setting={name: getattr(c, name) for name in PLACE}, verdict=row, counted=counted, error=error)
        if sweep:
            known |= dict(parameter=row.parameter, claimed=entry.own["exponents"][row.part], slope=row.slope)
        else:
            known["limit"] = get_bound(part.bound).value(c)
        rows.append(_row(entry, COUNTS[part.quantity], **known, projected=projected_queries(*asked)))
    return rows


def _unmeasured(entry: TableRow, measured: set[str]) -> list[Row]:
    """List the claimed exponents that the profile does not measure, or nothing can."""
    missing = {part.partition("_")[0]: e for part, e in entry.own["exponents"].items() if part not in measured}
    told = dict(parameter=", ".join(missing), claimed=", ".join(missing.values()))
    return [_row(entry, entry.own.get("unmeasured", "exponents: not in this profile"), **told)] if missing else []


def _projections(entry: TableRow) -> list[Row]:
    """Draws that nobody runs: 4 e T."""
    p = float(entry.own["norm"])
    settings = [dict(zip(PLACE, (n, 4, 1.0, 1e-6, "accounted"), strict=True)) for n in PROJECTED]
    known = [dict(setting=setting, projected=projected_queries(setting["n"], p=p)) for setting in settings]
    return [_row(entry, "queries per draw, not run", **one) for one in known]


def _where(row: Row) -> str:
    known = row.get("setting", {})
    numbers = [f"{symbols(k)}\u00a0=\u00a0{plain(v)}" for k, v in known.items() if is_number(v)]
    return ", ".join([*numbers, *(v for v in known.values() if isinstance(v, str))]) or NOTHING


def _exponent(row: Row) -> str:
    names = (symbols({"eps": "epsilon"}.get(name, name)) for name in row["parameter"].split(", "))
    pairs = zip(names, row["claimed"].split(", "), strict=True)
    return "; ".join(f"{name}: {symbols(claimed)}" for name, claimed in pairs) if row["parameter"] else ""


def _number(value: float | None) -> str:
    if not is_number(value):
        return ""
    return count(value) if value >= 1e3 else number(value)


_COLUMNS: Columns = {
    "Formula": Column("formula", symbols),
    "What is counted": Column("counted_is", symbols),
    "At": Column(_where, raw={name: f"setting.{name}" for name in PLACE}),
    "Exponent claimed": Column(_exponent, raw={"parameter": "parameter", "claimed": "claimed"}),
    "Measured": Number(
        lambda row: with_interval(row["slope"], row["verdict"].ci) if is_number(row.get("slope")) else "",
        raw={"slope": "slope"},
    ),
    "Count at most": Number("limit", _number),
    "Counted": Number(
        lambda row: with_error(row["counted"], row["error"]) if is_number(row.get("counted")) else "",
        raw={"counted": "counted", "error": "error"},
    ),
    "Projected N of a draw": Number("projected", _number),
    "Verdict": Column(
        "verdict",
        if_known(lambda row: symbols(row.said)),
        raw={"verdict": "verdict.verdict"},
        kind="verdict",
        tone=lambda row: tone(row["verdict"]),
    ),
}
