"""Account an algorithm's noise, without running anything."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import pyarrow as pa

from dpsco_bench.algorithms.registry import get_algorithm
from dpsco_bench.analysis.rounding import outward
from dpsco_bench.claims.bounds.registry import schedule_letter
from dpsco_bench.cli.console import bounded, constants_text, labelled, number, table
from dpsco_bench.errors import DpscoError
from dpsco_bench.execution.calibration import calibrate_cell, within_range
from dpsco_bench.execution.cell import Cell, ImpurePlan
from dpsco_bench.execution.request import check_run
from dpsco_bench.plain import Plain, Schedule, Tabled
from dpsco_bench.privacy import ledger
from dpsco_bench.privacy.add_remove import add_remove
from dpsco_bench.privacy.composition.sampled import generic_bound
from dpsco_bench.privacy.plan import PrivacySpec
from dpsco_bench.problems.base import Constants
from dpsco_bench.report.tables import Column, Number

CALIBRATIONS = ("paper", "accounted")
COLUMNS = {"": Column("what"), **{name: Number(name) for name in CALIBRATIONS}}
WEAK = 10.0
"""Claims above this epsilon are warned of: odds of more than 22,000 to 1 that a record is told."""


@dataclass(frozen=True)
class CalibrationAccount:
    """Privacy and cost of a calibration; every field has its name in ``account --json``.

    Attributes
    ----------
    noise : mapping, scale per query
    epsilon_real ... epsilon_sequence_kind : between replace-one neighbours, as in `execution.cell.EPSILONS`
    epsilon_add_remove, epsilon_add_remove_kind, epsilon_add_remove_reason : as `privacy.add_remove.AddRemove`
    epsilon_generic, generic_factor : float
        What a generic bound for batches without replacement gives, and how much noise the claim takes by it; NaN for
        plans without such batches.
    """

    variant: str
    schedule: Schedule
    noise: Mapping[str, float]
    epsilon_real: float
    epsilon_real_kind: str
    epsilon_of: str
    epsilon_output: float
    epsilon_output_kind: str
    epsilon_sequence: float
    epsilon_sequence_kind: str
    attained: bool
    accountant: str
    epsilon_add_remove: float
    epsilon_add_remove_kind: str
    epsilon_add_remove_reason: str
    privacy_status: str
    gradient_evaluations: float
    leaks: tuple[str, ...]
    warnings: tuple[str, ...]
    refused: str
    epsilon_law: float
    tau: float
    sampler_status: str
    epsilon_generic: float
    generic_factor: float

    @property
    def more_by_sequence(self) -> bool:
        """True where whoever sees all answers learns more than the output reveals."""
        return self.epsilon_of == ledger.OUTPUT and self.epsilon_sequence > self.epsilon_real * (1.0 + ledger.ROUNDING)

    @classmethod
    def of(cls, cell: Cell, calibration: str, root_seed: int) -> CalibrationAccount:
        """Charge a cell. Raises DpscoError as `calibrate_cell`."""
        fixed = calibrate_cell(cell, calibration, root_seed)
        plan, noise = fixed.plan_for(cell), fixed.scales
        with within_range(cell):
            apart = add_remove(plan, noise, cell.delta)
        generic = generic_bound(plan, noise, PrivacySpec(cell.epsilon, cell.delta)) or (math.nan, math.nan)
        known: dict[str, Any] = {f.name: getattr(fixed, f.name, None) for f in fields(cls)}
        known |= {"noise": noise, "refused": "", "epsilon_generic": generic[0], "generic_factor": generic[1]}
        known |= {"epsilon_add_remove": apart.epsilon, "epsilon_add_remove_kind": apart.kind}
        return cls(**{**known, "epsilon_add_remove_reason": apart.reason})


@dataclass(frozen=True)
class Declined:
    """A calibration that the algorithm refuses: the reason, and null for all that `CalibrationAccount` has."""

    refused: str

    def to_json(self) -> Plain:
        return {**dict.fromkeys(f.name for f in fields(CalibrationAccount)), "refused": self.refused}


@dataclass(frozen=True, repr=False)
class Account(Tabled):
    """A cell accounted under both calibrations; its fields are those that docs/verbs.md documents.

    The constants are declared in the norm of order ``p``; ``delta_large`` tells whether delta is at least 1/n.
    """

    algorithm: str
    problem: str
    n: int
    d: int
    p: float
    epsilon: float
    delta: float
    source: str
    delta_large: bool
    constants: Constants
    data_dependent_constants: bool
    paper: CalibrationAccount | Declined
    accounted: CalibrationAccount | Declined

    @property
    def calibrations(self) -> dict[str, CalibrationAccount | Declined]:
        return {"paper": self.paper, "accounted": self.accounted}

    @property
    def charged(self) -> dict[str, CalibrationAccount]:
        return {name: entry for name, entry in self.calibrations.items() if isinstance(entry, CalibrationAccount)}

    @property
    def remarks(self) -> list[str]:
        """Sentences on what the numbers mean, and warnings."""
        said, nominal = [*_about_paper(self), *_about_price(self)], self.constants.status == "nominal"
        for calibration, entry in self.calibrations.items():
            said += [f"{calibration}: {remark}." for remark in _about_calibration(self, entry, nominal)]
        reasons = {name: entry.epsilon_add_remove_reason for name, entry in self.charged.items()}
        for reason in dict.fromkeys(filter(None, reasons.values())):  # once where it is that of both
            who = ", ".join(name for name, why in reasons.items() if why == reason)
            said.append(f"{who}: no add/remove epsilon, as {reason}.")
        if nominal:
            proven = any(entry.privacy_status == "proven" for entry in self.charged.values())
            clipped = "the run clips what a record may change, so that its privacy needs no true ones"
            what = clipped if proven else "nothing on it is proven"
            said.append(f"The problem's constants are nominal (declared, or taken from the data): {what}.")
        if self.data_dependent_constants:
            said.append("The constants shown are those of data set 0; computing them from the data is not private.")
        if self.epsilon > WEAK:
            odds = f"two neighbouring data sets may be told apart at odds of exp({self.epsilon:g}) to 1"
            said.append(f"epsilon = {self.epsilon:g} protects nobody: {odds}.")
        if self.n == 1:
            said.append("n = 1: there is no other record to hide among, so that the whole release is about one person.")
        if self.delta_large:
            said.append(f"delta >= 1/n = {1 / self.n:.3g}: releasing one record outright would satisfy such a delta.")
        return said

    @property
    def table(self) -> pa.Table:
        """A row per calibration: real epsilon, privacy status, gradient evaluations and the noise of each query."""
        keys = ["variant", "epsilon_real", "epsilon_real_kind", "privacy_status", "gradient_evaluations", "refused"]
        rows = [
            {"calibration": name, **{key: getattr(entry, key, None) for key in keys}}
            | {f"noise of {query}": scale for query, scale in getattr(entry, "noise", {}).items()}
            for name, entry in self.calibrations.items()
        ]
        return pa.table({key: [row.get(key) for row in rows] for key in {**rows[0], **rows[1]}})

    def __repr__(self) -> str:
        real = {name: bounded(one.epsilon_real, one.epsilon_real_kind) for name, one in self.charged.items()}
        found = [f"{name} {real.get(name, 'refused')}" for name in self.calibrations]
        return f"Account({self.algorithm} on {self.problem}: {', '.join(found)})"


def account(cell: Cell, root_seed: int) -> Account:
    """Account one cell under both calibrations; the seed counts where a problem's constants depend on its data.

    Raises DpscoError if both are refused, or the plan function is not pure, and InputError for a seed that is none.
    """
    check_run("none", 1, root_seed)
    entries: dict[str, CalibrationAccount | Declined] = {}
    errors = []
    with within_range(cell):
        constants = cell.constants(root_seed)
    for calibration in CALIBRATIONS:
        try:
            entries[calibration] = CalibrationAccount.of(cell, calibration, root_seed)
        except ImpurePlan:
            raise
        except DpscoError as error:
            errors.append(error)
            entries[calibration] = Declined(str(error))
    if len(errors) == len(CALIBRATIONS):
        raise errors[0]
    return Account(
        algorithm=cell.algorithm_entry.id,
        problem=cell.problem,
        n=cell.n,
        d=cell.problem_entry.dimension,
        p=2 if constants.norm == 2.0 else constants.norm,
        epsilon=float(cell.epsilon),
        delta=float(cell.delta),
        source=cell.algorithm_entry.source,
        delta_large=cell.delta >= 1.0 / cell.n,
        constants=constants,
        data_dependent_constants=cell.problem_entry.data_dependent_constants,
        **entries,
    )


def screen(report: Account) -> Iterator[str]:
    """One screen: the case, both calibrations side by side, and what it means."""
    yield (
        f"{report.algorithm} on {report.problem}: n = {report.n}, d = {report.d}, "
        f"epsilon = {report.epsilon:g}, delta = {report.delta:g}"
    )
    yield labelled("source", report.source, 11)
    yield labelled("constants", f"{constants_text(report.constants)} ({report.constants.status})", 11)
    yield "\n" + table(COLUMNS, list(_rows(report))) + "\n"
    yield from (labelled("*", sentence, 2) for sentence in report.remarks)


def _rows(report: Account) -> Iterator[dict[str, str]]:
    charged, paper = report.charged, report.algorithm.partition(".")[0]

    def row(what: str, show: Callable[[CalibrationAccount], str], refused: str = "-") -> dict[str, str]:
        return {"what": what, **{c: show(charged[c]) if c in charged else refused for c in CALIBRATIONS}}

    yield row("variant", lambda e: e.variant, "refused")
    yield row("real epsilon (replace-one)", lambda e: bounded(e.epsilon_real, e.epsilon_real_kind))
    yield row("that is the epsilon", lambda e: ledger.OF[e.epsilon_of])
    if any(e.epsilon_of == ledger.OUTPUT and e.epsilon_sequence != e.epsilon_real for e in charged.values()):
        sequence = f"the same {ledger.OF[ledger.SEQUENCE]}"
        yield row(sequence, lambda e: bounded(e.epsilon_sequence, e.epsilon_sequence_kind))
    yield row("real epsilon (add/remove)", lambda e: bounded(e.epsilon_add_remove, e.epsilon_add_remove_kind))
    yield row("privacy", lambda e: ledger.STATUS_WORDS[e.privacy_status])
    scale = "scale S/(G t)" if any(entry.sampler_status for entry in charged.values()) else "noise scale"
    for name in _names(entry.noise for entry in charged.values()):
        yield row(f"{scale} of `{name}`", lambda e, name=name: number(e.noise.get(name)))  # type: ignore[misc]
    yield row("gradient evaluations", lambda e: number(e.gradient_evaluations))
    for name in _names(entry.schedule for entry in charged.values()):
        letter = schedule_letter(paper, name)
        yield row(letter, lambda e, name=name: _schedule_value(e.schedule.get(name)))  # type: ignore[misc]


def _names(mappings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Names that either calibration has, in order; the schedule repeats n."""
    return [name for name in dict.fromkeys(name for mapping in mappings for name in mapping) if name != "n"]


def _schedule_value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " .. ".join(map(number, value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else number(value)


def _about_paper(report: Account) -> Iterator[str]:
    paper = report.paper
    if isinstance(paper, Declined):
        return
    variants = get_algorithm(report.algorithm).variants.items()
    others = [name for name, allowed in variants if "paper" in allowed and name != paper.variant]
    whose = "the paper's noise" + f" in variant `{paper.variant}`" * bool(others)
    if math.isinf(paper.epsilon_real):
        yield f"With {whose} the run is not private at all: something is released without noise."
    elif not math.isnan(paper.epsilon_real):
        yield from _about_epsilon(report, paper, whose)
    if others:
        given = " or ".join(f"variant={name}" for name in others)  # the one in use may be a correction
        what = f"paper: the noise of variant `{paper.variant}`; for another reading give {given}"
        yield f"{what}; `dpsco show {report.algorithm}` says which is printed."


def _about_epsilon(report: Account, paper: CalibrationAccount, whose: str) -> Iterator[str]:
    kind = paper.epsilon_real_kind
    value, phrase = outward(paper.epsilon_real, kind, 4), ledger.PHRASES[kind]
    above = kind != "upper" and paper.epsilon_real > report.epsilon
    relation = "not the claimed" if above and paper.privacy_status != "proven" else "for a claim of"
    where = f", {ledger.SOME_RECORDS}" if above and not paper.attained else ""
    of, claim = ledger.OF[paper.epsilon_of], f"{relation} {report.epsilon:g}"
    said = f"With {whose} the real epsilon {of} is {phrase}{value:.4g}{where}, {claim}."
    if paper.more_by_sequence:
        whole = outward(paper.epsilon_sequence, paper.epsilon_sequence_kind, 4)
        said += f" Whoever saw all answers would have {ledger.PHRASES[paper.epsilon_sequence_kind]}{whole:.4g}."
    yield said
    if above and paper.epsilon_of == ledger.SEQUENCE:
        yield "What the output alone reveals is not known; it may be less."


def _about_price(report: Account) -> list[str]:
    paper, accounted = report.paper, report.accounted
    if isinstance(accounted, Declined):
        return []
    aim = f"({report.epsilon:g}, {report.delta:g})-differential privacy"
    law_only = accounted.sampler_status == "target_law_only"
    goal = f"For {aim} of the target law, not of this run, it takes" if law_only else f"For {aim} it takes"
    if accounted.more_by_sequence:
        goal = f"For {aim} of all answers it takes"
    noise = "scale" if accounted.sampler_status else "noise"
    evaluations = accounted.gradient_evaluations
    if isinstance(paper, Declined):
        return [f"{goal} {evaluations:.3g} gradient evaluations with the accounted noise."]
    ratios = [
        f"{scale / paper.noise[name]:.3g} times the paper's {noise} on `{name}`"
        for name, scale in accounted.noise.items()
        if paper.noise.get(name)
    ]
    extra = [f"noise of its own on `{name}`" for name in accounted.noise if name not in paper.noise]
    if not accounted.noise:
        return ["Nothing is released, so that no noise is needed."]
    by_paper = paper.gradient_evaluations
    cost = f"{evaluations / by_paper if by_paper else math.inf:.3g} times the gradient evaluations"
    if evaluations == by_paper:
        cost = "as many gradient evaluations" if by_paper else "no gradients"
    return [f"{goal} {', '.join([*ratios, *extra])}, and {cost}."]


def _about_calibration(report: Account, entry: CalibrationAccount | Declined, nominal: bool) -> Iterator[str]:
    if isinstance(entry, Declined):
        yield entry.refused
        return
    yield f"accountant {entry.accountant}"
    if entry.sampler_status:
        known = (entry.epsilon_real, entry.epsilon_law, entry.tau)
        drawn = ledger.draw_statement(entry.sampler_status, *known, report.delta, nominal, entry.epsilon_real_kind)
        by = f", by the {entry.accountant.partition(', ')[0]}; nothing is said of other data sets"
        yield drawn + by * (entry.epsilon_real_kind == "exact")
    yield from (*entry.leaks, *entry.warnings)
    if not math.isnan(entry.epsilon_generic):
        factor = entry.generic_factor
        needed = f"{factor:.2g} times this noise" if math.isfinite(factor) else "more noise than any"
        yield (
            "for comparison, a generic bound for zCDP on batches without replacement gives "
            f"{entry.epsilon_generic:.3g}; by it the claim would take {needed}"
        )
