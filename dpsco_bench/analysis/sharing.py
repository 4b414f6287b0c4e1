"""Find cells that share random numbers, so that the bootstrap resamples them together.

What cells share cancels in the residuals of a fit, so that the cells' own errors say too much. The residuals' joint
covariance is that of the replicates, or of the data sets, whose share in them is known one by one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dpsco_bench.analysis.bootstrap import CellSummary, FloatArray, as_cell, satterthwaite, summarise
from dpsco_bench.execution.cell import Cell, placeless
from dpsco_bench.jsonio import dumps_canonical
from dpsco_bench.problems.registry import problem_class

Estimate = tuple[FloatArray, float]
"""Covariance of the residuals, shape ``(cells, cells)``, and the degrees of freedom behind its trace."""
Labels = tuple[int, ...]
"""Labels of cells, equal where these have the same random numbers."""


def sharing_of(cells: Sequence[Cell]) -> tuple[Labels, Labels]:
    """Label cells by their data sets, and by their runs, as `Cell.data_key` and `Cell.run_key` name their streams.

    Data depend on the problem, n and d; the noise on algorithm, epsilon and delta besides. Replicates of a problem that
    draws a sample for each one also share this sample wherever data sets would be shared.
    """
    data = _numbered(map(_data, cells))
    noise = ((d, cell.algorithm, float(cell.epsilon), float(cell.delta)) for d, cell in zip(data, cells, strict=True))
    per_sample = (problem_class(cell.problem).draws_per_replicate for cell in cells)
    joined = (d if sample else ("run", r) for d, r, sample in zip(data, noise, per_sample, strict=True))
    return data, _numbered(joined)


def _data(cell: Cell) -> Hashable:
    """Return the options in the keys of data streams: neither the signal nor what the problem leaves out."""
    problem = problem_class(cell.problem)
    unkeyed = ("constants", problem.signal_option, *problem.unkeyed_options)
    options = {k: v for k, v in placeless(cell.problem, cell.problem_options).items() if k not in unkeyed}
    return cell.problem, cell.n, cell.d, dumps_canonical(options)


def _numbered(keys: Iterable[Hashable]) -> Labels:
    known: dict[Hashable, int] = {}
    return tuple(known.setdefault(key, len(known)) for key in keys)


@dataclass(frozen=True)
class Replicates:
    """Risks behind the means of some cells, and the random numbers that these have in common; one entry per cell.

    Attributes
    ----------
    risks : arrays ``(signals, data_sets, replicates)``; of several signals the largest mean counts
    errors : absolute numerical errors of exactly computed cells, None for random ones
    data_sets, runs : labels, equal where the data set j, or the replicate r, of cells has the same random numbers for
        every one; where runs are shared, their data sets are too
    """

    risks: Sequence[FloatArray]
    errors: Sequence[float | None]
    data_sets: Labels
    runs: Labels

    @classmethod
    def of(
        cls, risks: Sequence[ArrayLike], errors: Sequence[float | None] = (), sharing: tuple[Labels, Labels] = ((), ())
    ) -> Replicates:
        """Take risks ``([[signals,] data_sets,] replicates)``; unless told, cells are random and share nothing."""
        apart = tuple(range(len(risks)))
        return cls(list(map(as_cell, risks)), errors or [None] * len(risks), *(own or apart for own in sharing))

    def take(self, cells: Sequence[int]) -> Replicates:
        data_sets, runs = (tuple(own[cell] for cell in cells) for own in (self.data_sets, self.runs))
        return Replicates([self.risks[cell] for cell in cells], [self.errors[cell] for cell in cells], data_sets, runs)

    @cached_property
    def summaries(self) -> list[CellSummary]:
        return [summarise(risks, error) for risks, error in zip(self.risks, self.errors, strict=True)]

    @property
    def mean(self) -> FloatArray:
        return np.array([cell.mean for cell in self.summaries])

    @property
    def stderr(self) -> FloatArray:
        return np.array([cell.stderr for cell in self.summaries])

    @property
    def dof(self) -> FloatArray:
        return np.array([cell.dof for cell in self.summaries])

    @property
    def labels(self) -> list[tuple[str, int]]:
        """Labels of cells, equal where these are not independent: by data sets where several are, else by runs."""
        columns = zip(self.risks, self.data_sets, self.runs, strict=True)
        return [("data", data) if risks.shape[1] > 1 else ("run", run) for risks, data, run in columns]

    def groups(self) -> list[list[int]]:
        """Group random cells that are not independent, two or more in each group."""
        found: dict[tuple[str, int], list[int]] = {}
        for cell, (label, error) in enumerate(zip(self.labels, self.errors, strict=True)):
            if error is None:
                found.setdefault(label, []).append(cell)
        return [group for group in found.values() if len(group) > 1]

    def parts(self, group: Sequence[int], operator: FloatArray) -> list[FloatArray]:
        """Share of each replicate in the residuals, of each set of runs, shape ``(cells, data_sets, replicates)``.

        Log means are taken as linear in the risks.
        """
        sums: dict[int, FloatArray] = {}
        for cell in group:
            summary = self.summaries[cell]
            own = operator[:, cell][:, None, None] * (self.risks[cell][summary.signal] / summary.mean)
            label = self.runs[cell]
            sums[label] = sums[label] + own if label in sums else own
        return list(sums.values())


def residual_noise(
    replicates: Replicates, operator: FloatArray, errors: FloatArray, dof: ArrayLike, least: float
) -> tuple[float, float, float]:
    """Mean of the squared length of residuals under no lack of fit, and the two degrees of freedom of its F law.

    With a covariance V of the residuals the squared length has mean ``tr V``, and over that mean about the law of
    ``chi^2(f)/f`` with ``f = (tr V)^2 / tr V^2``. Few replicates make f smaller, hence the test more careful. Source:
    Box, Annals of Mathematical Statistics 25, 1954, Theorem 3.1; Brunner, Dette, Munk, JASA 92, 1997 (f estimated).

    The operator takes the log means to the weighted residuals; ``errors`` and ``dof`` are those of cells that share
    nothing; every cell has the ``least`` error besides, so that exact scale invariance is no certainty.
    """
    groups = replicates.groups()
    shared = sorted(cell for group in groups for cell in group)
    behind = np.asarray(dof, dtype=np.float64)
    estimates: list[Estimate] = [(least**2 * operator[:, shared] @ operator[:, shared].T, np.inf)]
    for cell in set(range(len(errors))) - set(shared):
        column = errors[cell] * operator[:, cell]
        estimates.append((np.outer(column, column), float(behind[cell])))
    estimates += [_of_group(replicates.parts(group, operator)) for group in groups]
    covariance = sum((own for own, _ in estimates), np.zeros_like(operator))
    traces = [float(np.trace(own)) for own, _ in estimates]
    return float(np.trace(covariance)), _rank(covariance), satterthwaite(traces, [own for _, own in estimates])


def _of_group(parts: Sequence[FloatArray]) -> Estimate:
    """Take the larger error of cells that share data sets: between data sets, or within them."""
    _, data_sets, replicates = parts[0].shape
    candidates: list[Estimate] = []
    if data_sets > 1:
        means = np.sum([part.mean(axis=2) for part in parts], axis=0)
        candidates.append(_pooled(means[:, None, :]))
    if replicates > 1:
        within = [_pooled(part) for part in parts]
        traces = [float(np.trace(own)) for own, _ in within]
        candidates.append((np.sum([own for own, _ in within], axis=0), satterthwaite(traces, [n for _, n in within])))
    return max(candidates, key=lambda own: float(np.trace(own[0])))


def _pooled(samples: FloatArray) -> Estimate:
    """Covariance of the mean of vectors from several samples of one size, shape ``(cells, samples, size)``.

    How well its trace is known: where tails are heavy, few squared lengths make the sum, whose relative variance is 2/f
    for f degrees of freedom; and no more is known than of one direction. The directions come from the same vectors, and
    skewed noise errs together with its variance: as much again is taken for that, so that f is at most half of the
    vectors. With f itself a true power law of few replicates is called bent in up to 0.5 % of sweeps, not in 0.1 %.
    """
    cells, count, size = samples.shape
    deviations = (samples - samples.mean(axis=2, keepdims=True)).reshape(cells, -1)
    total, free = count * size, float(count * (size - 1))
    covariance: FloatArray = deviations @ deviations.T / (free * total)
    lengths = (deviations**2).sum(axis=0)
    centre = float(lengths.mean())
    relative = float((lengths / centre).var()) if centre > 0 else 0.0
    return covariance, 1.0 / (max(1.0 / free, relative / (2.0 * total)) + 1.0 / free)


def _rank(covariance: FloatArray) -> float:
    """``(tr V)^2 / tr V^2``: how many directions have as much noise each."""
    trace = float(np.trace(covariance))
    scaled = covariance / trace if trace > 0 else np.eye(len(covariance)) / len(covariance)
    return 1.0 / float((scaled**2).sum())
