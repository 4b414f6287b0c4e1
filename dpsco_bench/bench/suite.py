"""The suite: which goals there are, and how they are measured one after the other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from dpsco_bench.backend.namespace import tuned
from dpsco_bench.bench.measure import FULL, GOALS, QUICK, measure
from dpsco_bench.errors import InputError
from dpsco_bench.execution.timing import machine
from dpsco_bench.rng.streams import cpu_implementation


def selected(only: Sequence[str]) -> list[str]:
    """Ids to measure, in the suite's order; all of them for none. Raises InputError for an unknown id."""
    for name in only:
        if name not in GOALS.names():
            raise InputError("only", name, "one of " + ", ".join(GOALS.names()))
    return [id for id in GOALS.names() if not only or id in only]


def run_suite(only: Sequence[str] = (), quick: bool = False) -> Iterator[dict[str, Any]]:
    """Measure case after case.

    Parameters
    ----------
    quick : bool, shorter samples: a look, not a measurement to quote

    Yields
    ------
    dict, a row of `measure.measure` with ``machine``, what the figures hold for
    """
    ids = selected(only)
    about = environment()
    for id in ids:
        for case in GOALS.get(id).cases():
            with tuned():
                row = measure(case, QUICK if quick else FULL)
            yield {**row, "machine": about}


def environment() -> dict[str, Any]:
    """Processor and versions, whether the noise is compiled, and what was set for the matrix products."""
    compiled = cpu_implementation().__name__.endswith("kernels")
    return {
        **machine("numpy"),
        "numba": compiled,
        "blas_core_type": os.environ.get("OPENBLAS_CORETYPE", ""),
        "blas_threads": os.environ.get("OPENBLAS_NUM_THREADS", ""),
    }
