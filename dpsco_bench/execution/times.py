"""Times as data: curves of cells, and the machine that they hold for."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpsco_bench.plain import IF_GIVEN, Record


@dataclass(frozen=True, kw_only=True)
class Machine(Record):
    """Processor and versions that times depend on; more for a card or a benchmark.

    ``emulated`` says whether the card is a stand-in, ``numba`` whether noise is compiled; the last two are as the
    environment sets them for matrix products, else empty.
    """

    processor: str
    cores: int
    system: str
    python: str
    numpy: str
    backend: str
    device: str | None = field(default=None, metadata=IF_GIVEN)
    cupy: str | None = field(default=None, metadata=IF_GIVEN)
    memory_gb: float | None = field(default=None, metadata=IF_GIVEN)
    free_gb: float | None = field(default=None, metadata=IF_GIVEN)
    driver: int | None = field(default=None, metadata=IF_GIVEN)
    runtime: int | None = field(default=None, metadata=IF_GIVEN)
    emulated: bool | None = field(default=None, metadata=IF_GIVEN)
    numba: bool | None = field(default=None, metadata=IF_GIVEN)
    blas_core_type: str | None = field(default=None, metadata=IF_GIVEN)
    blas_threads: str | None = field(default=None, metadata=IF_GIVEN)


@dataclass(frozen=True)
class Curve(Record):
    """Times of a cell, seconds after so many gradient evaluations; ``timed_cell`` is the one that was timed, so often.

    Cells that do the same work on the same data, at another noise, share the times of the first.
    """

    cell: int
    method: str
    parameter: str
    value: float
    evaluations: tuple[float, ...]
    seconds: tuple[float, ...]
    repeats: int
    timed_cell: int


@dataclass(frozen=True)
class Timings(Record):
    """Machine that a job's times hold for, and an entry for each cell."""

    machine: Machine
    cells: tuple[Curve, ...]
