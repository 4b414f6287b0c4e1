"""Kind `rate`: the slope of the excess risk against that of a formula.

"Better" means that the risk decays faster as the parameter grows, hence a smaller slope: more negative for n and
epsilon, less steep for d or a condition number. Regimes towards 0 (a gradient noise, a distance) ask for a larger
slope and say so with ``better="larger"``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np

from dpsco_bench.analysis.evidence import CellEvidence
from dpsco_bench.analysis.judge import Case, means
from dpsco_bench.analysis.rates import HARDLY_MOVED, MOVED, Regime, SweepRisks, rate_verdict
from dpsco_bench.analysis.sharing import sharing_of
from dpsco_bench.analysis.slopes import bound_slope
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import Kind, Word, kind
from dpsco_bench.claims.model import RISK, MeasuredPart, Part
from dpsco_bench.errors import InputError
from dpsco_bench.problems.registry import problem_class

LARGEST_TOLERANCE, OF_THE_EXPONENT, ALWAYS_ALLOWED = 0.25, 0.25, 0.08
"""A tolerance is at most the first, and at most this share of the exponent unless that is below the last."""


@dataclass(frozen=True, kw_only=True)
class RatePart(MeasuredPart):
    """Fields of a rate's part.

    Attributes
    ----------
    better : str
        Which slopes decay faster than claimed: ``smaller`` ones, or ``larger`` ones where the parameter goes to 0.
    noise_off : bool, false where the algorithm has no limit without noise to be run as a companion
    law, law_limit : str and float
        A part of kind law on the same cells, and the limit of its ratio to the formula (``inf``: unbounded); where the
        law holds, it decides the exponent.
    sampling : str, the sampling error that has the exponent, where noise plays no part in it
    loose : str, the term in which the bound is loose, where a faster decay contradicts nothing that it states
    """

    bound: str
    tolerance: float
    tolerances: Mapping[str, float] = field(default_factory=dict)
    exponent: float | None = None
    axis: str = ""
    better: Literal["smaller", "larger"] = "smaller"
    quantity: str = RISK
    noise_off: bool = True
    law: str = ""
    law_limit: float | None = None
    loose: str = ""
    sampling: str = ""


@kind("rate")
class Rate(Kind):
    """How fast the risk falls, as a slope on log-log axes."""

    title = "rate"
    words: ClassVar = {
        "match": Word(
            "confirms",
            "the interval of measured less formula slope lies within the tolerance",
            phrase="{what} {moves} as the bound says",
        ),
        "faster": Word(
            "better",
            "the whole interval lies beyond the tolerance on the better side",
            phrase="{what} {moves} {better} than the bound",
        ),
        "fails": Word(
            "contradicts",
            "the whole interval lies beyond the tolerance on the worse side",
            phrase="{what} {moves} {worse} than the bound",
        ),
        "inconclusive": Word(
            "open", "the interval reaches across the tolerance", phrase="{what} against the bound: undecided"
        ),
        "inconclusive (bent)": Word(
            "open",
            "the means follow no power law: they bend in another way than the formula",
            phrase="{what} {follows} no power law",
        ),
        "inconclusive (edge)": Word(
            "open",
            "a largest risk stands at the edge of a signal grid that could be extended",
            phrase="the largest risk is at the edge of the signals",
        ),
        "not_observable": Word(
            "open",
            "too few sizes where the runs leave the starting point and the claimed term is half of the bound",
            phrase="no rate shows at these sizes",
        ),
        "not_observable (frozen)": Word(
            "open", "the part's own test says that the runs hardly move", phrase="the runs hardly move"
        ),
    }
    part = RatePart
    of_the_law = has_interval = measures_slope = True
    early = ("match", "faster", "fails")
    fields = ("fitted", "local_slopes", "noise_off_share")
    shape = "slopes"

    def check(self, part: RatePart, where: str) -> None:
        """Check that the tolerance is small beside its exponent."""
        limit = largest_tolerance(part.exponent)
        for tolerance in (part.tolerance, *part.tolerances.values()):
            if tolerance > limit:
                raise InputError(f"{where}: tolerance", tolerance, f"at most {limit:g} for exponent {part.exponent}")

    def needs_slope(self, part: RatePart) -> bool:
        return True

    def judge(self, case: Case) -> Verdict:
        """By `rate_verdict`, with what a reader must know beside it."""
        part = case.part
        sweep = sweep_of(case)
        verdict = rate_verdict(
            sweep,
            part.tolerance if part.exponent is not None else limited(part.tolerance, sweep),
            case.names,
            profile=case.profile,
            parameter=case.swept_parameter,
            claimed_exponent=part.exponent,
            better=part.better,
            others=case.bound.others if case.bound.named_term else "",
            look=case.look,
        )
        return replace(verdict, notes=(*verdict.notes, *_notes(case)))


def largest_tolerance(exponent: float | None) -> float:
    """Compute the largest tolerance of a rate with some exponent; without one the largest of all."""
    if exponent is None:
        return LARGEST_TOLERANCE
    return min(LARGEST_TOLERANCE, max(ALWAYS_ALLOWED, OF_THE_EXPONENT * abs(exponent)))


def limited(tolerance: float, sweep: SweepRisks) -> float:
    """Limit a tolerance without a printed exponent to that of the formula's own slope."""
    axis, named = np.asarray(sweep.axis, dtype=np.float64), sweep.regime.named
    if len(np.unique(axis)) < 2:
        return tolerance
    return min(tolerance, largest_tolerance(bound_slope(axis, named)))


def sweep_of(case: Case) -> SweepRisks:
    """Collect what a case is judged by."""
    part, cells = case.part, case.cells
    named = case.bound.named_term or case.bound.value
    starts = [cell.start_risk if part.quantity == RISK else np.nan for cell in cells]
    regime = Regime.of(
        case.swept,
        means(cells)[0],
        [named(cell.context) for cell in cells],
        starts=starts,
        limits=[HARDLY_MOVED if cell.can_be_stronger else MOVED for cell in cells],
        full=[case.bound.value(cell.context) for cell in cells],
    )
    off = case.silent_cells if case.calibration != "none" else []
    return SweepRisks(
        case.values,
        [cell.risks for cell in cells],
        regime,
        numerical_errors=[cell.numerical_error for cell in cells],
        sharing=sharing_of([cell.entry for cell in cells]),
        edges=tuple(cell.at_edge for cell in cells),
        next_signals=tuple(cell.next_signal for cell in cells),
        frozen=tuple(frozen(part, cell) for cell in cells) if part.requires else (),
        noise_off=[cell.risks for cell in off],
        noise_off_errors=[cell.numerical_error for cell in off],
    )


def _notes(case: Case) -> tuple[str, ...]:
    part, cells = case.part, case.cells
    notes: tuple[str, ...] = ()
    off = case.silent_cells if case.calibration != "none" else []
    if off and (means(off)[0] <= 0).any():
        notes += ("noise off: the excess risk is at rounding level and has no slope",)
    problems = {case.court.claim.part(source).problem for source, _ in case.sources}
    if part.quantity == RISK and any(problem_class(name).cell_dependent for name in problems):
        notes += _family_notes(cells, case.silent_cells)
    notes += tuple(sorted({text for cell in cells for text in cell.certificates}))
    return notes + saturation_notes(part, cells)


def saturation_notes(part: Part, cells: Sequence[CellEvidence]) -> tuple[str, ...]:
    """In how many cells the risk is close to the starting point's, and what the part's own test says, if any."""
    told = part.requires and part.quantity == RISK
    close = sum(float(cell.final.mean()) > HARDLY_MOVED * cell.start_risk for cell in cells) if told else 0
    least = ", ".join(f"{name} >= {value:g}" for name, value in part.requires.items())
    where = f"risk above {HARDLY_MOVED:g} of the starting point's at the same signal in {close} of {len(cells)} cells"
    own = "fails as well" if any(frozen(part, cell) for cell in cells) else "passes, and by it the rate is observable"
    return (f"{where}; the part's own test, {least} at the largest signal, {own}",) if close else ()


def frozen(part: Part, cell: CellEvidence) -> bool:
    """Check whether a required extra is below its least value, at the largest signal of a cell."""
    strongest = cell.grid[-1] if cell.grid else cell
    return any(strongest.extras[name].mean() < least for name, least in part.requires.items())


def _family_notes(cells: Sequence[CellEvidence], silent: Sequence[CellEvidence]) -> tuple[str, ...]:
    """Where the starting gap changes along a sweep, a slope says little and the gap over it more."""

    def shares(cells: Sequence[CellEvidence]) -> str:
        ratios = means(cells)[0] / [cell.start_risk for cell in cells]
        return f"{ratios.min():.2g} to {ratios.max():.2g}"

    each = ", each at its own worst signal" if any(cell.grid for cell in (*cells, *silent)) else ""
    off = f"; with noise off {shares(silent)}{each}" if silent else ""
    return (f"gap over the starting gap: {shares(cells)}{off}",)
