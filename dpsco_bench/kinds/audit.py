"""Kind `audit`: an empirical lower bound on epsilon against the claimed one. It refutes, and never proves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from dpsco_bench.analysis.cells import SAYS_SOMETHING
from dpsco_bench.analysis.evidence import MeasuredCell
from dpsco_bench.analysis.judge import PartCells
from dpsco_bench.analysis.rounding import outward
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import Field, Kind, Word, kind
from dpsco_bench.claims.model import MeasuredPart
from dpsco_bench.errors import InputError
from dpsco_bench.execution.job import AUDIT, AUDIT_OUTPUT

FEWEST_RUNS = 100


@kind("audit")
class AuditKind(Kind):
    """Audit: do runs on neighbouring data sets refute the claimed epsilon? All audits of a profile hold together."""

    title = "audit"
    words: ClassVar = {
        "refuted": Word(
            "contradicts", "the lower bound on epsilon is above the claim in a cell", "an audit refutes the claim"
        ),
        "not refuted": Word(
            "shown",
            "it is not, and the predicted power is at least one half",
            "the audit does not refute the claim",
        ),
        "says nothing": Word("shown", "it is not, and the predicted power is below one half", "the audit says nothing"),
    }
    part = MeasuredPart
    answers = False
    aside = True
    judges_noise = True
    fields = ("epsilon_real", "epsilon_real_kind", "epsilon_claimed")
    own_fields: ClassVar = {
        "epsilon_lower": Field(float, "lower bound on epsilon"),
        "power": Field(float, "predicted power"),
    }
    evaluations: ClassVar = {"run": AUDIT, "output": AUDIT_OUTPUT}

    def check(self, part: MeasuredPart, where: str) -> None:
        if "none" in part.calibrations:
            raise InputError(f"{where}: calibrations", part.calibrations, "paper, accounted: without noise nothing is")
        if len(part.methods) != 1:
            raise InputError(f"{where}: methods", len(part.methods), "one")
        grids = part.sweep.values if part.sweep else {}
        for profile in grids:
            if part.replicates.get(profile, 0) < FEWEST_RUNS:
                runs = part.replicates.get(profile, "missing")
                raise InputError(f"{where}: replicates, {profile}", runs, f"at least {FEWEST_RUNS}, runs on a data set")

    def judge(self, case: PartCells) -> Verdict:
        """Judge by the cell whose lower bound is the largest part of its claim."""
        cells = case.cells
        found = max(cells, key=lambda cell: _lower(cell) / float(cell.entry.epsilon))
        lower, claimed, power = _lower(found), float(found.entry.epsilon), _extra(found, "audit_power")
        weakest = min(_extra(cell, "audit_power") for cell in cells)
        refuted = any(_extra(cell, "audit_refuted") > 0 for cell in cells)
        word = "refuted" if refuted else "not refuted" if weakest >= SAYS_SOMETHING else "says nothing"
        proven = found.calibrated.privacy_status == "proven"
        against = "of seeing a quarter of this noise" if proven else "of refuting this noise"
        of = " of the query sequence" * (_extra(found, "audit_of_output") == 0.0)
        mu, charged, runs = (_extra(found, f"audit_{name}") for name in ("mu", "mu_charged", "runs"))
        level = f", mu >= {outward(mu, 'lower'):.3g} where {charged:.3g} is charged" * (not math.isnan(charged))
        reason = f"eps{of} >= {outward(lower, 'lower'):.3g} where {claimed:g} is claimed{level}; "
        if runs == 0.0:
            reason = f"stopped after the pilot, where {claimed:g} is claimed{of}; "
        reason += f"predicted power {power:.2g} {against}" + f" by {runs:,.0f} runs" * (runs > 0)
        if not refuted:
            promised, attainable = _extra(found, "audit_promised"), _extra(found, "audit_attainable")
            tight = f", of a tight charge eps >= {attainable:.2g} by as many runs" * math.isfinite(attainable)
            reason += f"; predicted eps >= {promised:.2g}{tight}; an audit never proves privacy"
        return Verdict(
            word,
            reason=reason,
            values=tuple(cell.value for cell in cells),
            mean=tuple(map(_lower, cells)),
            epsilon_real=found.calibrated.epsilon_real,
            epsilon_real_kind=found.calibrated.epsilon_real_kind,
            epsilon_claimed=claimed,
            own={"epsilon_lower": lower, "power": power},
        )

    def figures(self, claim: Any, rows: Sequence[Any]) -> Mapping[str, Any] | None:
        from dpsco_bench.report.kind_figures import audits_figure, known_audits

        audits = known_audits(rows)
        return {"": audits_figure([claim])} if audits and len(audits) == len(claim.rows) else None


def _lower(cell: MeasuredCell) -> float:
    return float(np.mean(cell.risks))


def _extra(cell: MeasuredCell, name: str) -> float:
    """Read what the audit noted; NaN where it did not."""
    return float(np.mean(cell.extras.get(name, math.nan)))
