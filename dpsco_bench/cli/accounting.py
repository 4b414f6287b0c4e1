"""What the noise of an algorithm costs and gives, without running anything."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from dpsco_bench.errors import DpscoError
from dpsco_bench.execution.calibration import calibrate_cell, within_range
from dpsco_bench.execution.cell import Cell
from dpsco_bench.execution.planning import ImpurePlan
from dpsco_bench.privacy.add_remove import AddRemove, add_remove
from dpsco_bench.privacy.composition.batches import generic_bound
from dpsco_bench.privacy.ledger import ELSEWHERE, PHRASES, draw_statement
from dpsco_bench.privacy.spec import PrivacySpec

CALIBRATIONS = ("paper", "accounted")
_ENTRY_KEYS = (
    *("variant", "schedule", "noise", "epsilon_real", "epsilon_real_kind", "attained", "accountant"),
    *("epsilon_add_remove", "epsilon_add_remove_kind", "epsilon_add_remove_reason"),
    *("privacy_status", "gradient_evaluations", "leaks", "warnings", "refused"),
    *("epsilon_law", "tau", "sampler_status", "epsilon_generic", "generic_factor"),
)


def account(cell: Cell, root_seed: int) -> dict[str, Any]:
    """Account one cell under both calibrations.

    Parameters
    ----------
    cell : Cell
        Algorithm, problem and numbers.
    root_seed : int
        Root of the data streams, used only where a problem's constants depend on its data.

    Returns
    -------
    dict
        As docs/verbs.md documents it for ``account --json``. A calibration that the algorithm refuses has null entries
        and the reason under ``refused``.

    Raises
    ------
    DpscoError
        If both calibrations are refused, or the plan function is not pure.
    """
    entries, errors = {}, []
    with within_range(cell):
        constants = cell.constants(root_seed)
    for calibration in CALIBRATIONS:
        try:
            entries[calibration] = _entry(cell, calibration, root_seed)
        except ImpurePlan:
            raise
        except DpscoError as error:
            errors.append(error)
            entries[calibration] = {**dict.fromkeys(_ENTRY_KEYS), "refused": str(error)}
    if len(errors) == len(CALIBRATIONS):
        raise errors[0]
    return {
        "algorithm": cell.algorithm_entry.id,
        "problem": cell.problem,
        "n": cell.n,
        "d": cell.problem_entry.dimension,
        "p": 2 if constants.norm == 2.0 else constants.norm,
        "epsilon": float(cell.epsilon),
        "delta": float(cell.delta),
        "source": cell.algorithm_entry.source,
        "delta_large": cell.delta >= 1.0 / cell.n,
        "constants": asdict(constants),
        "data_dependent_constants": cell.problem_entry.data_dependent_constants,
        **entries,
    }


def _entry(cell: Cell, calibration: str, root_seed: int) -> dict[str, Any]:
    fixed = calibrate_cell(cell, calibration, root_seed)
    plan, noise = fixed.plan_for(cell), fixed.scales
    with within_range(cell):
        apart = add_remove(plan, noise, cell.delta)
    generic = generic_bound(plan, noise, PrivacySpec(cell.epsilon, cell.delta)) or (math.nan, math.nan)
    known = {"noise": noise, "refused": "", **_beside(apart), **dict(zip(_ENTRY_KEYS[-2:], generic, strict=True))}
    return {key: known[key] if key in known else getattr(fixed, key) for key in _ENTRY_KEYS}


def _beside(apart: AddRemove) -> dict[str, Any]:
    return {
        "epsilon_add_remove": apart.epsilon,
        "epsilon_add_remove_kind": apart.kind,
        "epsilon_add_remove_reason": apart.reason,
    }


def sentences(report: Mapping[str, Any]) -> list[str]:
    """What a reader should take away, one sentence each."""
    paper, accounted = report["paper"], report["accounted"]
    said = [*_about_paper(report, paper), *_about_price(report, paper, accounted)]
    for calibration in CALIBRATIONS:
        entry = report[calibration]
        said.append(f"{calibration}: {entry['refused'] or 'accountant ' + entry['accountant']}.")
        if entry["sampler_status"]:
            known = (entry["epsilon_real"], entry["epsilon_law"], entry["tau"])
            nominal = report["constants"]["status"] == "nominal"
            kind = entry["epsilon_real_kind"]
            drawn = draw_statement(entry["sampler_status"], *known, report["delta"], nominal, kind)
            said.append(f"{calibration}: {drawn}.")
        said += [f"{calibration}: {remark}." for remark in [*(entry["leaks"] or []), *(entry["warnings"] or [])]]
        if not entry["refused"] and not math.isnan(entry["epsilon_generic"]):
            said.append(_about_generic(calibration, entry))
    said += _without_add_remove(report)
    if report["constants"]["status"] == "nominal":
        proven = any(report[calibration]["privacy_status"] == "proven" for calibration in CALIBRATIONS)
        what = (
            "the run clips what a record may change, so that its privacy needs no true ones"
            if proven
            else "nothing on it is proven"
        )
        said.append(f"The problem's constants are nominal (declared, not true everywhere): {what}.")
    if report["data_dependent_constants"]:
        said.append("The constants shown are those of data set 0; computing them from the data is not private.")
    if report["delta_large"]:
        said.append(f"delta >= 1/n = {1 / report['n']:.3g}: releasing one record outright would satisfy such a delta.")
    return said


def _about_generic(calibration: str, entry: Mapping[str, Any]) -> str:
    factor = entry["generic_factor"]
    needed = f"{factor:.2g} times this noise" if math.isfinite(factor) else "more noise than any"
    return (
        f"{calibration}: for comparison, a generic bound for zCDP on batches without replacement gives "
        f"{entry['epsilon_generic']:.3g}; by it the claim would take {needed}."
    )


def _without_add_remove(report: Mapping[str, Any]) -> list[str]:
    """Why a calibration has no add/remove epsilon, once where the reason is that of both."""
    reasons = {c: report[c]["epsilon_add_remove_reason"] for c in CALIBRATIONS}
    said = dict.fromkeys(reason for reason in reasons.values() if reason)
    who = {reason: ", ".join(c for c in CALIBRATIONS if reasons[c] == reason) for reason in said}
    return [f"{who[reason]}: no add/remove epsilon, as {reason}." for reason in said]


def _about_paper(report: Mapping[str, Any], paper: Mapping[str, Any]) -> list[str]:
    if paper["refused"] or math.isnan(paper["epsilon_real"]):
        return []
    value, claimed = paper["epsilon_real"], report["epsilon"]
    phrase = PHRASES[paper["epsilon_real_kind"]]
    if math.isinf(value):
        return ["With the paper's noise the run is not private at all: something is released without noise."]
    relation = "not the claimed" if paper["privacy_status"] == "exceeds_claim" else "for a claim of"
    scope = where = ""
    if paper["privacy_status"] == "exceeds_claim" and not paper["attained"]:
        where = f" {ELSEWHERE}"
    if paper["epsilon_real_kind"] == "lower":
        scope = " It is that of the query sequence which the proof charges; the final output alone may reveal less."
    return [f"With the paper's noise the real epsilon is {phrase}{value:.4g}{where}, {relation} {claimed:g}.{scope}"]


def _about_price(report: Mapping[str, Any], paper: Mapping[str, Any], accounted: Mapping[str, Any]) -> list[str]:
    if accounted["refused"]:
        return []
    aim = f"({report['epsilon']:g}, {report['delta']:g})-differential privacy"
    law_only = accounted["sampler_status"] == "target_law_only"
    goal = f"For {aim} of the target law, not of this run, it takes" if law_only else f"For {aim} it takes"
    noise = "scale" if accounted["sampler_status"] else "noise"
    evaluations = accounted["gradient_evaluations"]
    if paper["refused"]:
        return [f"{goal} {evaluations:.3g} gradient evaluations with the accounted noise."]
    ratios = [
        f"{scale / paper['noise'][name]:.3g} times the paper's {noise} on `{name}`"
        for name, scale in accounted["noise"].items()
        if paper["noise"].get(name)
    ]
    extra = [f"noise of its own on `{name}`" for name in accounted["noise"] if name not in paper["noise"]]
    if not accounted["noise"]:
        return ["Nothing is released, so that no noise is needed."]
    return [f"{goal} {', '.join([*ratios, *extra])}, and {_price(evaluations, paper['gradient_evaluations'])}."]


def _price(evaluations: float, paper: float) -> str:
    """Gradient evaluations beside the paper's, in words."""
    if evaluations == paper:
        return "as many gradient evaluations" if paper else "no gradients"
    return f"{evaluations / paper if paper else math.inf:.3g} times the gradient evaluations"
