"""Kind `ordering`: of two methods the one claimed to be better has the lower median risk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from dpsco_bench.analysis import bootstrap
from dpsco_bench.analysis.bootstrap import CONFIDENCE, RESAMPLES, FloatArray
from dpsco_bench.analysis.cells import HOLDS, OPEN, REVERSED, compared
from dpsco_bench.analysis.evidence import MeasuredCell
from dpsco_bench.analysis.judge import PartCells
from dpsco_bench.analysis.looks import EARLY, would_decide
from dpsco_bench.analysis.verdict import Verdict
from dpsco_bench.claims.kinds import Kind, Word, kind
from dpsco_bench.claims.model import AT_END, AT_EQUAL_EVALUATIONS, MeasuredPart
from dpsco_bench.errors import InputError

FEW_REPLICATES = 3


@dataclass(frozen=True, kw_only=True)
class OrderingPart(MeasuredPart):
    """Fields of an ordering's part.

    The ``pair`` has labels: the method claimed to be better, then the other. They are ``compared`` at each method's
    ``end``, at ``equal evaluations``, or at ``both``. ``only`` has the values of the swept parameter, by profile, at
    which the rows that it uses are judged, where not all are.
    """

    pair: list[str]
    compared: Literal["both", "end", "equal evaluations"] = "both"
    only: Mapping[str, list[float]] = field(default_factory=dict)


@kind("ordering")
class Ordering(Kind):
    """Two methods on the same data sets and replicates, at each one's end and at equal evaluations."""

    title = "ordering"
    words: ClassVar = {
        HOLDS: Word(
            "confirms",
            "of two methods, the one claimed to be better is so in every comparison",
            "the method claimed to be better is better",
        ),
        REVERSED: Word(
            "contradicts",
            "the one claimed to be worse is better beyond doubt",
            "the method claimed to be worse is better",
        ),
        OPEN: Word(
            "open",
            "the comparisons disagree, or their intervals are too wide for a decision",
            "which method is better is undecided",
        ),
    }
    part = OrderingPart
    ignores_chains = by_value = True
    early = (HOLDS, REVERSED)
    fields = ("ratio", "ratio_ci")
    against = "< 1"

    def check(self, part: OrderingPart, where: str) -> None:
        labels = [method.label for method in part.methods]
        if len(part.pair) != 2 or (labels and not set(part.pair) <= set(labels)):
            raise InputError(f"{where}: pair", part.pair, "two labels of methods")
        if part.only and not part.uses:
            raise InputError(f"{where}: only", dict(part.only), "left out, or given beside uses")

    def why(self, row: Verdict) -> str:
        """How many comparisons came out which way, and what would decide those whose intervals contain 1."""
        if not row.ratio_ci:
            return super().why(row)
        told = []
        for at, where in ((AT_END, "at the end"), (AT_EQUAL_EVALUATIONS, f"at {AT_EQUAL_EVALUATIONS}")):
            words = [compared(*pair) for key, pair in row.ratio_ci.items() if key.startswith(at)]
            holds, reversed_ = words.count(HOLDS), words.count(REVERSED)
            some = f"{holds} of {len(words)} hold" if holds else f"none of {len(words)} holds"
            told += [f"{where} {some}" + f", {reversed_} reversed" * bool(reversed_)] * bool(words)
        with np.errstate(divide="ignore"):  # an interval may begin at 0
            logs = [(np.log(ratio), *np.log(row.ratio_ci[name])) for name, ratio in (row.ratio or {}).items()]
        rooms = [(high - log if log < 0 else log - low, abs(log)) for log, low, high in logs if low <= 0 <= high]
        return "; ".join([*told, would_decide(rooms)] if rooms else told)

    def judge(self, case: PartCells) -> Verdict:
        kept = case.part.only.get(case.profile)
        cells = [cell for cell in case.cells if kept is None or cell.value in kept]
        better, other = ({c.value: c for c in cells if c.entry.method == label} for label in case.part.pair)
        sure, found = case.look.confidence(EARLY), dict[str, MedianRatio]()
        for value, first in better.items():
            for at in RISKS if case.part.compared == "both" else (case.part.compared,):
                ours, theirs = RISKS[at](first, other[value])
                ratio = compare_medians(ours, theirs, (*case.names, f"{value:g}", at), confidence=sure)
                found[f"{at}, {first.entry.parameter} {value:g}"] = ratio
        words, runs = {ratio.word for ratio in found.values()}, cells[0].final.size
        few = f"only {runs} replicates: the intervals are too wide for most orderings"
        return Verdict(
            words.pop() if len(words) == 1 else OPEN,
            reason=", ".join(f"{name}: {ratio.word}" for name, ratio in found.items()),
            ratio={name: float(np.exp(ratio.log_ratio)) for name, ratio in found.items()},
            ratio_ci={name: (float(np.exp(one.ci_low)), float(np.exp(one.ci_high))) for name, one in found.items()},
            notes=(few,) * (runs <= FEW_REPLICATES),
        )

    def figures(self, claim: Any, rows: Sequence[Any]) -> Mapping[str, Any]:
        from dpsco_bench.report.kind_figures import curve_figures

        return curve_figures(claim, rows)


def _at_equal_evaluations(*cells: MeasuredCell) -> list[np.ndarray]:
    budget = float(min(cell.curve_evaluations[-1].min() for cell in cells))  # that every run of every method reaches
    return [risk_at(cell.curve_evaluations, cell.curve_risks, budget) for cell in cells]


RISKS: Mapping[str, Callable[..., list[np.ndarray]]] = {
    AT_END: lambda *cells: [cell.final for cell in cells],
    AT_EQUAL_EVALUATIONS: _at_equal_evaluations,
}
"""Where methods are compared -> risks of every replicate of each; at their ends nobody asks for checkpoints."""


@dataclass(frozen=True)
class MedianRatio:
    """Ratio of two methods' median risks."""

    log_ratio: float
    ci_low: float
    ci_high: float

    @property
    def word(self) -> str:
        return compared(self.ci_low, self.ci_high, equal=0.0)


def compare_medians(
    first: ArrayLike,
    second: ArrayLike,
    names: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> MedianRatio:
    """Paired two-level bootstrap of the log ratio of median risks, ``(replicates,)`` or ``(data_sets, replicates)``.

    The interval is the wider of the percentile and the normal one, expanded for small samples as in `slopes.fit_rate`,
    with as many degrees of freedom as there are resampled units (data sets if several, else replicates) less one.
    """
    a, b = bootstrap.as_cell(first)[0], bootstrap.as_cell(second)[0]
    if a.shape != b.shape:
        raise InputError("shape of the second method's risks", b.shape, f"{a.shape}, as the first's")
    log_ratio = float(_log_median_ratio(a.reshape(1, -1), b.reshape(1, -1))[0])
    units = a.shape[0] if a.shape[0] > 1 else a.shape[1]
    if units == 1 or np.isnan(log_ratio):
        return MedianRatio(log_ratio, np.nan, np.nan)
    blocks = bootstrap.resampled_indices(bootstrap.bootstrap_rng(*names), resamples, *a.shape)
    drawn = np.concatenate([_log_median_ratio(a.ravel()[i], b.ravel()[i]) for i in blocks])
    if np.isnan(drawn).any():  # some resampled medians have no logarithm: nothing can be excluded
        return MedianRatio(log_ratio, -np.inf, np.inf)
    factor = float(np.sqrt(units / (units - 1)) * bootstrap.student_factor(units - 1, confidence))
    low, high = bootstrap.percentile_interval(log_ratio, drawn, factor, confidence)
    # Two or three replicates give a coarse lattice of medians, whose percentiles stop short of the normal ones.
    normal = factor * float(ndtri((1 + confidence) / 2)) * float(drawn.std())
    return MedianRatio(log_ratio, min(low, log_ratio - normal), max(high, log_ratio + normal))


def _log_median_ratio(a: FloatArray, b: FloatArray) -> FloatArray:
    over, under = np.median(a, axis=1), np.median(b, axis=1)
    positive = (over > 0) & (under > 0)
    logs = np.log(np.where(positive, over, 1.0)) - np.log(np.where(positive, under, 1.0))
    return np.where(positive, logs, np.nan)


def risk_at(cost: FloatArray, risks: FloatArray, budget: float) -> FloatArray:
    """Risk of each run at its last checkpoint that costs at most a budget; checkpoints are the first axis of both."""
    last = (cost <= budget).sum(axis=0) - 1
    if (last < 0).any():
        raise InputError("budget", budget, f">= {cost[0].max():g}, the cost of the first checkpoint")
    return np.take_along_axis(risks, last[None], axis=0)[0]
