"""Compiled runs by the id of their algorithm, and when one takes the place of the reference implementation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_bench.algorithms.registry import ALGORITHMS, Algorithm, RunFunction, get_algorithm
from dpsco_bench.problems.data import form_of
from dpsco_bench.registry import Registry, attempt, modules_in, papers, source

Supports = Callable[[Any, Any, Any], bool]
FUSED: Registry[FusedRun] = Registry("fused run", "fused")


@dataclass(frozen=True)
class FusedRun:
    """A run with compiled steps: the reference implementation's words, and its output to 1e-10.

    Attributes
    ----------
    run : callable, takes the arguments of the reference implementation
    supports : callable of the same arguments: whether it knows the domain and the options of a run
    form : bool, whether it needs the form of the problem's records
    rounds : type or None, the observer of rounds that it serves (`execution.run`), by sums that both know
    device : callable or None
        Of the same arguments: whether kernels know the run too, so that it runs on a GPU; None without kernels.
    """

    run: RunFunction
    supports: Supports = lambda *run: True
    form: bool = True
    rounds: type | None = None
    device: Supports | None = None


def fused(*ids: str, module: str = "", **told: Any) -> Callable[[RunFunction], RunFunction]:
    """Register a function as the fused run of algorithms (used as a decorator); ``told`` are fields of `FusedRun`.

    ``module`` is the ``__name__`` of the module that registers it, where the function is of another one.
    """

    def register(function: RunFunction) -> RunFunction:
        for id in ids:
            FUSED.add(id, FusedRun(function, **told), module or function.__module__)
        return function

    return register


def fused_module(id: str) -> str:
    """Name of the module with the fused run of an algorithm, which is not loaded for it; empty if there is none.

    A paper has them in its module or package ``fused``, with the id in quotes; plug-ins register theirs.
    """
    if id in FUSED.registered():
        return FUSED.registered()[id]
    package = papers().get(id.partition(".")[0], "")
    found = (module for module in modules_in(f"{package}.fused") if f'"{id}"' in source(module)) if package else ()
    return next(iter(found), "")


def has_steps(id: str) -> bool:
    """Check that an algorithm has compiled steps, more than the mean gradient alone (`fused.gradients.one_pass`)."""
    module = fused_module(id)
    return bool(module) and "one_pass" not in source(module)


def run_of(algorithm: Algorithm, objective: Any, plan: Any, mechanism: Any, allowed: bool = True) -> RunFunction | None:
    """Choose the fused run if it can run here, else the reference implementation.

    It can in float64, where no transcript is wanted and no observer of rounds looks but one that it serves: on NumPy
    arrays where Numba is, on CuPy's where its loops have kernels.
    """
    reference, machine, module = algorithm.run_function, objective.xp.__name__, fused_module(algorithm.id)
    listed = ALGORITHMS.registered().get(algorithm.id) and get_algorithm(algorithm.id).run_function
    altered = reference is not listed
    plain = machine in ("numpy", "cupy") and objective.dtype == np.float64
    if not allowed or altered or not plain or not module or not vars(type(mechanism)).get("answers_steps", False):
        return reference
    from dpsco_bench.fused.compiled import available

    if not (machine == "cupy" or available()):
        return reference
    attempt(module)
    found = FUSED.get(algorithm.id)
    watched = objective.round_observer is not None and type(objective.round_observer) is not found.rounds
    if watched or (found.form and form_of(objective.problem) is None):
        return reference
    if machine == "cupy":
        from dpsco_bench.fused.device import fits

        if found.device is None or not fits(objective, plan) or not found.device(objective, plan, mechanism):
            return reference
    return found.run if found.supports(objective, plan, mechanism) else reference
