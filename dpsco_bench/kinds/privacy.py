"""Kind `privacy`: the real epsilon of the noise against the claimed one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from dpsco_bench.analysis.evidence import MeasuredCell
from dpsco_bench.analysis.judge import PartCells
from dpsco_bench.analysis.noise import Noise
from dpsco_bench.analysis.rounding import digits_beside, outward
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import Kind, Word, kind
from dpsco_bench.claims.model import LAW, MeasuredPart
from dpsco_bench.privacy.compared import Compared, compared
from dpsco_bench.privacy.ledger import PHRASES, SIGNS, SOME_RECORDS, STATUS_WORDS
from dpsco_bench.privacy.plan import Charge

EPSILON_SLACK = 1e-3
"""Relative excess over the claimed epsilon that still holds (accountants' discretisation)."""


@dataclass(frozen=True, kw_only=True)
class PrivacyPart(MeasuredPart):
    """Fields of a privacy part.

    Its ``quantity`` is ``epsilon_law`` for that of the target law, where nothing is known of the sampler; ``for_class``
    names the class of problems that its epsilon is for, where that is not the claim's own.
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
            "the noise is as private as claimed",
        ),
        "fails": Word("contradicts", "the real ε is above the claim", "the noise is not as private as claimed"),
        "unproven": Word(
            "unproven",
            "no accountant proves the claim, and none refutes it of what is released",
            "the noise is not shown to be private",
        ),
    }
    judges_noise = True
    waits = False
    part = PrivacyPart
    fields = ("epsilon_real", "epsilon_real_kind", "epsilon_claimed")

    def runs(self, part: PrivacyPart) -> bool:
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
        noises, real = [Noise.of(*cell.charged) for cell in cells], [cell.calibrated.epsilon_real for cell in cells]
        if of_the_law:
            real = [cell.calibrated.epsilon_law for cell in cells]
            noises = [
                replace(noise, epsilon_real=own, epsilon_real_kind="upper", epsilon_of="")
                for noise, own in zip(noises, real, strict=True)
            ]
        verdict = privacy_verdict(
            noises, real, unproven=withheld, why=why, attained=lambda number: _attained(cells[number])
        )
        if verdict.verdict == "holds":
            verdict = replace(verdict, reason=verdict.reason + other_instance(case))
        if not of_the_law:
            return verdict
        bound = f"unproven (target law {outward(verdict.epsilon_real or math.nan, 'upper'):.3g})"
        return replace(verdict, verdict=bound if law_only else verdict.verdict, noise=None, epsilon_of=None)

    def panel(self, claim: Any, rows: Sequence[Any]) -> Any:
        from dpsco_bench.report.panels import epsilon_panel

        return epsilon_panel(claim, rows)


def privacy_verdict(
    noises: Sequence[Noise],
    real: Sequence[float] = (),
    *,
    unproven: str = "",
    why: str = "",
    attained: Callable[[int], tuple[Compared, str, str]] = lambda number: (Compared(), "", ""),
) -> Verdict:
    """Judge the real epsilon of every cell against its claim; the cell of largest real / claimed decides.

    Returns ``holds``, ``fails (real eps X)`` or ``unproven (...)``.

    Parameters
    ----------
    noises : sequence of Noise, of each cell: its real epsilon is NaN where no accountant covers it, infinite for none
        at all. That of the cell which decides is behind the verdict.
    real : sequence of float, the accountant's values, if those of the noises are rounded where they are at their claims
    unproven, why : str
        A reason that withholds any proof whatever the accountant says (nominal constants, a proof of the target law
        only), and the same in two words, which stand in the verdict: its bound may well be below the claim.
    attained : callable
        Number of the cell that fails -> what its data sets differ in; the instance that attains its value, empty where
        none does; n, d, ...
    """
    words = [_privacy_word(noise, unproven, why) for noise in noises]
    values = real or [noise.epsilon_real for noise in noises]

    def severity(number: int) -> tuple[int, float]:
        excess = values[number] / noises[number].epsilon_claimed
        outcome = ("holds", "unproven", "fails").index(words[number].partition(" ")[0])
        return outcome, -1.0 if math.isnan(excess) else excess

    cell = max(range(len(noises)), key=severity)
    failed = words[cell].startswith("fails") or noises[cell].sequence_exceeds
    pair, *place = attained(cell) if failed else (Compared(), "", "")
    noise = replace(noises[cell], pair=pair.records, delta_large=any(one.delta_large for one in noises))
    return Verdict(
        words[cell],
        reason=unproven or _reason(noise) + _where(pair, *place),
        epsilon_real=noise.epsilon_real,
        epsilon_real_kind=noise.epsilon_real_kind,
        epsilon_claimed=noise.epsilon_claimed,
        epsilon_of=noise.epsilon_of,
        noise=noise,
    )


def other_instance(case: PartCells) -> str:
    """Return the problem whose noise is charged, if the claim's risks are all of other ones."""
    risks = (part.problem for part in case.whole.claim.parts if part.runs and part.problem and part.id != case.part.id)
    others = dict.fromkeys(name.replace("_", " ") for name in risks)
    own = case.part.problem.replace("_", " ")
    return f", on {own}, where the risks are of {' and '.join(others)}" if others and own and own not in others else ""


def _attained(cell: MeasuredCell) -> tuple[Compared, str, str]:
    """Describe what a cell's data sets differ in, its problem (empty if no records attain its charge), its setting."""
    entry, own = cell.entry, cell.calibrated
    charge = Charge(own.epsilon_real, own.epsilon_real_kind, own.accountant)
    pair = compared(entry.problem_entry, own.plan_for(entry), entry.n, charge, own.scales, entry.delta)
    attained = own.attained or own.epsilon_real_kind != "lower"
    setting = f"n = {entry.n}, d = {own.dimension}, eps = {entry.epsilon:g}, delta = {entry.delta:g}"
    return pair, entry.problem.replace("_", " ") * attained, setting


def _reason(noise: Noise) -> str:
    """State the deciding cell's real epsilon, rounded outward, beside its claim, with equal digits."""
    real, kind, claimed = noise.epsilon_real, noise.epsilon_real_kind, noise.epsilon_claimed
    if math.isnan(real):
        return "no accountant covers this sampling scheme"
    of, digits = f" {noise.whose}" * bool(noise.whose), digits_beside(real, kind, claimed)
    shown = f"{outward(real, kind, digits):.{digits}g} where {claimed:.{digits}g} is claimed"
    return f"the real eps{of} is {PHRASES[kind]}{shown}" + ", that of the output is open" * noise.sequence_exceeds


def _where(pair: Compared, instance: str, setting: str) -> str:
    """Name what attains it: the pair of the instance, or records that the theorem admits."""
    if not (instance or setting):
        return ""
    effect = f" ({pair.effect})" * bool(pair.effect)
    if instance:
        return f": {pair.records} of {instance}{effect}, {setting}" if pair.records else f": {instance}, {setting}"
    return f", {SOME_RECORDS}: " + (f"{pair.records}{effect}, " if pair.records else "") + setting


def _privacy_word(noise: Noise, unproven: str, why: str) -> str:
    real, kind = noise.epsilon_real, noise.epsilon_real_kind
    if math.isnan(real):
        return "unproven (no accountant covers it)"
    within = real <= noise.epsilon_claimed * (1 + EPSILON_SLACK)
    if unproven:
        bound = f"{kind + ' bound' if kind != 'exact' else 'value'} {outward(real, kind):.3g}"
        return f"unproven ({why + ', ' * bool(why)}{bound})"
    if noise.sequence_exceeds:
        return f"unproven (query sequence {SIGNS[kind]} {outward(real, kind):.3g})"
    if within and kind in ("upper", "exact"):
        return "holds"
    if not within and kind in ("exact", "lower"):
        return f"fails (real eps {outward(real, kind):.3g})"
    return f"unproven ({kind} bound {outward(real, kind):.3g})"
