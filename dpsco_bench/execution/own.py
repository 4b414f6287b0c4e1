"""Check what plug-ins register when they are loaded, so that a slip is one line and not a traceback in a run.

A plug-in is its user's own code and is trusted: nothing here looks for code that cheats.
"""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable, Mapping
from functools import wraps
from types import UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np

from dpsco_bench.algorithms.registry import ALGORITHMS, CALIBRATIONS, Algorithm
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.problems.base import Data, Problem, Trait
from dpsco_bench.problems.constants import Constants, alternatives
from dpsco_bench.problems.glm import GeneralisedLinear
from dpsco_bench.problems.registry import PROBLEMS
from dpsco_bench.registry import PLUGIN, roots

OPTION_TYPES = (int, float, str, bool, type(None))
EXAMPLE = "e.g. Constants(lipschitz=1, smoothness=1)"


def check_registered(module: str) -> None:
    """Check the algorithms and problems that a module registers.

    Raises InputError naming the entry, the key and what is allowed.
    """
    for name in (name for name, home in ALGORITHMS.registered().items() if home == module):
        _check_algorithm(ALGORITHMS.get(name))
    for name in (name for name, home in PROBLEMS.registered().items() if home == module):
        _check_problem(PROBLEMS.get(name))


def _check_algorithm(entry: Algorithm) -> None:
    where = f"algorithm {entry.id}"
    listed = isinstance(entry.needs, tuple | list) and all(isinstance(need, Trait | tuple) for need in entry.needs)
    if not listed or not all(isinstance(trait, Trait) for need in entry.needs for trait in alternatives(need)):
        raise InputError(f"{where}: needs", entry.needs, "a tuple of Trait members, e.g. (Trait.SMOOTH,)")
    variants, known = entry.variants, {*CALIBRATIONS}
    if not isinstance(variants, Mapping) or not all(names and set(names) <= known for names in variants.values()):
        allowed = "a mapping of variants to tuples of " + ", ".join(CALIBRATIONS)
        raise InputError(f"{where}: variants", variants, allowed)
    _check_takes(entry.plan_function, f"{where}: plan", 1, "(setting, *, ...)")
    if entry.run_function is not None:
        _check_takes(entry.run_function, f"{where}: run", 3, "(objective, plan, mechanism)")
    for name, parameter in entry.options.items():
        union = get_origin(parameter.annotation) in (Union, UnionType)
        kinds = get_args(parameter.annotation) if union else (parameter.annotation,)
        if not all(kind in OPTION_TYPES for kind in kinds):
            text = "missing" if parameter.annotation is parameter.empty else str(parameter.annotation)
            raise InputError(f"{where}: type of option {name}", text, "int, float, str, bool or one of these | None")


def _check_problem(cls: Any) -> None:
    if not (inspect.isclass(cls) and issubclass(cls, Problem)):
        raise InputError("problem", getattr(cls, "__name__", cls), "a subclass of Problem, e.g. of Logistic")
    where = f"problem {cls.name}"
    if not isinstance(cls.traits, property) and not all(isinstance(trait, Trait) for trait in cls.traits):
        raise InputError(f"{where}: traits", sorted(map(str, cls.traits)), "a set of Trait members")
    own = inspect.getattr_static(cls, "own_constants")
    if own is inspect.getattr_static(Problem, "own_constants"):
        raise InputError(f"{where}: own_constants", "missing", f"given, {EXAMPLE}")
    if not isinstance(own, Constants) and not hasattr(own, "__get__"):
        raise InputError(f"{where}: own_constants", type(own).__name__, f"a Constants, {EXAMPLE}")
    if cls.draw is Problem.draw and issubclass(cls, GeneralisedLinear) and not cls.draws_per_replicate:
        raise InputError(f"{where}: draw", "missing", "given: it returns Data(n, features, labels)")
    if "draw" in vars(cls):
        _check_takes(cls.draw, f"{where}: draw", 3, "(self, n, streams)")
        cls.draw = _checked_draw(cls.draw, where)  # type: ignore[method-assign]


def _checked_draw(draw: Callable[..., Any], where: str) -> Callable[..., Any]:
    """Wrap `Problem.draw` so that it refuses data which gradients cannot use: other shapes, no numbers, NaN."""

    @wraps(draw)
    def checked(self: Any, n: int, streams: Any) -> Data:
        data = draw(self, n, streams)
        if not isinstance(data, Data):
            raise DpscoError(f"{where}: draw returned {type(data).__name__}, must be a Data")
        if isinstance(self, GeneralisedLinear):
            _check_drawn(f"{where}: features drawn", data.features, (n, self.dimension))
            _check_drawn(f"{where}: labels drawn", data.labels, (n,))
        return data

    return checked


def _check_drawn(where: str, value: Any, shape: tuple[int, ...]) -> None:
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise InputError(where, f"of type {array.dtype}", "numbers")
    if array.shape != shape:
        raise InputError(where, f"of shape {array.shape}", f"of shape {shape}")
    if not np.isfinite(array).all():
        raise InputError(where, "not all finite", "finite numbers")


def _check_takes(function: Any, where: str, count: int, form: str) -> None:
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError as error:
        raise InputError(where, f"takes {inspect.signature(function)}", f"a function of {form}", str(error)) from None


def own_files() -> list[str]:
    """List the loaded files of plug-ins and of papers that do not ship."""
    modules = [module for name, module in list(sys.modules.items()) if is_own(name)]
    return [file for module in modules if (file := getattr(module, "__file__", None))]


def is_own(module: str) -> bool:
    """Tell whether a module is of a plug-in, or of a paper that does not ship."""
    return module.startswith(PLUGIN) or module.split(".")[0] in roots() - {"dpsco_bench"}


def own_place(error: BaseException | None) -> tuple[str, int] | None:
    """Find the file of a plug-in or paper, and its line, in which an error or its cause arose."""
    files = {*own_files()}
    while error is not None:
        found = [(f.filename, f.lineno or 0) for f in traceback.extract_tb(error.__traceback__) if f.filename in files]
        if found:
            return found[-1]
        error = error.__cause__
    return None
