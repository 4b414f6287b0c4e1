"""From the results of a claim's jobs to its verdicts: one row per (part, calibration)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from dpsco_bench.analysis.bootstrap import summarise
from dpsco_bench.analysis.cells import band_verdict, explicit_verdict, law_verdict, lower_bound_verdict, shown_verdict
from dpsco_bench.analysis.certified import OF_THE_LAW, gated, has_chains, settled, unchecked
from dpsco_bench.analysis.evidence import SEVERITY, CellEvidence, job_evidence
from dpsco_bench.analysis.ordering import (
    AT_END,
    AT_EQUAL_EVALUATIONS,
    common_budget,
    compare_medians,
    ordering_verdict,
    risk_at,
)
from dpsco_bench.analysis.pathwise import is_pathwise, pathwise_verdict
from dpsco_bench.analysis.rates import SATURATION, complexity_verdict, control_verdict, counted_verdict, rate_verdict
from dpsco_bench.analysis.slopes import bound_slope, fit_rate
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.analysis.verdicts import privacy_verdict, skipped_verdict, wrong_reason_notes
from dpsco_bench.claims.bounds.registry import get_bound
from dpsco_bench.claims.grids import GRID
from dpsco_bench.claims.model import LAW, RISK, Claim, Part, parse_claim
from dpsco_bench.errors import InputError
from dpsco_bench.execution.jobs import Job
from dpsco_bench.execution.plan import Entry
from dpsco_bench.problems.registry import problem_class

Load = Callable[[Job], tuple[pa.Table | None, Mapping[str, Any]]]
FEW_REPLICATES = 3
SEVERAL_SWEEPS = ("explicit", "law", "lower_bound", "shown")
"""Kinds whose cells may come from sweeps in different parameters."""


def judge_claim(entry: Entry, load: Load) -> list[dict[str, Any]]:
    """Judge every (part, calibration) of a claim's plan entry.

    Parameters
    ----------
    entry : Entry
        Of the plan.
    load : callable
        Job -> (result table, or None where nothing is run; calibrations).

    Returns
    -------
    list of dict
        Verdict rows (`Verdict.to_json`) in the order of the claim's file.
    """
    return [verdict.to_json() for verdict in ClaimJudge(entry, load).verdicts()]


def judge_modules(entry: Entry) -> list[str]:
    """Modules that a claim's verdicts depend on, for their digest."""
    papers = {part["bound"].split(".", 1)[0] for part in entry.claim["parts"] if part["bound"]}
    return [__name__, *(f"dpsco_bench.claims.bounds.{paper}" for paper in sorted(papers))]


class ClaimJudge:
    """Judges one claim; evidence of a job is loaded once.

    Parameters
    ----------
    entry, load
        As in `judge_claim`.
    """

    def __init__(self, entry: Entry, load: Load) -> None:
        self.claim: Claim = parse_claim({k: v for k, v in entry.claim.items() if k != "digest"})
        self._jobs = {(job.part, job.calibration): job for job in entry.jobs}
        self._load = load
        self._evidence: dict[tuple[str, str, str], list[CellEvidence]] = {}

    def verdicts(self) -> list[Verdict]:
        """One verdict per (part, calibration)."""
        return [self._judge(part, calibration) for part in self.claim.parts for calibration in part.calibrations]

    def evidence(self, part: str, calibration: str, quantity: str = RISK) -> list[CellEvidence]:
        """Cells of a part under a calibration, with what is judged of them."""
        key, job = (part, calibration, quantity), self._jobs[part, calibration]
        if key not in self._evidence:
            self._evidence[key] = job_evidence(job, *self._load(job), quantity)
        return self._evidence[key]

    def _judge(self, part: Part, calibration: str) -> Verdict:
        jobs = [self._jobs[key] for key in self._sources(part, calibration)]
        silent = part.kind == "rate" and part.noise_off
        needed = jobs + [self._jobs[key] for key in self._sources(part, "none") if silent]
        skipped = next((job.skipped for job in needed if job.skipped), "")
        if skipped:
            verdict = skipped_verdict(part.kind, skipped)
        elif part.kind in _JUDGES:
            verdict = gated(_JUDGES[part.kind](self, part, calibration), part.kind, self._distrust(part, calibration))
        else:
            raise InputError(f"kind of {self.claim.id}, part {part.id}", part.kind, "one of " + ", ".join(_JUDGES))
        notes = tuple(verdict.notes) + authored_notes(part, calibration, verdict.word)
        if part.signals and part.runs and not skipped:
            notes += signal_notes(self.evidence(part.id, calibration, part.quantity))
        if not skipped:
            notes += tuple(sorted({f"judged from results present; {j.present}" for j in needed if j.present}))
        return replace(
            verdict,
            id=self.claim.id,
            part=part.id,
            calibration=calibration,
            profile=jobs[0].profile,
            replicates=0 if skipped or not part.runs else jobs[0].replicates * jobs[0].data_sets,
            key=jobs[0].key,
            expected=part.expected,
            notes=notes,
            **self._swept(part, calibration, verdict, jobs[0]),
        )

    def _swept(self, part: Part, calibration: str, verdict: Verdict, job: Job) -> dict[str, Any]:
        """The swept parameter; where the judged cells come from sweeps in several, each cell has its own."""
        if part.kind in SEVERAL_SWEEPS and verdict.values:
            names = [cell.entry["parameter"] for cell in self._used_cells(part, calibration)]
            if len(set(names)) > 1 and len(names) == len(verdict.values):
                return {"parameter": ", ".join(dict.fromkeys(names)), "parameters": tuple(names)}
        return {"parameter": job.cells[0]["parameter"]}

    def _sources(self, part: Part, calibration: str) -> list[tuple[str, str]]:
        """(part, calibration) of the jobs whose rows a part judges; a band's reference has its own calibration."""
        if part.plans:
            return [(part.id, calibration)]
        used = [(used, calibration) for used in part.uses if (used, calibration) in self._jobs]
        if part.kind == "band" and not part.bound:
            used = [used[0], (part.uses[1], self.claim.part(part.uses[1]).calibrations[0])]
        return used

    def _rate(self, part: Part, calibration: str) -> Verdict:
        cells = self._used_cells(part, calibration)
        silent = self._used_cells(part, "none") if part.noise_off else []
        names = (self.claim.id, part.id, calibration)
        fit = self._fit(cells, names)
        off = fit if calibration == "none" else self._fit(silent, (*names[:2], "none")) if silent else None
        bound = get_bound(part.bound)
        full = [bound.value(cell.context) for cell in cells]
        named = bound.named_term or bound.value
        verdict = rate_verdict(
            fit,
            [named(cell.context) for cell in cells],
            part.tolerance,
            parameter=cells[0].entry["parameter"],
            claimed_exponent=part.exponent,
            full_bound=full,
            start_risks=[cell.start_risk for cell in cells] if part.quantity == RISK else None,
            noise_off_slope=np.nan if calibration == "none" or off is None else off.slope,
            better=part.better,
            blocked=frozen(part, cells),
        )
        status = max((cell.calibrated["privacy_status"] for cell in cells), key=SEVERITY.index)
        real = float(np.fmax.reduce([cell.number("epsilon_real") for cell in cells]))
        notes = verdict.notes + wrong_reason_notes(verdict, status, real, cells[0].calibrated["epsilon_real_kind"])
        if off is not None and np.isnan(off.slope):
            notes += ("noise off: the excess risk is at rounding level and has no slope",)
        problems = {self.claim.part(source).problem for source, _ in self._sources(part, calibration)}
        if part.quantity == RISK and any(problem_class(name).cell_dependent for name in problems):
            notes += _family_notes(cells, silent)
        notes += tuple(sorted({text for cell in cells for text in cell.certificates}))
        return replace(verdict, notes=notes + saturation_notes(part, cells))

    def _fit(self, cells: Sequence[CellEvidence], names: Sequence[str]) -> Any:
        fit = fit_rate(
            [cell.value for cell in cells],
            [cell.risks for cell in cells],
            names,
            numerical_errors=[cell.numerical_error for cell in cells],
            shared_data_sets=len({(cell.entry["n"], cell.entry.get("d")) for cell in cells}) == 1,
        )
        return replace(fit, edge=())  # `signal_notes` knows where a signal cannot be made stronger

    def _explicit(self, part: Part, calibration: str) -> Verdict:
        cells = self._used_cells(part, calibration)
        bound = get_bound(part.bound)
        if is_pathwise(part, bound):
            return pathwise_verdict(part, cells, bound)
        mean, stderr = _means(cells)
        return explicit_verdict(
            [cell.value for cell in cells],
            mean,
            stderr,
            [bound.value(cell.printed) for cell in cells],
            parameter=cells[0].entry["parameter"],
            trivial=[cell.start_risk for cell in cells],
            slack=max(cell.slack for cell in cells),
        )

    def _band(self, part: Part, calibration: str) -> Verdict:
        keys = self._sources(part, calibration)
        cells = self.evidence(*keys[0], part.quantity)
        if part.bound:
            bound = get_bound(part.bound)
            reference = np.array([bound.value(cell.printed) for cell in cells])
            reference_stderr = np.zeros(len(cells))
        else:
            references = {cell.value: cell for cell in self.evidence(*keys[1], part.quantity)}
            cells = [cell for cell in cells if cell.value in references]
            reference, reference_stderr = _means([references[cell.value] for cell in cells])
        mean, stderr = _means(cells)
        values, (low, high) = [cell.value for cell in cells], part.band
        return band_verdict(values, mean, stderr, reference, low, high, reference_stderr=reference_stderr)

    def _privacy(self, part: Part, calibration: str) -> Verdict:
        cells = self.evidence(part.id, calibration)
        withheld, of_the_law = "", part.quantity == LAW
        law_only = any(cell.calibrated["privacy_status"] == "target_law_only" for cell in cells)
        if law_only:
            withheld = "target_law_only: the proof asks for an exact " + ("draw" if of_the_law else "minimiser")
        unproven = [cell for cell in cells if cell.calibrated["privacy_status"] != "proven"]
        if any(cell.context.constants.status == "nominal" for cell in unproven):
            withheld = "the Lipschitz constant is nominal"
        verdict = privacy_verdict(
            [cell.number(LAW if of_the_law else "epsilon_real") for cell in cells],
            ["exact" if of_the_law else cell.calibrated["epsilon_real_kind"] for cell in cells],
            [cell.entry["epsilon"] for cell in cells],
            unproven=withheld,
        )
        if not (of_the_law and law_only):
            return verdict
        word = f"unproven (target law {verdict.epsilon_real:.3g})"
        return replace(verdict, verdict=word, epsilon_real=np.nan, epsilon_real_kind="")

    def _complexity(self, part: Part, calibration: str) -> Verdict:
        cells = self._used_cells(part, calibration)
        bound = get_bound(part.bound)
        planned = part.quantity == RISK
        if part.exact and not planned:
            return counted_verdict(*self._columns(part, calibration)[0], [bound.value(c.context) for c in cells])
        return complexity_verdict(
            [cell.value for cell in cells],
            [cell.number("gradient_evaluations") for cell in cells] if planned else _means(cells)[0],
            [bound.value(cell.context) for cell in cells],
            parameter=cells[0].entry["parameter"],
            claimed_exponent=part.exponent,
            tolerance=part.tolerance,
            exact=part.exact,
        )

    def _law(self, part: Part, calibration: str) -> Verdict:
        columns, bounds = self._columns(part, calibration)
        return replace(law_verdict(*columns, bounds, part.tolerance), tolerance=part.tolerance)

    def _lower_bound(self, part: Part, calibration: str) -> Verdict:
        """Without constants the exponents are what can be compared, so that both slopes are shown."""
        columns, bounds = self._columns(part, calibration)
        verdict = lower_bound_verdict(*columns, bounds, has_constants=part.constant != "none")
        return self._with_slope(verdict, part, calibration, bounds) if part.constant == "none" else verdict

    def _control(self, part: Part, calibration: str) -> Verdict:
        cells = self._used_cells(part, calibration)
        fit = self._fit(cells, (self.claim.id, part.id, calibration))
        assert part.exponent is not None
        band = None
        if part.band:
            columns, bounds = self._columns(part, calibration)
            band = band_verdict(*columns, bounds, *part.band)
        return control_verdict(fit, part.exponent, part.tolerance, parameter=cells[0].entry["parameter"], band=band)

    def _shown(self, part: Part, calibration: str) -> Verdict:
        """With the slope of a sweep of one method, where it has one."""
        columns, bounds = self._columns(part, calibration)
        return self._with_slope(shown_verdict(*columns, bounds if part.bound else None), part, calibration)

    def _with_slope(
        self, verdict: Verdict, part: Part, calibration: str, formula: Sequence[float] | None = None
    ) -> Verdict:
        """A verdict that is no statement about slopes, with the measured one and, where given, a formula's."""
        cells = self._used_cells(part, calibration)
        alone = cells[0].entry["parameter"] == GRID or len({cell.value for cell in cells}) < 2
        if alone or len({cell.entry["method"] for cell in cells}) > 1:
            return verdict
        fit = self._fit(cells, (self.claim.id, part.id, calibration))
        beside = bound_slope(fit.values, formula, fit.weights) if formula is not None else verdict.bound_slope
        measured = {"slope": fit.slope, "ci": (fit.ci_low, fit.ci_high), "bound_slope": beside}
        return replace(verdict, **measured, claimed_exponent=part.exponent)

    def _columns(self, part: Part, calibration: str) -> tuple[tuple[list[float], np.ndarray, np.ndarray], list[float]]:
        """Values, means and standard errors of a part's cells, and its printed formula at each (none without one)."""
        cells = self._used_cells(part, calibration)
        bounds = [get_bound(part.bound).value(cell.printed) for cell in cells] if part.bound else []
        return ([cell.value for cell in cells], *_means(cells)), bounds

    def _ordering(self, part: Part, calibration: str) -> Verdict:
        cells = self._used_cells(part, calibration)
        better, other = ({c.value: c for c in cells if c.entry["method"] == label} for label in part.pair)
        comparisons = {}
        for value, first in better.items():
            second, names = other[value], (self.claim.id, part.id, calibration, f"{value:g}")
            budget = common_budget(first.curve_evaluations, second.curve_evaluations)
            early = [risk_at(cell.curve_evaluations, cell.curve_risks, budget) for cell in (first, second)]
            where = f"{first.entry['parameter']} {value:g}"
            comparisons[f"{AT_END}, {where}"] = compare_medians(first.final, second.final, (*names, AT_END))
            comparisons[f"{AT_EQUAL_EVALUATIONS}, {where}"] = compare_medians(
                early[0], early[1], (*names, AT_EQUAL_EVALUATIONS)
            )
        verdict = ordering_verdict(comparisons, parameter=cells[0].entry["parameter"])
        runs = cells[0].final.size
        few = f"only {runs} replicates: the intervals are too wide for most orderings"
        return replace(verdict, notes=(few,)) if runs <= FEW_REPLICATES else verdict

    def _distrust(self, part: Part, calibration: str) -> str:
        """Why the chains that a part rests on are not certified; empty where they are, and where there are none."""
        if part.quantity not in OF_THE_LAW or part.kind == "ordering":
            return ""
        cells = self._used_cells(part, calibration)
        reasons = [settled(cells)]
        for source, own in self._sources(part, calibration):
            drawn = self.claim.part(source)
            if drawn.kind != "law" and has_chains(self.evidence(source, own, part.quantity)):
                checks = [p for p in self.claim.parts if p.id == drawn.checked_by]
                found = self._judge(checks[0], checks[0].calibrations[0]) if checks else None
                reasons.append(unchecked(drawn.checked_by, found))
        return next(filter(None, reasons), "")

    def _used_cells(self, part: Part, calibration: str) -> list[CellEvidence]:
        return [cell for key in self._sources(part, calibration) for cell in self.evidence(*key, part.quantity)]


def saturation_notes(part: Part, cells: Sequence[CellEvidence]) -> tuple[str, ...]:
    """In how many cells the risk is close to the starting point's, and what the part's own test says, if any."""
    close = sum(float(cell.final.mean()) > SATURATION * cell.start_risk for cell in cells) if part.requires else 0
    least = ", ".join(f"{name} >= {value:g}" for name, value in part.requires.items())
    where = f"risk above {SATURATION:g} of the starting point's at the same signal in {close} of {len(cells)} cells"
    own = "fails as well" if frozen(part, cells) else "passes, and by it the rate is observable"
    return (f"{where}; the part's own test, {least} at the largest signal, {own}",) if close else ()


def frozen(part: Part, cells: Sequence[CellEvidence]) -> str:
    """``frozen`` if an extra that the part requires is below its least value, at the largest signal of a cell."""
    for cell in cells:
        strongest = cell.grid[-1] if cell.grid else cell
        if any(strongest.extras[name].mean() < least for name, least in part.requires.items()):
            return "frozen"
    return ""


def authored_notes(part: Part, calibration: str, word: str) -> tuple[str, ...]:
    """What the claim's author says beside a verdict, a reservation about a match first."""
    reservation = part.reservations.get(calibration, "") if word == "match" else ""
    return tuple(text for text in (reservation, part.note) if text)


def signal_notes(cells: Sequence[CellEvidence]) -> tuple[str, ...]:
    """Which signals attain the largest means, and where a wider grid could raise them.

    Parameters
    ----------
    cells : sequence of CellEvidence
        Of one part, whose problem has a free signal.
    """
    found = sorted({cell.signal for cell in cells if cell.signal is not None})
    ends = f"{found[0]:g}" if len(found) == 1 else f"{found[0]:g} to {found[-1]:g}"
    notes = [f"largest mean over {len(cells[0].risks)} signals, attained at signal {ends}"]
    edges = ", ".join(f"{cell.value:g}" for cell in cells if cell.at_edge)
    if edges:
        notes.append(
            f"at the edge of the signal grid at {cells[0].entry['parameter']} = {edges}: a wider one may show more"
        )
    return tuple(notes)


def _family_notes(cells: Sequence[CellEvidence], silent: Sequence[CellEvidence]) -> tuple[str, ...]:
    """Where the starting gap changes along a sweep, a slope says little and the gap over it more."""

    def shares(cells: Sequence[CellEvidence]) -> str:
        ratios = _means(cells)[0] / [cell.start_risk for cell in cells]
        return f"{ratios.min():.2g} to {ratios.max():.2g}"

    off = f"; with noise off {shares(silent)}" if silent else ""
    return (f"gap over the starting gap: {shares(cells)}{off}",)


def _means(cells: Sequence[CellEvidence]) -> tuple[np.ndarray, np.ndarray]:
    summaries = [summarise(cell.risks, cell.numerical_error) for cell in cells]
    return np.array([s.mean for s in summaries]), np.array([s.stderr for s in summaries])


_JUDGES: dict[str, Callable[[ClaimJudge, Part, str], Verdict]] = {
    "rate": ClaimJudge._rate,
    "explicit": ClaimJudge._explicit,
    "band": ClaimJudge._band,
    "privacy": ClaimJudge._privacy,
    "complexity": ClaimJudge._complexity,
    "ordering": ClaimJudge._ordering,
    "law": ClaimJudge._law,
    "lower_bound": ClaimJudge._lower_bound,
    "control": ClaimJudge._control,
    "shown": ClaimJudge._shown,
}
