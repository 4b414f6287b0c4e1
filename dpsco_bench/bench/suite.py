"""The suite: which goals there are, and how they are measured one after the other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from dpsco_bench.backend.namespace import get_namespace, tuned
from dpsco_bench.bench.card import FULL as CARD_FULL
from dpsco_bench.bench.card import QUICK as CARD_QUICK
from dpsco_bench.bench.card import TITLES, TOUCHED, card_rows, emulated
from dpsco_bench.bench.card import about as about_card
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


def run_card(quick: bool = False) -> Iterator[dict[str, Any]]:
    """Measure the card in place of a core: rows as of `run_suite`, with ``replicates``, ``d`` and ``peak_mb``.

    Raises InputError where no card can be used.
    """
    cupy, about = get_namespace("cupy"), environment(gpu=True)
    work = TOUCHED if emulated(cupy) else CARD_QUICK if quick else CARD_FULL
    for row in card_rows(cupy, work):
        yield {**row, "machine": about}


def title(id: str) -> str:
    """A goal in words."""
    return TITLES[id] if id in TITLES else GOALS.get(id).title


def environment(gpu: bool = False) -> dict[str, Any]:
    """Processor and versions, whether the noise is compiled, and what was set for the matrix products.

    With ``gpu`` the card too; raises InputError where none can be used.
    """
    compiled = cpu_implementation().__name__.endswith("kernels")
    return {
        **(about_card(get_namespace("cupy")) if gpu else machine("numpy")),
        "numba": compiled,
        "blas_core_type": os.environ.get("OPENBLAS_CORETYPE", ""),
        "blas_threads": os.environ.get("OPENBLAS_NUM_THREADS", ""),
    }
