"""From the results of a claim's jobs to its verdicts: one row per (part, calibration).

What Markov chains drew is judged only where they have settled and their code is checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.analysis.bootstrap import FloatArray
from dpsco_bench.analysis.evidence import MeasuredCell, evidence_of, job_cells, replicates_of
from dpsco_bench.analysis.looks import FIXED, Look
from dpsco_bench.analysis.noise import Noise, noise_behind
from dpsco_bench.analysis.sharing import Replicates
from dpsco_bench.analysis.slopes import RateFit, bound_slope, fit_rate
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.bounds.registry import Bound, bound_modules, compiled, get_bound
from dpsco_bench.claims.kinds import KINDS, NOT_MEASURED, SKIPPED
from dpsco_bench.claims.model import GRID, RISK, THRESHOLD, Part
from dpsco_bench.claims.plan import ClaimEntry
from dpsco_bench.execution.cell import Calibrations
from dpsco_bench.execution.digest import OWN, code_digest
from dpsco_bench.execution.job_results import risk_kind_of
from dpsco_bench.execution.jobs import Decided, Job, stage_end
from dpsco_bench.plain import Plain
from dpsco_bench.registry import modules_in
from dpsco_bench.samplers.evidence import NOT_CERTIFIED, unsettled

OF_THE_LAW = ("risk", "chain_risk")
"""Quantities whose verdicts rest on the law of the output."""
NO_NUMBERS: Plain = {
    **{name: math.nan for name in ("slope", "noise_off_slope", "worst_ratio", "worst_value", "noise_off_share")},
    **{"ci": (math.nan, math.nan), "worst_cell": None, "local_slopes": (), "ratio": None, "ratio_ci": None},
}
"""Fields of a verdict row that replace slopes and ratios of uncertified chains."""
Load = Callable[..., tuple[pa.Table | None, Calibrations]]
Decisions = Callable[[Job], Decided | None]
OF_PART = ("beside", "control", "outside", "for_class", "law", "loose", "sampling", "noiseless")
CLAIMS_NAMED = ("noise_of", "count_of", "audited_by", "formula_of")
"""Fields of a row that a part states, and those that name other claims."""
DRAWING = "report"
"""Folder that no verdict depends on."""
FROM_MEMORY = "from memory"
"""Words in the source of an algorithm whose constants are not read from a paper."""


def settled(cells: Sequence[MeasuredCell]) -> str:
    """Why chains are not to be trusted, in words; empty where they are, and where there are none."""
    chains = [cell for cell in cells if "chain_risk" in cell.extras]
    if not chains:
        return ""
    rhat = max(float(np.max(cell.extras.get("rhat", math.inf))) for cell in chains)  # constant chains have none
    return unsettled(rhat, min(float(np.min(cell.extras.get("ess", 0.0))) for cell in chains))


def unchecked(part: str, verdict: Verdict | None) -> str:
    """Why the code path of settled chains is not trusted, in words; empty where it is."""
    if not part:
        return f"{NOT_CERTIFIED}: no cell of their code path has a known law; it takes a part that compares one"
    if verdict is not None and verdict.meaning.outcome == "confirms":
        return ""
    word = NOT_MEASURED if verdict is None else verdict.verdict
    return f"{NOT_CERTIFIED}: {part}, where the law is known, is {word.replace('_', ' ')}; it takes that part to hold"


def gated(verdict: Verdict, of_the_law: bool, reason: str) -> Verdict:
    """Take slopes and ratios, and the word if it is of the law, from a verdict whose chains are not trusted."""
    if not reason:
        return verdict
    lost = {name: value for name, value in NO_NUMBERS.items() if getattr(verdict, name) is not None}
    verdict = replace(verdict, **lost)
    if of_the_law:
        return replace(verdict, verdict="inconclusive", reason=reason)
    return replace(verdict, notes=(*verdict.notes, reason))


def uncertified(row: Verdict) -> bool:
    return any(text.startswith(NOT_CERTIFIED) for text in (row.reason, *row.notes))


def judge_claim(entry: ClaimEntry, load: Load, decided: Decisions = lambda job: None) -> list[Verdict]:
    """Judge every (part, calibration) of a claim's plan entry.

    Parameters
    ----------
    load : callable, job -> (result table, or None where nothing is run; calibrations); with the number of a look too
    decided : callable, job -> what was decided on it
    """
    whole = ClaimCells(entry, load, decided)
    return [whole.verdict(part, calibration) for part in entry.claim.parts for calibration in part.calibrations]


def judge_modules(entry: ClaimEntry) -> list[str]:
    """Modules that a claim's verdicts depend on: the judge; kinds, bounds and axes of its parts, but no others."""
    parts = entry.claim.parts
    formulas = {name for part in parts for name in (part.bound, part.quantity) if "." in name}
    bounds = {module for name in formulas for module in bound_modules(name)}
    return [__name__, *sorted({KINDS.module(part.kind) for part in parts}), *sorted(bounds)]


def judge_digest(entry: ClaimEntry, *more: str) -> str:
    """Digest the code of `judge_modules`, and of ``more`` modules, but for what kinds draw with."""
    return code_digest([*more, *judge_modules(entry)], without=frozenset(modules_in(f"{OWN}.{DRAWING}")))


class ClaimCells:
    """Cells of a claim's jobs; each table is read once, however many parts and quantities use it."""

    def __init__(self, entry: ClaimEntry, load: Load, decided: Decisions = lambda job: None) -> None:
        self.claim = entry.claim
        self.jobs = {(job.part, job.calibration): job for job in entry.jobs}
        self._load = load
        found = {job.decisions: job for job in entry.jobs if job.decisions}
        self.decided = {key: decided(job) for key, job in found.items()}
        self._read: dict[tuple[str, int], list[MeasuredCell]] = {}

    def verdict(self, part: Part, calibration: str) -> Verdict:
        """Judge a part under a calibration, by the looks that decided its word."""
        cells = PartCells(self, part, calibration)
        return replace(cells, looks=cells.deciding_looks()).verdict()

    def of_part(self, part: str, calibration: str, quantity: str = RISK, look: int = 0) -> list[MeasuredCell]:
        """Cells of a part under a calibration, with what is judged of them, by what a look reads (0: by all)."""
        cells = self.of_job(self.jobs[part, calibration], look)
        return evidence_of(cells, quantity, self.claim.part(part).requires)

    def of_job(self, job: Job, look: int = 0) -> list[MeasuredCell]:
        """Each cell of a job by itself, by what a look reads."""
        look = look if job.decisions else 0
        if (job.name, look) not in self._read:
            self._read[job.name, look] = job_cells(job, *(self._load(job, look) if look else self._load(job)))
        return self._read[job.name, look]


@dataclass(frozen=True)
class PartCells:
    """The cells of one part under one calibration, as its kind judges them.

    Attributes
    ----------
    whole : ClaimCells, of the claim that it is a part of
    looks : mapping, the look by which each of its sources is judged; at all replicates where it is not named
    only, among : sources that are looked at before the last stage, without its companion; cells and signals whose
        intervals hold together, if more than these
    """

    whole: ClaimCells
    part: Part
    calibration: str
    looks: Mapping[tuple[str, str], Look] = field(default_factory=dict)
    only: tuple[tuple[str, str], ...] = ()
    among: int = 0

    def at(self, looks: Mapping[tuple[str, str], Look]) -> PartCells:
        """Give the cells as looks at some of their sources see them, with intervals that hold for all of them."""
        among = sum(len(job.cells) for job in self.jobs)
        return replace(self, looks=looks, only=tuple(looks), among=among if len(looks) < len(self.sources) else 0)

    def look_at(self, source: tuple[str, str]) -> Look:
        return self.looks.get(source, FIXED)

    @property
    def look(self) -> Look:
        """The look at all sources, of a kind that compares them."""
        return self.look_at(self.sources[0])

    @property
    def name(self) -> str:
        """Name of the word among those of the claim."""
        return f"{self.part.id}.{self.calibration}"

    @property
    def names(self) -> tuple[str, str, str]:
        """(claim, part, calibration): seeds bootstraps."""
        return self.whole.claim.id, self.part.id, self.calibration

    @cached_property
    def sources(self) -> list[tuple[str, str]]:
        """(part, calibration) of the jobs whose rows are judged."""
        return list(self.only) or self._sources(self.calibration)

    @property
    def silent_sources(self) -> list[tuple[str, str]]:
        """The same for the companion without noise; empty where the part has none."""
        return self._sources("none") if self.part.noise_off and not self.only else []

    def _sources(self, calibration: str) -> list[tuple[str, str]]:
        part = self.part
        if part.plans:
            return [(part.id, calibration)]
        used = [(used, calibration) for used in part.uses if (used, calibration) in self.whole.jobs]
        return list(part.rules.sources(self, used))

    @cached_property
    def jobs(self) -> list[Job]:
        return [self.whole.jobs[key] for key in self.sources]

    @cached_property
    def cells(self) -> list[MeasuredCell]:
        """The judged cells, with what is judged of them."""
        return [cell for key in self.sources for cell in self.cells_of(key)]

    def cells_of(self, source: tuple[str, str]) -> list[MeasuredCell]:
        return self.whole.of_part(*source, self.part.quantity, self.look_at(source).number)

    @cached_property
    def silent_cells(self) -> list[MeasuredCell]:
        return [cell for key in self.silent_sources for cell in self.whole.of_part(*key, self.part.quantity)]

    @cached_property
    def replicates(self) -> Replicates:
        return replicates_of(self.cells)

    def confidence(self, early: float) -> FloatArray:
        """Level of each cell's interval: ``early`` before its last stage."""
        return np.concatenate(
            [np.full(len(self.cells_of(key)), self.look_at(key).confidence(early)) for key in self.sources]
        )

    @property
    def risk_kind(self) -> str | None:
        """Kind of the judged risks; None if no risks are judged."""
        if self.part.quantity != RISK or self.part.rules.counts or self.part.rules.judges_noise:
            return None
        return ", ".join(dict.fromkeys(risk_kind_of(cell) for job in self.jobs for cell in job.cells)) or None

    @property
    def profile(self) -> str:
        return self.jobs[0].profile

    @property
    def values(self) -> list[float]:
        """Values that a slope is fitted on: the part's axis, or else the swept parameter."""
        axis = compiled(self.part.bound, self.part.axis) if self.part.axis else None
        return [axis(cell.printed) if axis else cell.value for cell in self.cells]

    @property
    def bound(self) -> Bound:
        return get_bound(self.part.bound)

    @property
    def printed(self) -> list[float]:
        return [self.bound.value(cell.printed) for cell in self.cells] if self.part.bound else []

    @property
    def columns(self) -> tuple[list[float], FloatArray, FloatArray]:
        return self.values, self.replicates.mean, self.replicates.stderr

    @property
    def dof(self) -> FloatArray:
        return self.replicates.dof

    def fit(self) -> RateFit:
        return fit_rate(self.values, self.replicates, self.names, alpha=self.look.alpha)

    def with_slope(self, verdict: Verdict, formula: Sequence[float] | None = None) -> Verdict:
        """Add the measured slope, and a formula's if given, to a verdict that is not about slopes."""
        alone = (self.part.axis or self.cells[0].entry.parameter) == GRID or len(set(self.values)) < 2
        if alone or len({cell.entry.method for cell in self.cells}) > 1:
            return verdict
        fit = self.fit()
        beside = bound_slope(fit.values, formula, fit.weights) if formula is not None else verdict.bound_slope
        ends, exponent = (fit.ci_low, fit.ci_high), self.part.exponent
        return replace(verdict, slope=fit.slope, ci=ends, bound_slope=beside, claimed_exponent=exponent)

    def deciding_looks(self) -> dict[tuple[str, str], Look]:
        """Return the looks that decided a word at its sources; the last one where none did."""
        if not self.part.rules.asks(self.part):
            return {}
        looks = dict[tuple[str, str], Look]()
        for key, job in zip(self.sources, self.jobs, strict=True):
            if found := self.whole.decided.get(job.decisions):
                group = [own for own in self.jobs if own.decisions == job.decisions]
                looks[key] = Look.at(group, found.looks[self.name])
        return looks

    def _staged(self) -> Plain:
        """How many replicates a row rests on, and of the stages of its longest runs which one decided it."""
        looks = {key: self.look_at(key) for key in self.sources}
        key = max(looks, key=lambda own: (looks[own].number > 0, looks[own].share))
        job, look = self.whole.jobs[key], looks[key]
        found = self.whole.decided.get(job.decisions)
        end = found.up_to(job, look.number)[-1].end if found else job.replicates
        told: Plain = {"replicates": end * job.data_sets if self.part.runs else 0}
        if not (found and look.number):
            return told
        ends = dict.fromkeys(stage_end(job, number) * job.data_sets for number in range(1, look.of + 1))
        level = 1.0 - look.alpha if self.part.rules.has_interval else None
        return {**told, "stages": tuple(ends), "look": look.number, "level": level}

    def verdict(self) -> Verdict:
        part, calibration = self.part, self.calibration
        needed = self.jobs + [self.whole.jobs[key] for key in self.silent_sources]
        skipped = next((job.skipped for job in needed if job.skipped), "")
        verdict, circumstances = Verdict(f"{SKIPPED}: {skipped}", part.kind, skipped), list[str]()
        if not skipped:
            judged = replace(part.rules.judge(self), kind=part.kind)
            verdict = gated(judged, part.rules.of_the_law, self._distrust())
            if part.signals and part.runs and part.quantity != THRESHOLD:
                circumstances += signal_notes(self.cells, verdict.fitted or ())
            circumstances += sorted({f"judged from results present; {job.present}" for job in needed if job.present})
        notes = (part.aside, part.asks_no_privacy, *verdict.notes, part.note_on(calibration), *circumstances)
        silent = bool(skipped or part.noiseless) or calibration == "none"
        own = (self.whole.of_part(one.id, calibration, part.quantity) for one in self._own_parts)
        noise = None if silent else verdict.noise or noise_behind(cell.charged for cells in own for cell in cells)
        verdict = replace(verdict, reservations=reservations_of(part, calibration, verdict, noise))
        if noise and "epsilon_real" in part.rules.fields:
            verdict = replace(verdict, epsilon_real=noise.epsilon_real, epsilon_real_kind=noise.epsilon_real_kind)
        return replace(
            verdict,
            sentence=part.rules.sentence(verdict),
            id=self.whole.claim.id,
            part=part.id,
            calibration=calibration,
            profile=self.profile,
            **({"replicates": 0} if skipped else self._staged()),
            key=self.jobs[0].key,
            expected=part.expected,
            notes=tuple(filter(None, notes)),
            **self._stated(noise),
            risk_kind=None if skipped else self.risk_kind,
            noise=noise,
            **self._swept(verdict),
        )

    def _stated(self, noise: Noise | None) -> Plain:
        """Fields of a row that the claim's file states; what it says of the paper's noise, where there is any."""
        part, claim = self.part, self.whole.claim
        papers = self._own_parts if self.calibration == "paper" else []
        left_open = {1.0 if own.open_value is None else own.open_value for own in papers if own.open_constant}
        charged = papers if noise else []  # without noise nothing is said of it
        sources = [get_algorithm(method.algorithm).source for own in charged for method in own.methods]
        ran = [claim.part(source) for source, _ in self.sources] if part.rules.by_value else []
        texts = {
            "scope": [own.scope(self.profile) for own in ran],
            "corrected": [own.amended for own in charged],
            "open_constant": [own.open_constant for own in charged],
        }
        return {
            **{name: getattr(part, name) or None for name in OF_PART},
            **{name: getattr(claim, name) or None for name in ("states", "noise_outside")},
            **{name: tuple(getattr(claim, name)) or None for name in CLAIMS_NAMED},
            **{name: ", ".join(dict.fromkeys(filter(None, said))) or None for name, said in texts.items()},
            "law_limit": part.law_limit,
            "band_of": "ours" if part.band_of == "ours" else None,
            "recalled": (bool(sources) and all(FROM_MEMORY in source for source in sources)) or None,
            "open_value": left_open.pop() if len(left_open) == 1 else None,
        }

    @property
    def _own_parts(self) -> list[Part]:
        """Parts whose rows are judged; a reference under another calibration is none."""
        return [self.whole.claim.part(part) for part, calibration in self.sources if calibration == self.calibration]

    def _swept(self, verdict: Verdict) -> Plain:
        """Return the swept parameter, or one per cell if the cells come from several sweeps."""
        if self.part.rules.mixes_sweeps and verdict.values:
            names = [cell.entry.parameter for cell in self.cells]
            if len(set(names)) > 1 and len(names) == len(verdict.values):
                return {"parameter": ", ".join(dict.fromkeys(names)), "parameters": tuple(names)}
        cells = self.jobs[0].cells
        return {"parameter": self.part.axis or (cells[0].parameter if cells else "")}

    def _distrust(self) -> str:
        """Why the chains that a part rests on are not certified; empty where they are, and where there are none."""
        part = self.part
        if part.quantity not in OF_THE_LAW or part.rules.ignores_chains:
            return ""
        reasons = [settled(self.cells)]
        for source, own in self.sources:
            drawn = self.whole.claim.part(source)
            cells = [] if drawn.rules.knows_the_law else self.whole.of_part(source, own, part.quantity)
            if any("chain_risk" in cell.extras for cell in cells):
                checks = [p for p in self.whole.claim.parts if p.id == drawn.checked_by]
                found = self.whole.verdict(checks[0], checks[0].calibrations[0]) if checks else None
                reasons.append(unchecked(drawn.checked_by, found))
        return next(filter(None, reasons), "")


def reservations_of(part: Part, calibration: str, verdict: Verdict, noise: Noise | None) -> tuple[str, ...]:
    """Collect what limits a word: from its judge, from unproven noise, and, of a confirmation, from its author."""
    unproven = noise.reservations if noise and verdict.rests_on_noise else ()
    authors = part.reservations.get(calibration, "") if verdict.meaning.outcome == "confirms" else ""
    return tuple(filter(None, (*verdict.reservations, *unproven, authors)))


def signal_notes(cells: Sequence[MeasuredCell], fitted: Sequence[bool] = ()) -> tuple[str, ...]:
    """Tell which signals attain the largest means, and at which fitted cells a wider grid could raise them."""
    found = sorted({cell.signal for cell in cells if cell.signal is not None})
    ends = f"{found[0]:g}" if len(found) == 1 else f"{found[0]:g} to {found[-1]:g}"
    all_, most = len(cells[0].grid or cells[0].risks), max(len(cell.risks) for cell in cells)
    few = f" ({most} of them after 8 replicates)" if most < all_ else ""
    notes = [f"largest mean over {all_} signals{few}, attained at signal {ends}"]
    told = fitted if any(fitted) else [True] * len(cells)
    edges = ", ".join(f"{cell.value:g}" for cell, own in zip(cells, told, strict=True) if own and cell.at_edge)
    if edges:
        where = f"{cells[0].entry.parameter} = {edges}"
        notes.append(f"at the edge of the signal grid at {where}: a wider one may show more")
    return tuple(notes)
