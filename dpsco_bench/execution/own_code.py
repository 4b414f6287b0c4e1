"""What one's own files register: found unusable when they are read rather than in the middle of a run."""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable, Mapping
from functools import wraps
from types import UnionType
from typing import Any, Union, get_args, get_origin
from weakref import WeakKeyDictionary

import numpy as np

from dpsco_bench.algorithms.registry import ALGORITHMS, CALIBRATIONS, Algorithm
from dpsco_bench.errors import DpscoError, InputError
from dpsco_bench.execution.own_queries import check_queries
from dpsco_bench.execution.own_runs import WatchedRun
from dpsco_bench.fused.registry import FUSED, FusedRun
from dpsco_bench.privacy.plan import Plan
from dpsco_bench.problems.base import Data, Problem, Trait
from dpsco_bench.problems.constants import Constants
from dpsco_bench.problems.glm import GeneralisedLinear
from dpsco_bench.problems.registry import PROBLEMS
from dpsco_bench.registry import PLUGIN, roots

OPTION_TYPES = (int, float, str, bool, type(None))
Registered = dict[str, dict[str, str]]
_CHECKED: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""Plan functions that check their plans, with the run that was checked beside them; and problems."""


def registered() -> Registered:
    """Names of the algorithms, problems and fused runs that are registered, and their modules."""
    return {registry.kind: registry.registered() for registry in (ALGORITHMS, PROBLEMS, FUSED)}


def check_registered(before: Registered) -> None:
    """Check what a file or a paper has registered since.

    Raises InputError naming the algorithm or problem, the key, its value and what is allowed.
    """
    found = registered()
    for registry in (ALGORITHMS, PROBLEMS, FUSED):
        for name in found[registry.kind].keys() - before[registry.kind].keys():
            check_entry(registry.get(name), name)


def check_entry(entry: Any, name: str) -> None:
    """Check an algorithm, a fused run or a problem that does not ship, once; plans, runs and data from then on.

    Raises InputError as `check_registered`.
    """
    if isinstance(entry, Algorithm):
        if entry.plan_function not in _CHECKED or _CHECKED[entry.plan_function] is not entry.run_function:
            _check_algorithm(entry)
    elif isinstance(entry, FusedRun):
        _watch_run(entry, "run", f"algorithm {name}")
    elif not inspect.isclass(entry) or entry not in _CHECKED:
        _check_problem(entry)


def own_line(error: BaseException, file: str = "") -> int | None:
    """Line of a file, by default of any of the user's, in which an error arose."""
    place = own_place(error, file)
    return place[1] if place else None


def own_place(error: BaseException, file: str = "") -> tuple[str, int] | None:
    """The user's file, or that of a paper that does not ship, and its line in which an error or its cause arose."""
    files = {file} if file else {*own_files(), *paper_files()}
    cause: BaseException | None = error
    while cause is not None:
        lines = [(f.filename, f.lineno) for f in traceback.extract_tb(cause.__traceback__) if f.filename in files]
        if lines and lines[-1][1] is not None:
            return lines[-1][0], int(lines[-1][1])
        cause = cause.__cause__
    return None


def own_files() -> list[str]:
    """The user's files that are in use."""
    return [str(module.__file__) for name, module in sys.modules.items() if name.startswith(PLUGIN)]


def paper_files() -> list[str]:
    """Files of papers that do not ship, as far as they are loaded."""
    outside = roots() - {"dpsco_bench"}
    return [
        str(getattr(module, "__file__", ""))
        for name, module in list(sys.modules.items())
        if name.split(".")[0] in outside
    ]


def _check_algorithm(entry: Algorithm) -> None:
    where = f"algorithm {entry.id}"
    if not isinstance(entry.source, str):
        raise InputError(f"{where}: source", entry.source, "text")
    if not isinstance(entry.needs, tuple | list) or not all(isinstance(need, Trait) for need in entry.needs):
        raise InputError(f"{where}: needs", entry.needs, "a tuple of Trait members, e.g. (Trait.SMOOTH,)")
    if not isinstance(entry.variants, Mapping) or not all(map(_are_calibrations, entry.variants.values())):
        allowed = "a mapping of variants to tuples of " + ", ".join(CALIBRATIONS)
        raise InputError(f"{where}: variants", entry.variants, allowed)
    _check_takes(entry.plan_function, f"{where}: plan", 1, "(setting, *, ...)")
    if entry.run_function is not None:
        _check_takes(entry.run_function, f"{where}: run", 3, "(objective, plan, mechanism)")
    _check_options(entry, where)
    if entry.plan_function not in _CHECKED:
        object.__setattr__(entry, "plan_function", _checked_plan(entry.plan_function, where))
    _watch_run(entry, "run_function", where)
    _CHECKED[entry.plan_function] = entry.run_function


def _watch_run(entry: Algorithm | FusedRun, key: str, where: str) -> None:
    run = getattr(entry, key)
    if run is not None and not isinstance(run, WatchedRun):
        object.__setattr__(entry, key, WatchedRun(run, where))


def _checked_plan(plan: Callable[..., Any], where: str) -> Callable[..., Any]:
    """A plan function that refuses queries which may answer otherwise than they are charged."""

    @wraps(plan)
    def checked(*args: Any, **options: Any) -> Any:
        made = plan(*args, **options)
        if isinstance(made, Plan):
            check_queries(made, where)
        return made

    return checked


def _check_options(entry: Algorithm, where: str) -> None:
    """Options have a type by which values are checked."""
    try:
        options = entry.options
    except NameError as error:
        raise InputError(
            f"{where}: type of an option", str(error), "int, float, str, bool or one of these | None"
        ) from None
    for name, parameter in options.items():
        kinds = get_args(parameter.annotation) if _is_union(parameter.annotation) else (parameter.annotation,)
        if not all(kind in OPTION_TYPES for kind in kinds):
            text = "missing" if parameter.annotation is parameter.empty else str(parameter.annotation)
            raise InputError(f"{where}: type of option {name}", text, "int, float, str, bool or one of these | None")


def _check_problem(cls: Any) -> None:
    if not (inspect.isclass(cls) and issubclass(cls, Problem)):
        raise InputError("problem", getattr(cls, "__name__", cls), "a subclass of Problem, e.g. of Logistic")
    where = f"problem {cls.name}"
    for key in ("name", "summary", "source"):
        if not isinstance(getattr(cls, key), str):
            raise InputError(f"{where}: {key}", getattr(cls, key), "a text")
    if not isinstance(cls.traits, property) and not all(isinstance(trait, Trait) for trait in cls.traits):
        raise InputError(f"{where}: traits", sorted(map(str, cls.traits)), "a set of Trait members")
    if cls.own_constants is Problem.own_constants:
        raise InputError(f"{where}: own_constants", "missing", "given, e.g. Constants(lipschitz=1, smoothness=1)")
    if "own_constants" in vars(cls):
        own = _checked_constants(vars(cls)["own_constants"], f"{where}: own_constants")
        cls.own_constants = own  # type: ignore[method-assign]
    if cls.draw is Problem.draw and issubclass(cls, GeneralisedLinear) and not cls.draws_per_replicate:
        raise InputError(f"{where}: draw", "missing", "given: it returns Data(n, features, labels)")
    if "draw" in vars(cls):
        _check_takes(cls.draw, f"{where}: draw", 3, "(self, n, streams)")
        cls.draw = _checked_draw(cls.draw, where)  # type: ignore[method-assign]
    _CHECKED[cls] = None


def _checked_constants(own: Any, where: str) -> Any:
    """`Problem.own_constants`, a property or a value, that refuses what is no Constants."""

    def checked(found: Any) -> Constants:
        if not isinstance(found, Constants):
            raise InputError(where, type(found).__name__, "a Constants, e.g. Constants(lipschitz=1, smoothness=1)")
        return found

    if not isinstance(own, property) or own.fget is None:
        return own if hasattr(own, "__get__") else checked(own)
    compute = own.fget
    return property(wraps(compute)(lambda self: checked(compute(self))))


def _checked_draw(draw: Callable[..., Any], where: str) -> Callable[..., Any]:
    """`Problem.draw` that refuses data which gradients cannot use."""

    @wraps(draw)
    def checked(self: Any, n: int, streams: Any) -> Data:
        data = draw(self, n, streams)
        if not isinstance(data, Data):
            raise DpscoError(f"{where}: draw returned {type(data).__name__}, must be a Data")
        records = isinstance(self, GeneralisedLinear)
        _check_drawn(f"{where}: features drawn", data.features, (n, self.dimension) if records else (n,), records)
        _check_drawn(f"{where}: labels drawn", data.labels, (n,), records)
        return data

    return checked


def _check_drawn(where: str, value: Any, shape: tuple[int, ...], needed: bool) -> None:
    """Finite numbers, one row per record; for generalised linear problems exactly of a shape."""
    if value is None and not needed:
        return
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise InputError(where, f"of type {array.dtype}", "numbers")
    if (array.shape if needed else array.shape[:1]) != shape:
        raise InputError(where, f"of shape {array.shape}", f"of shape {shape}")
    if not np.isfinite(array).all():
        raise InputError(where, "not all finite", "finite numbers")


def _check_takes(function: Any, where: str, count: int, form: str) -> None:
    """A function can be called with so many positional arguments: whatever else it takes has a default."""
    try:
        inspect.signature(function).bind(*range(count))
    except (TypeError, ValueError) as error:
        raise InputError(where, f"takes {_signature(function)}", f"a function of {form}", str(error)) from None


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType)


def _signature(function: Any) -> str:
    """Its arguments; the type of what has none, which a function may stand for (``__wrapped__``)."""
    try:
        return str(inspect.signature(function))
    except (TypeError, ValueError):
        return type(getattr(function, "__wrapped__", function)).__name__


def _are_calibrations(names: Any) -> bool:
    return isinstance(names, tuple | list) and bool(names) and set(names) <= set(CALIBRATIONS)
