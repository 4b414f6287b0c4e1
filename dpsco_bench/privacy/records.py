"""Record choice: the ways in which a release of a query picks the records that it looks at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpsco_bench.errors import InputError, checked_count


class RecordChoice:
    """A way in which a release chooses its records. ``sampled``: `Mechanism.sample` draws them."""

    sampled: ClassVar[bool] = False


@dataclass(frozen=True)
class Full(RecordChoice):
    """Every release looks at all records."""


@dataclass(frozen=True)
class Poisson(RecordChoice):
    """Every release looks at each record independently with probability ``rate``."""

    rate: float

    sampled = True

    def __post_init__(self) -> None:
        if not 0.0 < self.rate <= 1.0:
            raise InputError("rate", self.rate, "in (0, 1]")


@dataclass(frozen=True)
class SingleIndex(RecordChoice):
    """Every release looks at one uniform record, drawn with replacement from ``population``."""

    population: int

    sampled = True
    size: ClassVar[int] = 1


@dataclass(frozen=True)
class Disjoint(RecordChoice):
    """Every release looks at its own ``size`` records.

    The blocks of all such queries of a plan are disjoint from each other, so that a record enters at most one release
    of one of them, whatever the other records are.
    """

    size: int

    def __post_init__(self) -> None:
        checked_count("size", self.size)


@dataclass(frozen=True)
class _Batches(RecordChoice):
    """Batches of ``size`` of all ``population`` records."""

    population: int
    size: int

    sampled = True
    repeats: ClassVar[bool] = False
    """True if a record may be in a batch more than once."""

    def __post_init__(self) -> None:
        checked_count("population", self.population)
        if checked_count("size", self.size) > self.population and not self.repeats:
            raise InputError("size", self.size, f"at most {self.population}, the number of records")


class WithReplacement(_Batches):
    """Every release looks at ``size`` uniform records, drawn with replacement from ``population``.

    The sensitivity of such a query is that of a record which was drawn once; drawn k times it changes k times as much.
    """

    repeats = True


class WithoutReplacement(_Batches):
    """Every release looks at ``size`` different records: a uniform subset of ``population``, drawn anew."""


class RandomAllocation(_Batches):
    """Release t looks at the t-th ``size`` records of a uniformly random order of all ``population``, drawn once.

    Records that are left over take part in none.
    """

    sampled = False


@dataclass(frozen=True)
class Nodes(RecordChoice):
    """Release ``t - 1`` looks at the records of node t of a binary tree over records 1..``count`` (`privacy.tree`)."""

    count: int

    def __post_init__(self) -> None:
        checked_count("count", self.count)
