"""What users register: checked when the file is loaded, so that a slip is one line and not a traceback in a run.

A plug-in is the user's own code and is trusted: nothing here looks for one that cheats. `dpsco check` does.
"""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np

from dpsco_bench.algorithms.registry import ALGORITHMS, CALIBRATIONS, Algorithm
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.problems.base import Data, Problem, Trait
from dpsco_bench.problems.constants import Constants
from dpsco_bench.problems.glm import GeneralisedLinear
from dpsco_bench.problems.registry import PROBLEMS
from dpsco_bench.registry import PLUGIN, REGISTRIES, papers

OPTION_TYPES = (int, float, str, bool, type(None))
Registered = dict[str, dict[str, str]]


def registered() -> Registered:
    """Kind -> name -> module of everything that is registered."""
    return {registry.kind: registry.registered() for registry in REGISTRIES}


def check_registered(before: Registered) -> None:
    """Check what has been registered since; raises InputError naming the entry, the key and what is allowed."""
    shipped = {paper for paper, package in papers().items() if package.startswith("dpsco_bench.")}
    for registry in REGISTRIES:
        for name, module in registry.registered().items():
            if name in before.get(registry.kind, ()) or module.startswith("dpsco_bench."):
                continue
            if name.partition(".")[0] in shipped and registry.kind in ("algorithm", "bound"):
                key = f"{registry.kind} {'id' if registry.kind == 'algorithm' else 'name'}"
                raise InputError(key, name, f"one without the name of a paper ({name.partition('.')[0]})")
            if registry is ALGORITHMS:
                _check_algorithm(registry.get(name))
            elif registry is PROBLEMS:
                _check_problem(registry.get(name))


def _check_algorithm(entry: Algorithm) -> None:
    where = f"algorithm {entry.id}"
    if not isinstance(entry.needs, tuple | list) or not all(isinstance(need, Trait) for need in entry.needs):
        raise InputError(f"{where}: needs", entry.needs, "a tuple of Trait members, e.g. (Trait.SMOOTH,)")
    allowed = "a mapping of variants to tuples of " + ", ".join(CALIBRATIONS)
    if not isinstance(entry.variants, Mapping) or not all(
        v and set(v) <= set(CALIBRATIONS) for v in entry.variants.values()
    ):
        raise InputError(f"{where}: variants", entry.variants, allowed)
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
        raise InputError(f"{where}: own_constants", "missing", "given, e.g. Constants(lipschitz=1, smoothness=1)")
    if not isinstance(own, property | Constants) and not hasattr(own, "__get__"):
        raise InputError(
            f"{where}: own_constants", type(own).__name__, "a Constants, e.g. Constants(lipschitz=1, smoothness=1)"
        )
    if cls.draw is Problem.draw and issubclass(cls, GeneralisedLinear) and not cls.draws_per_replicate:
        raise InputError(f"{where}: draw", "missing", "given: it returns Data(n, features, labels)")
    if "draw" in vars(cls):
        _check_takes(cls.draw, f"{where}: draw", 3, "(self, n, streams)")
        cls.draw = _checked_draw(cls.draw, where)


def _checked_draw(draw: Callable[..., Any], where: str) -> Callable[..., Any]:
    """`Problem.draw` that refuses data which gradients cannot use: other shapes, no numbers, NaN."""

    @wraps(draw)
    def checked(self: Any, n: int, streams: Any) -> Data:
        data = draw(self, n, streams)
        if not isinstance(data, Data):
            raise DpscoError(f"{where}: draw returned {type(data).__name__}, must be a Data")
        rows = isinstance(self, GeneralisedLinear)
        for name, value, shape in (
            ("features", data.features, (n, self.dimension) if rows else (n,)),
            ("labels", data.labels, (n,)),
        ):
            if value is None and not rows:
                continue
            array = np.asarray(value)
            if array.dtype.kind not in "biuf":
                raise InputError(f"{where}: {name} drawn", f"of type {array.dtype}", "numbers")
            if (array.shape if rows else array.shape[:1]) != shape:
                raise InputError(f"{where}: {name} drawn", f"of shape {array.shape}", f"of shape {shape}")
            if not np.isfinite(array).all():
                raise InputError(f"{where}: {name} drawn", "not all finite", "finite numbers")
        return data

    return checked


def _check_takes(function: Any, where: str, count: int, form: str) -> None:
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError as error:
        raise InputError(where, f"takes {inspect.signature(function)}", f"a function of {form}", str(error)) from None


def own_files() -> list[str]:
    """Files of the plug-ins that are loaded."""
    return [str(module.__file__) for name, module in sys.modules.items() if name.startswith(PLUGIN)]


def own_place(error: BaseException | None, file: str = "") -> tuple[str, int] | None:
    """File and line of a plug-in in which an error, or its cause, arose."""
    files = {file} if file else {*own_files()}
    while error is not None:
        found = [(f.filename, f.lineno or 0) for f in traceback.extract_tb(error.__traceback__) if f.filename in files]
        if found:
            return found[-1]
        error = error.__cause__
    return None


def own_line(error: BaseException, file: str = "") -> int | None:
    """Line of `own_place`."""
    place = own_place(error, file)
    return place[1] if place else None


def code_files(folder: Path, suffixes: Iterable[str] = (".py",)) -> list[Path]:
    """Code below a folder, sorted."""
    return sorted(p for p in folder.rglob("*") if p.suffix in suffixes and not p.name.startswith("."))
