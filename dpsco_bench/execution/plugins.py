"""Plug-ins: Python files, or folders of packages (papers), whose decorators register what is in them.

What they register is checked when they are loaded, so that a slip is one line and not a traceback in a run. A plug-in
is its user's own code and is trusted: nothing here looks for code that cheats.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import wraps
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np

from dpsco_bench.algorithms.registry import ALGORITHMS, CALIBRATIONS, Algorithm
from dpsco_bench.errors import BrokenPaper, DpscoError, InputError
from dpsco_bench.problems.base import Data, Problem
from dpsco_bench.problems.constants import Constants, alternatives
from dpsco_bench.problems.glm import GeneralisedLinear
from dpsco_bench.problems.registry import PROBLEMS
from dpsco_bench.registry import PLUGIN, REGISTRIES, add_paper, modules_in, roots

_GIVEN: set[Path] = set()
"""Plug-ins that this process was given: on its command line, in its configuration, or by a call."""
OPTION_TYPES = (int, float, str, bool, type(None))
EXAMPLE = "e.g. Constants(lipschitz=1, smoothness=1)"


def load_plugins(paths: Iterable[str | Path]) -> None:
    """Import each file, and make each folder of a package a paper (`registry.add_paper`), once per process.

    Raises DpscoError for a path that is neither, something that cannot be imported, or something registered that cannot
    be used; naming the file.
    """
    for path in paths:
        place = Path(str(path)).resolve()
        if (place / "__init__.py").is_file():
            _load_paper(place)
        elif place.suffix == ".py" and place.is_file():
            _load_file(place)
        else:
            allowed = "a list of existing Python files (.py) or folders of packages (with an __init__.py)"
            raise InputError("plugins", path, allowed)
        _GIVEN.add(place)


def check_given(paths: Iterable[str], plan: str | Path = "the plan") -> None:
    """Refuse plug-ins that a plan names and this process was not given: to read a plan executes no code.

    Raises InputError naming the plan's file and the first such plug-in.
    """
    for path in dict.fromkeys(paths):
        if Path(path).resolve() not in _GIVEN:
            allowed = "given to this call too, by --plugin FILE or plugins=FILE: a plan by itself loads no code"
            raise InputError(f"plugins of {plan}", path, allowed)


def plugin_files(paths: Iterable[str]) -> list[Path]:
    """List the files of plug-ins: those of folders, and of a file all that lie in its folder."""
    places = [Path(path) for path in paths]
    found = (place.rglob("*.py") if place.is_dir() else place.parent.glob("*.py") for place in places)
    return sorted({file for files in found for file in files if not file.name.startswith(".")})


def _load_file(path: Path) -> None:
    # The digest keeps two files of the same name apart.
    name = f"{PLUGIN}{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return
    if str(path.parent) not in sys.path:  # behind all others: what is found elsewhere stays what it is
        sys.path.append(str(path.parent))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader = spec.loader
    _checked(lambda: loader.exec_module(module), path, name)


def _load_paper(folder: Path) -> None:
    name = add_paper(folder)
    packages = [name, *(f"{name}.{registry.folder}" for registry in REGISTRIES)]
    for module in dict.fromkeys(module for package in packages for module in [package, *modules_in(package)]):
        spec = importlib.util.find_spec(module) if module not in sys.modules else None
        if spec is not None and spec.origin is not None:
            _checked(lambda module=module: importlib.import_module(module), Path(spec.origin), module)  # type: ignore[misc]


def _checked(load: Callable[[], object], path: Path, name: str) -> None:
    """Import a module and check what it registers; an error names its file and line."""
    try:
        load()
        for key in (key for key, home in ALGORITHMS.registered().items() if home == name):
            _check_algorithm(ALGORITHMS.get(key))
        for key in (key for key, home in PROBLEMS.registered().items() if home == name):
            _check_problem(PROBLEMS.get(key))
    except BrokenPaper:
        raise
    except (Exception, SystemExit) as error:
        _, line = own_place(error) or ("", 0)
        for registry in REGISTRIES:
            registry.forget(*(key for key, home in registry.registered().items() if home == name))
        sys.modules.pop(name, None)
        if isinstance(error, DpscoError):
            raise DpscoError(f"{path.name}{f', line {line}' if line else ''}: {error}") from error
        reason = f"{type(error).__name__}: {error}"
        reason += f", line {line}" if line and not isinstance(error, SyntaxError) else ""  # that one says it itself
        if isinstance(error, ModuleNotFoundError):
            reason += "; it is looked for beside the file, and in the folders that PYTHONPATH names"
        raise InputError("plugins", str(path), "a Python file that can be imported", reason) from error


def _check_algorithm(entry: Algorithm) -> None:
    where = f"algorithm {entry.id}"
    listed = isinstance(entry.needs, tuple | list) and all(isinstance(need, Enum | tuple) for need in entry.needs)
    if not listed or not all(isinstance(trait, Enum) for need in entry.needs for trait in alternatives(need)):
        allowed = "a tuple of members of Trait, or of an Enum of your own, e.g. (Trait.SMOOTH,)"
        raise InputError(f"{where}: needs", entry.needs, allowed)
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
    if not isinstance(cls.traits, property) and not all(isinstance(trait, Enum) for trait in cls.traits):
        raise InputError(f"{where}: traits", sorted(map(str, cls.traits)), "a set of members of Trait, or of an Enum")
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


def is_own(module: str) -> bool:
    """Tell whether a module is of a plug-in, or of a paper that does not ship."""
    return module.startswith(PLUGIN) or module.split(".")[0] in roots() - {"dpsco_bench"}


def own_place(error: BaseException | None) -> tuple[str, int] | None:
    """Find the file of a plug-in or paper, and its line, in which an error or its cause arose."""
    modules = [module for name, module in list(sys.modules.items()) if is_own(name)]
    files = {getattr(module, "__file__", None) for module in modules}
    while error is not None:
        found = [(f.filename, f.lineno or 0) for f in traceback.extract_tb(error.__traceback__) if f.filename in files]
        if found:
            return found[-1]
        error = error.__cause__
    return None
