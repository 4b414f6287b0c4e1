"""Kinds that judge cells one by one: `law`, `band`, `lower_bound` and `shown`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpsco_bench.analysis.bootstrap import simultaneous_quantile
from dpsco_bench.analysis.cells import (
    NO_ERROR,
    band_verdict,
    cell_verdict,
    columns_of,
    measured,
    ratios_to,
    three_way,
    undecided,
)
from dpsco_bench.analysis.judge import Case, dof_of, means
from dpsco_bench.analysis.looks import EARLY, FIXED, Look
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import WORST, Kind, Word, check_band, kind
from dpsco_bench.claims.model import RISK, MeasuredPart, Part


@dataclass(frozen=True, kw_only=True)
class LawPart(MeasuredPart):
    """Fields of a computed law's part; ``tolerance`` is the largest relative difference from it."""

    bound: str
    tolerance: float = 0.15
    tolerances: Mapping[str, float] = field(default_factory=dict)
    quantity: str = RISK


@kind("law")
class Law(Kind):
    """Means against a formula that is computed and not bounded; it can certify the chains of other parts."""

    title = "computed law"
    words: ClassVar = {
        "holds": Word(
            "confirms", "every cell is within the stated error of the computed value", phrase="measured as computed"
        ),
        "violated": Word(
            "contradicts", "a cell is beyond it, by more than sampling error", phrase="measured is not what is computed"
        ),
        "inconclusive": Word(
            "open", "the intervals are too wide for a decision", phrase="as computed or not: undecided"
        ),
    }
    part = LawPart
    mixes_sweeps = of_the_law = knows_the_law = True
    early = ("holds",)
    fields = WORST
    shape = "ratios"
    labels: ClassVar = {"ratio": "excess risk / computed value", "reference": "law"}
    against = "= 1"

    def judge(self, case: Case) -> Verdict:
        tolerance = case.part.tolerance
        found = law_verdict(*case.columns, case.printed, tolerance, dof=case.dof, look=case.look)
        return replace(found, tolerance=tolerance)


def law_verdict(
    values: ArrayLike,
    mean: ArrayLike,
    stderr: ArrayLike,
    law: ArrayLike,
    tolerance: float,
    *,
    dof: ArrayLike = np.inf,
    look: Look = FIXED,
) -> Verdict:
    """Judge whether a measured curve equals a computed one within a stated error.

    Returns ``holds`` if every cell is within the stated error, ``violated`` if the interval of one lies beyond it (for
    all cells together, with Student's quantile at ``dof``), else ``inconclusive``; with the ratio farthest from 1.
    Before the last look every interval has to lie within the error.
    """
    columns = columns_of(values, mean, stderr, law)
    _, m, s, target = columns
    ratios = ratios_to(m, target)
    beyond = np.abs(m - target) - tolerance * np.abs(target)
    half = s * simultaneous_quantile(len(m), dof, look.confidence(EARLY))
    worst = int(np.argmax(np.abs(ratios - 1)))
    reason = f"measured / computed is {ratios[worst]:.4g} at the most distant cell"
    word = three_way(beyond, half, look)
    return cell_verdict(word, reason + undecided(word, beyond, half), columns, ratios, worst)


@dataclass(frozen=True, kw_only=True)
class BandPart(Part):
    """Fields of a band's part.

    Attributes
    ----------
    band : list of float, allowed range of the ratio
    bound : str, formula that the first used part is compared with, in place of the second used part
    band_of : {"paper", "ours"}, who states the band; one of ours answers nothing of the claim
    """

    band: list[float]
    bound: str = ""
    quantity: str = RISK
    band_of: Literal["paper", "ours"] = "paper"


@kind("band")
class Band(Kind):
    """Means of the first used part over the bound, or else over those of the second."""

    title = "stated band"
    words: ClassVar = {
        "holds": Word(
            "confirms",
            "the ratio of means is in the band in every cell; its interval may cross an end, which the reason says",
            phrase="the ratios stay in the band",
        ),
        "violated": Word(
            "contradicts",
            "it is outside in at least one cell, by more than sampling error",
            phrase="the ratios leave the band",
        ),
        "inconclusive": Word(
            "open",
            "it is outside in some cell, but by no more than sampling error",
            phrase="in the band or not: undecided",
        ),
    }
    part = BandPart
    needs_all_uses = of_the_law = True
    early = ("holds",)
    fields = WORST
    shape = "ratios"
    labels: ClassVar = {"ratio": "ratio of excess risks", "worst": "extreme"}

    def labels_of(self, part: BandPart) -> Mapping[str, str]:
        return {**self.labels, "ratio": "excess risk / bound"} if part.bound else self.labels

    def check(self, part: BandPart, where: str) -> None:
        check_band(part.band, where)

    def sources(self, case: Case, used: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """Return the sources; a measured reference has its own calibration."""
        if case.part.bound:
            return used
        reference = case.part.uses[1]
        return [used[0], (reference, case.court.claim.part(reference).calibrations[0])]

    def judge(self, case: Case) -> Verdict:
        """In the cells that both parts have."""
        cells = case.used_cells(0)
        if case.part.bound:
            reference, errors = np.array([case.bound.value(cell.printed) for cell in cells]), np.zeros(len(cells))
            free = dof_of(cells)
        else:
            references = {cell.value: cell for cell in case.used_cells(1)}
            cells = [cell for cell in cells if cell.value in references]
            beside = [references[cell.value] for cell in cells]
            (reference, errors), free = means(beside), np.minimum(dof_of(cells), dof_of(beside))
        low, high = case.part.band
        columns = ([cell.value for cell in cells], *means(cells), reference)
        return band_verdict(*columns, low, high, reference_stderr=errors, dof=free, look=case.look)


@dataclass(frozen=True, kw_only=True)
class LowerBoundPart(MeasuredPart):
    """Fields of a lower bound's part; one without constants (``none``) is shown and not judged."""

    bound: str
    constant: Literal["stated", "none"] = "stated"
    exponent: float | None = None
    quantity: str = RISK


@kind("lower_bound")
class LowerBoundKind(Kind):
    """Means of all methods against a bound from below; one without constants is shown and not judged."""

    title = "lower bound"
    words: ClassVar = {
        "holds": Word(
            "confirms",
            "every method is above the bound in every cell, with its interval",
            phrase="no method is below the lower bound",
        ),
        "violated": Word(
            "contradicts", "the interval of one lies below it", phrase="a method is below the lower bound"
        ),
        "inconclusive": Word(
            "open", "an interval reaches across the bound", phrase="above the lower bound or not: undecided"
        ),
        "shown": Word("shown", "the bound has no constants", phrase="risks beside a lower bound without constants"),
    }
    part = LowerBoundPart
    mixes_sweeps = True
    early = ("holds",)
    fields = WORST
    shape = "ratios"
    labels: ClassVar = {"ratio": "excess risk / lower bound", "reference": "bound", "worst": "at least"}
    against = "> 1"

    def asks(self, part: LowerBoundPart) -> bool:
        """Not without constants."""
        return part.constant != "none"

    def judge(self, case: Case) -> Verdict:
        """Without constants the exponents are what can be compared, so that both slopes are shown."""
        stated = case.part.constant != "none"
        verdict = lower_bound_verdict(*case.columns, case.printed, has_constants=stated, dof=case.dof, look=case.look)
        return verdict if stated else case.with_slope(verdict, case.printed)


def lower_bound_verdict(
    values: ArrayLike,
    mean: ArrayLike,
    stderr: ArrayLike,
    bound: ArrayLike,
    *,
    has_constants: bool = True,
    dof: ArrayLike = np.inf,
    look: Look = FIXED,
) -> Verdict:
    """Judge whether the intervals of all accounted methods lie above a lower bound in every cell, for all of them.

    Returns ``holds``, ``violated`` where one lies below it (at the last look), else ``inconclusive``; ``shown`` without
    constants. With the smallest ratio of a lower end to the bound. All have shape ``(cells,)``, method after method.
    """
    columns = columns_of(values, mean, stderr, bound)
    _, m, s, b = columns
    half = np.nan_to_num(s) * simultaneous_quantile(len(m), dof, look.confidence(EARLY))
    ratios, uppers = ratios_to(m - half, b), ratios_to(m + half, b)
    worst = int(np.argmin(ratios))
    word = "holds" if ratios[worst] > 1 else "violated" if look.last and uppers.min() < 1 else "inconclusive"
    reason = f"mean / bound is at least {ratios[worst]:.3g} with its interval"
    if np.isnan(s).any():
        word, reason = "inconclusive", NO_ERROR
    if not has_constants:
        word, reason = "shown", "a bound without constants is shown, not judged"
    return cell_verdict(word, reason, columns, ratios, worst)


@dataclass(frozen=True, kw_only=True)
class ShownPart(MeasuredPart):
    """Fields of a part without a criterion, whose means may stand beside a formula."""

    bound: str = ""
    exponent: float | None = None
    axis: str = ""
    quantity: str = RISK


@kind("shown")
class Shown(Kind):
    """Means, beside a formula if there is one, with the slopes of both over a sweep of one method."""

    title = "shown"
    words: ClassVar = {
        "shown": Word(
            "shown", "measured for information: no criterion was set", phrase="{what}, measured for information"
        )
    }
    part = ShownPart
    mixes_sweeps = measures_slope = True
    shape = "slopes"
    answers = False

    def asks(self, part: ShownPart) -> bool:
        """Never: it takes what is there."""
        return False

    def judge(self, case: Case) -> Verdict:
        printed = case.printed
        logarithms = bool(printed) and all(0.0 < value < math.inf for value in printed)
        return case.with_slope(shown_verdict(*case.columns, printed or None), printed if logarithms else None)


def shown_verdict(values: ArrayLike, mean: ArrayLike, stderr: ArrayLike, bound: ArrayLike | None = None) -> Verdict:
    """Measured values without a verdict, beside a formula if there is one, shape ``(cells,)``."""
    found = measured(*columns_of(values, mean, stderr, mean if bound is None else bound))
    given = found if bound is not None else {**found, "bound": ()}
    return Verdict("shown", reason="no criterion was set: measured values without a verdict", **given)
