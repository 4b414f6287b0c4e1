"""An audit as a job: a row for each cell, with the lower bound on epsilon in the place of a risk."""

from __future__ import annotations

import numpy as np

from dpsco_bench.audit.auditor import INSTANCES, Audit
from dpsco_bench.execution.cell import CalibratedCell, Cell
from dpsco_bench.execution.job import AUDIT_OUTPUT, EVALUATIONS
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.results import EXTRAS, NO_LAW, Columns
from dpsco_bench.privacy.ledger import SEQUENCE

FAMILY = 400  # most tests of a profile, two of each audit, over which the confidence is divided
FAMILY_CONFIDENCE = 0.999
CONFIDENCE = 1.0 - (1.0 - FAMILY_CONFIDENCE) / FAMILY
"""Confidence of each audit, so that with `FAMILY_CONFIDENCE` no private method is refuted (Bonferroni)."""


def audited(job: Job, cell: Cell, calibrated: CalibratedCell) -> Columns:
    """Audit a cell; ``risk`` is the lower bound on epsilon and ``start_risk`` the claimed one."""
    statistic = "output" if job.evaluation == AUDIT_OUTPUT else None
    audit = Audit(cell, calibrated, job.replicates, CONFIDENCE, statistic, job.seed)
    result = audit.result(sparing=True, searched=INSTANCES if statistic else ())
    said = f"audit of {result.neighbours}, by {result.statistic}, against {result.against}"
    said += f", with {result.instance}" * bool(result.instance)
    extras = {
        "audit_power": result.power,
        "audit_refuted": float(result.verdict == "refuted"),
        "audit_runs": float(result.runs),  # on each data set
        "audit_promised": result.promised,
        "audit_attainable": result.attainable,
        "audit_of_output": float(result.of != SEQUENCE),
        "audit_mu": result.mu_lower,
        "audit_mu_charged": result.mu_charged,
    }
    return {
        **NO_LAW,  # the bound is of the run, not of the law of a draw
        "risk": np.array([result.epsilon_lower]),
        "start_risk": float(cell.epsilon),
        "warnings": said,
        EXTRAS: {name: np.array([value]) for name, value in extras.items()},
    }


for name in ("audit", "audit_output"):  # in quotes: by these the module is found
    EVALUATIONS.add(name, audited, __name__)
