"""Kind `explicit`: bounds with their constants, held against means, replicates or shares of them."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, betaincinv

from dpsco_bench.analysis.bootstrap import CONFIDENCE, FloatArray, simultaneous_quantile, summarise
from dpsco_bench.analysis.cells import NO_ERROR, cell_verdict, columns_of, ratios_to
from dpsco_bench.analysis.evidence import MeasuredCell
from dpsco_bench.analysis.judge import PartCells
from dpsco_bench.analysis.looks import EARLY_EXPLICIT, TOO_NEAR, would_decide
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.bounds.registry import Bound, get_bound
from dpsco_bench.claims.kinds import Word, kind
from dpsco_bench.claims.model import RISK, Part
from dpsco_bench.errors import InputError
from dpsco_bench.kinds import RatioKind

MOST_RUNS = 10**6
"""Nobody runs more of a cell."""
STANDARD_ERRORS = 2.0
"""Standard errors of the means by which the worst signal of a cell is found."""
ROUNDING = 1e-9
"""Relative excess that rounding may cause in a bound that holds with equality."""


@dataclass(frozen=True, kw_only=True)
class ExplicitPart(Part):
    """Fields of an explicit bound's part.

    Attributes
    ----------
    bound : str, name of a formula in ``claims/bounds``
    quantity : str
        What is judged: the risk, or the name of an extra that the runs noted (`algorithms.info.Info`). A formula
        ``paper.name`` for an expectation that is known in closed form: no run of it is needed.
    statistic : str
        ``mean`` (with its interval), ``max`` (no replicate may exceed the bound) or ``fraction`` (in every cell
        at least a share `probability` of the replicates is within it).
    """

    bound: str
    quantity: str = RISK
    statistic: Literal["mean", "max", "fraction"] = "mean"
    probability: float | None = None


@kind("explicit")
class Explicit(RatioKind):
    """Explicit bound: are other parts' measurements within a bound with its constants? Every cell is judged."""

    title = "explicit bound"
    words: ClassVar = {
        "holds": Word("confirms", "every interval lies within the bound", "the bound holds in every cell"),
        "violated": Word("contradicts", "an interval lies wholly above the bound", "the bound is violated"),
        "inconclusive": Word(
            "open",
            "an interval reaches across the bound, is unknown, or its chains are not certified",
            "the bound is undecided",
        ),
        "vacuous": Word(
            "vacuous",
            "in every cell and at every signal the bound is above the starting risk, and no interval above it: it "
            "confirms nothing",
            "the bound is above the start, and says nothing",
        ),
    }
    part = ExplicitPart
    mixes_sweeps = of_the_law = by_cell = True
    early = ("holds", "vacuous")
    against = "≤ 1"
    drawn = ("excess risk / bound", "bound", "at most")

    def check(self, part: ExplicitPart, where: str) -> None:
        """Check that a share of the replicates is given for the statistic that needs one."""
        share, wants = part.probability, part.statistic == "fraction"
        if wants != (share is not None) or (share is not None and not 0 < share <= 1):
            allowed = "a number in (0, 1]" if wants else "left out: it belongs to statistic fraction"
            raise InputError(f"{where}: probability", "missing" if share is None else share, allowed)

    def by_largest_mean(self, part: ExplicitPart) -> bool:
        return part.statistic == "mean" and part.quantity == RISK and not get_bound(part.bound).extras

    def judge(self, case: PartCells) -> Verdict:
        """Judge the mean with its interval, unless replicates or signals must be judged one by one."""
        part: Any = case.part
        how: Any = {"confidence": case.confidence(EARLY_EXPLICIT), "among": case.among}
        if part.statistic != "mean" or part.quantity != RISK or case.bound.extras:
            found = pathwise_verdict(part, case.cells, case.bound, **how)
            others = part.statistic == "fraction" and found.verdict == "vacuous" and case.among > 0  # may not be
            to_come = part.statistic == "max" and not all(case.look_at(key).last for key in case.sources)
            return replace(found, verdict="inconclusive") if others or to_come else found
        return explicit_verdict(
            *case.columns,
            case.printed,
            trivial=_trivial(case.cells, case.bound, case.printed),
            slack=max(cell.slack for cell in case.cells),
            dof=case.dof,
            chosen_from=sum(len(_signals(cell)) for cell in case.cells),
            **how,
        )


def explicit_verdict(
    *columns: ArrayLike,
    trivial: ArrayLike = np.inf,
    slack: float = 0.0,
    dof: ArrayLike = np.inf,
    chosen_from: int = 0,
    among: int = 0,
    confidence: ArrayLike = CONFIDENCE,
) -> Verdict:
    """Judge whether means lie within a bound with its constants, by intervals that hold for all cells together.

    Returns ``holds``, ``violated``, ``vacuous`` or ``inconclusive``, with the largest ratio of an upper end to its
    bound.

    Parameters
    ----------
    columns : values, means, standard errors and bounds, each of shape ``(cells,)``
    trivial : array_like
        Risk of the starting point, the largest of a grid of signals; a cell whose bound is above it confirms nothing.
        Nor can it fail while its interval is within the bound; one that reaches above it counts like any other,
        wherever the run started.
    slack : float, relative margin of the bound
    chosen_from : int
        Where means are the largest over signals: how many there are of cells and signals. A mean that was chosen is too
        large by chance, so that the lower ends hold for all of them together; upper ends hold for all cells.
    among : int, cells that the upper ends hold for, if more than these
    confidence : array_like, of all intervals, or of those of each cell
    """
    vectors = columns_of(*columns)
    x, m, s, b = vectors
    df = np.broadcast_to(np.asarray(dof, dtype=np.float64), x.shape)
    counts = [max(len(x), least) for least in (among, chosen_from)]
    half, below = (simultaneous_quantile(k, df, confidence) * np.nan_to_num(s) for k in counts)
    ratios, upper, lower = (ratios_to(column, b) for column in (m, m + half, m - below))
    start = np.broadcast_to(trivial, x.shape)
    within, known, above = upper <= 1 + slack, ~np.isnan(s), b > start
    idle, worst = above & within, int(np.argmax(upper))
    if (known & (lower > 1 + slack)).any():
        worst = int(np.argmax(np.where(known, lower, -np.inf)))
        word, reason = "violated", f"mean / bound is {ratios[worst]:.3g}, at least {lower[worst]:.3g}"
    elif idle.all():
        word, reason = "vacuous", f"in all {len(x)} cells the bound exceeds the risk of the starting point"
    elif not known[~idle].all():
        word, reason = "inconclusive", NO_ERROR
    elif within.all():
        word, reason = "holds", f"mean / bound is at most {upper[worst]:.3g} with its interval"
        if idle.any():
            reason += f" ({upper[~idle].max():.3g} in the {(~idle).sum()} cells where the bound could fail)"
    else:
        more = would_decide(zip(half[~within], np.abs(b - m)[~within], strict=True))
        word, reason = "inconclusive", f"mean / bound is {ratios[worst]:.3g}, at most {upper[worst]:.3g}; {more}"
    notes = [f"in {above.sum()} of {len(x)} cells the bound exceeds the starting point's risk"] * bool(above.any())
    if (worse := above & (m > start)).any():
        notes.append(f"in {worse.sum()} of them the mean does, too")
    return cell_verdict(word, reason, vectors, upper, worst, tuple(notes))


def pathwise_verdict(
    part: ExplicitPart,
    cells: Sequence[MeasuredCell],
    bound: Bound,
    *,
    among: int = 0,
    confidence: ArrayLike = CONFIDENCE,
) -> Verdict:
    """Verdict of kind `explicit` on the worst signal of each cell, by the part's ``statistic``.

    Intervals hold for all cells and signals together. A bound that asks for extras is evaluated with those of each
    replicate. A ``mean`` is held against it with their means, by the interval of the paired differences, replicate less
    its own bound.
    """
    rows = [[_judged(part, one, bound) for one in _signals(cell)] for cell in cells]
    judged = [max(of_a_cell, key=lambda row: row.upper) for of_a_cell in rows]
    columns = [np.array([getattr(row, name) for row in judged]) for name in ("value", "stderr", "bound")]
    verdict = explicit_verdict(
        [cell.value for cell in cells],
        *columns,
        trivial=_trivial(cells, bound, columns[-1]) if part.quantity == RISK else np.inf,
        slack=max(cell.slack for cell in cells) if part.statistic == "mean" and not bound.extras else ROUNDING,
        dof=[row.dof for row in judged],
        chosen_from=sum(map(len, rows)),
        among=among,
        confidence=confidence,
    )
    if part.statistic == "mean" or verdict.word == "vacuous":
        return verdict
    if part.statistic == "max":
        return replace(verdict, reason=f"the largest ratio of a replicate to its bound is {verdict.worst_ratio:.3g}")
    assert part.probability is not None
    levels = np.broadcast_to(np.asarray(confidence, dtype=np.float64), len(rows))
    counts = [(round(row.share * row.size), row.size) for of_a_cell in rows for row in of_a_cell]
    sure = [float(level) for level, of_a_cell in zip(levels, rows, strict=True) for _ in of_a_cell]
    word, reason = share_word(counts, part.probability, sure, among)
    return replace(verdict, verdict=word, reason=reason)


def _trivial(cells: Sequence[MeasuredCell], bound: Bound, judged: ArrayLike) -> FloatArray:
    """Find the start's largest risk over the signals, or ratio to a bound of the signal: a run can stay there."""
    most = [max(ratios_to(s.start_risk, bound.value(s.printed)) for s in _signals(cell)) for cell in cells]
    ratios = np.asarray(most, dtype=np.float64)
    return np.where(np.isinf(ratios), np.inf, np.asarray(judged) * np.where(np.isinf(ratios), 1.0, ratios))


class Judged(NamedTuple):
    """Judged quantity of a cell: a number with its error, its bound, the share of replicates within it of so many."""

    value: float
    stderr: float
    bound: float
    share: float
    size: int
    dof: float

    @property
    def upper(self) -> float:
        """Ratio of the value to its bound, by which the worst signal is found."""
        return float(ratios_to(self.value + STANDARD_ERRORS * np.nan_to_num(self.stderr), self.bound))


def _signals(cell: MeasuredCell) -> Sequence[MeasuredCell]:
    return cell.grid or (cell,)


def _judged(part: ExplicitPart, cell: MeasuredCell, bound: Bound) -> Judged:
    bounds = replicate_bounds(cell, bound)
    if part.statistic == "mean":
        found = margin = summarise(cell.risks, cell.numerical_error)
        if bound.extras:  # what a bound measures has a sampling error, which it shares with the risk
            margin = summarise(cell.final - bounds.reshape(cell.final.shape), cell.numerical_error)
        return Judged(found.mean, margin.stderr, bound.value(cell.printed), math.nan, cell.final.size, margin.dof)
    values = cell.final.ravel()
    ratios = ratios_to(values, bounds)
    share = 1.0 if part.probability is None else part.probability
    number = int(np.argsort(ratios, kind="stable")[math.ceil(share * values.size - ROUNDING) - 1])
    within = float((ratios <= 1 + ROUNDING).mean())
    return Judged(float(values[number]), 0.0, float(bounds[number]), within, values.size, math.inf)


def replicate_bounds(cell: MeasuredCell, bound: Bound) -> FloatArray:
    """Evaluate the bound for every replicate of a cell, data set by data set, with the replicate's own extras."""
    found = bound.value(replace(cell.printed, by_replicate=True))
    return np.broadcast_to(np.asarray(found, dtype=np.float64), cell.final.size)


def least_share(inside: int, size: int, level: float) -> float:
    """Lower end of the one-sided interval of Clopper and Pearson at ``level``, for ``inside`` of ``size`` runs."""
    return float(betaincinv(inside, size - inside + 1, level)) if inside else 0.0


def runs_to_decide(share: float, stated: float, level: float) -> int | None:
    """Compute the least number of runs whose interval would lie above ``stated`` if the share stayed; None for none."""

    def enough(runs: int) -> bool:
        return least_share(math.floor(share * runs), runs, level) >= stated

    found = 1 + bisect_left(range(1, MOST_RUNS), True, key=enough)
    return found if found < MOST_RUNS else None


def share_word(
    counts: Sequence[tuple[int, int]], stated: float, confidence: Sequence[float] | None = None, among: int = 0
) -> tuple[str, str]:
    """Verdict on ``counts`` (runs within the bound, runs) of cells and signals together (Bonferroni), and why."""
    levels = [(1 - sure) / (2 * max(len(counts), among)) for sure in confidence or [CONFIDENCE] * len(counts)]
    shares = list(zip(counts, levels, strict=True))
    (inside, size), level = min(shares, key=lambda one: least_share(one[0][0], one[0][1], one[1]))
    found, told = f"{100.0 * inside / size:.4g} %", f"{100.0 * stated:.4g} %"
    reason = f"in the worst cell {found} of the {size} replicates are within the bound, {told} are stated"
    if any(bdtr(*one, stated) <= own for one, own in shares):
        return "violated", reason
    least = least_share(inside, size, level)
    if least >= stated or (stated == 1.0 and inside == size):
        return "holds", f"{reason}, and at least {100.0 * least:.4g} % are sure"
    more = runs_to_decide(inside / size, stated, level)
    return "inconclusive", f"{reason}; {TOO_NEAR if more is None else f'{more} of them would decide'}"
