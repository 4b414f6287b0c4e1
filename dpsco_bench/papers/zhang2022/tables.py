"""Tables of facts about this paper's noise: what its conversion and its tree are worth."""

from __future__ import annotations

from functools import partial
from math import log, log2, sqrt
from typing import Any

from dpsco_bench.analysis.noise import Noise
from dpsco_bench.claims.catalogue import TableText
from dpsco_bench.kinds.privacy import privacy_verdict
from dpsco_bench.papers.zhang2022.algorithms.reduction import NodeUnits, path_cost
from dpsco_bench.privacy.accountants.gaussian import gdp_epsilon, gdp_mu
from dpsco_bench.privacy.tree import levels
from dpsco_bench.report.inputs import Inputs
from dpsco_bench.report.numbers import number, plain
from dpsco_bench.report.rebuilt import computed
from dpsco_bench.report.tables import Column, ReportTable

SETTINGS = ((0.1, 1e-6), (1.0, 1e-6), (2.0, 1e-6), (4.0, 1e-6), (8.0, 1e-6), (1.0, 1e-5), (26.282609, 1e-3))
"""The last one is rho = 5 at delta = 1e-3, beyond the range of the conversion (erratum E1)."""
ROUNDS = 4096
POWERS, CONDITIONS = (1.0, 2.0, 3.0), (0.0, 1.0, 10.0)


def conversion(epsilon: float, delta: float) -> dict[str, Any]:
    """Convert a target's printed rho to epsilon, and judge the claim (Zhang, Tran, Cutkosky 2022, section 1.1)."""
    rho = epsilon / (2.0 * sqrt(log(1.0 / delta)))
    real = gdp_epsilon(rho, delta)
    verdict = privacy_verdict([Noise("proven", real, "exact", epsilon)]).verdict
    return dict(epsilon=epsilon, delta=delta, rho=rho, exact=gdp_mu(epsilon, delta), real=real, verdict=verdict)


def relative_level(k: float, condition: float, calibration: str) -> float:
    """Effective Gaussian-DP level of the noise of `ROUNDS` rounds over its target, only x_n being released."""
    printed = calibration == "paper"
    units = NodeUnits(k, ROUNDS, 1.0, condition, 1.0, "eq6" if printed else "tight", "D")
    return sqrt(path_cost(units, ROUNDS - 1, 2.0) / (log2(2 * ROUNDS) if printed else levels(ROUNDS - 1)))


@computed("zhang2022.conversions")
def _conversions(text: TableText, inputs: Inputs) -> ReportTable:
    columns = {
        "Claimed ε": Column("epsilon", lambda epsilon: plain(round(epsilon, 4)), numeric=True),
        "δ": Column("delta", plain, numeric=True),
        "Paper ρ": Column("rho", number, numeric=True),
        "Exact m": Column("exact", number, "m", numeric=True),
        "Real ε of the paper's ρ": Column("real", partial(number, digits=4), "epsilon_real", numeric=True),
        "Verdict": Column("verdict"),
    }
    note = (
        "ρ = ε/(2 √l) by the printed conversion, m by the exact Gaussian-DP formula. Noise of exactly ρ, without the "
        "slack of eq. (6); the last row lies where the conversion does not hold (erratum E1)."
    )
    return ReportTable(text.id, text.title, columns, [conversion(*setting) for setting in SETTINGS], note)


@computed("zhang2022.levels")
def _levels(text: TableText, inputs: Inputs) -> ReportTable:
    columns = {"k": Column("k", plain, numeric=True)}
    rows = [{"k": k} for k in POWERS]
    for calibration in ("paper", "accounted"):
        for condition in CONDITIONS:
            name = f"{calibration}_HD/G_{condition:g}"
            columns[f"{calibration}, HD/G = {condition:g}"] = Column(name, number, numeric=True)
            for row in rows:
                row[name] = relative_level(row["k"], condition, calibration)
    note = (
        f"n = {ROUNDS}, all radii equal to D, only the last iterate being released: Gaussian-DP level over the target. "
        "Below 1 the noise is larger than its guarantee needs."
    )
    return ReportTable(text.id, text.title, columns, rows, note)
