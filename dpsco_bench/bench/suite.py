"""The suite: which goals there are, and how they are measured one after the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from dpsco_bench.backend.tuning import tuned
from dpsco_bench.bench import chains, frank_wolfe, generalised, loops, noise, noisy_minimum, online_to_batch, products
from dpsco_bench.bench.measure import FULL, QUICK, Case, measure
from dpsco_bench.errors import InputError
from dpsco_bench.execution.timing import machine
from dpsco_bench.rng.streams import cpu_implementation

GOALS: dict[str, tuple[str, Callable[[], Iterable[Case]]]] = {
    "G1": ("the noise layer", noise.cases),
    "G2": ("batched noisy SGD against drawing its noise alone", loops.draw_cases),
    "G3": ("batched noisy SGD against JAX", loops.jax_cases),
    "G5": ("batched noisy SGD against a run-at-a-time script", loops.script_cases),
    "G6": ("full-batch gradients against their matrix products", products.cases),
    "G7": ("generalised Gaussian draws against gamma and power in NumPy", generalised.cases),
    "noisy_max": ("report noisy max from few draws against all noise", noisy_minimum.cases),
    "online_to_batch": ("private online-to-batch rounds against a script", online_to_batch.cases),
    "poly_sfw": ("one-pass private Frank-Wolfe against a naive loop", frank_wolfe.cases),
    "gibbs": ("Gibbs chains of all replicates at once against one at a time", chains.cases),
}


def selected(only: Sequence[str]) -> list[str]:
    """Ids to measure, in the suite's order; all of them for none.

    Raises
    ------
    InputError
        For an unknown id.
    """
    for name in only:
        if name not in GOALS:
            raise InputError("only", name, "one of " + ", ".join(GOALS))
    return [id for id in GOALS if not only or id in only]


def run_suite(only: Sequence[str] = (), quick: bool = False) -> Iterator[dict[str, Any]]:
    """Measure case after case.

    Parameters
    ----------
    only : sequence of str
        Ids; all of them if empty.
    quick : bool
        Shorter samples: a look, not a measurement to quote.

    Yields
    ------
    dict
        A row of `measure.measure` with ``machine``, what the figures hold for.
    """
    ids = selected(only)
    about = environment()
    for id in ids:
        for case in GOALS[id][1]():
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
