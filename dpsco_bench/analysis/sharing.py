"""Find cells that share random numbers, so that the bootstrap resamples them together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from dpsco_bench.execution.cell import Cell, placeless
from dpsco_bench.jsonio import dumps_canonical
from dpsco_bench.problems.registry import problem_class


@dataclass(frozen=True)
class Sharing:
    """Labels of cells, equal where their data set j, or their replicate r, has the same random numbers for every one.

    Where replicates are shared, their data sets are too.
    """

    data_sets: tuple[int, ...]
    replicates: tuple[int, ...]

    @classmethod
    def nothing(cls, cells: int) -> Sharing:
        """Every cell has random numbers of its own."""
        return cls(tuple(range(cells)), tuple(range(cells)))

    @classmethod
    def everything(cls, cells: int) -> Sharing:
        """Assume common random numbers in all cells."""
        return cls((0,) * cells, (0,) * cells)


def sharing_of(cells: Sequence[Cell]) -> Sharing:
    """Tell what some cells share, as `Cell.data_key` and `Cell.run_key` name their streams.

    Data depend on the problem, n and d; the noise on algorithm, epsilon and delta besides. Replicates of a problem that
    draws a sample for each one also share this sample wherever data sets would be shared.
    """
    data = _labels(cells, _data)
    per_sample = [problem_class(cell.problem).draws_per_replicate for cell in cells]
    noise = _labels(cells, lambda cell: (_data(cell), cell.algorithm, float(cell.epsilon), float(cell.delta)))
    joined = (("data", d) if sample else ("run", r) for d, r, sample in zip(data, noise, per_sample, strict=True))
    return Sharing(data, _numbered(joined))


def _data(cell: Cell) -> Hashable:
    """Return the options in the keys of data streams: neither the signal nor what the problem leaves out."""
    problem = problem_class(cell.problem)
    unkeyed = ("constants", problem.signal_option, *problem.unkeyed_options)
    options = {k: v for k, v in placeless(cell.problem, cell.problem_options).items() if k not in unkeyed}
    return cell.problem, cell.n, cell.d, dumps_canonical(options)


def _labels(cells: Sequence[Cell], key: Callable[[Cell], Hashable]) -> tuple[int, ...]:
    return _numbered(key(cell) for cell in cells)


def _numbered(keys: Iterable[Hashable]) -> tuple[int, ...]:
    """Numbers in order of first appearance."""
    known: dict[Hashable, int] = {}
    return tuple(known.setdefault(key, len(known)) for key in keys)
