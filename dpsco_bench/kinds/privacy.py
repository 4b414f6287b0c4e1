"""Kind `privacy`: the real epsilon of the noise against the claimed one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpsco_bench.analysis.cells import same_length
from dpsco_bench.analysis.evidence import CellEvidence
from dpsco_bench.analysis.judge import PartCells
from dpsco_bench.analysis.noise import Noise
from dpsco_bench.analysis.rounding import digits_beside, outward
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import Kind, Word, kind
from dpsco_bench.claims.model import LAW, MeasuredPart
from dpsco_bench.errors import InputError
from dpsco_bench.privacy.compared import Compared, compared
from dpsco_bench.privacy.ledger import PHRASES, SIGNS, SOME_RECORDS, STATUS_WORDS
from dpsco_bench.privacy.plan import Charge

EPSILON_SLACK = 1e-3
"""Relative excess over the claimed epsilon that still holds (accountants' discretisation)."""


@dataclass(frozen=True, kw_only=True)
class PrivacyPart(MeasuredPart):
    """Fields of a privacy part.

    Attributes
    ----------
    quantity : str, ``epsilon_law`` for that of the target law, where nothing is known of the sampler
    for_class : str, class of problems that its epsilon is for, where that is not the claim's own; empty else
    """

    quantity: Literal["risk", "epsilon_law"] = "risk"
    for_class: str = ""


@kind("privacy")
class PrivacyKind(Kind):
    """Privacy: does an accountant prove or refute (epsilon, delta) in every cell? Nothing is run."""

    title = "privacy"
    words: ClassVar = {
        "holds": Word(
            "confirms",
            "the real ε is proven to be at most the claim in every cell",
            phrase="the noise is as private as claimed",
        ),
        "fails": Word("contradicts", "the real ε is above the claim", phrase="the noise is not as private as claimed"),
        "unproven": Word(
            "unproven",
            "no accountant proves the claim, and none refutes it of what is released",
            phrase="the noise is not shown to be private",
        ),
    }
    judges_noise = True
    part = PrivacyPart
    fields = ("epsilon_real", "epsilon_real_kind", "epsilon_claimed")

    def runs(self, part: PrivacyPart) -> bool:
        """Never: plans are charged."""
        return False

    def asks(self, part: MeasuredPart) -> bool:
        """Never: it takes what is there."""
        return False

    def judge(self, case: PartCells) -> Verdict:
        """Judge the real epsilon, or the target law's if nothing is known of the sampler."""
        cells = case.cells
        withheld, why, of_the_law = "", "", case.part.quantity == LAW
        law_only = any(cell.calibrated.privacy_status == "target_law_only" for cell in cells)
        if law_only:
            exact = "draw" if of_the_law else "minimiser"
            withheld = f"{STATUS_WORDS['target_law_only']}: the proof asks for an exact {exact}"
            why = "target law only"
        unproven = [cell for cell in cells if cell.calibrated.privacy_status != "proven"]
        if any(cell.context.constants.status == "nominal" for cell in unproven):
            withheld, why = "the Lipschitz constant is nominal", "nominal constants"
        verdict = privacy_verdict(
            [c.calibrated.epsilon_law if of_the_law else c.calibrated.epsilon_real for c in cells],
            ["upper" if of_the_law else cell.calibrated.epsilon_real_kind for cell in cells],
            [cell.entry.epsilon for cell in cells],
            unproven=withheld,
            why=why,
            pair=lambda number: _pair(cells[number]),
            place=lambda number: _place(cells[number]),
            noises=() if of_the_law else [Noise.of(*cell.charged) for cell in cells],
        )
        if verdict.verdict == "holds":
            verdict = replace(verdict, reason=verdict.reason + other_instance(case))
        if of_the_law and law_only:
            law = np.nan if verdict.epsilon_real is None else outward(verdict.epsilon_real, "upper")
            verdict = replace(verdict, verdict=f"unproven (target law {law:.3g})")
        return verdict

    def panel(self, scores: Sequence[Any]) -> Any:
        from dpsco_bench.report.elements import epsilon_panel

        return epsilon_panel(scores)


def privacy_verdict(
    epsilon_real: ArrayLike,
    kinds: Sequence[str],
    epsilon_claimed: ArrayLike,
    *,
    unproven: str = "",
    why: str = "",
    pair: Callable[[int], Compared] = lambda number: Compared(),
    place: Callable[[int], tuple[str, str]] = lambda number: ("", ""),
    noises: Sequence[Noise] = (),
) -> Verdict:
    """Judge the real epsilon of every cell against its claim; the cell of largest real / claimed decides.

    Returns ``holds``, ``fails (real eps X)`` or ``unproven (...)``.

    Parameters
    ----------
    epsilon_real : array_like, accountant's values; NaN where no accountant covers a cell, infinite for none at all
    kinds : sequence of str, ``upper``, ``exact``, ``lower``, or empty with NaN
    unproven, why : str
        A reason that withholds any proof whatever the accountant says (nominal constants, a proof of the target law
        only), and the same in two words, which stand in the verdict: its bound may well be below the claim.
    pair : callable, number of a cell -> what its data sets differ in; asked of the cell that fails, and of no other
    place : callable, number of that cell -> the instance that attains its value, empty where none does; n, d, ...
    noises : sequence of Noise, of each cell: that of the one which decides is behind the verdict
    """
    claimed = np.atleast_1d(np.asarray(epsilon_claimed, dtype=np.float64))
    real = same_length("epsilon_real", epsilon_real, len(claimed))
    if len(kinds) != len(claimed) or not len(claimed) or not (claimed > 0).all():
        raise InputError("claimed epsilons", claimed.tolist(), "numbers > 0, one for each kind")
    over = [noise.sequence_exceeds for noise in noises] or [False] * len(claimed)
    given = zip(real.tolist(), kinds, claimed.tolist(), over, strict=True)
    words = [_privacy_word(*cell, unproven, why) for cell in given]
    severity = np.array([("holds", "unproven", "fails").index(word.split(" ")[0]) for word in words])
    deciding = np.flatnonzero(severity == severity.max())
    cell = int(deciding[np.argmax(np.nan_to_num(real[deciding] / claimed[deciding], nan=-1.0, posinf=np.inf))])
    failed = words[cell].startswith("fails") or over[cell]
    found = pair(cell) if failed else Compared()
    noise = replace(noises[cell], pair=found.records if failed else "") if noises else None
    if noise:
        noise = replace(noise, delta_large=any(one.delta_large for one in noises))
    return Verdict(
        words[cell],
        reason=unproven
        or _reason(float(real[cell]), kinds[cell], float(claimed[cell]), noise)
        + (_where(found, *place(cell)) if failed else ""),
        epsilon_real=float(real[cell]),
        epsilon_real_kind=kinds[cell],
        epsilon_claimed=float(claimed[cell]),
        epsilon_of=noise.epsilon_of if noise else None,
        noise=noise,
    )


def other_instance(case: PartCells) -> str:
    """Return the problem whose noise is charged, if the claim's risks are all of other ones."""
    risks = (part.problem for part in case.whole.claim.parts if part.runs and part.problem and part.id != case.part.id)
    others = dict.fromkeys(name.replace("_", " ") for name in risks)
    own = case.part.problem.replace("_", " ")
    return f", on {own}, where the risks are of {' and '.join(others)}" if others and own and own not in others else ""


def _place(cell: CellEvidence) -> tuple[str, str]:
    """Describe a cell's problem, empty if its records do not attain what it is charged, and its setting."""
    entry, own = cell.entry, cell.calibrated
    attained = own.attained or own.epsilon_real_kind != "lower"
    setting = f"n = {entry.n}, d = {own.dimension}, eps = {entry.epsilon:g}, delta = {entry.delta:g}"
    return entry.problem.replace("_", " ") * attained, setting


def _pair(cell: CellEvidence) -> Compared:
    """Describe the difference between the data sets that a cell's epsilon compares."""
    entry, own = cell.entry, cell.calibrated
    charge = Charge(own.epsilon_real, own.epsilon_real_kind, own.accountant)
    return compared(entry.problem_entry, own.plan_for(entry), entry.n, charge, own.scales, entry.delta)


def _reason(real: float, kind: str, claimed: float, noise: Noise | None) -> str:
    """State the deciding cell's real epsilon, rounded outward, beside its claim, with equal digits."""
    if np.isnan(real):
        return "no accountant covers this sampling scheme"
    of, digits = f" {noise.whose}" if noise and noise.whose else "", digits_beside(real, kind, claimed)
    shown = f"{outward(real, kind, digits):.{digits}g} where {claimed:.{digits}g} is claimed"
    said = f"the real eps{of} is {PHRASES.get(kind, '')}{shown}"
    return said + ", that of the output is open" * bool(noise and noise.sequence_exceeds)


def _where(pair: Compared, instance: str, setting: str) -> str:
    """Name what attains it: the pair of the instance, or records that the theorem admits."""
    if not (instance or setting):
        return ""
    effect = f" ({pair.effect})" * bool(pair.effect)
    if instance:
        return f": {pair.records} of {instance}{effect}, {setting}" if pair.records else f": {instance}, {setting}"
    return f", {SOME_RECORDS}: " + (f"{pair.records}{effect}, " if pair.records else "") + setting


def _privacy_word(real: float, kind: str, claimed: float, sequence: bool, unproven: str, why: str) -> str:
    if np.isnan(real):
        return "unproven (no accountant covers it)"
    if kind not in ("upper", "exact", "lower"):
        raise InputError("epsilon_real_kind", kind, "upper, exact or lower")
    within = real <= claimed * (1 + EPSILON_SLACK)
    if unproven:
        bound = f"{kind + ' bound' if kind != 'exact' else 'value'} {outward(real, kind):.3g}"
        return f"unproven ({why + ', ' * bool(why)}{bound})"
    if sequence:
        return f"unproven (query sequence {SIGNS[kind]} {outward(real, kind):.3g})"
    if within and kind in ("upper", "exact"):
        return "holds"
    if not within and kind in ("exact", "lower"):
        return f"fails (real eps {outward(real, kind):.3g})"
    return f"unproven ({kind} bound {outward(real, kind):.3g})"
